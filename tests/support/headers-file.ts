type Headers = Record<string, string>;

/**
 * Reads a `_headers` file like a static host, and returns a function for the headers of a path: those of every matching
 * rule. Hosts disagree on a header in two matching rules, so that is an error here.
 */
export function parseHeadersFile(text: string): (path: string) => Headers {
  const rules: { pattern: RegExp; headers: [name: string, value: string][] }[] = [];
  for (const line of text.split("\n").filter((each) => each.trim() !== "")) {
    if (!/^\s/.test(line)) {
      rules.push({ pattern: new RegExp(`^${line.split("*").map(RegExp.escape).join(".*")}$`), headers: [] });
      continue;
    }
    const [, name, value] = /^\s+([\w-]+):\s*(.+)$/.exec(line) ?? [];
    if (!name || !value) throw new Error(`Not a header of any rule: ${line}`);
    rules.at(-1)?.headers.push([name.toLowerCase(), value.trim()]);
  }
  return (path) => {
    const found = rules.filter(({ pattern }) => pattern.test(path)).flatMap(({ headers }) => headers);
    const names = found.map(([name]) => name);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice) throw new Error(`Two rules name ${twice} for ${path}.`);
    return Object.fromEntries(found);
  };
}
