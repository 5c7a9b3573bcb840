type Environment = Readonly<Record<string, string | undefined>>;

const NPM_COMMAND = "npm run messages --";

/** What an operator types before the name of a command. The wrapper, the unit and the image that start it set another. */
export function programName(env: Environment): string {
  return env.MESSAGES_COMMAND?.trim() || NPM_COMMAND;
}

/** What an operator types for a command that is not about messages. */
export function commandFor(name: "inbox" | "preflight", program: string): string {
  if (program.endsWith(NPM_COMMAND)) return program.replace(NPM_COMMAND, `npm run ${name}`);
  return `${program.replace(/ messages$/, "")} ${name}`;
}

/** The same text with the commands that build and review this installation, with the settings of the service. */
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
