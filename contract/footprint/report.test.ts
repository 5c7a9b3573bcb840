import { expect, test } from "vitest";
import { ELECTRICITY, inputsOf } from "../../tests/store-contract/samples.ts";
import { reportHtml } from "./report.ts";

test("the report has all inputs, factors, facts and totals, names each source once, and escapes its values", () => {
  const amounts = { electricityKwh: 2500, carKm: 8000, carUnit: "mi", shortFlights: 1, hotelNights: 1, railKm: 0 };
  const inputs = inputsOf({ ...amounts, for: "organisation", people: 40 });
  const sent = { inputs, country: "FR", countryName: "<b>France & co", reference: "BC-<b>", date: new Date(0) };
  const textOf = (markup: string) => markup.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");
  const html = reportHtml(sent, ELECTRICITY, { amount: 25, currency: "E<R" });
  expect(html).not.toContain("<b>");
  expect([...html.matchAll(/<a /g)]).toHaveLength(2);
  for (const part of [
    "about 3.2 t CO₂e a year",
    "For an organisation of 40 people : about 81 kg for each person . Country: &lt;b&gt;France &amp; co .",
    "Sent on 1 January 1970 (UTC) with message BC-&lt;b&gt; .",
    "Credits for 3.2 t cost about 80 E&lt;R . They do not change what you emit.",
    "Electricity 2,500 kWh 0.04418 kg per kWh, &lt;b&gt;France &amp; co 110 kg",
    "Car 8,000 miles (12,875 km), petrol 0.20751 kg per km, UK average 2.7 t",
    "Short return flights 1 flight of 1,500 km each way, economy 0.14825 kg per passenger km, flights to or from the UK",
    "Hotel 1 night 6.7 kg per night",
    "Figures are rounded separately",
    "The range is from 2.9 t to 5.0 t : published figures differ for small and large cars. The range does not cover what has one published figure: Electricity, Short return flights, Hotel.",
    "v1.2 . Counted: burning the fuel, and producing it (Car); burning the fuel, producing it, and the other effects",
    "Ember, yearly electricity data, in the Green Web Foundation’s co2.js, 2024 . Counted:",
    "Electricity is location-based",
    "Factor set: DESNZ 2026 v1.2; Ember",
  ]) {
    expect(textOf(html)).toContain(part);
  }
  expect(textOf(html)).not.toContain("Train");

  const other = { ...sent, inputs: inputsOf({ gasKwh: 1, lpgLitres: 1 }), countryName: "" };
  const plain = reportHtml(other, ELECTRICITY, null);
  expect(textOf(plain)).toContain("For one person or household . Country: not chosen");
  expect(textOf(plain)).toContain("Counted: burning the fuel, and producing it (Natural gas, LPG).");
  expect(plain).not.toMatch(/Credits|location|The range/);
});
