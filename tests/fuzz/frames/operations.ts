/** Requests of the binary protocol to damage, as they also travel over a WebSocket, and the judge of their replies. */
import type { Continuation, Operation, Reply } from "../../../gateways/shared/operation/operation.ts";
import { encodeRequest } from "../../../gateways/shared/operation/operation_codec.ts";
import { decodeReply } from "../../../gateways/shared/operation/reply_codec.ts";

const table = { schema: null, name: "t" };
const untyped = (value: string | number | null) => ({ form: "untyped", value } as const);
const client = { clientId: "0123456789abcdef0123456789abcdef", sequence: 1n };

const REQUESTS: readonly (readonly (Operation | Continuation)[])[] = [
  [
    { kind: "sql", text: "SELECT id, name, amount, made, data, list FROM t ORDER BY id", parameters: null },
    {
      kind: "sql",
      text: "SELECT name FROM t WHERE id = $1 AND name <> $2",
      parameters: [untyped(1), untyped("x")],
    },
    { kind: "get", table, columns: ["name", "data"], id: 1 },
    { kind: "find", table, columns: [], keys: ["id"], values: [untyped(1)] },
    {
      kind: "find_range",
      table,
      columns: ["id"],
      key: "id",
      low: { value: untyped(0), inclusive: true },
      high: null,
      limit: 5,
    },
    { kind: "scan", table, columns: [], after: null, limit: 3 },
    { kind: "ping" },
  ],
  [
    {
      kind: "select",
      table,
      columns: ["id"],
      conditions: [
        { column: "name", operator: "like", values: [untyped("o%")] },
        { column: "id", operator: "in", values: [untyped(1), untyped(2)] },
      ],
      order: [{ column: "id", descending: true }],
      limit: 1,
      offset: 0,
    },
    {
      kind: "aggregate",
      table,
      aggregates: [{ function: "count", column: null }, { function: "sum", column: "amount" }],
      groupBy: ["name"],
      conditions: [],
    },
    { kind: "describe", table },
    { kind: "list_tables" },
    { kind: "stats" },
  ],
  [
    { kind: "create", table, id: 50, columns: ["name", "amount"], values: [untyped("x"), untyped("1.25")] },
    {
      kind: "update",
      table,
      id: 50,
      columns: ["name", "list"],
      values: [
        { form: "typed", type: { kind: "text" }, value: "y" },
        { form: "structured", json: "[1,null]" },
      ],
    },
    { kind: "delete", table, id: 50 },
    {
      kind: "txn",
      operations: [
        { kind: "create", table, id: null, columns: ["id"], values: [untyped(51)] },
        { kind: "delete", table, id: 51 },
      ],
    },
    { kind: "sql", text: "BEGIN; DELETE FROM t; ROLLBACK", parameters: null },
    { kind: "ddl", text: "CREATE TABLE IF NOT EXISTS u (id int)" },
  ],
  [
    { kind: "sql", text: "COPY t (id, name) FROM STDIN", parameters: null },
    { kind: "copy_data", bytes: new TextEncoder().encode("70\tx\n71\t\\N\n") },
    { kind: "copy_done" },
    { kind: "sql", text: "COPY t TO STDOUT (FORMAT csv)", parameters: null },
    { kind: "sql", text: "COPY t (id, name) FROM STDIN (FORMAT csv)", parameters: null },
    { kind: "copy_data", bytes: new TextEncoder().encode('72,"a ""b"""\n') },
    { kind: "copy_fail", message: "no more" },
    { kind: "sql", text: "DELETE FROM t WHERE id > 2", parameters: [] },
    { kind: "cancel" },
  ],
];

/** The encoded requests of each conversation; continuations have the number of the request in front of them. */
export const ENCODED_REQUESTS: readonly (readonly Uint8Array[])[] = REQUESTS.map((requests, conversation) => {
  let number = 0n;
  return requests.map((operation) => {
    if (!["copy_data", "copy_done", "copy_fail", "cancel"].includes(operation.kind)) number++;
    const isOnce = conversation === 2 && operation.kind === "txn";
    return encodeRequest({ number, client: isOnce ? client : null, operation });
  });
});

/** Decodes the replies of a connection; raises for what is none. */
export function decodeReplies(messages: Iterable<Uint8Array>): Reply[] {
  const columns = new Map<bigint, number>();
  const replies: Reply[] = [];
  for (const message of messages) {
    const reply = decodeReply(message, (number) => columns.get(number) ?? 0);
    if (reply.kind === "columns") columns.set(reply.number, reply.columns.length);
    replies.push(reply);
  }
  return replies;
}

/** What the replies told: the SQLSTATEs of errors. */
export function outcomesOf(replies: readonly Reply[]): string[] {
  const codes = replies.flatMap((reply) => reply.kind === "error" ? [reply.failure.code] : []);
  return codes.length === 0 ? ["answered"] : codes;
}
