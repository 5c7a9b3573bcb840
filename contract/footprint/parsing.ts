import { withAsciiDigits } from "../text.ts";
import {
  AMOUNTS,
  CHOICES,
  DEFAULTS,
  DISTANCES,
  FIELD_PREFIX,
  type FootprintErrors,
  type FootprintInputs,
  UNITS,
} from "./fields.ts";

const MAX_LENGTH = 100;
/** The sender chooses the names of unknown fields, so a response shows only the start of one. */
const SHOWN_LENGTH = 40;

const LARGEST = new Map<string, number>([
  ...Object.keys(AMOUNTS).map((name) => [name, 1e10] as const),
  ...Object.keys(DISTANCES).map((name) => [name, 20_000] as const),
  ["people", 1_000_000],
]);
const OPTIONS = new Map<string, readonly unknown[]>([
  ...Object.entries(CHOICES).map(([name, { options }]) => [name, options] as const),
  ...Object.entries(UNITS),
]);

interface ParsedFootprint {
  /** What can be read; `null` if no amount was entered. That is no estimate, which differs from an estimate of 0. */
  inputs: FootprintInputs | null;
  /** A sentence for each invalid value. */
  errors: FootprintErrors;
}

/** Reads an object `footprint`, or fields with the prefix `footprint.`. */
export function parseFootprint(body: Readonly<Record<string, unknown>>): ParsedFootprint {
  const given = Object.hasOwn(body, "footprint") ? body.footprint : withPrefix(body);
  if (given === undefined || given === null || given === "") return { inputs: null, errors: {} };
  if (typeof given !== "object" || Array.isArray(given)) {
    return { inputs: null, errors: { footprint: "Send the estimate's inputs as an object." } };
  }

  const errors: FootprintErrors = {};
  const values: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    // No check looks at a text that is too long for any number or choice.
    const isTooLong = typeof value === "string" && value.length > MAX_LENGTH;
    const isEmpty = value === null || (typeof value === "string" && !isTooLong && value.trim() === "");
    const key = `${FIELD_PREFIX}${name}` as const;
    const [largest, options] = [LARGEST.get(name), OPTIONS.get(name)];
    if (largest === undefined && options === undefined) {
      errors.footprint = `There is no field "${name.slice(0, SHOWN_LENGTH)}" in the estimate.`;
    } else if (isEmpty) {
      // Like a field that was not sent.
    } else if (options) {
      if (!options.includes(value)) errors[key] = `Choose one of: ${options.join(", ")}.`;
      else if (value !== options[0]) values[name] = value;
    } else {
      const amount = typeof value === "string" && !isTooLong ? parseAmount(value) : value;
      const problem = problemWithNumber(amount, largest, name === "people");
      if (problem === null) values[name] = amount;
      else errors[key] = problem;
    }
  }
  // Without its distance a flight cannot be counted.
  if (errors["footprint.shortFlightKm"]) delete values.shortFlights;
  if (errors["footprint.longFlightKm"]) delete values.longFlights;
  const hasAmount = Object.keys(AMOUNTS).some((name) => name in values);
  return { inputs: hasAmount ? ({ ...DEFAULTS, ...values } as FootprintInputs) : null, errors };
}

function withPrefix(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(body).filter(([name]) => name.startsWith(FIELD_PREFIX));
  // `fromEntries` treats "__proto__" like any other field name.
  return Object.fromEntries(entries.map(([name, value]) => [name.slice(FIELD_PREFIX.length), value]));
}

function problemWithNumber(amount: unknown, largest = 0, isCount: boolean): string | null {
  const isNumber = typeof amount === "number" && !Number.isNaN(amount);
  if (isNumber && amount > largest) return `Enter at most ${largest.toLocaleString("en-GB")}.`;
  if (isCount) return isNumber && amount >= 1 && Number.isInteger(amount) ? null : "Enter a whole number, 1 or more.";
  if (!isNumber) return "Enter a number, such as 1,500.";
  return amount < 0 ? "Enter 0 or more." : null;
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
