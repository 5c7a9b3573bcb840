import { withAsciiDigits } from "../digits.ts";
import {
  AMOUNTS,
  CHOICES,
  type Choices,
  DISTANCES,
  FIELD_PREFIX,
  type FootprintErrors,
  type FootprintField,
  type FootprintInputs,
  type NumberField,
  UNITS,
  type Units,
} from "./fields.ts";

// The contact page's first script contains this file, so it must not import the factors.

const MAX_AMOUNT = 1e10;
const MAX_DISTANCE_KM = 20_000;
const MAX_PEOPLE = 1_000_000;
/** The length of a number as text. */
const MAX_LENGTH = 100;
/** A response repeats at most this many unknown field names, because the sender chooses them. */
const MAX_UNKNOWN_FIELDS = 5;
const MAX_UNKNOWN_LENGTH = 40;

const NO_SUCH_FIELD = "There is no such field in the estimate.";

export type ParsedFootprint =
  /** `null` if no amount was entered. That is no estimate, which differs from an estimate of 0. */
  | { ok: true; inputs: FootprintInputs | null }
  /** `rest` has the valid amounts. `meanings` has the numbers that an amount such as "1.500" can mean. */
  | { ok: false; fields: FootprintErrors; meanings: Meanings; rest: FootprintInputs | null };

/** By field name in a form post. */
export type Meanings = Readonly<Record<string, readonly string[]>>;

/**
 * Reads an estimate's inputs from a request body: an object `footprint`, or fields whose names begin with `footprint.`.
 * Returns one sentence for each invalid value.
 */
export function parseFootprint(body: Readonly<Record<string, unknown>>): ParsedFootprint {
  const given = Object.hasOwn(body, "footprint") ? body.footprint : withPrefix(body);
  if (given === undefined || given === null || given === "") return { ok: true, inputs: null };
  if (typeof given !== "object" || Array.isArray(given)) {
    return { ok: false, fields: { footprint: "Send the estimate's inputs as an object." }, meanings: {}, rest: null };
  }

  const fields: FootprintErrors = {};
  const meanings: Record<string, readonly string[]> = {};
  const numbers: Partial<Record<NumberField, number>> = {};
  const choices: Choices = {
    for: "household",
    carFuel: "petrol",
    shortFlightClass: "economy",
    longFlightClass: "economy",
  };
  const units = unitsIn(given);
  let unknownFields = 0;
  for (const [name, value] of Object.entries(given)) {
    // No check looks at a text that is too long for any number or choice.
    const isTooLong = typeof value === "string" && value.length > MAX_LENGTH;
    const isEmpty = value === null || (typeof value === "string" && !isTooLong && value.trim() === "");
    const key = `${FIELD_PREFIX}${name}` as const;
    if (isNumberField(name)) {
      if (isEmpty) continue;
      const read = checkNumber(isTooLong ? null : value, ruleOf(name, units));
      if (typeof read === "number") numbers[name] = read;
      else fields[key] = typeof read === "string" ? read : `Did you mean ${read.join(" or ")}?`;
      if (typeof read === "object") meanings[key] = read;
    } else if (isOneOf(CHOICES, name) || isOneOf(UNITS, name)) {
      if (isEmpty) continue;
      const options: readonly unknown[] = isOneOf(CHOICES, name) ? CHOICES[name].options : UNITS[name];
      if (!options.includes(value)) fields[key] = `Choose one of: ${options.join(", ")}.`;
      else if (isOneOf(CHOICES, name)) Object.assign(choices, { [name]: value });
    } else {
      unknownFields += 1;
      const isNamed = name.length <= MAX_UNKNOWN_LENGTH && unknownFields <= MAX_UNKNOWN_FIELDS;
      fields[isNamed ? key : "footprint"] = isNamed ? NO_SUCH_FIELD : "The estimate has unknown fields.";
    }
  }
  const { shortFlightKm, longFlightKm, people, ...amounts } = numbers;
  // Without its distance a flight cannot be counted.
  if (fields["footprint.shortFlightKm"]) delete amounts.shortFlights;
  if (fields["footprint.longFlightKm"]) delete amounts.longFlights;
  const isEmpty = Object.keys(amounts).length === 0;
  const inputs: FootprintInputs = {
    ...amounts,
    shortFlightKm: shortFlightKm ?? DISTANCES.shortFlightKm.usual,
    longFlightKm: longFlightKm ?? DISTANCES.longFlightKm.usual,
    ...choices,
    ...(people !== undefined && { people }),
    ...units,
  };
  const rest = isEmpty ? null : inputs;
  return Object.keys(fields).length > 0 ? { ok: false, fields, meanings, rest } : { ok: true, inputs: rest };
}

function unitsIn(given: object): Units {
  const entries: [string, unknown][] = Object.entries(given);
  return Object.fromEntries(entries.filter(([name, value]) => isOneOf(UNITS, name) && value === UNITS[name][1]));
}

/** False for a name that the form does not have. */
export function isFootprintField(name: string): name is FootprintField {
  return isNumberField(name) || isOneOf(CHOICES, name) || isOneOf(UNITS, name);
}

function isNumberField(name: string): name is NumberField {
  return isOneOf(AMOUNTS, name) || isOneOf(DISTANCES, name) || name === "people";
}

/** The unit of a number as it is entered, and as `parseAmount` knows it. */
export function unitOf(field: NumberField, { carUnit }: { carUnit?: string }): string {
  if (field === "people") return "people";
  if (field === "carKm" && carUnit === "mi") return "miles";
  return isOneOf(AMOUNTS, field) ? AMOUNTS[field].unit : "km";
}

function withPrefix(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(body).filter(([name]) => name.startsWith(FIELD_PREFIX));
  // `fromEntries` treats "__proto__" like any other field name.
  return Object.fromEntries(entries.map(([name, value]) => [name.slice(FIELD_PREFIX.length), value]));
}

function isOneOf<Table extends object>(table: Table, name: PropertyKey): name is keyof Table {
  return Object.hasOwn(table, name);
}

interface NumberRule {
  unit: string;
  max: number;
  /** The visitor chooses the unit beside the amount. */
  hasUnits?: boolean;
  /** A whole number, 1 or more. */
  isCount?: boolean;
}

function ruleOf(field: NumberField, carUnit: { carUnit?: string }): NumberRule {
  const unit = unitOf(field, carUnit);
  if (field === "people") return { unit, max: MAX_PEOPLE, isCount: true };
  if (isOneOf(DISTANCES, field)) return { unit, max: MAX_DISTANCE_KM };
  return { unit, max: MAX_AMOUNT, hasUnits: field === "carKm" };
}

/** The number, the numbers that it can mean, or a sentence that says why it is invalid. */
function checkNumber(
  value: unknown,
  { unit, max, hasUnits, isCount }: NumberRule,
): number | readonly string[] | string {
  const read = typeof value === "string" ? parseAmount(value, unit) : null;
  if (read !== null && typeof read === "object") return read;
  const amount = typeof value === "string" ? read : value;
  const text = typeof value === "string" ? value : "";
  if (amount === null && /\p{Nd}/u.test(text) && /\p{L}/u.test(text)) {
    return `Numbers only: ${hasUnits ? "choose the unit beside it." : `how many ${unit}?`}`;
  }
  const isNumber = typeof amount === "number" && !Number.isNaN(amount);
  if (isNumber && amount > max) return `Enter at most ${max.toLocaleString("en-GB")} ${unit}.`;
  if (isCount && !(isNumber && amount >= 1 && Number.isInteger(amount))) {
    return `Enter a whole number of ${unit}, 1 or more.`;
  }
  if (!isNumber) return `Enter a number of ${unit}, such as 1,500 or 12.5.`;
  return amount < 0 ? `Enter 0 or more ${unit}.` : amount;
}

const UNIT_NAMES: Readonly<Record<string, string>> = {
  kWh: "kwh|kw h|kilowatt[- ]?hours?",
  litres: "l|ltr|liters?|litres?",
  km: "km|kms|kilomet(?:er|re)s?",
  miles: "mi|miles?",
  flights: "(?:return )?flights?",
  nights: "nights?",
  people: "people|persons?",
};

/**
 * Reads a number as people write it: "1 500 kWh", "1,500.25", "1.500,25", "1,50,000", "1'500" and "1,5". One comma with
 * three digits after it separates thousands ("1,500"). One point with three digits after it has two meanings, depending
 * on the country ("1.500"); the result has both. Reads the digits of every script, and Arabic separators. `null` for
 * anything else, including slips such as "10,0000".
 */
export function parseAmount(text: string, unit: string): number | readonly [string, string] | null {
  const unitName = new RegExp(`\\s*(?:${UNIT_NAMES[unit] ?? "(?!)"})\\.?$`, "i");
  const ascii = withAsciiDigits(text).replaceAll("٫", ".").replaceAll("٬", ",");
  const trimmed = ascii.trim().replace(unitName, "");
  const compact = trimmed.replaceAll(/(?<=\d)[\s'’](?=\d)/gu, "");
  if (/^[1-9]\d*,\d{4,}$/.test(compact)) return null;
  if (/^[1-9]\d{0,2}\.\d{3}$/.test(compact)) return [compact.replace(".", ""), String(Number(compact))];
  if (/^[+-]?\d+(?:\.\d+)?e[+-]?\d+$/i.test(compact)) return Number(compact);
  const [, sign, digits] = /^([+-]?)([\d.,]+)$/.exec(compact.replace(/^−/, "-")) ?? [];
  if (digits === undefined || !/\d/.test(digits)) return null;
  const plain = withoutGroups(digits);
  return plain === null ? null : Number(`${sign === "-" ? "-" : ""}${plain}`);
}

/** The digits with at most one point. */
function withoutGroups(digits: string): string | null {
  const separators = [...digits].filter((character) => character === "," || character === ".");
  const last = separators.at(-1);
  if (last === undefined) return digits;
  const isMixed = separators.some((separator) => separator !== last);
  const isSingle = separators.length === 1;
  const isThousands = isSingle && last === "," && /^[1-9]\d{0,2},\d{3}$/.test(digits);
  const isDecimal = isMixed
    ? separators.filter((separator) => separator === last).length === 1
    : isSingle && !isThousands;
  const end = isDecimal ? digits.lastIndexOf(last) : digits.length;
  const whole = digits.slice(0, end);
  const fraction = digits.slice(end + 1);
  // Groups of three, or of two before the last one as in India.
  const isGrouped = /^(?:\d*|\d{1,3}(?:[.,]\d{2,3})*[.,]\d{3})$/.test(whole);
  if (!isGrouped || !/^\d*$/.test(fraction)) return null;
  const kinds = new Set([...whole].filter((character) => character === "," || character === "."));
  return kinds.size > 1 ? null : `${whole.replaceAll(/[.,]/g, "") || "0"}${fraction && `.${fraction}`}`;
}
