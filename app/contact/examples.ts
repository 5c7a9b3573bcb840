import { FIELD_PREFIX, UNITS } from "../../contract/footprint/fields.ts";
import type { Values } from "./form-state.ts";

/** Round figures that we chose, for visitors who want to see a result first. By name, with a value for each field. */
export const EXAMPLES: readonly (readonly [name: string, figures: Values])[] = [
  ["flat for two", figures({ people: "2", electricityKwh: "1800", gasKwh: "7500", carKm: "5000", shortFlights: "2" })],
  [
    "office of 40",
    figures({
      for: "organisation",
      people: "40",
      electricityKwh: "80000",
      gasKwh: "60000",
      carKm: "20000",
      shortFlights: "40",
      longFlights: "8",
    }),
  ],
  ["student", figures({ people: "1", electricityKwh: "900", gasKwh: "3000", shortFlights: "1" })],
];

function figures(amounts: Values): Values {
  const units = Object.entries(UNITS).map(([name, [usual]]) => [name, usual] as const);
  const named = [...units, ...Object.entries(amounts)].map(([name, text]) => [FIELD_PREFIX + name, text]);
  return Object.fromEntries(named);
}
