import { CommandFailed, defineCommand } from "./command.ts";
import { messageJson } from "./message-json.ts";
import { visible, visibleJson, visibleLines } from "./visible-text.ts";

export const show = defineCommand({
  name: "show",
  usage: "REF [--json]",
  summary: "one message in full",
  details: "  --json          as JSON",
  operands: { least: 1, most: 1 },
  options: { json: { type: "boolean" } },
  read(values, [reference = ""]) {
    return async ({ store, out }) => {
      const message = await store.find(reference);
      if (!message) throw new CommandFailed(notFound(reference));
      const { message: words, ...facts } = messageJson(message);
      if (values.json) return out(`${visibleJson(messageJson(message))}\n`);
      const lines = Object.entries(facts).map(([name, value]) => `${`${labelOf(name)}:`.padEnd(18)} ${shown(value)}`);
      out(`${lines.join("\n")}\n\n${visibleLines(words)}\n`);
    };
  },
});

export function notFound(reference: string): string {
  return `There is no message ${visible(reference)}; "list" shows those there are`;
}

function labelOf(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(/^is /, "");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function shown(value: string | number | boolean | Date | null): string {
  if (value === null || value === "") return "-";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return visible(value instanceof Date ? value.toISOString() : String(value));
}
