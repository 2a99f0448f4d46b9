/** A statement's tree, kept while it is small: the tree of a long text takes a hundred times as much as the text. */
import { assertDefined } from "../base/assert.ts";
import { LIMITS } from "../base/limits.ts";
import type { ParsedStatement, Statement } from "../sql/parser/ast.ts";
import type { ExtractedLiteral } from "../sql/parser/fingerprint.ts";
import { parseStatements } from "../sql/parser/statements.ts";

/** See the file's head. */
export class StatementTree {
  readonly kind: Statement["kind"];
  readonly #text: string;
  readonly #start: number;
  readonly #literals: readonly ExtractedLiteral[];
  readonly #parsed: ParsedStatement | null;

  constructor(text: string, parsed: ParsedStatement, literals: readonly ExtractedLiteral[] = []) {
    this.kind = parsed.statement.kind;
    this.#text = text;
    this.#start = parsed.start;
    this.#literals = literals;
    this.#parsed = text.length > LIMITS.keptTreeCharacters ? null : parsed;
  }

  /** The tree; `parse` may know that of a text without lifted literals. */
  get(parse: (text: string) => readonly ParsedStatement[] = parseStatements): ParsedStatement {
    if (this.#parsed !== null) return this.#parsed;
    const literals = this.#literals;
    const statements = literals.length === 0 ? parse(this.#text) : parseStatements(this.#text, { literals });
    const again = statements.find(({ start }) => start === this.#start);
    return assertDefined(again, "statement of the text");
  }
}
