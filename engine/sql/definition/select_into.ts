/** SELECT … INTO as the CREATE TABLE AS that it stands for. */
import type { CreateTableAs, Query, QueryBody, Statement } from "../parser/ast.ts";

/** The definition that a SELECT … INTO means; null for every other statement. */
export function selectInto(statement: Statement): CreateTableAs | null {
  if (statement.kind !== "query") return null;
  const first = firstSelect(statement.body);
  if (first === null || first.into === null) return null;
  const { into } = first;
  const query: Query = { ...statement, body: withoutInto(statement.body) };
  return {
    kind: "create_table_as",
    name: into.name,
    persistence: into.persistence,
    ifNotExists: false,
    columns: [],
    options: [],
    onCommit: null,
    query,
    withData: true,
    position: statement.position,
  };
}

type Select = Extract<QueryBody, { kind: "select" }>;

/** The leftmost SELECT, whose INTO counts. */
function firstSelect(body: QueryBody): Select | null {
  switch (body.kind) {
    case "select":
      return body;
    case "set_operation":
      return firstSelect(body.left);
    default:
      return null;
  }
}

function withoutInto(body: QueryBody): QueryBody {
  switch (body.kind) {
    case "select":
      return { ...body, into: null };
    case "set_operation":
      return { ...body, left: withoutInto(body.left) };
    default:
      return body;
  }
}
