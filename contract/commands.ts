type Environment = Readonly<Record<string, string | undefined>>;

const NPM_COMMAND = "npm run messages --";

/** What an operator types before a command's name. The wrapper script, the systemd unit and the image set their own. */
export function programName(env: Environment): string {
  return env.MESSAGES_COMMAND?.trim() || NPM_COMMAND;
}

/** The command line of a command that is not about messages. */
export function commandFor(name: "inbox" | "preflight", program: string): string {
  if (program.endsWith(NPM_COMMAND)) return program.replace(NPM_COMMAND, `npm run ${name}`);
  return `${program.replace(/ messages$/, "")} ${name}`;
}

/**
 * Replaces the build and review commands in a text with those of this installation, which use the service's settings.
 */
export function withOwnCommands(text: string, program: string): string {
  if (program === "node server/cli.ts") {
    return text
      .replaceAll("npm run build", "docker build -f deploy/Dockerfile .")
      .replaceAll("npm run claims", "SITE_DIR=site npm run claims");
  }
  if (!program.endsWith(" messages")) return text;
  const wrapper = program.replace(/ messages$/, "");
  return text.replaceAll(/npm run (build|claims)(?: --(?= ))?/g, `${wrapper} $1`);
}
