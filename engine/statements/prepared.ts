/**
 * A statement that was parsed and, if it is a query or modification, planned; the session's form of
 * PreparedStatement.
 */
import type { ParsedStatement } from "../sql/parser/ast.ts";
import type { ResultColumn } from "../sql/plan/plan.ts";
import type { SqlType } from "../types/sql_type.ts";
import type { PreparedStatement } from "./outcome.ts";
import type { CachedPlan } from "./plan_cache.ts";
import { StatementTree } from "./statement_tree.ts";

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
