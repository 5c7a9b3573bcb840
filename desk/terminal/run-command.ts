import { TRPCError } from "@trpc/server";
import { Command, CommanderError } from "commander";
import { z } from "zod";
import { adviceLine, programName } from "../../contract/commands.ts";
import { visibleLines } from "../../contract/text.ts";
import { parseConfig } from "../../server/config.ts";
import { OperatorError } from "../../server/errors.ts";
import { openArchive } from "../../server/store/store.ts";
import { type Desk, openDesk } from "../desk.ts";
import { visibleJson } from "../export-messages.ts";
import { createCaller } from "../operations.ts";
import { COMMANDS, type CommandRow, type Context, type Shell, UsageError } from "./commands.ts";

const HELP_WIDTH = 120;

/** Resolves to the exit code. Rejects only with a defect of this program. */
export async function runCommand(args: readonly string[], { env, ...shell }: Shell): Promise<number> {
  const program = programName(env);
  let desk: Desk | undefined;
  let archive: Awaited<ReturnType<typeof openArchive>> | undefined;
  const context: Context = {
    ...shell,
    program,
    readConfig: () => parseConfig(env),
    async openDesk({ name } = {}) {
      desk ??= await openDesk(parseConfig(env), { program, account: name ?? shell.account ?? null });
      return desk;
    },
    async openArchive() {
      archive ??= await openArchive({ ...parseConfig(env), account: shell.account });
      return archive;
    },
    call: async (options) => createCaller(await context.openDesk(options)),
  };
  const root = createProgram(context);
  let command = root;
  let exitCode = 0;
  root.hook("preAction", (_root, actionCommand) => {
    command = actionCommand;
  });
  for (const row of COMMANDS) {
    addCommand(root, row, async (...given) => {
      exitCode = await runRow(row, context, ...given);
    });
  }
  try {
    await root.parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const { lines, isUsage } = explain(error, command, program);
    shell.err(`${visibleLines(lines.join("\n"))}\n`);
    return isUsage ? 2 : 1;
  } finally {
    await desk?.store.close();
    await archive?.close();
  }
}

function createProgram({ program, out, err }: Context): Command {
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
  root
    .command("privacy")
    .description("handle privacy requests: copy, correction, restriction, erasure")
    .addHelpText("afterAll", "\nWith - as EMAIL, the address is read from standard input, so that no shell keeps it.");
  return root;
}

type Given = Parameters<CommandRow["run"]>;

function addCommand(root: Command, row: CommandRow, run: (args: Given[1], options: Given[2]) => Promise<void>): void {
  const [, group, usage = ""] = /^(privacy )?(.+)$/.exec(row.usage) ?? [];
  const parent = group ? root.commands.find((one) => one.name() === group.trim()) : root;
  const command = (parent ?? root).command(usage).description(row.help);
  if (row.notes) command.addHelpText("after", `\n${row.notes}`);
  for (const [flags, help, parse = String] of row.options ?? []) {
    if (flags.includes("<")) command.option(flags, help, parse);
    else command.option(flags, help);
  }
  if (row.question) command.option("--yes", "do not ask for confirmation");
  if (!row.isPlain) command.option("--json", "print the result as JSON");
  command.action(async () => {
    const args = command.registeredArguments.map((one, index) => [
      one.name().toLowerCase() + (one.variadic ? "s" : ""),
      command.processedArgs[index] ?? [],
    ]);
    await run(Object.fromEntries(args), command.opts());
  });
}

/** Resolves to the exit code. */
async function runRow(row: CommandRow, context: Context, args: Given[1], { yes, ...options }: Given[2]) {
  const { ask, readInput, out } = context;
  if (args.email === "-") args.email = (await (ask ? ask("Email address: ") : readInput())).trim();
  const question = yes ? null : await row.question?.(context, args, options);
  if (question && !(await isConfirmed(question, ask))) {
    await out("Nothing was changed.\n");
    return 0;
  }
  const output = await row.run(context, args, options);
  if (!output) return 0;
  await out(options.json ? visibleJson(output.json) : output.text);
  const { problems = [], isFailed = false } = output;
  if (problems.length > 0) throw new OperatorError(problems);
  return isFailed ? 1 : 0;
}

async function isConfirmed(question: string, ask: Context["ask"]): Promise<boolean> {
  if (!ask) {
    const problem = "This command asks for confirmation";
    throw new OperatorError({ problem, remedy: "run it in a terminal, or add --yes" });
  }
  return /^y(es)?$/i.test((await ask(`${question} [y/N] `)).trim());
}

/** `isUsage`: the command line is wrong. Throws a defect again. */
function explain(error: unknown, command: Command, program: string): { lines: string[]; isUsage: boolean } {
  const cause = error instanceof TRPCError ? error.cause : error;
  if (cause instanceof UsageError) return { lines: [cause.message], isUsage: true };
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

function nameOf(input: string, { options }: Command): string {
  return options.some(({ long }) => long === `--${input}`) ? `--${input}` : input.toUpperCase();
}
