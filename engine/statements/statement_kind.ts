/** What the session must know of a statement before it runs: whether it has a plan, and what it does to a block. */
import type { Statement } from "../sql/parser/ast.ts";
import type { PlannedStatement } from "../sql/plan/plan.ts";
import { selectInto } from "../sql/definition/select_into.ts";

/** Whether a statement goes through the planner. */
export function isPlannable(statement: Statement): boolean {
  switch (statement.kind) {
    case "insert":
    case "update":
    case "delete":
    case "merge":
      return true;
    case "query":
      return selectInto(statement) === null;
    default:
      return false;
  }
}

/** Whether a statement answers rows, be it rows without columns (`SELECT FROM t`). */
export function returnsRows(planned: PlannedStatement): boolean {
  return planned.columns.length > 0 || planned.command === "SELECT";
}

/** Whether a statement ends a transaction block. */
export function endsBlock(statement: Pick<Statement, "kind">): boolean {
  return statement.kind === "commit" || statement.kind === "rollback";
}

/** Statements that begin their own block or must not be part of one. */
export function standsAlone(statement: Pick<Statement, "kind">): boolean {
  return statement.kind === "begin" || statement.kind === "vacuum" || statement.kind === "checkpoint" ||
    statement.kind === "refresh";
}

/** Statements that look at no rows: the modes of a transaction may still be set after them. */
const WITHOUT_SNAPSHOT: ReadonlySet<Statement["kind"]> = new Set<Statement["kind"]>([
  "begin",
  "commit",
  "rollback",
  "savepoint",
  "release",
  "rollback_to",
  "set_transaction",
  "set_constraints",
  "set",
  "reset",
  "show",
  "lock",
  "deallocate",
  "fetch",
  "close",
  "listen",
  "notify",
  "unlisten",
  "checkpoint",
]);

/** Whether a statement looks at rows. */
export function takesSnapshot({ kind }: Pick<Statement, "kind">): boolean {
  return !WITHOUT_SNAPSHOT.has(kind);
}

/** Whether a statement is of a transaction that reads, so that it has to wait until the state is new enough. */
export function needsState({ kind }: Pick<Statement, "kind">): boolean {
  return kind === "begin" || kind !== "discard" && takesSnapshot({ kind });
}

/** PostgreSQL's command tag. */
export function tagOf(command: PlannedStatement["command"], count: number): string {
  return command === "INSERT" ? `INSERT 0 ${count}` : `${command} ${count}`;
}
