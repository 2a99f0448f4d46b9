/** Examples at the end of a help text. */

/** Lines of commands, each with what it does. */
export function examples(lines: readonly (readonly [command: string, meaning: string])[]): string {
  const width = Math.max(...lines.map(([command]) => command.length));
  return `\nExamples:\n${
    lines.map(([command, meaning]) => `  ${command.padEnd(width)}  ${meaning}`.trimEnd()).join("\n")
  }\n`;
}
