/** Says in words what could stand at a place, from the terminals that fit there. */
import { CONTEXTUAL_TERMINALS, terminalNumber, TERMINALS } from "./token.ts";

interface Group {
  readonly words: string;
  /** All of them have to fit. */
  readonly needs: readonly string[];
  /** What need not be reported beside the words. */
  readonly covers: readonly string[];
}

const expressionStarts = [
  "name",
  "type_name",
  "integer",
  "float",
  "character",
  "text",
  "text_start",
  "true",
  "false",
  "open_paren",
  "open_bracket",
  "negate",
  "not",
  "if",
  "match",
  "fn",
  "{",
];

const groups: readonly Group[] = [
  {
    words: "a declaration",
    needs: ["pub", "use", "type", "fn"],
    covers: [
      "pub",
      "use",
      "type",
      "fn",
      "const",
      "interface",
      "test",
      "property",
      "eval",
      "intrinsic",
      "extern",
    ],
  },
  {
    words: "a statement",
    needs: ["let", "while", "integer"],
    covers: [
      "let",
      "var",
      "while",
      "for",
      "return",
      "return_alone",
      "break",
      "continue",
      ...expressionStarts,
    ],
  },
  { words: "an expression", needs: ["integer", "name", "open_paren", "fn"], covers: expressionStarts },
  {
    words: "a pattern",
    needs: ["_", "integer", "type_name"],
    covers: [
      "_",
      "name",
      "type_name",
      "integer",
      "float",
      "character",
      "text",
      "true",
      "false",
      "open_paren",
      "open_bracket",
      "negate",
    ],
  },
  {
    words: "a type",
    needs: ["type_name", "open_paren", "fn"],
    covers: ["type_name", "name", "open_paren", "fn"],
  },
  {
    words: "an operator",
    needs: ["*", "+", "=="],
    covers: [
      ..."or and == != < <= > >= .. ..= | ^ & << >> + - +% -% * / % *% ( [ . ?".split(" "),
      "record_brace",
    ],
  },
  { words: "`=`", needs: ["=", "+=", "*%="], covers: "= += -= *= /= %= +%= -%= *%=".split(" ") },
];

const plainWords: Readonly<Record<string, string>> = {
  $end: "the end of the declaration",
  name: "a name",
  type_name: "a name with a capital letter",
  integer: "a whole number",
  float: "a number",
  character: "a character",
  text: "a text",
  text_start: "a text",
  text_part: "more text",
  text_end: '`"`',
  interpolation_start: "`{`",
  interpolation_end: "`}`",
};

/** `a name or \`(\``; the most reporting first. */
export function expectationText(expected: ReadonlySet<number>): string {
  const words: string[] = [];
  const covered = new Set<string>();
  for (const group of groups) {
    if (!group.needs.every((name) => expected.has(terminalNumber(name)) && !covered.has(name))) continue;
    words.push(group.words);
    for (const name of group.covers) covered.add(name);
  }
  const single = [...expected].map((terminal) => TERMINALS[terminal] ?? "").filter((name) =>
    !covered.has(name)
  );
  // Closing brackets and commas say most about what is missing.
  const punctuation = single.filter((name) => /^\W+$/.test(name) && name !== "_");
  const others = single.filter((name) => !punctuation.includes(name));
  const told = [...new Set([...words, ...others.map(wordFor), ...punctuation.map(wordFor)])];
  const few = told.length > 5 ? told.slice(0, 5) : told;
  if (few.length === 0) return "nothing more";
  return few.length === 1 ? few[0] ?? "" : `${few.slice(0, -1).join(", ")} or ${few.at(-1)}`;
}

/** A terminal in words. */
function wordFor(name: string): string {
  return plainWords[name] ?? `\`${CONTEXTUAL_TERMINALS[name] ?? name}\``;
}
