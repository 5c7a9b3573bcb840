import type { Element, Nodes } from "hast";
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
    rehypePlugins: [rehypeSlug, ...plugins],
    // The build checks every address.
    urlTransform: (url) => url,
  };
}

export function isElement(node: Nodes | undefined, tagName: string): node is Element {
  return node?.type === "element" && node.tagName === tagName;
}

/** The element and every element in it. */
export function elementsOf(node: Element): Element[] {
  return [node, ...node.children.flatMap((child) => (child.type === "element" ? elementsOf(child) : []))];
}

export function textOf(node: Nodes): string {
  if ("children" in node) return node.children.map(textOf).join("");
  return "value" in node ? node.value : "";
}
