import type { Element, Nodes, Root } from "hast";
import { VFile } from "vfile";
import { matter } from "vfile-matter";
import { z } from "zod";
import { elementsOf, isElement, textOf, treeOf } from "../app/markdown.ts";
import { fillMarks, markFacts, unknownFacts } from "../contract/facts.ts";

type Report = (line: number, message: string) => void;

/** A paragraph, heading, row, description or other text that readers see as one. Facts have their names: `{brand}`. */
interface Block {
  text: string;
  line: number;
}

export interface ReadText {
  /** Its values may contain the facts of `site.ts`. Incomplete if there is a problem. */
  matter: Readonly<Record<string, string>>;
  /** With empty lines for the front matter, so that line numbers stay correct. */
  markdown: string;
  blocks: Block[];
  pictures: { source: string; line: number }[];
  /** The pictures without alt text: they say nothing. */
  decoration: string[];
  links: { href: string; line: number }[];
  ids: string[];
  problems: { line: number; message: string }[];
}

/** What stands at the top of a text, and the names of the facts that it and its top may contain. */
export interface TextKind {
  schema: z.ZodType<ReadText["matter"]>;
  facts: readonly string[];
  matterFacts?: readonly string[];
}

const text = (maxLength: number) =>
  z
    .string({ error: ({ input }) => (input === undefined ? "is missing" : "must be a text: put it in quotes") })
    .trim()
    .min(1, "is empty")
    .max(maxLength, `is too long: use at most ${maxLength} characters`);
/** Long enough for any search result. */
export const PAGE_MATTER = z.strictObject({ title: text(120), description: text(300) });
export const MAIL_MATTER = z.strictObject({ subject: text(120) });
export const NO_MATTER = z.strictObject({});
const FRONT_MATTER = /^---\n(?:.*?\n)?---(?=\n|$)/s;

export function readText(source: string, { schema, facts, matterFacts = facts }: TextKind): ReadText {
  const whole = source.replace(/^\uFEFF/, "").replaceAll(/\r\n?/g, "\n");
  const markdown = whole.replace(FRONT_MATTER, (front) => front.replaceAll(/.+/g, ""));
  const problems: ReadText["problems"] = [];
  const report: Report = (line, message) => void problems.push({ line, message });
  const values = readMatter(whole, schema, report);
  for (const offset of unknownFacts(markdown, facts)) {
    report(
      lineAt(markdown, offset),
      markdown.startsWith("{/*", offset) ? NO_COMMENTS : noFact(markdown, offset, facts),
    );
  }
  const top = Object.entries(values).map(([key, text]): Block => ({ text, line: lineIn(whole, key) }));
  for (const { text, line } of top) {
    const [offset] = unknownFacts(text, matterFacts);
    if (offset !== undefined) report(line, noFact(text, offset, matterFacts));
  }
  const root = treeOf(markdown);
  checkTags(root, markdown, report);
  const found = readElements(root, report);
  return { matter: values, markdown, blocks: [...top, ...blocksOf(root)], problems, ...found };
}

function readMatter(whole: string, schema: TextKind["schema"], report: Report): ReadText["matter"] {
  const file = new VFile(whole);
  try {
    matter(file);
  } catch (error) {
    const { linePos, message } = error as Error & { linePos?: { line: number }[] };
    const [reason] = message.split(/ at line |\n/, 1);
    report((linePos?.[0]?.line ?? 0) + 1, `${reason}. Put a value with a colon or another sign in quotes.`);
    return {};
  }
  const { data, error } = schema.safeParse(file.data.matter);
  for (const { path, message, ...issue } of error?.issues ?? []) {
    const unknown = issue.code === "unrecognized_keys" ? issue.keys : [];
    for (const key of unknown) report(lineIn(whole, key), `There is no "${key}" at the top of a file. Remove it.`);
    const [key = ""] = path.map(String);
    if (unknown.length === 0) report(lineIn(whole, key), `The ${key} ${message}. ${EXAMPLE}`);
  }
  return data ?? {};
}

const EXAMPLE = "A file starts with a line ---, then title: About us, description: Who we are., and a line ---.";

function lineIn(whole: string, key: string): number {
  const index = whole.split("\n").findIndex((line) => line.startsWith(`${key}:`));
  return Math.max(0, index) + 1;
}

function lineAt(markdown: string, offset: number): number {
  return markdown.slice(0, offset).split("\n").length;
}

const NO_COMMENTS = "A page has no comments, because visitors would see them. Remove it.";

function noFact(text: string, offset: number, facts: readonly string[]): string {
  const [found = "{"] = /^\{[^{}\n]{1,40}\}/.exec(text.slice(offset)) ?? [];
  return `"${found}" is no known fact. To show the character itself, write \\{ . The facts are: ${facts.map((name) => `{${name}}`).join(" ")}`;
}

/** Refuses every `<` that could be HTML or JSX: a text is only Markdown. Code may contain it. */
function checkTags(root: Root, markdown: string, report: Report): void {
  const elements = elementsOf(root);
  const offsets = (node: Element) => [node.position?.start.offset ?? -1, node.position?.end.offset ?? -1] as const;
  const code = elements.filter(({ tagName }) => /^(code|pre)$/.test(tagName)).map(offsets);
  const links = new Set(elements.filter(({ tagName }) => tagName === "a").map((node) => offsets(node)[0]));
  // The tree has the offsets of the marked text.
  const parsed = markFacts(markdown);
  for (const { 0: found, 1: name = "", index } of parsed.matchAll(/\\[\\<]|<(?:\/?([A-Za-z][\w.]*)|[/!?>])/g)) {
    const isCode = code.some(([start, end]) => start <= index && index < end);
    if (found.startsWith("\\") || isCode || links.has(index)) continue;
    report(lineAt(parsed, index), tagMessage(parsed.startsWith("<!--", index) ? "!--" : name));
  }
}

function tagMessage(name: string): string {
  if (name === "!--") return NO_COMMENTS;
  if (name === "ContactEmail") return "Write {contactEmail} instead of <ContactEmail />, and punctuation after it.";
  if (/^su[bp]$/.test(name)) return `Write the character itself, such as ₂ or ², instead of <${name}>.`;
  return `Write Markdown instead of <${name}>: a page has no HTML. To show the character itself, write \\<`;
}

function readElements(root: Root, report: Report) {
  const found: Pick<ReadText, "pictures" | "decoration" | "links" | "ids"> = {
    pictures: [],
    decoration: [],
    links: [],
    ids: [],
  };
  let depthAbove = 1;
  for (const node of elementsOf(root)) {
    const { tagName, properties } = node;
    const line = node.position?.start.line ?? 1;
    const depth = Number(/^h(\d)$/.exec(tagName)?.[1] ?? 0);
    if (depth === 1) report(line, "The title is the page's first heading. Start this one with ## instead of #.");
    else if (depth > depthAbove + 1)
      report(line, `The heading skips a level. Start it with ${"#".repeat(depthAbove + 1)}.`);
    if (depth > 0) depthAbove = depth;
    if (properties.id) found.ids.push(String(properties.id));
    const address = decoded(String(properties.href ?? properties.src ?? ""));
    if (tagName === "a") {
      found.links.push({ href: address, line });
      if (textOf(node).trim() === "" && !elementsOf(node).some((one) => one.properties.alt))
        report(line, `The link to ${address} has no text. Write it in the brackets: [text](${address})`);
    }
    if (tagName === "img") {
      found.pictures.push({ source: address, line });
      if (!String(properties.alt ?? "").trim()) found.decoration.push(address);
    }
  }
  return found;
}

function decoded(address: string): string {
  try {
    return decodeURI(address);
  } catch {
    return address;
  }
}

const INLINE = /^(a|br|code|del|em|img|input|strong|sup|td|th)$/;

function blocksOf(root: Root): Block[] {
  const blocks: Block[] = [];
  /** Adds the text of a block. Returns that of any other node, which is part of its block. */
  const read = (node: Nodes): string => {
    if (node.type === "text") return node.value;
    if (node.type !== "element" && node.type !== "root") return "";
    const block: Block = { text: "", line: node.position?.start.line ?? 1 };
    const isBlock = node.type === "root" || !INLINE.test(node.tagName);
    if (isBlock) blocks.push(block);
    if (isElement(node, "img")) {
      for (const value of [node.properties.alt, node.properties.title])
        blocks.push({ ...block, text: String(value ?? "") });
    }
    if (isElement(node, "a")) blocks.push({ ...block, text: String(node.properties.title ?? "") });
    const texts = node.children.map(read);
    if (isElement(node, "br")) block.text = " ";
    else if (isElement(node, "tr")) block.text = texts.filter((text) => text.trim() !== "").join(" | ");
    else block.text = texts.join("");
    return isBlock ? "" : block.text;
  };
  read(root);
  return blocks
    .filter(({ text }) => text.trim() !== "")
    .map(({ text, line }) => ({ text: fillMarks(text, (name) => `{${name}}`), line }));
}
