import { type ElectricityTable, parseFootprint } from "../../contract/footprint.ts";
import { AMOUNTS, type AmountField } from "../../contract/footprint-fields.ts";
import { Report, Result, readFields, Total } from "./footprint-estimate.tsx";
import { EnclosedEstimate } from "./footprint-part.tsx";

/** Every sentence that the estimate can show, for those who review what the site says. */
export function EveryResult() {
  const electricity: ElectricityTable = { name: "", world: [473, 2024], countries: { GB: [216, 2024] } };
  const fields = Object.keys(AMOUNTS) as AmountField[];
  const dearer = { carFuel: "electric", shortFlightClass: "business", longFlightClass: "first", carUnit: "mi" };
  const variants = [{}, { shortFlightKm: 100 }, { shortFlightKm: 9000, ...dearer }];
  const places = ["", "GB", "XX"];
  const requests = fields.flatMap((field) => variants.map((variant) => ({ [field]: "1,000 ", ...variant })));
  const errors = ["x", "1.500"].map((text) =>
    parseFootprint({ footprint: Object.fromEntries(fields.map((field) => [field, text])) }),
  );
  return (
    <>
      {requests.flatMap((footprint) =>
        places.map((country) => {
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
      {/* One with all amounts has every line of a report. */}
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
              />
            )
          );
        }),
      )}
      <Total total="about 0 kg" />
      {["", "about 0 kg"].map((total) => (
        <EnclosedEstimate key={total} total={total} onEdit={() => {}} onRemove={() => {}} />
      ))}
      {errors.flatMap((parsed) =>
        parsed.ok ? [] : Object.values(parsed.fields).map((text) => <p key={text}>{text}</p>),
      )}
    </>
  );
}
