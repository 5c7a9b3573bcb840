import { type DefaultTreeAdapterTypes, parse, serialize } from "parse5";

// Reads pages without a browser. An element is named as `nav`, or with one attribute as `nav id="menu"`.

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

/** The attributes of each such element, in the order of the page. */
export function elementsOf(html: string, named: string): Record<string, string>[] {
  return find(html, named).map(attributesOf);
}

/** What stands between the tags of each such element, as HTML. */
export function contentsOf(html: string, named: string): string[] {
  return find(html, named).map((element) => serialize(element));
}

/** The text that a visitor reads, on one line. */
export function textOf(html: string): string {
  return oneLine(textIn(parse(html)));
}

/** The text of each such element. */
export function textsOf(html: string, named: string): string[] {
  return find(html, named).map((element) => oneLine(textIn(element)));
}

/** The content of the meta element of this name or property; undefined where there is none. */
export function metaOf(html: string, key: string): string | undefined {
  return elementsOf(html, "meta").find(({ name, property }) => (name ?? property) === key)?.content;
}
