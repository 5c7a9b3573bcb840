import { backup } from "./backup.ts";
import { type Command, UsageError } from "./command.ts";
import { exportMessages } from "./export.ts";
import { list } from "./list.ts";
import { privacyErase, privacyExport, privacyRectify, privacyRestrict } from "./privacy.ts";
import { release, retry } from "./queue.ts";
import { show } from "./show.ts";
import { stats } from "./stats.ts";
import { table } from "./table.ts";
import { visible, visibleLines } from "./visible-text.ts";

const CALL = "npm run messages --";
const COMMANDS: readonly Command[] = [
  ...[list, show, retry, release, exportMessages, stats, backup],
  ...[privacyExport, privacyRectify, privacyRestrict, privacyErase],
];

export type Invocation = { kind: "help"; text: string } | { kind: "run"; run: ReturnType<Command["prepare"]> };

/** Understands a command line without touching anything. Throws a UsageError. */
export function readCommandLine(args: readonly string[]): Invocation {
  const asksForHelp = args.some((arg) => arg === "--help" || arg === "-h") || args[0] === "help";
  const words = args.filter((arg) => arg !== "--help" && arg !== "-h" && arg !== "help");
  const command = COMMANDS.find(({ name }) => name.split(" ").every((word, index) => words[index] === word));
  if (asksForHelp) return { kind: "help", text: command ? commandHelp(command) : generalHelp() };
  if (!command) {
    const what = args.length === 0 ? "Say what to do" : `There is no command "${visible(args.slice(0, 2).join(" "))}"`;
    throw new UsageError(`${what}; "${CALL} --help" shows the commands`);
  }
  try {
    return { kind: "run", run: command.prepare(args.slice(command.name.split(" ").length)) };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`${visibleLines(error.message)}\n"${CALL} ${command.name} --help" shows how it is used`);
  }
}

function generalHelp(): string {
  const rows = COMMANDS.map(({ name, summary }) => [`  ${name}`, summary]);
  return `The messages visitors have sent. Works while the server runs, with the same settings.

Usage: ${CALL} COMMAND [options]

${table(rows)}
"${CALL} COMMAND --help" explains one. Letter case does not matter in references and addresses.
`;
}

function commandHelp({ name, usage, summary, details }: Command): string {
  return `${name}: ${summary}\n\nUsage: ${CALL} ${name} ${usage}\n${details === "" ? "" : `\n${details}\n`}`;
}
