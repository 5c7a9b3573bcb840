import type { Element, Nodes, Root } from "hast";
import type { Options } from "react-markdown";
import rehypeSlug from "rehype-slug";
import remarkGfm from "remark-gfm";
import { markFacts } from "../contract/facts.ts";

/** How every text is parsed: by the page that shows it, and by the build that checks it. */
export function parseOptions(markdown: string, plugins: NonNullable<Options["rehypePlugins"]>): Options {
  return {
    children: markFacts(markdown),
    // A single tilde means "about".
    remarkPlugins: [[remarkGfm, { singleTilde: false }]],
    rehypePlugins: [rehypeSlug, keepIdsFree, ...plugins],
    // The build checks every address.
    urlTransform: (url) => url,
  };
}

/** The ids of other elements of every page. */
export const TAKEN_IDS = ["main", "menu", "footer", "contents-title"];

function keepIdsFree() {
  return (root: Root): void => {
    for (const node of root.children) {
      if (node.type === "element" && TAKEN_IDS.includes(String(node.properties.id))) node.properties.id += "-section";
    }
  };
}

export function isElement(node: Nodes | undefined, tagName: string): node is Element {
  return node?.type === "element" && node.tagName === tagName;
}

export function elementsOf(node: Element): Element[] {
  return [node, ...node.children.flatMap((child) => (child.type === "element" ? elementsOf(child) : []))];
}

export function textOf(node: Nodes): string {
  if ("children" in node) return node.children.map(textOf).join("");
  return "value" in node ? node.value : "";
}
