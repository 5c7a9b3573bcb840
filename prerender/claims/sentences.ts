import { parse, type DefaultTreeAdapterTypes as Tree } from "parse5";

export interface Sentence {
  /** As a visitor reads it, with single spaces. What is computed or set is named instead: "{grams} g CO₂e". */
  text: string;
  /** The paragraph, heading or label that it is part of. */
  block: string;
  /** Within a quotation of several sentences, and so without quotation marks of its own. */
  isQuoted: boolean;
}

/** An element with this attribute holds a figure or a setting; its value is the name that a sentence has instead. */
const FACT = "data-fact";

/** Elements within a sentence. Any other ends it. */
const INLINE = new Set(
  "a abbr b bdi bdo br cite code data del dfn em i img ins kbd mark q s samp small span strong sub sup svg time u var wbr".split(
    " ",
  ),
);
const NOT_TEXT = new Set(["script", "style", "template"]);
const TEXT_ATTRIBUTES = new Set(["alt", "aria-description", "aria-label", "label", "placeholder", "title"]);
const META = /^(?:description|(?:og|twitter):(?:title|description|image:alt))$/;

const SEGMENTER = new Intl.Segmenter("en-GB", { granularity: "sentence" });

export function sentencesOfText(text: string, isQuoted = false): Sentence[] {
  return text
    .replaceAll(/[\u00AD\u200B-\u200D\u2060\uFEFF]/g, "")
    .split(/\n\s*\n/)
    .flatMap((paragraph) => {
      const block = paragraph.replaceAll(/\s+/g, " ").trim();
      return [...SEGMENTER.segment(block)].map(({ segment }) => ({ text: segment.trim(), block, isQuoted }));
    })
    .filter(({ text: sentence }) => /\p{L}/u.test(sentence));
}

/** The sentences of a page in reading order, then its title, description, labels and alternative texts. */
export function sentencesOfHtml(html: string): Sentence[] {
  const blocks: { text: string; isQuoted: boolean }[] = [];
  const attributes: string[] = [];
  let current = "";
  const endBlock = (isQuoted: boolean) => {
    blocks.push({ text: current.replaceAll(/\s+/g, " "), isQuoted });
    current = "";
  };
  const visit = (node: Tree.Node, isQuoted: boolean) => {
    if (node.nodeName === "#text") current += (node as Tree.TextNode).value;
    if (NOT_TEXT.has(node.nodeName) || !("childNodes" in node)) return;
    const given = new Map("attrs" in node ? node.attrs.map(({ name, value }) => [name, value]) : []);
    for (const [name, value] of given) if (TEXT_ATTRIBUTES.has(name)) attributes.push(value);
    if (META.test(given.get("name") ?? given.get("property") ?? "")) attributes.push(given.get("content") ?? "");
    const fact = given.get(FACT);
    if (fact !== undefined) {
      current += `{${fact}}`;
      return;
    }
    const isQuotation = isQuoted || node.nodeName === "blockquote";
    if (!INLINE.has(node.nodeName)) endBlock(isQuoted);
    if (node.nodeName === "q") current += "“";
    if (node.nodeName === "br") current += " ";
    for (const child of node.childNodes) visit(child, isQuotation);
    if (node.nodeName === "q") current += "”";
    if (!INLINE.has(node.nodeName)) endBlock(isQuotation);
  };
  visit(parse(html, { scriptingEnabled: false }), false);
  return [
    ...blocks.flatMap(({ text, isQuoted }) => sentencesOfText(text, isQuoted)),
    ...attributes.flatMap((text) => sentencesOfText(text)),
  ];
}
