/**
 * `lang completions`: scripts by which shells complete commands, options and their values, written from the commands
 * themselves.
 */
import { Argument, type Command, type Option } from "commander";
import type { Context } from "./shared/context.ts";
import { examples } from "./examples.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = typeof SHELLS[number];

/** Adds the command. */
export function addCompletionsCommand(program: Command, context: Context): void {
  program.command("completions")
    .summary("print a shell completion script")
    .description("Prints a script that completes the commands and options of lang in a shell.")
    .addArgument(new Argument("<shell>", "bash, zsh or fish").choices(SHELLS))
    .addHelpText(
      "after",
      examples([
        ["source <(lang completions bash)", "in ~/.bashrc"],
        ["source <(lang completions zsh)", "in ~/.zshrc, after compinit"],
        ["lang completions fish | source", "in ~/.config/fish/config.fish"],
      ]),
    )
    .action((shell: Shell) => context.terminal.write(completionScript(program, shell)));
}

/** The script of a shell. */
function completionScript(program: Command, shell: Shell): string {
  switch (shell) {
    case "bash":
      return bashScript(program);
    case "zsh":
      // zsh runs scripts for bash by itself.
      return `autoload -Uz bashcompinit && bashcompinit\n${bashScript(program)}`;
    case "fish":
      return fishScript(program);
  }
}

function visibleOptions(command: Command): readonly Option[] {
  return command.options.filter((option) => !option.hidden);
}

function flagsOf(command: Command): string[] {
  return [...visibleOptions(command).flatMap((option) => option.long ?? []), "--help"];
}

/** What may stand behind a command: its own commands with their options, and its options. */
function wordsOf(command: Command): string[] {
  const own = command.commands;
  return [...new Set([...own.map((each) => each.name()), ...own.flatMap(flagsOf), ...flagsOf(command)])];
}

function bashScript(program: Command): string {
  const commands = program.commands;
  const options = commands.map((command) =>
    `    ${command.name()}) options="${wordsOf(command).join(" ")}" ;;`
  );
  const values = new Map<string, string>();
  for (const command of [program, ...commands]) {
    for (const option of visibleOptions(command)) {
      const choices = option.argChoices ?? [];
      if (choices.length > 0 && option.long !== undefined && option.long !== null) {
        const key = `${command === program ? "*" : command.name()} ${option.long}`;
        values.set(key, choices.join(" "));
      }
    }
  }
  const cases = [...values].map(([key, choices]) => {
    const [command = "*", option = ""] = key.split(" ");
    const pattern = command === "*" ? `*" ${option}"` : `"${command} ${option}"`;
    return `    ${pattern}) COMPREPLY=($(compgen -W "${choices}" -- "$word")); return ;;`;
  });
  return `_lang() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}" options=""
  case "$command $before" in
${cases.join("\n")}
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${
    [...commands.map((command) => command.name()), "help", ...flagsOf(program)].join(" ")
  }" -- "$word"))
    return
  fi
  case "$command" in
${options.join("\n")}
    completions) options="$options ${SHELLS.join(" ")}" ;;
  esac
  COMPREPLY=($(compgen -W "$options" -- "$word") $(compgen -f -- "$word"))
}
complete -o filenames -F _lang lang
`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

function fishScript(program: Command): string {
  const lines: string[] = [];
  for (const command of program.commands) {
    const name = command.name();
    lines.push(`complete -c lang -n __fish_use_subcommand -f -a ${name} -d ${quoted(command.summary())}`);
    const seen = quoted(`__fish_seen_subcommand_from ${name}`);
    for (const own of command.commands) {
      lines.push(`complete -c lang -n ${seen} -f -a ${own.name()} -d ${quoted(own.summary())}`);
    }
    for (const option of [...visibleOptions(command), ...command.commands.flatMap(visibleOptions)]) {
      if (option.long === undefined || option.long === null) continue;
      const choices = option.argChoices ?? [];
      const takes = choices.length > 0 ? ` -x -a ${quoted(choices.join(" "))}` : option.required ? " -r" : "";
      lines.push(
        `complete -c lang -n ${seen} -l ${option.long.slice(2)}${takes} -d ${quoted(option.description)}`,
      );
    }
  }
  const seen = quoted("__fish_seen_subcommand_from completions");
  lines.push(`complete -c lang -n ${seen} -f -a ${quoted(SHELLS.join(" "))}`);
  return `${[...new Set(lines)].join("\n")}\n`;
}
