/** What the registry knows of one code: the page that `explain` shows, whose programs a test compiles. */

/** How bad it is: only errors make a command fail. */
export type Severity = "error" | "warning" | "info";

/** A code and its page. */
export interface CodePage {
  /** Two letters for the phase and four digits, never renumbered. */
  readonly code: string;
  /** What kind of error this is, the same for every case. */
  readonly title: string;
  readonly severity: Severity;
  /** What it means, why it is one, and what to do; paragraphs of Markdown. */
  readonly explanation: string;
  /** A program that raises the code and no other error. */
  readonly bad: string;
  /**
   * The program after each fix of the first diagnostic, in their order; each clears it. Without a fix, a right
   * program.
   */
  readonly fixed: readonly string[];
}

/** A program as a template that is indented like the code around it. */
export function program(parts: TemplateStringsArray): string {
  const lines = (parts.raw[0] ?? "").replaceAll("\\`", "`").replaceAll("\\$", "$").split("\n").slice(1);
  const depth = Math.min(
    ...lines.slice(0, -1).filter((line) => line !== "").map((line) => line.search(/\S/)),
  );
  return lines.map((line) => line.slice(depth)).join("\n").trimEnd() + "\n";
}

/**
 * The files of a page's program: a line `// src/physics.lang` begins another one, what comes first is
 * `src/main.lang`.
 */
export function filesOfPage(program: string): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  let path = "src/main.lang";
  let text = "";
  for (const line of program.split(/(?<=\n)/)) {
    const next = /^\/\/ ((?:packages\/\w+\/)?src\/\S+\.lang)\n$/.exec(line)?.[1];
    if (next === undefined) text += line;
    else {
      files.set(path, text);
      path = next;
      text = "";
    }
  }
  return files.set(path, text);
}
