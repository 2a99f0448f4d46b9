/**
 * The reference of the language for readers that pay by the word: the page of the documentation without its grammar,
 * its tables without padding.
 */
import page from "../../../docs/language.md" with { type: "text" };

/** The reference as a model reads it. */
export function languageReference(): string {
  const grammar = page.indexOf("\n## Grammar\n");
  if (grammar < 0) throw new Error("Cannot make the reference: docs/language.md has no section Grammar");
  return compactMarkdown(page.slice(0, grammar + 1));
}

/** Markdown with the same content in fewer characters: cells of tables lose what aligns them. */
export function compactMarkdown(text: string): string {
  let isCode = false;
  const lines = text.split("\n").map((line) => {
    if (line.startsWith("```")) isCode = !isCode;
    if (isCode || !line.startsWith("|")) return line;
    return line.replace(/ {2,}\|/g, " |").replace(/\| {2,}/g, "| ").replace(/-{3,}/g, "---");
  });
  return `${lines.join("\n").replace(/\n{3,}/g, "\n\n").trimEnd()}\n`;
}
