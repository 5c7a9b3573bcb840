import { expect, test } from "vitest";
import { START_VALUES } from "./form-state.ts";
import { readEstimate } from "./reading.ts";

const TABLE = { name: "", world: [473, 2024], worldRange: [90, 700], countries: {} } as const;
const read = (inputs: Readonly<Record<string, string>>) => {
  const named = Object.entries(inputs).map(([field, text]) => [`footprint.${field}`, text]);
  return readEstimate({ ...START_VALUES, ...Object.fromEntries(named) }, TABLE);
};

test("counts the readable amounts and says how it reads them", () => {
  expect(read({}).estimate).toBeNull();
  const { estimate, total, hints } = read({ gasKwh: "1 000 kWh", carKm: "100", carUnit: "mi", busKm: "x" });
  expect(estimate?.lines.map(({ field }) => field)).toEqual(["gasKwh", "carKm"]);
  expect(total).toBe("about 250 kg CO₂e a year");
  expect(hints).toEqual({
    "footprint.gasKwh": "Read as 1,000 kWh",
    "footprint.carKm": "Read as 100 miles (161 km)",
  });
});

test.each([
  [{ shortFlights: "96000" }, "shortFlights", "That is about 260 flights a day. Is it right?"],
  [
    { electricityKwh: "1000000000" },
    "electricityKwh",
    "That is as much as 370,000 typical British homes use. Is it right?",
  ],
  [{ carKm: "1000000" }, "carKm", "That is about 2,700 km a day. Is it right?"],
  [{ carKm: "1", people: "40" }, "people", "That is a household of 40 people. Is it right?"],
])("asks about %j, and counts it all the same", (inputs, field, question) => {
  const { questions, estimate } = read(inputs);
  expect(questions).toEqual({ [`footprint.${field}`]: question });
  expect(estimate?.totalKg).toBeGreaterThan(0);
});

test("does not ask about the usual amounts of a household, or of an organisation with many people", () => {
  expect(read({ electricityKwh: "3500", gasKwh: "12000", carKm: "20000", longFlights: "4" }).questions).toEqual({});
  const many = { electricityKwh: "4000000", longFlights: "900", people: "400", for: "organisation" };
  expect(read(many).questions).toEqual({});
});
