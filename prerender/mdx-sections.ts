/** The part of Markdown's syntax tree that is used here. */
export interface Node {
  type: string;
  depth?: number;
  value?: string;
  children?: Node[];
  data?: unknown;
}

/**
 * A remark plugin: gives each second-level heading an id, and a number if it should have one, and makes the MDX module
 * export `sections: { id, title }[]`, so that a table of contents cannot differ from the text.
 */
export function mdxSections({ areNumbered }: { areNumbered: boolean }) {
  return (root: Node) => {
    const sections = (root.children ?? [])
      .filter((node) => node.type === "heading" && node.depth === 2)
      .map((heading, index) => {
        const words = textOf(heading);
        const number = areNumbered ? `${index + 1}. ` : "";
        const title = number + words;
        const id = headingId(words);
        if (areNumbered) heading.children = [{ type: "text", value: number }, ...(heading.children ?? [])];
        heading.data = { hProperties: { id } };
        return { id, title };
      });
    root.children?.push(exportOf("sections", sections));
  };
}

/** What a link to the heading names: `#your-own-data`. */
export function headingId(words: string): string {
  return words
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
    .replaceAll(/^-|-$/g, "");
}

export function textOf(node: Node): string {
  return node.value ?? (node.children ?? []).map(textOf).join("");
}

/** The syntax tree of `export const NAME = JSON.parse("…")`. */
function exportOf(name: string, value: unknown): Node {
  const call = {
    type: "CallExpression",
    optional: false,
    callee: {
      type: "MemberExpression",
      computed: false,
      optional: false,
      object: { type: "Identifier", name: "JSON" },
      property: { type: "Identifier", name: "parse" },
    },
    arguments: [{ type: "Literal", value: JSON.stringify(value) }],
  };
  const declarator = { type: "VariableDeclarator", id: { type: "Identifier", name }, init: call };
  const declaration = { type: "VariableDeclaration", kind: "const", declarations: [declarator] };
  const statement = { type: "ExportNamedDeclaration", specifiers: [], source: null, declaration };
  const estree = { type: "Program", sourceType: "module", body: [statement] };
  return { type: "mdxjsEsm", value: "", data: { estree } } as Node;
}
