import type { Element, Nodes, Root } from "hast";
import Markdown, { type Options } from "react-markdown";
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

export function treeOf(markdown: string, plugins: NonNullable<Options["rehypePlugins"]> = []): Root {
  let tree: Root = { type: "root", children: [] };
  const keepTree = () => (root: Root) => {
    tree = root;
  };
  Markdown(parseOptions(markdown, [...plugins, keepTree]));
  return tree;
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

/** All elements in the node, at any depth. */
export function elementsOf({ children }: Root | Element): Element[] {
  return children.flatMap((child) => (child.type === "element" ? [child, ...elementsOf(child)] : []));
}

export function textOf(node: Nodes): string {
  if ("children" in node) return node.children.map(textOf).join("");
  return "value" in node ? node.value : "";
}
