import { parse, type DefaultTreeAdapterTypes as Tree } from "parse5";

/** Elements that can be part of a sentence. Any other element ends it. */
const INLINE =
  /^(?:a|abbr|b|bdi|bdo|br|cite|code|data|del|dfn|em|i|img|ins|kbd|mark|q|s|samp|small|span|strong|sub|sup|svg|time|u|var|wbr)$/;
/** Field names and options are not prose. */
const NOT_PROSE = /^(?:script|style|template|label|legend|select)$/;
const TEXT_ATTRIBUTE = /^(?:alt|aria-description|aria-label|title)$/;
const META = /^(?:description|(?:og|twitter):(?:title|description|image:alt))$/;
/** Matches a figure in `data-fact`. Figures may change with every build, so the fact's name replaces them. */
const FIGURE = /^(?:about |less than )?[\d#][\d#.,\s]*(?:g|kg|t|km|kWh|%)?(?:\sCO₂e)?(?: a year)?$/;
const SEGMENTER = new Intl.Segmenter("en-GB", { granularity: "sentence" });

/** The sentences as a visitor reads them, with single spaces and without the final full stop. */
export function sentencesOfText(text: string): string[] {
  const paragraphs = text.replaceAll(/[\u00AD\u200B-\u200D\u2060\uFEFF]/g, "").split(/\n\s*\n/);
  const segments = paragraphs.flatMap((one) => [...SEGMENTER.segment(one.replaceAll(/\s+/g, " ").trim())]);
  return segments.map(({ segment }) => segment.trim().replace(/\.$/, ""));
}

/** The sentences of a page in reading order, then its description, labels and alternative texts. */
export function sentencesOfHtml(html: string): string[] {
  const blocks: string[] = [];
  const attributes: string[] = [];
  let current = "";
  const endBlock = () => {
    blocks.push(current.replaceAll(/\s+/g, " "));
    current = "";
  };
  const visit = (node: Tree.Node) => {
    if (node.nodeName === "#text") current += (node as Tree.TextNode).value;
    if (NOT_PROSE.test(node.nodeName) || !("childNodes" in node)) return;
    const given = Object.fromEntries("attrs" in node ? node.attrs.map(({ name, value }) => [name, value]) : []);
    for (const [name, value] of Object.entries(given)) if (TEXT_ATTRIBUTE.test(name)) attributes.push(value);
    if (META.test(given.name ?? given.property ?? "")) attributes.push(given.content ?? "");
    if (!INLINE.test(node.nodeName)) endBlock();
    if (node.nodeName === "br") current += " ";
    const start = current.length;
    for (const child of node.childNodes) visit(child);
    const fact = given["data-fact"];
    if (fact && FIGURE.test(current.slice(start))) current = `${current.slice(0, start)}{${fact}}`;
    if (!INLINE.test(node.nodeName)) endBlock();
  };
  visit(parse(html, { scriptingEnabled: false }));
  return [...new Set([...blocks, ...attributes])].flatMap(sentencesOfText);
}
