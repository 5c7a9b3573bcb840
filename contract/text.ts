/**
 * Control characters can move a terminal's cursor, change its colours or title, or run its commands. Invisible
 * characters that change the reading direction can disguise a text. Joiners stay, because emoji and scripts need them.
 */
export const HIDDEN_CHARACTER = /(?![\u200C\u200D])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
/** Without the direction marks and isolates that Arabic and Hebrew need: these turn round no letters. */
const DECEPTIVE = /(?![\u200C-\u200F\u061C\u2066-\u2069])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** An address needs no mark, and one that has some only looks like another. */
export const hiddenIn = (text: string) => (text.includes("@") && !/\s/.test(text) ? HIDDEN_CHARACTER : DECEPTIVE);

/** The text on one line, with what it hides shown as `\u{...}`. */
export function visible(text: string): string {
  return text.replaceAll(hiddenIn(text), escapeCharacter);
}

export function visibleLines(text: string): string {
  return text.split("\n").map(visible).join("\n");
}

function escapeCharacter(hidden: string): string {
  if (hidden === "\n") return "\\n";
  if (hidden === "\t") return "\\t";
  return `\\u{${hidden.codePointAt(0)?.toString(16)}}`;
}

/** Turns a recorded reason into a sentence: `450 deferred by the mail server (DATA).` */
export function asSentence(text: string): string {
  let sentence = capitalised(visible(text.trim()));
  while (/[.:;,]$/.test(sentence)) sentence = sentence.slice(0, -1);
  return `${sentence}.`;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "#39" };

/** Safe in the text and the quoted attributes of HTML and XML. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&${ENTITIES[character]};`);
}

export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** `1 message`, `2 messages`, `3 countries`, `4 replies`, `5 addresses`. */
export function plural(count: number, noun: string, format: (count: number) => string = String): string {
  const several = `${noun.replace(/([^aeiou])y$/, "$1ie").replace(/s$/, "se")}s`;
  return `${format(count)} ${count === 1 ? noun : several}`;
}

/** Also writes full-width forms of ASCII, which East Asian keyboards type, as ASCII. The length may change. */
export function withAsciiDigits(text: string): string {
  return text
    .replaceAll(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replaceAll(/(?!\d)\p{Nd}/gu, (digit) => String(digitValue(digit)));
}

/** Unicode has the digits of a script one after another, beginning with 0. Some scripts follow each other directly. */
function digitValue(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  let before = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(code - before - 1))) before += 1;
  return before % 10;
}
