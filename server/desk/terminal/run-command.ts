import { TRPCError } from "@trpc/server";
import { Command, CommanderError } from "commander";
import { z } from "zod";
import { adviceLine, programName } from "../../../contract/commands.ts";
import { visibleLines } from "../../../contract/text.ts";
import { type Config, parseConfig } from "../../config.ts";
import { readSite } from "../../manifest.ts";
import { OperatorError } from "../../operator-error.ts";
import { openArchive, openStore } from "../../store/open-store.ts";
import { channelsOf } from "../../store/store.ts";
import type { Desk } from "../desk.ts";
import { visibleJson } from "../export.ts";
import { createCaller } from "../operations.ts";
import { addPreflight } from "../preflight.ts";
import type { Context, Shell } from "./context.ts";
import { addInbox } from "./inbox.ts";
import { addMessageCommands } from "./messages.ts";
import { addPrivacyCommands } from "./privacy.ts";

/** The number of PostgreSQL connections: low, so that commands and inboxes leave enough for the servers. */
const MAX_CONNECTIONS = 3;
const HELP_WIDTH = 120;

/** Runs one command line and resolves to its exit code. Rejects only with a defect of this program. */
export async function runCommand(args: readonly string[], { env, account, ...terminal }: Shell): Promise<number> {
  const program = programName(env);
  let exitCode = 0;
  let desk: Desk | undefined;
  let archive: Awaited<ReturnType<typeof openArchive>> | undefined;
  const context: Context = {
    ...terminal,
    program,
    readConfig: () => parseConfig(env),
    async openDesk({ name } = {}) {
      desk ??= await openDesk(parseConfig(env), { program, account: name ?? account ?? null });
      return desk;
    },
    async openArchive() {
      archive ??= await openArchive({ ...parseConfig(env), account }, { maxConnections: MAX_CONNECTIONS });
      return archive;
    },
    call: async (options) => createCaller(await context.openDesk(options)),
    print: ({ json }, result, text) => terminal.out(json ? visibleJson(result) : text),
    setExitCode(code) {
      exitCode = code;
    },
  };
  const root = createProgram(context);
  let command = root;
  root.hook("preAction", (_root, actionCommand) => {
    command = actionCommand;
  });
  try {
    await root.parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    // Commander has already printed the error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const { lines, isUsage } = explain(error, command, program);
    terminal.err(`${visibleLines(lines.join("\n"))}\n`);
    return isUsage ? 2 : 1;
  } finally {
    await desk?.store.close();
    await archive?.close();
  }
}

function createProgram(context: Context): Command {
  const { program, out, err } = context;
  const root = new Command(program)
    .description(
      "Shows and manages the messages that visitors have sent. Uses the same settings as the server, and may be run while the " +
        "server runs. References and email addresses are not case-sensitive.",
    )
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void out(text),
      writeErr: err,
      outputError: (text, write) => write(visibleLines(text.replace(/^error: /, ""))),
      getOutHelpWidth: () => HELP_WIDTH,
      getErrHelpWidth: () => HELP_WIDTH,
    })
    .configureHelp({ showGlobalOptions: false })
    .showHelpAfterError(`For help, run: ${program} COMMAND --help`);
  for (const add of [addMessageCommands, addPrivacyCommands, addInbox, addPreflight]) add(root, context);
  return root;
}

/** One line for each problem that the operator can fix. `isUsage`: the command line is wrong. Throws any other error. */
function explain(error: unknown, command: Command, program: string): { lines: string[]; isUsage: boolean } {
  const cause = error instanceof TRPCError ? error.cause : error;
  if (cause instanceof z.ZodError) {
    const lines = cause.issues.map(({ path, message }) => {
      const name = path.findLast((part) => typeof part === "string");
      return name === undefined ? message : `${nameOf(name, command)}: ${message}`;
    });
    return { lines, isUsage: true };
  }
  if (!(cause instanceof OperatorError)) throw cause;
  return { lines: cause.advice.map((advice) => adviceLine(advice, program)), isUsage: false };
}

/** The name of an operation's input as the operator types it. */
function nameOf(input: string, { options }: Command): string {
  return options.some(({ long }) => long === `--${input}`) ? `--${input}` : input.toUpperCase();
}

async function openDesk(config: Config, owner: Pick<Desk, "program" | "account">) {
  const { dataDir, databaseUrl } = config;
  return {
    ...owner,
    store: await openStore({ ...config, account: owner.account }, { maxConnections: MAX_CONNECTIONS }),
    dataDir,
    channels: channelsOf(config),
    mailTo: config.mailTo,
    answerWithin: readSite()?.answerWithin,
    replyTexts() {
      const site = readSite();
      return {
        replies: site?.mails.replies ?? [],
        facts: site?.facts ?? {},
        signature: site?.mailSignature ?? null,
      };
    },
    databaseKind: databaseUrl === null ? ("SQLite" as const) : ("PostgreSQL" as const),
  };
}
