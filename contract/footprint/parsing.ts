import { withAsciiDigits } from "../text.ts";
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

const MAX_AMOUNT = 1e10;
const MAX_DISTANCE_KM = 20_000;
const MAX_PEOPLE = 1_000_000;
const MAX_LENGTH = 100;
const DEFAULT_CHOICES = Object.fromEntries(
  Object.entries(CHOICES).map(([name, { options }]) => [name, options[0]]),
) as Choices;
/** The sender chooses the names of unknown fields, so a response shows only the start of one. */
const SHOWN_LENGTH = 40;

type ParsedFootprint =
  /** `null` if no amount was entered. That is no estimate, which differs from an estimate of 0. */
  | { ok: true; inputs: FootprintInputs | null }
  /** `rest` has the valid amounts. */
  | { ok: false; fields: FootprintErrors; rest: FootprintInputs | null };

/** Reads an object `footprint`, or fields with the prefix `footprint.`. One sentence for each invalid value. */
export function parseFootprint(body: Readonly<Record<string, unknown>>): ParsedFootprint {
  const given = Object.hasOwn(body, "footprint") ? body.footprint : withPrefix(body);
  if (given === undefined || given === null || given === "") return { ok: true, inputs: null };
  if (typeof given !== "object" || Array.isArray(given)) {
    return { ok: false, fields: { footprint: "Send the estimate's inputs as an object." }, rest: null };
  }

  const fields: FootprintErrors = {};
  const numbers: Partial<Record<NumberField, number>> = {};
  const choices = { ...DEFAULT_CHOICES };
  const units: Units = {};
  for (const [name, value] of Object.entries(given)) {
    // No check looks at a text that is too long for any number or choice.
    const isTooLong = typeof value === "string" && value.length > MAX_LENGTH;
    const isEmpty = value === null || (typeof value === "string" && !isTooLong && value.trim() === "");
    const key = `${FIELD_PREFIX}${name}` as const;
    if (!isFootprintField(name)) {
      fields.footprint = `There is no field "${name.slice(0, SHOWN_LENGTH)}" in the estimate.`;
    } else if (isEmpty) {
      // Like a field that was not sent.
    } else if (isNumberField(name)) {
      const read = checkNumber(isTooLong ? null : value, name);
      if (typeof read === "number") numbers[name] = read;
      else fields[key] = read;
    } else {
      const options: readonly unknown[] = isOneOf(CHOICES, name) ? CHOICES[name].options : UNITS[name];
      if (!options.includes(value)) fields[key] = `Choose one of: ${options.join(", ")}.`;
      else if (isOneOf(CHOICES, name)) Object.assign(choices, { [name]: value });
      else if (value !== options[0]) Object.assign(units, { [name]: value });
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
  return Object.keys(fields).length > 0 ? { ok: false, fields, rest } : { ok: true, inputs: rest };
}

function isFootprintField(name: string): name is FootprintField {
  return isNumberField(name) || isOneOf(CHOICES, name) || isOneOf(UNITS, name);
}

function isNumberField(name: string): name is NumberField {
  return isOneOf(AMOUNTS, name) || isOneOf(DISTANCES, name) || name === "people";
}

function withPrefix(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(body).filter(([name]) => name.startsWith(FIELD_PREFIX));
  // `fromEntries` treats "__proto__" like any other field name.
  return Object.fromEntries(entries.map(([name, value]) => [name.slice(FIELD_PREFIX.length), value]));
}

function isOneOf<Table extends object>(table: Table, name: PropertyKey): name is keyof Table {
  return Object.hasOwn(table, name);
}

function checkNumber(value: unknown, field: NumberField): number | string {
  const isCount = field === "people";
  const max = isCount ? MAX_PEOPLE : isOneOf(DISTANCES, field) ? MAX_DISTANCE_KM : MAX_AMOUNT;
  const amount = typeof value === "string" ? parseAmount(value) : value;
  const isNumber = typeof amount === "number" && !Number.isNaN(amount);
  if (isNumber && amount > max) return `Enter at most ${max.toLocaleString("en-GB")}.`;
  if (isCount && !(isNumber && amount >= 1 && Number.isInteger(amount))) return "Enter a whole number, 1 or more.";
  if (!isNumber) return "Enter a number, such as 1,500.";
  return amount < 0 ? "Enter 0 or more." : amount;
}

/**
 * Reads a number as people write it. Spaces and apostrophes group digits. A comma followed by exactly three digits
 * groups; any other single comma and any single point is a decimal. Of several different separators the last is the
 * decimal; several equal ones all group. A leading zero never groups. Reads the digits of every script, and Arabic
 * separators. `null` for anything else.
 */
export function parseAmount(text: string): number | null {
  const ascii = withAsciiDigits(text).replaceAll("٫", ".").replaceAll("٬", ",").trim().replace(/^−/, "-");
  const [, sign = "", digits = ""] = /^([+-]?)([\d.,\s'’]+)$/u.exec(ascii) ?? [];
  const parts = digits.split(/[.,\s'’]/u);
  const separators = [...digits]
    .filter((character) => /\D/.test(character))
    .map((one) => (/[.,]/.test(one) ? one : " "));
  const last = separators.at(-1);
  const isMixed = separators.some((one) => one !== last);
  const groupsThousands = last === "," && /^[1-9]\d*,\d{3}$/.test(digits);
  const isDecimal = last !== " " && (isMixed || (separators.length === 1 && !groupsThousands));
  const groups = isDecimal ? parts.slice(0, -1) : parts;
  const kinds = new Set(isDecimal ? separators.slice(0, -1) : separators);
  const isGrouped =
    groups.length === 1 ||
    // Groups of three, or of two before the last one as in India.
    (kinds.size === 1 && !(isDecimal && kinds.has(last ?? "")) && /^[1-9]\d*( \d{2,3})* \d{3}$/.test(groups.join(" ")));
  const fraction = isDecimal ? (parts.at(-1) ?? "") : "";
  if (!isGrouped || !/\d/.test(digits)) return null;
  return Number(`${sign === "-" ? "-" : ""}${groups.join("") || "0"}.${fraction || "0"}`);
}
