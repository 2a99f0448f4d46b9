/**
 * The fenced code blocks of a Markdown page, so that a test can do what the page says.
 *
 * A `text` block right after a block of commands is what they print: `…` in it stands for any text, and a line of `…`
 * alone for any number of lines.
 */

/** A block, and what the page says that it prints. */
export interface DocumentBlock {
  readonly language: string;
  readonly text: string;
  readonly line: number;
  /** null: the page does not say. */
  readonly expected: string | null;
}

/** The part of a page from a heading to the next one of the same or a higher level. */
export function sectionOf(page: string, heading: string): string {
  const lines = page.split("\n");
  const start = lines.indexOf(heading);
  if (start < 0) throw new Error(`the page has no heading "${heading}"`);
  const level = heading.indexOf(" ");
  let inBlock = false;
  const length = lines.slice(start + 1).findIndex((line) => {
    if (line.startsWith("```")) inBlock = !inBlock;
    const match = /^(#+) /.exec(line);
    return !inBlock && match !== null && (match[1]?.length ?? 0) <= level;
  });
  return lines.slice(start, length < 0 ? undefined : start + 1 + length).join("\n");
}

/** All blocks of a page but the outputs, which are with the block before them. */
export function blocksOf(page: string): DocumentBlock[] {
  const found = [...page.matchAll(/^```(\w*)[^\n]*\n([\s\S]*?)^```$/gm)].map((match) => ({
    language: match[1] ?? "",
    text: match[2] ?? "",
    start: match.index,
    end: match.index + match[0].length,
  }));
  return found.flatMap((block, index) => {
    if (block.language === "text") return [];
    const next = found[index + 1];
    // Words may be between a block and its output, but no other block.
    return [{
      language: block.language,
      text: block.text,
      line: page.slice(0, block.start).split("\n").length,
      expected: next?.language === "text" ? next.text : null,
    }];
  });
}

/** Whether an output is the one that a page shows. */
export function matchesOutput(actual: string, expected: string): boolean {
  const source = trimmedLines(expected).map((line) =>
    line.trim() === "…" ? "(?:.*\\n)*?" : `${line.split("…").map(RegExp.escape).join(".*")}\\n`
  ).join("");
  return new RegExp(`^${source}$`).test(trimmedLines(actual).map((line) => `${line}\n`).join(""));
}

function trimmedLines(text: string): string[] {
  const lines = text.split("\n").map((line) => line.trimEnd());
  while (lines.at(-1) === "") lines.pop();
  while (lines[0] === "") lines.shift();
  return lines;
}
