import { countryName } from "../contact-message.ts";
import { type FootprintEstimate, type FootprintLine, flightKind, unitsPerYear, withoutNoise } from "./arithmetic.ts";
import { HOTEL_COUNTRIES } from "./factors.ts";
import {
  AMOUNTS,
  type AmountField,
  DISTANCES,
  type Distances,
  type EstimateName,
  type FootprintInputs,
  formatAbout,
  formatAmount,
  formatMass,
  formatTotal,
  nameOf,
  optionLabel,
  roundedKg,
} from "./fields.ts";

/** The inputs, one per line: "Car" and "10,000 km, petrol". Leaves out amounts of 0. */
export function describeInputs({ inputs, lines }: FootprintEstimate): { label: string; value: string; kg: number }[] {
  return lines
    .filter(isCounted)
    .map(({ field, kg }) => ({ label: AMOUNTS[field].label, value: amountText(field, inputs), kg }));
}

function isCounted({ quantity }: FootprintLine): boolean {
  return quantity > 0;
}

function amountText(field: AmountField, inputs: FootprintInputs): string {
  const unit = unitOf(field, inputs);
  const amount = inputs[field] ?? 0;
  const counted = `${formatAmount(amount)} ${amount === 1 ? unit.replace(/s$/, "") : unit}${conversionOf(field, inputs)}`;
  return `${counted}${detailsOf(field, inputs)}`;
}

function unitOf(field: AmountField | keyof Distances, { carUnit }: Pick<FootprintInputs, "carUnit">): string {
  if (field === "carKm" && carUnit === "mi") return "miles";
  return field in AMOUNTS ? AMOUNTS[field as AmountField].unit : "km";
}

/** "from 70 t to 90 t"; empty if both ends look the same. */
export function rangeText({ range }: FootprintEstimate): string {
  const [low, high] = range ? [formatMass(range.lowKg), formatMass(range.highKg)] : [];
  return low === high ? "" : `from ${low} to ${high}`;
}

/** Also names the amounts that the range does not cover: without them it looks like a precise total. */
function rangeNote(estimate: FootprintEstimate): string[] {
  const text = rangeText(estimate);
  const { between, single = [] } = estimate.range ?? { between: [] };
  if (text === "") return [];
  const labels = single.map((field) => AMOUNTS[field].label).join(", ");
  const left = labels && ` The range does not cover what has one published figure: ${labels}.`;
  const differ = `Published figures differ for ${between.join("; ")}: therefore the range.`;
  return [`${differ}${left} The true figure can be outside this range.`];
}

function placeNote({ lines }: FootprintEstimate): string[] {
  const counted = lines.filter(isCounted);
  const grid = counted.find(({ field, place }) => place !== undefined && field !== "hotelNights");
  const nights = counted.find(({ field }) => field === "hotelNights");
  const where = grid?.place ? `the average grid of ${countryName(grid.place)}` : "the world’s average grid";
  const source = grid?.place === "GB" ? "DESNZ" : "Ember";
  const hotels = nights?.place ? countryName(nights.place) : `the average of ${HOTEL_COUNTRIES} countries`;
  return [
    ...(grid ? [`Electricity is from ${where} (${source}, ${grid.factor.year}).`] : []),
    ...(nights ? [`Hotels are those of ${hotels}.`] : []),
  ];
}

export function resultNotes(estimate: FootprintEstimate, price: Price | null): string[] {
  const { totalKg } = estimate;
  const cost = price && totalKg > 0 && `Credits for ${formatMass(totalKg)} cost ${formatCost(totalKg, price)}.`;
  return [
    ...placeNote(estimate),
    ...rangeNote(estimate),
    ...(cost ? [`${cost} They do not change what you emit.`] : []),
  ];
}

/** "about 1.9 t for each person"; empty if the number of people is unknown. */
export function eachText({ inputs: { people }, totalKg }: FootprintEstimate): string {
  return people === undefined || people === 1 ? "" : `${formatAbout(totalKg / people)} for each person`;
}

/** The estimate on one line: "about 78 t CO₂e a year (from 70 t to 90 t), for an organisation of 40 people". */
export function estimateSummary(estimate: FootprintEstimate): string {
  const range = rangeText(estimate);
  const total = `${formatTotal(estimate.totalKg)}${range && ` (${range})`}, for ${describeWhom(estimate.inputs)}`;
  return [total, eachText(estimate)].filter(Boolean).join(": ");
}

export function estimateNotes(estimate: FootprintEstimate, price: Price | null): string[] {
  const { inputs, factorSet } = estimate;
  const isSaid = inputs.for === "organisation" || inputs.people !== undefined;
  return [
    ...resultNotes(estimate, price),
    ...(isSaid ? [`For ${[describeWhom(inputs), eachText(estimate)].filter(Boolean).join(": ")}.`] : []),
    `Computed with: ${factorSet}.`,
    "An estimate, not a certificate.",
  ];
}

/** " (14,484 km)" or " a month (3,600 kWh a year)": what is counted, if the visitor chose another unit. */
function conversionOf(field: AmountField, inputs: FootprintInputs): string {
  const perYear = unitsPerYear(field, inputs);
  if (perYear === 1 || AMOUNTS[field].category === "Flights") return "";
  const counted = `${formatAmount(Math.round((inputs[field] ?? 0) * perYear))} ${AMOUNTS[field].unit}`;
  return field === "carKm" ? ` (${counted})` : ` a month (${counted} a year)`;
}

function detailsOf(field: AmountField, inputs: FootprintInputs): string {
  if (field === "carKm") return `, ${inputs.carFuel}`;
  if (field === "shortFlights") {
    const flightClass = optionLabel(inputs.shortFlightClass);
    const counted = { domestic: "as domestic flights", short: flightClass, long: `${flightClass}, as long flights` };
    return ` of ${formatAmount(inputs.shortFlightKm)} km each way, ${counted[flightKind(inputs)]}`;
  }
  if (field === "longFlights")
    return ` of ${formatAmount(inputs.longFlightKm)} km each way, ${optionLabel(inputs.longFlightClass)}`;
  return "";
}

function describeWhom({ for: whom, people }: FootprintInputs): string {
  const name =
    whom === "organisation" ? "an organisation" : people === undefined ? "one person or household" : "a household";
  return people === undefined ? name : `${name} of ${formatAmount(people)} ${people === 1 ? "person" : "people"}`;
}

export interface Price {
  amount: number;
  /** As written after a number; its ISO code, such as "EUR", also says how many decimals it has. */
  currency: string;
  /** A tax in the price, such as "VAT". */
  includes?: string;
}

/** "about 35 EUR including VAT". Uses the rounded total, so that the visitor can check the sum. */
export function formatCost(totalKg: number, { amount, currency, includes }: Price): string {
  const cost = withoutNoise((roundedKg(totalKg) * amount) / 1000);
  const isCode = /^[A-Z]{3}$/.test(currency);
  const own = new Intl.NumberFormat("en-GB", { style: "currency", currency: isCode ? currency : "EUR" });
  const most = own.resolvedOptions().maximumFractionDigits ?? 2;
  const least = 10 ** -most;
  // Whole units from 10 on, because the total has two significant figures.
  const digits = cost < 10 ? most : 0;
  const text = Math.max(cost, least).toLocaleString("en-GB", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    trailingZeroDisplay: "stripIfInteger",
  });
  return `${cost < least ? "less than" : "about"} ${text} ${currency}${includes ? ` including ${includes}` : ""}`;
}

/** How the page reads a number, where that is not obvious: "Read as 1,500 kWh". */
export function hintsOf(inputs: FootprintInputs, texts: Readonly<Record<EstimateName, string>>) {
  const hints: Partial<Record<EstimateName, string>> = {};
  for (const field of [...Object.keys(AMOUNTS), ...Object.keys(DISTANCES)] as (AmountField | keyof Distances)[]) {
    const amount = inputs[field];
    const text = texts[nameOf(field)].trim();
    if (amount === undefined || text === "") continue;
    const conversion = field in AMOUNTS ? conversionOf(field as AmountField, inputs) : "";
    if (conversion !== "" || !/^\d+$/.test(text)) {
      hints[nameOf(field)] = `Read as ${formatAmount(amount)} ${unitOf(field, inputs)}${conversion}`;
    }
  }
  const counted = { domestic: "Counted as domestic: no classes", short: "", long: "Counted as long flights" };
  const kind = flightKind(inputs);
  if (inputs.shortFlights !== undefined && kind !== "short") hints[nameOf("shortFlightKm")] = counted[kind];
  return hints;
}
