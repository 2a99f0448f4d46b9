/** A statement that was parsed and, if it is a query or modification, planned; the session's form of PreparedStatement. */
import { assertDefined } from "../base/assert.ts";
import type { ParsedStatement, Statement } from "../sql/parser/ast.ts";
import type { ExtractedLiteral } from "../sql/parser/fingerprint.ts";
import { parseStatements } from "../sql/parser/statements.ts";
import type { ResultColumn } from "../sql/plan/plan.ts";
import type { SqlType } from "../types/sql_type.ts";
import type { PreparedStatement } from "./outcome.ts";
import type { CachedPlan } from "./plan_cache.ts";

/** Texts longer than this are parsed again when their tree is needed again. */
const MAX_KEPT_TREE_LENGTH = 16_384;

/** A statement's tree, kept while it is small: the tree of a long text takes a hundred times as much as the text. */
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
    this.#parsed = text.length > MAX_KEPT_TREE_LENGTH ? null : parsed;
  }

  /** The tree. */
  get(): ParsedStatement {
    if (this.#parsed !== null) return this.#parsed;
    const options = this.#literals.length === 0 ? {} : { literals: this.#literals };
    const again = parseStatements(this.#text, options).find(({ start }) => start === this.#start);
    return assertDefined(again, "statement of the text");
  }
}

/** See the file's head. */
export class Prepared implements PreparedStatement {
  readonly text: string;
  readonly columns: readonly ResultColumn[] | null;
  readonly parameterTypes: readonly SqlType[];
  /** Types that the client declared. */
  readonly declared: readonly (SqlType | undefined)[];
  /** Replaced when the catalog has changed; null for statements without a plan. */
  plan: CachedPlan | null;
  /** null: the text was empty. */
  readonly tree: StatementTree | null;

  constructor(options: {
    readonly text: string;
    readonly statement: ParsedStatement | null;
    readonly columns: readonly ResultColumn[] | null;
    readonly parameterTypes: readonly SqlType[];
    readonly declared: readonly (SqlType | undefined)[];
    readonly plan: CachedPlan | null;
  }) {
    this.text = options.text;
    this.tree = options.statement === null ? null : new StatementTree(options.text, options.statement);
    this.columns = options.columns;
    this.parameterTypes = options.parameterTypes;
    this.declared = options.declared;
    this.plan = options.plan;
  }

  /** The statement as it was parsed; null: the text was empty. */
  get statement(): ParsedStatement | null {
    return this.tree === null ? null : this.tree.get();
  }
}
