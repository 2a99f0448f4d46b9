/** What read-only transactions refuse, and how messages name it. */
import { isTemporarySchema } from "../catalog/temporary_schema.ts";
import type { DefinitionStatement } from "../sql/parser/ast.ts";
import type { LockedTable, Plan, PlannedStatement } from "../sql/plan/plan.ts";
import { visitPlan } from "../sql/plan/traverse.ts";

/** What a plan does besides reading. */
interface Writes {
  /** Whether all tables that are written or whose rows are locked are temporary. */
  onlyTemporary: boolean;
  lock: LockedTable["strength"] | null;
  /** A function that writes. */
  call: string | null;
}

const WRITING_FUNCTIONS: ReadonlySet<string> = new Set(["nextval", "setval"]);

function writesOf(plan: Plan): Writes {
  const schemas: string[] = [];
  const writes: Writes = { onlyTemporary: false, lock: null, call: null };
  const called = (name: string) => {
    if (WRITING_FUNCTIONS.has(name)) writes.call = name;
  };
  visitPlan(plan, {
    plan: (part) => {
      if (part.kind === "insert" || part.kind === "update" || part.kind === "delete") {
        schemas.push(part.table.schema);
      }
      if (part.kind === "function_scan") { for (const call of part.functions) called(call.function.name); }
      if (part.kind !== "lock_rows") return;
      writes.lock = part.tables[0]?.strength ?? null;
      for (const { table } of part.tables) schemas.push(table.schema);
    },
    expression: (part) => {
      if (part.kind === "call") called(part.function.name);
    },
  });
  writes.onlyTemporary = writes.call === null && schemas.every(isTemporarySchema);
  return writes;
}

/** Whether a statement writes to temporary tables alone, which belong to no transaction but the session's own. */
export function writesTemporaryRows(planned: PlannedStatement): boolean {
  const all = [planned, ...(planned.parts ?? []).map((part) => part.planned)].filter((each) =>
    !each.readOnly
  );
  return all.length > 0 && all.every((each) => each.readOnly || writesOf(each.plan).onlyTemporary);
}

/** How the message names a statement that writes. */
export function writingCommand(planned: PlannedStatement): string {
  if (planned.command !== "SELECT" || planned.parts !== undefined) return planned.command;
  const { lock, call } = writesOf(planned.plan);
  if (lock !== null) return `SELECT FOR ${lock.toUpperCase()}`;
  return call === null ? planned.command : `${call}()`;
}

const COMMANDS: Readonly<Partial<Record<DefinitionStatement["kind"], string>>> = {
  create_table: "CREATE TABLE",
  alter_table: "ALTER TABLE",
  create_index: "CREATE INDEX",
  create_sequence: "CREATE SEQUENCE",
  alter_sequence: "ALTER SEQUENCE",
  create_enum: "CREATE TYPE",
  alter_enum: "ALTER TYPE",
  create_view: "CREATE VIEW",
  create_schema: "CREATE SCHEMA",
  create_extension: "CREATE EXTENSION",
  create_external_source: "CREATE EXTERNAL SOURCE",
  comment: "COMMENT",
  truncate: "TRUNCATE TABLE",
};

/** How messages name a statement of the definition language; null: it changes nothing, or is not served at all. */
export function definitionCommand(statement: DefinitionStatement): string | null {
  switch (statement.kind) {
    case "create_table_as":
      return "CREATE TABLE AS";
    case "drop":
      return `DROP ${statement.objectType.replaceAll("_", " ").toUpperCase()}`;
    case "rename_object":
    case "set_object_owner":
    case "set_object_schema":
      return `ALTER ${statement.objectType.replaceAll("_", " ").toUpperCase()}`;
    default:
      return COMMANDS[statement.kind] ?? null;
  }
}
