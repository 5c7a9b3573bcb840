import type { Element, ElementContent, Root } from "hast";
import { Children, type ComponentProps, type ReactNode } from "react";
import Markdown, { type Components, type Options } from "react-markdown";
import { fillMarks, splitAtMarks } from "../contract/facts.ts";
import { ContactEmail } from "./components/links.tsx";
import { isPlaceholder } from "./facts.ts";
import { elementsOf, isElement, parseOptions, textOf, treeOf } from "./markdown.ts";
import notice from "./styles/notice.css?inline";

export interface TextFile {
  title: string;
  description: string;
  markdown: string;
  /** The resized pictures by their path in the text. */
  pictures: Readonly<Record<string, TextPicture>>;
}

interface TextPicture {
  width: number;
  height: number;
  /** The largest last. */
  sources: readonly { url: string; width: number }[];
}

export interface Section {
  id: string;
  title: string;
}

type Facts = Readonly<Record<string, string>>;

interface TextOptions {
  file: TextFile;
  facts: Facts;
  isNumbered?: boolean;
  /** Headings link to themselves, so that readers can share a link to one. */
  hasAnchors?: boolean;
}

export function sectionsOf({ markdown }: TextFile, facts: Facts, { isNumbered = false } = {}): Section[] {
  const tree = treeOf(markdown, [[arrange, { isNumbered }]]);
  return tree.children
    .filter((node) => isElement(node, "h2"))
    .map((node) => ({
      id: String(node.properties.id),
      title: fillMarks(textOf(node), (name) => facts[name] ?? ""),
    }));
}

/** Renders Markdown as React elements. No text can become HTML. */
export function Text({ file, facts, isNumbered = false, hasAnchors = false }: TextOptions): ReactNode {
  const components: Components = {
    table: Table,
    img: ({ src, alt, title }) => <Figure picture={file.pictures[decodeURI(src ?? "")]} alt={alt} caption={title} />,
    // Stands for a fact that is more than a text.
    data: ({ value, children }) => <Fact name={String(value)} value={facts[String(value)] ?? ""} end={children} />,
  };
  const plugins: Options["rehypePlugins"] = [
    [arrange, { isNumbered, hasAnchors }],
    [insertFacts, facts],
  ];
  return <Markdown {...parseOptions(file.markdown, plugins)} components={components} />;
}

function arrange({ isNumbered = false, hasAnchors = false }) {
  return (root: Root): void => {
    let sections = 0;
    let heading = "";
    const visit = (node: Element): void => {
      const { tagName, properties, children } = node;
      if (/^h\d$/.test(tagName)) {
        if (tagName === "h2") sections += 1;
        // Part of the first text: as a separate text, a move by one pixel would count as a layout shift.
        const [first] = children;
        if (isNumbered && tagName === "h2" && first?.type === "text") first.value = `${sections}. ${first.value}`;
        heading = textOf(node);
        if (hasAnchors && !elementsOf(node).some(isLink)) {
          const link = { className: ["anchor"], href: `#${properties.id}` };
          node.children = [{ type: "element", tagName: "a", properties: link, children }];
        }
      } else if (tagName === "table") properties.title = heading;
      else if (properties.align) {
        // The site's security policy blocks style attributes.
        properties.className = [`align-${properties.align}`];
        delete properties.align;
      } else if (tagName === "blockquote") becomeNotice(node);
      node.children = node.children.map(unwrapPicture);
      for (const child of node.children) if (child.type === "element") visit(child);
    };
    root.children = root.children.map((node) => (node.type === "element" ? unwrapPicture(node) : node));
    for (const node of root.children) if (node.type === "element") visit(node);
  };
}

export function noticeStyles({ markdown }: TextFile): string {
  return markdown.includes("[!IMPORTANT]") ? notice : "";
}

const NOTICE = /^\[!IMPORTANT\]\s*/;

/** As on GitHub, a quotation that begins with `[!IMPORTANT]` is a notice. */
function becomeNotice(node: Element): void {
  const paragraph = node.children.find((child) => child.type === "element");
  const first = paragraph?.type === "element" ? paragraph.children[0] : undefined;
  if (first?.type !== "text" || !NOTICE.test(first.value)) return;
  first.value = first.value.replace(NOTICE, "");
  node.tagName = "div";
  node.properties = { className: ["notice"], role: "note" };
  node.children = node.children.filter((child) => child.type === "element");
}

/** Removes the paragraph around a single picture. A picture within text has no caption. */
function unwrapPicture<Child extends ElementContent>(node: Child): Child | Element {
  if (!isElement(node, "p")) return node;
  const [only, ...others] = node.children;
  if (isElement(only, "img") && others.length === 0) return only;
  for (const child of node.children) if (isElement(child, "img")) delete child.properties.title;
  return node;
}

function insertFacts(facts: Facts) {
  const factOf = (name: string) => facts[name] ?? "";
  /** Returns the names of the facts in the node. */
  const visit = (node: Root | Element, isInLink: boolean): string[] => {
    const names: string[] = [];
    if (node.type === "element") {
      for (const [key, value] of Object.entries(node.properties)) {
        if (typeof value !== "string") continue;
        const isAddress = key === "href" || key === "src";
        node.properties[key] = isAddress ? filledAddress(value, facts) : fillMarks(value, factOf);
      }
    }
    node.children = (node.children as ElementContent[]).flatMap((child): ElementContent[] => {
      if (child.type === "text") {
        const parts = splitAtMarks(child.value);
        names.push(...parts.filter((_, index) => index % 2 === 1));
        return isInLink ? [{ type: "text", value: fillMarks(child.value, factOf) }] : nodesFor(parts, facts);
      }
      if (child.type !== "element") return [child];
      const found = visit(child, isInLink || isLink(child));
      if (!/^([ou]l|li|p)$/.test(child.tagName)) {
        names.push(...found);
        return [child];
      }
      const isEmpty = found.length > 0 && found.every((name) => facts[name] === "");
      const hasNothing = child.children.every((one) => one.type === "text" && one.value.trim() === "");
      return isEmpty || hasNothing ? [] : [child];
    });
    return names;
  };
  return (root: Root): void => void visit(root, false);
}

/** Texts and names of facts in turn as nodes, with one text node for neighbouring texts. */
function nodesFor([start = "", ...others]: readonly string[], facts: Facts) {
  const nodes: ElementContent[] = [];
  let text = start;
  const endText = () => {
    if (text !== "") nodes.push({ type: "text", value: text });
  };
  for (let index = 0; index < others.length; index += 2) {
    const [name = "", after = ""] = others.slice(index, index + 2);
    const value = facts[name] ?? "";
    if (!ADDRESS.test(name) && !isPlaceholder(name, value)) text += value + after;
    else {
      // Punctuation stays on the line of the address.
      const [end = ""] = (name === "contactEmail" && /^[.,;:!?)]+/.exec(after)) || [];
      endText();
      const children: ElementContent[] = end === "" ? [] : [{ type: "text", value: end }];
      nodes.push({ type: "element", tagName: "data", properties: { value: name }, children });
      text = after.slice(end.length);
    }
  }
  endText();
  return nodes;
}

const ADDRESS = /^(contactEmail|websiteUrl)$/;

/** Markdown has percent-encoded the marks. An address in a fact keeps its signs; other facts are one part of an address. */
function filledAddress(address: string, facts: Facts): string {
  return address.replaceAll(/%EE%80%80(\w+)%EE%80%81/g, (_, name) => {
    const value = (name === "websiteUrl" && facts.siteUrl) || (facts[name] ?? "");
    return ADDRESS.test(name) ? encodeURI(value) : encodeURIComponent(value);
  });
}

/** An unset fact is marked, and an address is a link; `end` is the punctuation that follows an address. */
export function Fact({ name, value, end }: { name: string; value: string; end?: ReactNode }) {
  if (isPlaceholder(name, value)) return <mark className="placeholder">{value}</mark>;
  if (name === "websiteUrl") return <a href={value}>{value}</a>;
  return name === "contactEmail" ? <ContactEmail end={Children.toArray(end).join("")} /> : value;
}

/** A wide table scrolls within a box, which must be reachable by keyboard. `title` is the heading that it is under. */
export function Table({ title, children }: ComponentProps<"table">) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for form fields
    <div className="table-box" role="group" aria-label={`Table: ${title}`} tabIndex={0}>
      <table>{children}</table>
    </div>
  );
}

interface FigureProps {
  picture: TextPicture | undefined;
  alt: string | undefined;
  caption: string | undefined;
}

/** The maximum width of a picture in page.css. */
const PICTURE_SIZES = "(min-width: 44rem) 40rem, 90vw";

/** Does not load lazily: WebKit prints a page without the lazy pictures that were never in view. */
function Figure({ picture, alt = "", caption }: FigureProps) {
  if (!picture) return null;
  const { sources, width, height } = picture;
  const image = (
    <img
      src={sources.at(-1)?.url}
      {...(sources.length > 1 && {
        srcSet: sources.map((source) => `${source.url} ${source.width}w`).join(", "),
        sizes: PICTURE_SIZES,
      })}
      width={width}
      height={height}
      alt={alt}
      decoding="async"
    />
  );
  if (!caption) return image;
  return (
    <figure>
      {image}
      <figcaption>{caption}</figcaption>
    </figure>
  );
}

function isLink(node: Element): boolean {
  return node.tagName === "a";
}
