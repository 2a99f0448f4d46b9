/** Codes of the lexer and the parser. */
import type { CodePage } from "./code_page.ts";

/** `SY0001` and on. */
export const SYNTAX_PAGES: readonly CodePage[] = [
  {
    code: "SY0001",
    title: "Unexpected token",
    severity: "error",
    explanation:
      "Something stands where the grammar allows other things only. The message says what could stand there.\n\nEach suggested fix is an edit after which the text can be read on.",
    bad: "fn main() -> Int {\n  1 + * 2\n}\n",
    fixed: [],
  },
];
