// Quotes a message below a reply, and finds what a mail quotes of earlier ones, so that a page can fold it.

export function quote({ acceptedAt, name, message }: { acceptedAt: Date; name: string; message: string }): string {
  const day = acceptedAt.toISOString().slice(0, 10);
  return [`On ${day}, ${name} wrote:`, ...message.split("\n").map((line) => `> ${line}`)].join("\n");
}

export interface TextPart {
  text: string;
  isQuoted: boolean;
}

const QUOTED = /^\s?>/;
/** "On 3 March 2026, Ada wrote:" in common languages. */
const ATTRIBUTION = /^(On|Am|Le|El|Il|Op|Den|Em|Dnia|Dne)\s/iu;
const ATTRIBUTION_VERB = /\s(wrote|schrieb|écrit|escribió|scritto|schreef|skrev|escreveu|napisał|napsal)[\s:]/iu;
const RULE = /^[-_]{4,}(\s*\p{L}[\p{L} ]{5,40}-{4,})?$/u;
const FROM = /^\W{0,2}(From|Von|De|Da|Van|Från|Fra|Od|Lähettäjä|发件人|差出人)\W{0,3}[:：]/iu;
const FIELD = /^\W{0,2}[\p{L}-]{2,15}( \p{L}{1,10})?\W{0,3}[:：]\s*\S/u;
/** An attribution is at most this long; longer lines are somebody's text. */
const MAX_ATTRIBUTION_LENGTH = 250;

/** The text in parts, each quoted or not; together they are the whole: nothing is removed. A text that is all quoted is not folded. */
export function splitQuotes(text: string): TextPart[] {
  const lines = text.split("\n");
  const isQuoted = lines.map((line) => QUOTED.test(line));
  const rest = lines.findIndex((_, index) => beginsRest(lines, index));
  if (rest >= 0) isQuoted.fill(true, rest);
  for (const [index] of lines.entries()) {
    if (!isQuoted[index] || isQuoted[index - 1]) continue;
    // "On … wrote:" in any language, on one line or two, stands above the lines that it introduces.
    let last = index - 1;
    while (last >= 0 && lines[last]?.trim() === "") last -= 1;
    const above = lines[last]?.trim() ?? "";
    if (!above.endsWith(":") || above.length > MAX_ATTRIBUTION_LENGTH || isQuoted[last]) continue;
    const isWrapped = !/\d/.test(above) && /\d/.test(lines[last - 1] ?? "") && (lines[last - 1]?.length ?? 0) > 20;
    isQuoted.fill(true, isWrapped ? last - 1 : last, index);
  }
  // Empty lines between quoted lines belong to them.
  const isNextQuoted = isQuoted.slice();
  for (let index = lines.length - 2; index >= 0; index -= 1)
    if (lines[index]?.trim() === "") isNextQuoted[index] = isNextQuoted[index + 1] ?? false;
  for (const index of lines.keys()) if (isQuoted[index - 1] && isNextQuoted[index]) isQuoted[index] = true;
  const parts: TextPart[] = [];
  for (const [index, line] of lines.entries()) {
    const last = parts.at(-1);
    const quoted = isQuoted[index] ?? false;
    if (last?.isQuoted === quoted) last.text += `\n${line}`;
    else parts.push({ text: line, isQuoted: quoted });
  }
  const isOwn = parts.some((part) => !part.isQuoted && part.text.trim() !== "");
  return isOwn ? parts : [{ text, isQuoted: false }];
}

/** From here to the end all is quoted, without marks: Outlook's header block, or an attribution without quoted lines. */
function beginsRest(lines: readonly string[], index: number): boolean {
  const line = lines[index]?.trim() ?? "";
  const after = lines.slice(index + 1, index + 8).filter((one) => one.trim() !== "");
  const [first = "", ...fields] = RULE.test(line) ? after : [line, ...after];
  if (FROM.test(first)) return fields.length >= 2 && fields.slice(0, 2).every((one) => FIELD.test(one));
  const isAttribution = line.endsWith(":") && line.length <= MAX_ATTRIBUTION_LENGTH && ATTRIBUTION.test(line);
  return isAttribution && ATTRIBUTION_VERB.test(line) && after.length > 0 && !after.some((one) => QUOTED.test(one));
}
