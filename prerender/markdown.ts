import { resolve, sep } from "node:path";
import { compile } from "@mdx-js/mdx";
import { gfmTableFromMarkdown } from "mdast-util-gfm-table";
import { gfmTable } from "micromark-extension-gfm-table";
import type { Plugin } from "vite";
import type { Section } from "../app/components/contents.tsx";

/** A node of MDX's syntax tree, with the properties that are used here. */
export interface Node {
  type: string;
  depth?: number;
  value?: string;
  children?: Node[];
  data?: unknown;
  position?: { start: { line: number } };
  url?: string;
  alt?: string | null;
  title?: string | null;
  identifier?: string;
  name?: string | null;
  attributes?: { type: string; name?: string; value?: unknown }[];
}

const POLICIES = resolve("app/policies") + sep;

/** Compiles the texts that are not in `app/pages/`: the policies, and the documents that are also pages. */
export function markdownTexts(): Plugin {
  return {
    name: "markdown-texts",
    enforce: "pre",
    transform: {
      filter: { id: ["app/policies/*.mdx", "docs/*.md"] },
      // Only the policies have numbered sections.
      handler: async (text, id) => ({ code: await compileText(text, id, id.startsWith(POLICIES)), map: null }),
    },
  };
}

/** Exports the text as a component, and its `sections`, so that a table of contents always matches the text. */
export async function compileText(value: string, path: string, areNumbered: boolean): Promise<string> {
  const sections: Section[] = [];
  const addIds = () => (root: Node) => {
    for (const heading of root.children ?? []) {
      if (heading.type !== "heading" || heading.depth !== 2) continue;
      const words = textOf(heading);
      const number = areNumbered ? `${sections.length + 1}. ` : "";
      const id = headingId(words);
      // The number is part of the first text node. As a separate node, a move by one pixel would count as a layout
      // shift.
      const [start] = heading.children ?? [];
      if (start?.type === "text") start.value = number + start.value;
      else if (areNumbered) heading.children?.unshift({ type: "text", value: number });
      heading.data = { hProperties: { id } };
      sections.push({ id, title: number + words });
    }
  };
  const code = await compile({ value, path }, { remarkPlugins: [tables, addIds] });
  return `${code}\nexport const sections = ${JSON.stringify(sections)};\n`;
}

/** Adds tables to Markdown. Such extensions are registered in the processor's data. */
export function tables(this: { data(): object }): void {
  const data = this.data() as Record<"micromarkExtensions" | "fromMarkdownExtensions", unknown[] | undefined>;
  data.micromarkExtensions = [...(data.micromarkExtensions ?? []), gfmTable()];
  data.fromMarkdownExtensions = [...(data.fromMarkdownExtensions ?? []), gfmTableFromMarkdown()];
}

/** The heading's id, for links such as `#your-own-data`. */
export function headingId(words: string): string {
  return words
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
    .replaceAll(/^-|-$/g, "");
}

export function textOf(node: Node): string {
  return node.value ?? (node.children ?? []).map(textOf).join("");
}
