/**
 * `{name}` in a text stands for a fact, `\{` and `\<` for the characters. A page gets its facts after Markdown has
 * been parsed, a mail after its text was read: what a fact contains is never read as Markdown or as another fact.
 */
const FACT = /\\[\\{<]|\{(\w+)\}/g;
/** Private-use characters, which Markdown takes for letters. */
const MARK = /\uE000(\w+)\uE001/g;

/** The text of a mail or title with its facts. A paragraph disappears if it has facts and all of them are empty. */
export function fillFacts(text: string, facts: Readonly<Record<string, string>>): string {
  const namesIn = (paragraph: string) => [...paragraph.matchAll(FACT)].flatMap(([, name]) => name ?? []);
  const isShown = (names: readonly string[]) => names.length === 0 || names.some((name) => facts[name] !== "");
  const fill = (found: string, name?: string) => {
    if (name === undefined) return found === "\\\\" ? found : found.slice(1);
    return Object.hasOwn(facts, name) ? (facts[name] ?? "") : found;
  };
  const paragraphs = text.split("\n\n").filter((paragraph) => isShown(namesIn(paragraph)));
  return paragraphs.map((paragraph) => paragraph.replaceAll(FACT, fill)).join("\n\n");
}

export function markFacts(markdown: string): string {
  return markdown.replaceAll(/[\uE000\uE001]/g, "").replaceAll(FACT, (found, name) => {
    if (name === undefined) return found === "\\{" ? "{" : found;
    return `\uE000${name}\uE001`;
  });
}

export function fillMarks(text: string, factOf: (name: string) => string): string {
  return text.replaceAll(MARK, (_, name) => factOf(name));
}

/** The text and the names of facts in turn: every second part is a name. */
export function splitAtMarks(text: string): string[] {
  return text.split(MARK);
}

/** The offset of each `{` in the text that begins none of these facts. */
export function unknownFacts(text: string, known: readonly string[]): number[] {
  return [...text.matchAll(/\\[\\{]|\{(?:(\w+)\})?/g)].flatMap(({ 0: found, 1: name, index }) =>
    found.startsWith("\\") || (name !== undefined && known.includes(name)) ? [] : index,
  );
}
