import { type DefaultTreeAdapterTypes, parse, serialize } from "parse5";

// Reads pages without a browser. Elements are selected by name, as `nav`, or also by one attribute, as `nav id="menu"`.

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

const attributesOf = ({ attrs }: Element) => Object.fromEntries(attrs.map(({ name, value }) => [name, value]));
const childrenOf = (node: Node): Node[] => ("childNodes" in node ? node.childNodes : []);
const textIn = (node: Node): string => ("value" in node ? node.value : childrenOf(node).map(textIn).join(""));
const oneLine = (text: string) => text.replaceAll(/\s+/g, " ").trim();

function find(html: string, named: string): Element[] {
  const [, tagName, attribute = "", value] = /^(\S+)(?: (\S+)="(.*)")?$/.exec(named) ?? [];
  const within = (node: Node): Element[] => [
    ...("tagName" in node && node.tagName === tagName && attributesOf(node)[attribute] === value ? [node] : []),
    ...childrenOf(node).flatMap(within),
  ];
  return within(parse(html));
}

/** The attributes of each matching element, in page order. */
export function elementsOf(html: string, named: string): Record<string, string>[] {
  return find(html, named).map(attributesOf);
}

/** The inner HTML of each matching element. */
export function contentsOf(html: string, named: string): string[] {
  return find(html, named).map((element) => serialize(element));
}

/** The text that a visitor reads, on one line. */
export function textOf(html: string): string {
  return oneLine(textIn(parse(html)));
}

/** The text of each matching element. */
export function textsOf(html: string, named: string): string[] {
  return find(html, named).map((element) => oneLine(textIn(element)));
}

/** The content of the meta element with this name or property; undefined if there is none. */
export function metaOf(html: string, key: string): string | undefined {
  return elementsOf(html, "meta").find(({ name, property }) => (name ?? property) === key)?.content;
}
