import type { Command } from "commander";
import type { Context } from "./context.ts";

export function addCompletion(root: Command, { program, out }: Context): void {
  root
    .command("completion")
    .description("print a function `messages` for bash and zsh that completes commands and options")
    .addHelpText("after", `\nTo use it: eval "$(${program.replace("npm run", "npm run --silent")} completion)"`)
    .action(() => {
      const branches = listCommands(root)
        .map(({ path, words }) => `    "${path}"*) words="${words}" ;;\n`)
        .toReversed();
      out(`messages() { ${program} "$@"; }
_messages() {
  local words
  case "\${COMP_WORDS[*]:1:COMP_CWORD-1} " in
${branches.join("")}  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
if [ -n "\${ZSH_VERSION-}" ]; then autoload -U +X bashcompinit && bashcompinit; fi
complete -o default -F _messages messages
`);
    });
}

/** Lists the command and all of its subcommands, each with the words that may follow its path. */
function listCommands(command: Command, path = ""): { path: string; words: string }[] {
  const names = command.commands.map((sub) => sub.name());
  const words = [...names, ...command.options.map(({ long }) => long), "--help"].join(" ");
  return [{ path, words }, ...command.commands.flatMap((sub) => listCommands(sub, `${path}${sub.name()} `))];
}
