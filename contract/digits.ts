const DIGIT = /\p{Nd}/u;

/**
 * The text with the decimal digits of every script as 0 to 9, and with the full-width forms of ASCII, which East Asian
 * keyboards write, as ASCII. The length of the text may change.
 */
export function withAsciiDigits(text: string): string {
  return text
    .replaceAll(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replaceAll(/(?!\d)\p{Nd}/gu, (digit) => String(digitValue(digit)));
}

/** Unicode has the digits of a script one after another, beginning with 0. Some scripts follow each other directly. */
function digitValue(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  let before = 0;
  while (DIGIT.test(String.fromCodePoint(code - before - 1))) before += 1;
  return before % 10;
}
