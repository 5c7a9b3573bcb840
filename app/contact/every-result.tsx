import { type ElectricityTable, parseFootprint } from "../../contract/footprint.ts";
import { AMOUNTS, type AmountField } from "../../contract/footprint-fields.ts";
import { Result, readFields } from "./footprint-estimate.tsx";

/** Every sentence that the estimate can show, for those who review what the site says. */
export function EveryResult() {
  const electricity: ElectricityTable = { name: "", world: [473, 2024], countries: { GB: [216, 2024] } };
  const fields = Object.keys(AMOUNTS) as AmountField[];
  const dearer = { carFuel: "electric", shortFlightClass: "business", longFlightClass: "first", carUnit: "mi" };
  const variants = [{}, { shortFlightKm: 100 }, { shortFlightKm: 9000, ...dearer }];
  const requests = fields.flatMap((field) => variants.map((variant) => ({ [field]: "1,000 ", ...variant })));
  const errors = ["x", "1.500"].map((text) =>
    parseFootprint({ footprint: Object.fromEntries(fields.map((field) => [field, text])) }),
  );
  return (
    <>
      {requests.flatMap((footprint) =>
        ["", "GB", "XX"].map((country) => {
          const reading = readFields(footprint, country, "United Kingdom", electricity);
          return (
            <div key={JSON.stringify([footprint, country])}>
              <Result reading={reading} />
              {Object.entries(reading.hints).map(([name, hint]) => (
                <p key={name}>{hint}</p>
              ))}
            </div>
          );
        }),
      )}
      {errors.flatMap((parsed) =>
        parsed.ok ? [] : Object.values(parsed.fields).map((text) => <p key={text}>{text}</p>),
      )}
    </>
  );
}
