import { parse, type DefaultTreeAdapterTypes as Tree } from "parse5";

/** Settings whose names stand for their values in sentences. A value that contains another one comes first. */
type Names = readonly (readonly [name: string, value: string])[];

/** Elements that can be part of a sentence. Any other element ends it, but the cells of a row are read together. */
const INLINE =
  /^(?:a|abbr|b|bdi|bdo|br|cite|code|data|del|dfn|em|i|img|ins|kbd|mark|q|s|samp|small|span|strong|sub|sup|svg|t[dh]|time|u|var|wbr)$/;
const TEXT_ATTRIBUTE =
  /^(?:alt|label|placeholder|title|aria-(?:braille)?(?:label|roledescription)|aria-(?:description|placeholder|valuetext))$/;
const META =
  /^(?:application-name|author|description|keywords|(?:og|twitter):(?:title|description|site_name|image:alt))$/;
/** A number with its unit or currency. The build replaces `#.###`. */
const FIGURE =
  /(?:\p{Sc}\s?)?[\d#](?:[\d#.,]*[\d#])?(?:\s?(?:%|\p{Sc}|(?:k?g|t|km|kWh|days?|hours?|months?|years?|[A-Z]{3})\b))?/gu;
const CSS_CONTENT = /(?<![\w-])content\s*:((?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^;{}"'])*)/g;
const CSS_STRING = /"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'/g;
const SEGMENTER = new Intl.Segmenter("en-GB", { granularity: "sentence" });

/** The sentences as a visitor reads them: without invisible characters, extra spaces and the final full stop. */
export function sentencesOfText(text: string, names: Names): string[] {
  // Marks of direction stay: they change what a visitor sees.
  const seen = text.replaceAll(/(?![\u202A-\u202E\u2066-\u2069])\p{DI}/gu, "");
  const named = names.reduce((all, [name, value]) => {
    return all.replaceAll(new RegExp(`(?<!\\p{L})${RegExp.escape(value)}(?!\\p{L})`, "gu"), `[${name}]`);
  }, seen);
  return named.split(/\n\s*\n/).flatMap((paragraph) => {
    // The titles of pages repeat their headings.
    const untitled = paragraph.trim().replace(/ \| \[brand\]$|^\[brand\]: /, "");
    const segments = [...SEGMENTER.segment(untitled.replaceAll(/\s+/g, " "))];
    return segments.map(({ segment }) => segment.trim().replace(/\s*\.$/, "")).filter((sentence) => sentence !== "");
  });
}

/** The sentences of a page in reading order, then its description, labels, alternative texts and texts of styles. */
export function sentencesOfHtml(html: string, names: Names): string[] {
  const blocks: string[] = [];
  const others: string[] = [];
  let current = "";
  const endBlock = () => {
    blocks.push(current);
    current = "";
  };
  const visit = (node: Tree.Node, index: number, siblings: readonly Tree.Node[]) => {
    if (node.nodeName === "#text") current += (node as Tree.TextNode).value.replaceAll(/\s+/g, " ");
    if (node.nodeName === "script" || !("childNodes" in node)) return;
    const given = Object.fromEntries("attrs" in node ? node.attrs.map(({ name, value }) => [name, value]) : []);
    for (const [name, value] of Object.entries(given)) if (TEXT_ATTRIBUTE.test(name)) others.push(value);
    if (META.test(given.name ?? given.property ?? "")) others.push(given.content ?? "");
    if (/^(?:button|reset|submit)$/.test(given.type ?? "")) others.push(given.value ?? "");
    const isSecondLink = node.nodeName === "a" && siblings[index - 1]?.nodeName === "a";
    const isInline = INLINE.test(node.nodeName);
    if (!isInline || isSecondLink) endBlock();
    if (node.nodeName === "br") current += " ";
    if (/^t[dh]$/.test(node.nodeName) && current.trim() !== "") current += " | ";
    const start = current.length;
    const fact = given["data-fact"] ?? "";
    if (/^(?:countries|date)$/.test(fact)) current += `{${fact}}`;
    else ("content" in node ? node.content : node).childNodes.forEach(visit);
    // `data-fact` covers figures only. Words stay.
    if (fact !== "") current = current.slice(0, start) + current.slice(start).replaceAll(FIGURE, "#");
    if (node.nodeName === "style") {
      const values = [...current.matchAll(CSS_CONTENT)].map(([, value = ""]) => value);
      others.push(...[...values.join(" ").matchAll(CSS_STRING)].map(([, double, single]) => double ?? single ?? ""));
      current = "";
    }
    if (!isInline) endBlock();
  };
  visit(parse(html, { scriptingEnabled: false }), 0, []);
  return [...new Set([...blocks, ...others])].flatMap((text) => sentencesOfText(text, names));
}
