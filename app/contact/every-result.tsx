import type { ElectricityTable } from "../../contract/footprint/arithmetic.ts";
import { AMOUNTS, type AmountField } from "../../contract/footprint/fields.ts";
import { parseFootprint } from "../../contract/footprint/parsing.ts";
import { site } from "../site.ts";
import { Report, Result, readFields, Sources, Total } from "./footprint-estimate.tsx";
import { FormHead } from "./footprint-part.tsx";

/** Every sentence that the estimate can show, for the review of the site's claims. */
export function EveryResult() {
  const electricity: ElectricityTable = {
    name: "",
    world: [473, 2024],
    worldRange: [90, 700],
    countries: { GB: [168, 2026] },
  };
  const fields = Object.keys(AMOUNTS) as AmountField[];
  const dearer = { carFuel: "electric", shortFlightClass: "business", longFlightClass: "first", carUnit: "mi" };
  const people = { for: "organisation", people: 40 };
  const variants = [{}, { shortFlightKm: 100, ...people }, { shortFlightKm: 9000, ...dearer }];
  const places = ["", "GB", "XX"];
  const requests = fields.flatMap((field) => variants.map((variant) => ({ [field]: "1,000 ", ...variant })));
  const { pricePerTonne: price } = site;
  const errors = ["x", "1.500", "1 x"].map((text) =>
    parseFootprint({ footprint: Object.fromEntries(fields.map((field) => [field, text])) }),
  );
  return (
    <>
      {requests.flatMap((footprint) =>
        places.map((country) => {
          const reading = readFields(footprint, country, "United Kingdom", electricity);
          return (
            <div key={JSON.stringify([footprint, country])}>
              <Total reading={reading} price={price} />
              <Result reading={reading} />
              {reading.estimate && <Sources reading={reading} estimate={reading.estimate} />}
              {Object.entries(reading.hints).map(([name, hint]) => (
                <p key={name}>{hint}</p>
              ))}
            </div>
          );
        }),
      )}
      {/* An estimate with every amount produces every line of a report. */}
      {variants.flatMap((variant) =>
        places.map((country) => {
          const all = Object.fromEntries(fields.map((field) => [field, 1000]));
          const { estimate } = readFields({ ...all, ...variant }, country, "United Kingdom", electricity);
          const sent = { country, countryName: "United Kingdom", reference: "", date: new Date(0) };
          return (
            estimate && (
              <Report
                key={JSON.stringify([variant, country])}
                sent={{ ...sent, inputs: estimate.inputs }}
                electricity={electricity}
                price={price}
              />
            )
          );
        }),
      )}
      <Total reading={readFields({ carKm: "x" }, "", "", electricity)} price={null} />
      {["", "Car: ?"].map((problem) => (
        <FormHead
          key={problem}
          enclosed={{ total: "about 0 kg", largest: "Car, 60%", problem }}
          onEdit={() => {}}
          onRemove={() => {}}
        />
      ))}
      {errors.flatMap((parsed) =>
        parsed.ok ? [] : Object.values(parsed.fields).map((text) => <p key={text}>{text}</p>),
      )}
    </>
  );
}
