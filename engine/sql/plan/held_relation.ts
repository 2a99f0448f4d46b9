/**
 * The rows of one part of a statement that changes data in its WITH: kept when the part has run, read by the parts after it.
 *
 * A plan is shared by sessions, so rows are kept by the evaluation context of the session that runs it; a session runs one
 * statement at a time.
 */
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import type { EvaluationContext } from "../functions/definition.ts";
import type { VirtualRelation } from "./plan.ts";

type Rows = readonly (readonly SqlValue[])[];

/** See the file's head. */
export class HeldRelation implements VirtualRelation {
  readonly id = 0;
  readonly schema = "";
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: SqlType }[];
  readonly #rows = new WeakMap<object, Rows>();

  constructor(name: string, columns: readonly { readonly name: string; readonly type: SqlType }[]) {
    this.name = name;
    this.columns = columns;
  }

  /** Keeps the rows for what follows in the session's statement. */
  keep(context: EvaluationContext, rows: Rows): void {
    this.#rows.set(context, rows);
  }

  /** The rows that were kept. */
  rows(context: EvaluationContext): Rows {
    return this.#rows.get(context) ?? [];
  }
}
