const NPM_COMMAND = "npm run messages --";
const IMAGE_COMMAND = "node desk/command.ts";
// As in docs/docker.md.
const COMPOSE = "sudo docker compose --env-file /etc/brighter-carbon.env -f deploy/compose.yaml";

export type OperatorCommand =
  | "build"
  | "claims"
  | "claims --review"
  | 'claims --sign "NAME"'
  | "inbox"
  | "preflight"
  // Changes the settings and restarts the website.
  | "settings"
  | `messages ${string}`;

/** What an operator types before a command's name. The wrapper script, the systemd unit and the image set their own. */
export function programName(env: Readonly<Record<string, string | undefined>>): string {
  return env.MESSAGES_COMMAND?.trim() || NPM_COMMAND;
}

export function commandLine(command: OperatorCommand, program = NPM_COMMAND): string {
  const [name = "", ...args] = command.split(" ");
  if (name === "settings") {
    if (program === IMAGE_COMMAND) return `${COMPOSE} up -d`;
    if (program.endsWith(NPM_COMMAND)) return program.replace(NPM_COMMAND, "npm run serve");
    return "sudo nano /etc/brighter-carbon.env && sudo systemctl restart brighter-carbon";
  }
  if (name === "messages") return [program, ...args].join(" ");
  const viaNpm = [`npm run ${name}`, ...(args.length > 0 ? ["--", ...args] : [])].join(" ");
  if (program.endsWith(NPM_COMMAND)) return program.replace(NPM_COMMAND, viaNpm);
  if (program.endsWith(" messages")) return program.replace(/messages$/, command);
  // The image contains neither the sources of the pages nor the tools that build them.
  if (name === "build" && program === IMAGE_COMMAND) return `${COMPOSE} up -d --build`;
  if (name === "claims" && program === IMAGE_COMMAND) return `SITE_DIR=site ${viaNpm}`;
  return name === "build" || name === "claims" ? viaNpm : `${program} ${command}`;
}

/** What is wrong and how to fix it, without punctuation: each place that shows it adds its own. */
export interface Advice {
  problem: string;
  remedy?: string | undefined;
  command?: OperatorCommand | undefined;
}

export function remedyText({ remedy, command }: Omit<Advice, "problem">, program?: string): string {
  return command ? `${remedy || "run"}: ${commandLine(command, program)}` : (remedy ?? "");
}

/** For a terminal and a log: `problem; remedy: command`. */
export function adviceLine(advice: Advice, program?: string): string {
  return [advice.problem, remedyText(advice, program)].filter(Boolean).join("; ");
}
