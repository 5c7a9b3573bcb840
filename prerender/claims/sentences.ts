import { createHash } from "node:crypto";

/** A run of text that a reader takes as one piece: a paragraph, a heading, a list item, a title, an alt text. */
export interface Block {
  /** What kind of text it is, as a report names it. */
  part: string;
  isHeading: boolean;
  /** Readable, with unusual characters replaced by their plain form. */
  text: string;
  /** The same, as long, with a filler for every character that is quoted. */
  unquoted: string;
  links: readonly { text: string; href: string }[];
}

export interface Sentence {
  text: string;
  /** The same with a filler for every character that is quoted. */
  unquoted: string;
  block: Block;
  /** What is read together with the sentence: its block, for a heading also the block after it. */
  context: { text: string; links: Block["links"] };
}

/** Stands for a quoted character. No word and no punctuation, so that no rule and no end of sentence is found in it. */
const FILLER = "\uFFFC";

/** Elements within a sentence. Any other element ends it. */
const INLINE = new Set(
  "a abbr b bdi bdo br cite code data del dfn em font i img ins kbd mark picture q s samp small source span strong sub sup svg time u var wbr".split(
    " ",
  ),
);
const NOT_TEXT = new Set(["script", "style", "template"]);
const QUOTATION = new Set(["blockquote", "q"]);
const VOID = new Set(
  "area base br col embed hr img input link meta param source track wbr path circle rect use".split(" "),
);
/** Attributes that are shown or read out. */
const TEXT_ATTRIBUTE: Readonly<Record<string, string>> = {
  alt: "alt text",
  "aria-description": "label",
  "aria-label": "label",
  label: "label",
  placeholder: "label",
  title: "label",
};
const META = /^(?:description|og:(?:title|description|site_name|image:alt)|twitter:(?:title|description|image:alt))$/;

const TOKEN = /<!--.*?-->|<!doctype[^>]*>|<(\/?)([a-z][\w:-]*)((?:"[^"]*"|'[^']*'|[^>"'])*)>|([^<]+|<)/gis;
const ATTRIBUTE = /([\w:-]+)\s*(?:=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g;

/** The texts of a page in reading order. For well-formed HTML, as React writes it. */
export function blocksOfHtml(html: string): Block[] {
  const blocks: Block[] = [];
  const open: string[] = [];
  let current = new BlockBuilder("text", false);
  const endBlock = (part: string, isHeading: boolean) => {
    blocks.push(...current.finish());
    current = new BlockBuilder(part, isHeading);
  };
  const isWithin = (names: ReadonlySet<string>) => open.some((name) => names.has(name));

  for (const [, slash, tag, attributes = "", text] of html.matchAll(TOKEN)) {
    if (text !== undefined) {
      if (!isWithin(NOT_TEXT)) current.add(decodeEntities(text), isWithin(QUOTATION));
      continue;
    }
    if (tag === undefined) continue;
    const name = tag.toLowerCase();
    if (NOT_TEXT.has(open.at(-1) ?? "") && !(slash && name === open.at(-1))) continue;
    const isInline = INLINE.has(name) || (open.includes("svg") && name !== "title");
    if (slash) {
      if (name === "a") current.endLink();
      const start = open.lastIndexOf(name);
      if (start >= 0) open.length = start;
      if (!isInline) endBlock("text", false);
      continue;
    }
    const given = attributesOf(attributes);
    if (!isInline) endBlock(name === "title" ? "title" : "text", /^h[1-6]$/.test(name));
    for (const [key, part] of Object.entries(TEXT_ATTRIBUTE)) blocks.push(...blocksOfText(given[key] ?? "", part));
    if (name === "meta" && META.test(given.name ?? given.property ?? "")) {
      blocks.push(...blocksOfText(given.content ?? "", "description"));
    }
    if (name === "br") current.add(" ", false);
    if (name === "a") current.startLink(given.href ?? "");
    if (!VOID.has(name) && !attributes.endsWith("/")) open.push(name);
  }
  return [...blocks, ...current.finish()];
}

/** A text without markup; an empty line ends a block. */
export function blocksOfText(text: string, part: string): Block[] {
  return text.split(/\n\s*\n/).flatMap((paragraph) => {
    const builder = new BlockBuilder(part, false);
    builder.add(paragraph, false);
    return builder.finish();
  });
}

class BlockBuilder {
  private readonly part: string;
  private readonly isHeading: boolean;
  private text = "";
  private unquoted = "";
  private readonly links: { text: string; href: string }[] = [];
  private openLink: { href: string; start: number } | undefined;

  constructor(part: string, isHeading: boolean) {
    this.part = part;
    this.isHeading = isHeading;
  }

  add(text: string, isQuoted: boolean): void {
    let plain = plainText(text);
    if (this.text === "" || this.text.endsWith(" ")) plain = plain.trimStart();
    this.text += plain;
    this.unquoted += isQuoted ? FILLER.repeat(plain.length) : plain;
  }

  startLink(href: string): void {
    this.openLink = { href, start: this.text.length };
  }

  endLink(): void {
    if (this.openLink) this.links.push({ href: this.openLink.href, text: this.text.slice(this.openLink.start) });
    this.openLink = undefined;
  }

  finish(): Block[] {
    this.endLink();
    if (this.text.trim() === "") return [];
    const { part, isHeading, text, links } = this;
    return [{ part, isHeading, text, unquoted: fillQuotations(this.unquoted), links }];
  }
}

/** One form for what looks the same: CO₂ and CO2, every hyphen and space, with and without soft hyphens. */
export function plainText(text: string): string {
  return text
    .replaceAll(/[\u00AD\u200B-\u200D\u2060\uFEFF]/g, "")
    .normalize("NFKC")
    .replaceAll(/[\u2010-\u2012\u2212]/g, "-")
    .replaceAll(/[\u2019\u02BC]/g, "'")
    .replaceAll(/\s+/g, " ");
}

/** ‘…’ ends with an apostrophe by now. A straight quotation mark opens after a space and closes before one. */
const QUOTED = /“[^”]*”|„[^“”]*[“”]|«[^»]*»|"[^"]+"|(?:‘|(?<![^\s(])')[^'‘]{2,}?'(?=$|[\s.,;:!?)])/g;
/** `we are “carbon neutral”` quotes nobody. */
const SCARE_QUOTES = /(?:\b(?:am|is|are|was|be|become|becomes|you|us|it)|'re|'s|'m)(?: (?:a|an|now|fully|truly))? $/i;

function fillQuotations(text: string): string {
  return text.replaceAll(QUOTED, (quotation, offset: number) => {
    const isOneTerm = quotation.trim().split(" ").length <= 3;
    if (isOneTerm && SCARE_QUOTES.test(text.slice(0, offset))) return ` ${quotation.slice(1, -1)} `;
    return FILLER.repeat(quotation.length);
  });
}

const SEGMENTER = new Intl.Segmenter("en-GB", { granularity: "sentence" });
const ABBREVIATION = /\b(?:approx|ca|cf|e\.g|i\.e|incl|vs)\.\s*$/i;

export function sentencesOf(blocks: readonly Block[]): Sentence[] {
  return blocks.flatMap((block, index) => {
    const next = block.isHeading ? blocks.slice(index + 1).find(({ part }) => part === block.part) : undefined;
    const context = { text: `${block.text} ${next?.text ?? ""}`, links: [...block.links, ...(next?.links ?? [])] };
    return spansOf(block.unquoted).map(([start, end]) => ({
      text: block.text.slice(start, end).trim(),
      unquoted: block.unquoted.slice(start, end).trim().replaceAll(/ +/g, " "),
      block,
      context,
    }));
  });
}

function spansOf(text: string): [start: number, end: number][] {
  const spans: [number, number][] = [];
  for (const { segment, index } of SEGMENTER.segment(text)) {
    const last = spans.at(-1);
    if (last && ABBREVIATION.test(text.slice(...last))) last[1] = index + segment.length;
    else spans.push([index, index + segment.length]);
  }
  return spans.filter(([start, end]) => text.slice(start, end).trim() !== "");
}

/** The same for sentences that differ only in case, spaces, hyphens and the like. */
export function hashOf(sentence: string): string {
  return createHash("sha256").update(plainText(sentence).trim().toLowerCase()).digest("hex").slice(0, 16);
}

function attributesOf(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(ATTRIBUTE)].map(([, key = "", double, single, bare]) => [
      key.toLowerCase(),
      decodeEntities(double ?? single ?? bare ?? ""),
    ]),
  );
}

const ENTITY: Readonly<Record<string, string>> = {
  amp: "&",
  apos: "'",
  gt: ">",
  hellip: "…",
  laquo: "«",
  ldquo: "“",
  lsquo: "‘",
  lt: "<",
  mdash: "—",
  nbsp: " ",
  ndash: "–",
  quot: '"',
  raquo: "»",
  rdquo: "”",
  rsquo: "’",
  shy: "",
};

function decodeEntities(text: string): string {
  return text.replaceAll(/&(?:#x([\da-f]+)|#(\d+)|(\w+));/gi, (entity, hex, decimal, name) => {
    if (name) return ENTITY[name] ?? entity;
    return String.fromCodePoint(hex ? Number.parseInt(hex, 16) : Number(decimal));
  });
}
