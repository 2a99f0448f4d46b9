/**
 * The tables of answers in `tables/`, as text.
 *
 * `# label` begins a signature; each line after it has the answers of the calls with one value of the first argument,
 * in the order of `callsOf`, separated by tabs. An answer is its text, `\N` for NULL, `!22003` for an error with that
 * SQLSTATE; a text of more than 24 characters is written as `~length:hash`. `*3` repeats the answer before it three
 * more times. Backslashes, control characters and first characters that mean something are escaped.
 */

/** An answer in the form of the tables. */
export type Answer = string;

/** The longest text that is kept as it is, in characters of JavaScript. */
const MAX_KEPT = 24;

/** Of an answer's text, or of NULL. */
export function answerOfText(text: string | null): Answer {
  if (text === null) return "\\N";
  if (text.length > MAX_KEPT) return `~${text.length}:${hashOf(text)}`;
  const escaped = text.replace(/[\\\t\n\r]/g, (character) => `\\${ESCAPES[character] ?? character}`);
  return /^[!~*#]/.test(escaped) || escaped === "" ? `\\${escaped === "" ? "e" : escaped}` : escaped;
}

const ESCAPES: Readonly<Record<string, string>> = { "\t": "t", "\n": "n", "\r": "r" };

/** Of an error. */
export function answerOfError(code: string): Answer {
  return `!${code}`;
}

/** Whether an answer is an error. */
export function isError(answer: Answer): boolean {
  return answer.startsWith("!");
}

/** FNV-1a over UTF-16 code units, in 32 bits. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, "0");
}

/** The answers of a signature's calls as lines; `groups` are the calls' first arguments. */
export function formatAnswers(answers: readonly Answer[], groups: readonly (number | undefined)[]): string {
  let text = "";
  let previous: Answer | undefined;
  let repeated = 0;
  const flush = () => {
    if (repeated > 0) text += `\t*${repeated}`;
    repeated = 0;
  };
  for (const [index, answer] of answers.entries()) {
    const starts = index === 0 || groups[index] !== groups[index - 1];
    if (!starts && answer === previous) {
      repeated++;
      continue;
    }
    flush();
    text += index === 0 ? answer : starts ? `\n${answer}` : `\t${answer}`;
    previous = answer;
  }
  flush();
  return text;
}

/** A table's text: signatures by label, in order. */
export function formatTable(signatures: ReadonlyMap<string, string>): string {
  return [...signatures].map(([label, lines]) => `# ${label}\n${lines}\n`).join("");
}

/** Reads a table. */
export function parseTable(text: string): Map<string, readonly Answer[]> {
  const table = new Map<string, Answer[]>();
  let answers: Answer[] = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("# ")) {
      answers = [];
      table.set(line.slice(2), answers);
    } else if (line !== "") {
      for (const field of line.split("\t")) {
        if (!field.startsWith("*")) answers.push(field);
        else for (let count = Number(field.slice(1)); count > 0; count--) answers.push(answers.at(-1) ?? "");
      }
    }
  }
  return table;
}
