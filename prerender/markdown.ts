import type { Element, Nodes, Root } from "hast";
import Markdown from "react-markdown";
import { VFile } from "vfile";
import { matter } from "vfile-matter";
import { z } from "zod";
import { elementsOf, isElement, parseOptions, textOf } from "../app/markdown.ts";
import { fillMarks, unknownFacts } from "../contract/facts.ts";

type Report = (line: number, message: string) => void;

/** A paragraph, heading, row, description or other text that readers see as one. Facts have their names: `{brand}`. */
interface Block {
  text: string;
  line: number;
}

export interface ReadText<Matter> {
  /** Its values may contain the facts of `site.ts`. Incomplete if a problem was reported. */
  matter: Partial<Matter>;
  /** With empty lines for the front matter, so that line numbers stay correct. */
  markdown: string;
  blocks: Block[];
  pictures: { source: string; line: number }[];
  links: { href: string; line: number }[];
  ids: string[];
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

export function readText<Matter extends Record<string, string>>(
  source: string,
  schema: z.ZodType<Matter>,
  { facts, matterFacts = facts }: { facts: readonly string[]; matterFacts?: readonly string[] },
  report: Report,
): ReadText<Matter> {
  const whole = source.replace(/^\uFEFF/, "").replaceAll(/\r\n?/g, "\n");
  const markdown = whole.replace(FRONT_MATTER, (front) => front.replaceAll(/.+/g, ""));
  const values = readMatter(whole, schema, report);
  for (const offset of unknownFacts(markdown, facts)) {
    report(lineAt(markdown, offset), markdown.startsWith("{/*", offset) ? NO_COMMENTS : noFact(facts));
  }
  const found: Omit<ReadText<Matter>, "matter" | "markdown"> = { blocks: [], pictures: [], links: [], ids: [] };
  for (const [key, value = ""] of Object.entries(values)) {
    found.blocks.push({ text: value, line: lineIn(whole, key) });
    if (unknownFacts(value, matterFacts).length > 0) report(lineIn(whole, key), noFact(matterFacts));
  }
  const check = () => (root: Root) => {
    checkTags(root, markdown, report);
    checkElements(root, found, report);
    found.blocks.push(...blocksOf(root));
  };
  Markdown(parseOptions(markdown, [check]));
  return { matter: values, markdown, ...found };
}

function readMatter<Matter>(whole: string, schema: z.ZodType<Matter>, report: Report): Partial<Matter> {
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

function noFact(facts: readonly string[]): string {
  return `"{" begins no known fact. To show the character itself, write \\{ . The facts are: ${facts.map((name) => `{${name}}`).join(" ")}`;
}

/** Refuses every `<` that could be HTML or JSX: a text is only Markdown. Code may contain it. */
function checkTags(root: Root, markdown: string, report: Report): void {
  const elements = root.children.flatMap((node) => (node.type === "element" ? elementsOf(node) : []));
  const offsets = (node: Element) => [node.position?.start.offset ?? -1, node.position?.end.offset ?? -1] as const;
  const code = elements.filter(({ tagName }) => /^(code|pre)$/.test(tagName)).map(offsets);
  const links = new Set(elements.filter(({ tagName }) => tagName === "a").map((node) => offsets(node)[0]));
  // The tree has the offsets of the marked text.
  const parsed = String(parseOptions(markdown, []).children);
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

function checkElements(root: Root, found: Omit<ReadText<object>, "matter" | "markdown">, report: Report): void {
  let depthAbove = 1;
  for (const node of root.children.flatMap((child) => (child.type === "element" ? elementsOf(child) : []))) {
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
      if (!String(properties.alt ?? "").trim())
        report(line, `The picture ${address} has no alt text. Say what it shows: ![A turbine at dawn](${address})`);
    }
  }
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
  let block: Block = { text: "", line: 1 };
  const add = ({ text, line }: Block) => {
    if (text.trim() !== "") blocks.push({ text: fillMarks(text, (name) => `{${name}}`), line });
  };
  const end = (line = 1) => {
    add(block);
    block = { text: "", line };
  };
  const visit = (node: Nodes): void => {
    if (node.type === "text") block.text += node.value;
    if (!("children" in node)) return;
    const line = node.position?.start.line;
    const isBlock = node.type === "element" && !INLINE.test(node.tagName);
    if (isBlock) end(line);
    if (isElement(node, "br")) block.text += " ";
    if (node.type === "element" && /^t[dh]$/.test(node.tagName) && block.text.trim() !== "") block.text += " | ";
    if (isElement(node, "img")) {
      for (const value of [node.properties.alt, node.properties.title])
        add({ text: String(value ?? ""), line: line ?? 1 });
    }
    node.children.forEach(visit);
    if (isBlock) end(line);
  };
  visit(root);
  end();
  return blocks;
}
