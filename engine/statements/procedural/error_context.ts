/** Where in a PL/pgSQL block an error came up, in the words of PostgreSQL's CONTEXT. */
import { DatabaseError } from "../../base/errors.ts";
import type { ProceduralStatement } from "../../sql/procedural/block.ts";

const FUNCTION = "PL/pgSQL function inline_code_block";

/**
 * The error with its place, unless an inner statement has named it already. Its position is not one in the client's
 * text.
 */
export function inStatement(error: DatabaseError, statement: ProceduralStatement): DatabaseError {
  return withWhere(error, `line ${statement.line} at ${nameOf(statement)}`);
}

/** The same for the initial value of a variable. */
export function inDeclaration(error: DatabaseError, line: number): DatabaseError {
  return withWhere(error, `line ${line} during statement block local variable initialization`);
}

function withWhere(error: DatabaseError, place: string): DatabaseError {
  if (error.where?.includes(FUNCTION) === true) return error;
  const { position: _, ...fields } = error.fields();
  const where = error.where === undefined ? `${FUNCTION} ${place}` : `${error.where}\n${FUNCTION} ${place}`;
  return new DatabaseError(error.code, error.message, { ...fields, where });
}

/** An error that came up while a statement ran, with the statement. */
export function inSqlStatement(error: DatabaseError, text: string): DatabaseError {
  const where = `SQL statement "${text}"`;
  return new DatabaseError(error.code, error.message, {
    ...error.fields(),
    where: error.where === undefined ? where : `${error.where}\n${where}`,
  });
}

function nameOf(statement: ProceduralStatement): string {
  switch (statement.kind) {
    case "block":
      return "statement block";
    case "assign":
      return "assignment";
    case "sql":
      return "SQL statement";
    case "loop":
      return statement.condition === null ? "LOOP" : "WHILE";
    case "for_integer":
      return "FOR with integer loop variable";
    case "for_rows":
      return statement.source.kind === "query" ? "FOR over SELECT rows" : "FOR over EXECUTE statement";
    case "foreach":
      return "FOREACH over array";
    case "diagnostics":
      return statement.stacked ? "GET STACKED DIAGNOSTICS" : "GET DIAGNOSTICS";
    case "nothing":
      return "NULL";
    default:
      return statement.kind.toUpperCase();
  }
}
