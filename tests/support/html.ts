// Reads our own pages without a browser. Patterns are enough for them: React quotes every attribute and closes every
// element, and none of the elements read here is nested in another of its name.

/** The attributes of each such element, in the order of the page. */
export function elementsOf(html: string, name: string): Record<string, string>[] {
  return [...html.matchAll(new RegExp(`<${name}\\b([^>]*)>`, "g"))].map(([, attributes = ""]) =>
    Object.fromEntries(
      [...attributes.matchAll(/([\w:-]+)(?:="([^"]*)")?/g)].map(([, key, value]) => [key, decode(value)]),
    ),
  );
}

/** What stands between the tags of each such element, as HTML. An attribute may be part of the name: `nav id="menu"`. */
export function contentsOf(html: string, name: string): string[] {
  const [element = ""] = name.split(" ");
  return [...html.matchAll(new RegExp(`<${name}(?=[\\s>])[^>]*>([^]*?)</${element}>`, "g"))].map(
    ([, content = ""]) => content,
  );
}

/** The text that a visitor reads, on one line. */
export function textOf(html: string): string {
  return decode(html.replaceAll(/<[^>]*>/g, ""))
    .replaceAll(/\s+/g, " ")
    .trim();
}

/** The text of each such element. */
export function textsOf(html: string, name: string): string[] {
  return contentsOf(html, name).map(textOf);
}

/** The content of the meta element of this name or property; undefined where there is none. */
export function metaOf(html: string, key: string): string | undefined {
  return elementsOf(html, "meta").find(({ name, property }) => (name ?? property) === key)?.content;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'" };

function decode(text = ""): string {
  return text.replaceAll(/&([\w#]+);/g, (entity, name: string) => ENTITIES[name] ?? entity);
}
