import {
  categoriesOf,
  type ElectricityTable,
  type FootprintEstimate,
  type FootprintLine,
  type FootprintRange,
  factorOf,
  isDomestic,
  SHORT_MAX_KM,
  savingsOf,
  unitsPerYear,
} from "./arithmetic.ts";
import { HOTEL_COUNTRIES } from "./factors.ts";
import {
  AMOUNTS,
  type AmountField,
  type Category,
  DISTANCES,
  type Distances,
  FIELD_PREFIX,
  type FootprintInputs,
  formatAbout,
  formatAmount,
  formatMass,
  formatTotal,
  optionLabel,
  roundedKg,
} from "./fields.ts";
import { unitOf } from "./parsing.ts";

const HOTEL_AVERAGE = `average of ${HOTEL_COUNTRIES} countries`;
export const ROUNDED = "Figures are rounded separately, so they may not add up exactly.";
export const LOCATION_BASED =
  "Electricity is location-based: the average of the country’s grid, regardless of the supplier.";

interface Advice {
  /** "A fifth fewer flights". */
  less: string;
  lessKg: number;
  /** A full switch, such as to an electric car, with its saving. */
  change: { words: string; kg: number } | null;
}

/** Suggestions for the two largest parts. */
export function adviceFor(estimate: FootprintEstimate, country: string, electricity: ElectricityTable): Advice[] {
  const isOrganisation = estimate.inputs.for === "organisation";
  const words: Readonly<Record<Category, [less: string, change?: string]>> = {
    Electricity: ["A fifth less electricity"],
    Heating: ["A fifth less heating"],
    Car: ["A fifth less driving", isOrganisation ? "electric cars instead" : "the same distance in an electric car"],
    "Public transport and taxi": ["A fifth less of these trips", "the bus instead of the taxi"],
    Flights: ["A fifth fewer flights", "economy class on all of them"],
    Hotels: ["A fifth fewer nights in hotels"],
  };
  return savingsOf(estimate, country, electricity).map(({ category, lessKg, switchKg }) => {
    const [less, change] = words[category];
    return { less, lessKg, change: change && switchKg !== null ? { words: change, kg: switchKg } : null };
  });
}

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

/** A line of an estimate as text: the input, the factor, and the factor's source. */
export interface ExplainedLine {
  label: string;
  /** "10,000 km, petrol". */
  value: string;
  kg: number;
  /** In kg per `unit`. */
  kgPerUnit: string;
  unit: string;
  where: string;
  /** Whether its factor comes from an electricity grid. */
  isFromGrid: boolean;
  boundary: string;
  source: string;
  link: string;
  year: number;
}

export function explainLines(
  { inputs, lines }: FootprintEstimate,
  country: string,
  countryName: string,
  electricity: ElectricityTable,
): ExplainedLine[] {
  return lines.filter(isCounted).map(({ field, place, kg }) => {
    const { factor } = factorOf(field, inputs, country, electricity);
    const average = field === "hotelNights" ? HOTEL_AVERAGE : "world average";
    const isDomesticLine = field === "shortFlights" && isDomestic(inputs);
    const isFlight = AMOUNTS[field].category === "Flights";
    const flights = isDomesticLine ? "domestic flights in the UK, average passenger" : "flights to or from the UK";
    const uk = isFlight ? flights : "UK average";
    return {
      label: AMOUNTS[field].label,
      value: amountText(field, inputs),
      kg,
      kgPerUnit: formatAmount(factor.kgPerUnit),
      unit: factor.unit,
      where: place === undefined ? uk : (place && countryName) || average,
      isFromGrid: place !== undefined && field !== "hotelNights",
      boundary: factor.boundary,
      source: factor.source,
      link: factor.link,
      year: factor.year,
    };
  });
}

/** Lists each source once, with what its figures count and the lines that use it. */
export function sourcesOf(lines: readonly ExplainedLine[]): { source: string; link: string; counted: string }[] {
  const unique = (texts: readonly string[]) => [...new Set(texts)];
  return unique(lines.map(({ source }) => source)).map((source) => {
    const own = lines.filter((line) => line.source === source);
    const counted = unique(own.map(({ boundary }) => boundary)).map((boundary) => {
      const labels = own.flatMap((line) => (line.boundary === boundary ? line.label : []));
      return `${boundary} (${labels.join(", ")})`;
    });
    const [{ link, year } = { link: "", year: "" }] = own;
    return { source: source.includes(String(year)) ? source : `${source}, ${year}`, link, counted: counted.join("; ") };
  });
}

/** "from 70 t to 90 t"; empty if both ends look the same. */
export function rangeText({ range }: FootprintEstimate): string {
  const [low, high] = range ? [formatMass(range.lowKg), formatMass(range.highKg)] : [];
  return low === high ? "" : `from ${low} to ${high}`;
}

/** Says what the range covers, and names the amounts that it does not cover: otherwise it looks like a precise total. */
export function rangeCover({ between, single = [] }: FootprintRange): string {
  const labels = single.map((field) => AMOUNTS[field].label).join(", ");
  const left = labels && ` The range does not cover what has one published figure: ${labels}.`;
  return `published figures differ for ${between.join("; ")}.${left} The true figure can be outside this range`;
}

/** "Flights, 55%"; empty if there are fewer than two parts. */
export function largestPart(estimate: FootprintEstimate): string {
  const [first, second] = categoriesOf(estimate);
  if (!first || !second || first.kg === 0) return "";
  return `${first.category}, ${Math.round((100 * first.kg) / estimate.totalKg)}%`;
}

/** The averages that replace figures for the visitor's country: "the world’s average for electricity". */
export function averagesText({ lines }: FootprintEstimate): string {
  const fields = averagedFields(lines);
  const grid = fields.some((field) => field !== "hotelNights") && "the world’s average for electricity";
  const hotels = fields.includes("hotelNights") && `the ${HOTEL_AVERAGE} for hotels`;
  return [grid, hotels].filter(Boolean).join(" and ");
}

function averagedFields(lines: readonly FootprintLine[]): AmountField[] {
  return lines.filter(isCounted).flatMap(({ field, place }) => (place === null ? field : []));
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

/** The notes that belong below a stored estimate in the mail and in the inbox, one for each subject. */
export function estimateNotes(estimate: FootprintEstimate, price: Price | null): string[] {
  const { inputs, lines, factorSet, range } = estimate;
  const between = rangeText(estimate);
  const averaged = averagedFields(lines).map((field) => AMOUNTS[field].label);
  const isSaid = inputs.for === "organisation" || inputs.people !== undefined;
  return [
    ...(range && between !== "" ? [`The range is ${between}: ${rangeCover(range)}.`] : []),
    ...costSentences(estimate, price),
    ...(lines.length > 1 ? [ROUNDED] : []),
    ...(isSaid ? [`For ${[describeWhom(inputs), eachText(estimate)].filter(Boolean).join(": ")}.`] : []),
    ...(averaged.length > 0 ? [`Averages (not country figures) were used for: ${averaged.join(", ")}.`] : []),
    ...(inputs.shortFlights && inputs.shortFlightKm > SHORT_MAX_KM
      ? [`The short flights are more than ${formatAmount(SHORT_MAX_KM)} km one way: they may be long flights.`]
      : []),
    ...(lines.some(({ field, place }) => field === "hotelNights" && place)
      ? ["Hotels are counted with the figure for the sender's country."]
      : []),
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
  if (field === "shortFlights")
    return ` of ${formatAmount(inputs.shortFlightKm)} km each way, ${isDomestic(inputs) ? "as domestic flights" : optionLabel(inputs.shortFlightClass)}`;
  if (field === "longFlights")
    return ` of ${formatAmount(inputs.longFlightKm)} km each way, ${optionLabel(inputs.longFlightClass)}`;
  return "";
}

/** "an organisation of 40 people". */
export function describeWhom({ for: whom, people }: Partial<Pick<FootprintInputs, "for" | "people">>): string {
  const name =
    whom === "organisation" ? "an organisation" : people === undefined ? "one person or household" : "a household";
  return people === undefined ? name : `${name} of ${formatAmount(people)} ${people === 1 ? "person" : "people"}`;
}

/** The company's price of credits for a tonne. */
export interface Price {
  amount: number;
  /** As written after a number; its ISO code, such as "EUR", also says how many decimals it has. */
  currency: string;
  /** A tax in the price, such as "VAT". */
  includes?: string;
}

export const CREDITS_NOTE = "They do not change what you emit.";

const AMOUNT_DECIMALS = 6;

/** "about 35 EUR including VAT". Uses the rounded total, so that the visitor can check the sum. */
export function formatCost(totalKg: number, { amount, currency, includes }: Price): string {
  // An integer, so that a price at an exact half is always rounded up.
  const cost = Math.round(roundedKg(totalKg) * 1000) * Math.round(amount * 10 ** AMOUNT_DECIMALS);
  const unit = 10 ** (6 + AMOUNT_DECIMALS);
  const isCode = /^[A-Z]{3}$/.test(currency);
  const own = new Intl.NumberFormat("en-GB", { style: "currency", currency: isCode ? currency : "EUR" });
  const most = own.resolvedOptions().maximumFractionDigits ?? 2;
  const isLess = cost * 10 ** most < unit;
  // Whole units from 10 on, because the total has two significant figures.
  const digits = cost < 10 * unit ? most : 0;
  const shown = Math.max(Math.round(cost / (unit / 10 ** digits)), 1) / 10 ** digits;
  const text = shown.toLocaleString("en-GB", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    trailingZeroDisplay: "stripIfInteger",
  });
  return `${isLess ? "less than" : "about"} ${text} ${currency}${includes ? ` including ${includes}` : ""}`;
}

/** What the company would charge for the whole total; none without a price or a total. */
function costSentences({ totalKg }: FootprintEstimate, price: Price | null): string[] {
  if (!price || totalKg === 0) return [];
  return [`Credits for ${formatMass(totalKg)} cost ${formatCost(totalKg, price)}.`];
}

/** How the page reads a number, where that is not obvious. By field name in a form post, as the entered texts. */
export function hintsOf(inputs: FootprintInputs, texts: Readonly<Record<string, string>>): Record<string, string> {
  const hints: Record<string, string> = {};
  const add = (field: string, hint: string) => {
    const name = FIELD_PREFIX + field;
    hints[name] = [hints[name], hint].filter(Boolean).join(". ");
  };
  for (const field of [...Object.keys(AMOUNTS), ...Object.keys(DISTANCES)] as (AmountField | keyof Distances)[]) {
    const amount = inputs[field];
    const text = texts[FIELD_PREFIX + field]?.trim() ?? "";
    if (amount === undefined || text === "") continue;
    const conversion = field in AMOUNTS ? conversionOf(field as AmountField, inputs) : "";
    if (conversion !== "" || !/^\d+$/.test(text)) {
      add(field, `Read as ${formatAmount(amount)} ${unitOf(field, inputs)}${conversion}`);
    }
  }
  if (inputs.shortFlights !== undefined) {
    if (isDomestic(inputs)) add("shortFlightKm", "Counted as domestic flights: the class does not matter");
    if (inputs.shortFlightKm > SHORT_MAX_KM) {
      add("shortFlightKm", "Enter flights of more than 3,700 km one way as long flights.");
    }
  }
  return hints;
}

/** A year's use of a typical home in Great Britain, by Ofgem's typical domestic consumption values of 2023. */
const HOME_KWH: Partial<Record<AmountField, number>> = { electricityKwh: 2700, gasKwh: 11_500 };
const LARGE_HOUSEHOLD = 20;
/** An organisation that does not say how many people it has may be large. */
const UNKNOWN_PEOPLE = 1000;

/** The amount for each person above which the page asks. */
const UNUSUAL: Readonly<Record<AmountField, number>> = {
  electricityKwh: 50_000,
  gasKwh: 100_000,
  heatingOilLitres: 10_000,
  lpgLitres: 10_000,
  carKm: 200_000,
  railKm: 100_000,
  coachKm: 100_000,
  busKm: 100_000,
  taxiKm: 100_000,
  shortFlights: 150,
  longFlights: 100,
  hotelNights: 366,
};

/**
 * Asks about amounts that are probably slips, with a comparison. The estimate counts them all the same. By field name
 * in a form post.
 */
export function questionsAbout(inputs: FootprintInputs): Record<string, string> {
  const { for: whom, people } = inputs;
  const heads = people ?? (whom === "organisation" ? UNKNOWN_PEOPLE : 1);
  // Two significant figures.
  const about = (amount: number) => formatAmount(Number(amount.toPrecision(2)));
  const questions = (Object.keys(UNUSUAL) as AmountField[]).flatMap((field): [string, string][] => {
    const isFlight = AMOUNTS[field].category === "Flights";
    const amount = (inputs[field] ?? 0) * (isFlight ? 1 : unitsPerYear(field, inputs));
    if (amount <= UNUSUAL[field] * heads) return [];
    const home = HOME_KWH[field];
    const compared = home
      ? `as much as ${about(amount / home)} typical British homes use`
      : `about ${about(amount / 365)} ${AMOUNTS[field].unit} a day`;
    return [[FIELD_PREFIX + field, `That is ${compared}. Is it right?`]];
  });
  if (whom === "household" && people !== undefined && people > LARGE_HOUSEHOLD) {
    questions.push([`${FIELD_PREFIX}people`, `That is a household of ${formatAmount(people)} people. Is it right?`]);
  }
  return Object.fromEntries(questions);
}
