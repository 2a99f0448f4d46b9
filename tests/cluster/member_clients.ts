/**
 * Clients of one member by each of the four protocols, alike for loads: statements go in, rows come out as texts, and
 * what fails has a code. A connection that breaks, and a server that does not answer in time, are 08006.
 */
import { Agent, request } from "node:http";
import { OperationClient } from "../../gateways/binary/client.ts";
import { StatementResult } from "../../gateways/binary/client_result.ts";
import type {
  ClientSequence,
  Operation,
  Reply,
  WireColumn,
} from "../../gateways/shared/operation/operation.ts";
import { encodeRequest } from "../../gateways/shared/operation/operation_codec.ts";
import { decodeReply, errorOf } from "../../gateways/shared/operation/reply_codec.ts";
import { DEFAULT_TEXT_OPTIONS } from "../../engine/types/text_io.ts";
import { connect as connectPg, type Connection } from "../isolation/connections.ts";
import type { MemberProcess } from "./cluster_processes.ts";

/** A client that hears nothing for so long gives its connection up: the outcome of a change is unknown then. */
const PATIENCE_MILLISECONDS = 3000;

/** How a client speaks. */
export const PROTOCOLS = ["pg simple", "pg extended", "binary", "http", "websocket"] as const;

/** One of {@link PROTOCOLS}. */
export type Protocol = typeof PROTOCOLS[number];

/** The protocols whose requests may have a sequence number. */
export const ONCE_PROTOCOLS = ["binary", "http", "websocket"] as const;

/** A client of a member. */
export interface MemberClient extends Connection {
  readonly protocol: Protocol;
  /** Reads a column of the row with an id, by the protocol's own operation where it has one. */
  byId(table: string, column: string, id: number): Promise<string | null>;
  /** Runs a change under a sequence number. */
  once?(sequence: ClientSequence, sql: string): Promise<(string | null)[][]>;
}

/** What was not answered. */
class NoAnswerError extends Error {
  readonly code = "08006";
}

type Rows = (string | null)[][];

/** Connects to a member. */
export async function connectMember(
  member: MemberProcess,
  protocol: Protocol,
  patience = PATIENCE_MILLISECONDS,
): Promise<MemberClient> {
  const client = await within(
    protocol === "http"
      ? Promise.resolve(httpClient(member, patience))
      : protocol === "websocket"
      ? webSocketClient(member, patience)
      : protocol === "binary"
      ? binaryClient(member, patience)
      : pgClient(member, protocol, patience),
    patience,
  );
  return { ...client, query: (sql) => within(client.query(sql), patience) };
}

/** Rejects when there is no answer in time. */
async function within<T>(promise: Promise<T>, milliseconds: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NoAnswerError("no answer in time")), milliseconds);
  });
  promise.catch(() => {
    // It is late: nobody waits for it.
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

function get(table: string, column: string, id: number): Operation {
  return { kind: "get", table: { schema: null, name: table }, id, columns: [column] };
}

async function pgClient(
  member: MemberProcess,
  protocol: "pg simple" | "pg extended",
  patience: number,
): Promise<MemberClient> {
  const connection = await connectPg(member, protocol === "pg simple" ? "simple" : "extended");
  return {
    ...connection,
    protocol,
    byId: async (table, column, id) =>
      (await within(connection.query(`SELECT ${column} FROM ${table} WHERE k = ${id}`), patience))[0]?.[0] ??
        null,
  };
}

/** The client of the protocol itself, without what the project's client repeats on its own. */
async function binaryClient({ host, binaryPort }: MemberProcess, patience: number): Promise<MemberClient> {
  const client = await OperationClient.connect({
    address: `${host}:${binaryPort}`,
    connectTimeoutMilliseconds: patience,
    // A session that is lost is not made again: its transaction would go on outside of its block.
    reconnectTimeoutMilliseconds: 0,
  }).catch(asLoss);
  const texts = async (operation: Operation) =>
    (await within(client.request(operation).catch(asLoss), patience)).at(-1)?.texts() ?? [];
  return {
    protocol: "binary",
    hasBlocks: true,
    query: (text) => texts({ kind: "sql", text, parameters: null }),
    byId: async (table, column, id) => (await texts(get(table, column, id)))[0]?.[0] ?? null,
    close: () => client.close(),
  };
}

/** The client says 08000 when it has lost its connection. */
function asLoss(error: unknown): never {
  if (error instanceof Error && "code" in error && error.code === "08000") {
    throw new NoAnswerError(error.message, { cause: error });
  }
  throw error;
}

function httpClient({ host, httpPort }: MemberProcess, patience: number): MemberClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const post = (path: string, body: string | object, headers: Record<string, string> = {}) => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const answered = Promise.withResolvers<Rows>();
    const fail = (cause: unknown) =>
      answered.reject(new NoAnswerError("the request was not answered", { cause }));
    // Not by `fetch`: it makes a request again whose kept connection ends without an answer, as if it had never come.
    const asked = request({
      agent,
      host,
      port: httpPort,
      method: "POST",
      path: `/v1/${path}`,
      headers: {
        "Content-Type": typeof body === "string" ? "text/plain" : "application/json",
        "Content-Length": new TextEncoder().encode(text).length,
        ...headers,
      },
      signal: AbortSignal.timeout(patience),
    }, async (answer) => {
      try {
        const pieces: Uint8Array[] = await Array.fromAsync(answer);
        if (!answer.complete) return fail("half of an answer");
        answered.resolve(rowsOf(JSON.parse(await new Blob(pieces as BlobPart[]).text())));
      } catch (error) {
        if (error instanceof Error && "code" in error && /^\w{5}$/.test(String(error.code))) {
          answered.reject(error);
        } else fail(error);
      }
    });
    asked.on("socket", () => asked.reusedSocket = false);
    asked.on("error", fail);
    asked.end(text);
    return answered.promise;
  };
  return {
    protocol: "http",
    hasBlocks: false,
    query: (sql) => post("sql", sql),
    byId: async (table, column, id) =>
      (await post("op", { op: "get", table, id, columns: [column] }))[0]?.[0] ?? null,
    once: ({ clientId, sequence }, sql) =>
      post("sql", sql, { "X-Db-Client-Id": clientId, "X-Db-Req-Seq": String(sequence) }),
    close: () => {
      agent.destroy();
      return Promise.resolve();
    },
  };
}

interface HttpAnswer {
  readonly status: "ok" | "error";
  readonly code?: string;
  readonly message?: string;
  readonly rows?: readonly Record<string, unknown>[];
  readonly value?: unknown;
}

function rowsOf(answer: HttpAnswer): Rows {
  if (answer.status === "error") throw Object.assign(new Error(answer.message), { code: answer.code });
  const text = (value: unknown) => value === null ? null : String(value);
  if (answer.rows !== undefined) return answer.rows.map((row) => Object.values(row).map(text));
  return answer.value === undefined ? [] : [[text(answer.value)]];
}

async function webSocketClient({ host, httpPort }: MemberProcess, patience: number): Promise<MemberClient> {
  const socket = new WebSocket(`ws://${host}:${httpPort}/v1/ws`, "db-op-v1");
  socket.binaryType = "arraybuffer";
  const waiting = new Map<bigint, PromiseWithResolvers<Rows>>();
  let columns: readonly WireColumn[] = [];
  let rows: Rows = [];
  let number = 0n;
  let end: Error | null = null;
  const lose = (error: Error): void => {
    end ??= error;
    for (const request of waiting.values()) request.reject(end);
    waiting.clear();
  };
  const opened = Promise.withResolvers<void>();
  socket.onopen = () => opened.resolve();
  socket.onerror = () => undefined;
  socket.onclose = ({ code, reason }) => {
    const error = new NoAnswerError(`the WebSocket has ended: ${code} ${reason}`);
    opened.reject(error);
    lose(error);
  };
  const receive = (reply: Reply): void => {
    const request = "number" in reply ? waiting.get(reply.number) : undefined;
    switch (reply.kind) {
      case "columns":
        columns = reply.columns;
        rows = [];
        return;
      case "rows":
        rows.push(...textsOf(columns, reply.rows));
        return;
      case "end":
        waiting.delete(reply.number);
        request?.resolve(rows);
        rows = [];
        return;
      case "error":
        waiting.delete(reply.number);
        request?.reject(errorOf(reply.failure));
        // About the connection, which ends.
        if (reply.number === 0n) lose(errorOf(reply.failure));
        return;
      default:
        return;
    }
  };
  socket.onmessage = ({ data }) => receive(decodeReply(new Uint8Array(data), () => columns.length));
  const request = (operation: Operation, client: ClientSequence | null = null): Promise<Rows> => {
    if (end !== null) return Promise.reject(end);
    const answer = Promise.withResolvers<Rows>();
    waiting.set(++number, answer);
    socket.send(encodeRequest({ number, client, operation }) as Uint8Array<ArrayBuffer>);
    return within(answer.promise, patience);
  };
  await within(opened.promise, patience).catch((error: unknown) => {
    socket.close();
    throw error;
  });
  return {
    protocol: "websocket",
    hasBlocks: true,
    query: (text) => request({ kind: "sql", text, parameters: null }),
    byId: async (table, column, id) => (await request(get(table, column, id)))[0]?.[0] ?? null,
    once: (client, text) => request({ kind: "sql", text, parameters: null }, client),
    close: () => {
      socket.close();
      return Promise.resolve();
    },
  };
}

function textsOf(columns: readonly WireColumn[], rows: Extract<Reply, { kind: "rows" }>["rows"]): Rows {
  const outcome = { tag: "", kind: "rows", rowCount: null, insertedId: null, notices: [] } as const;
  return new StatementResult({ outcome, columns, rows, textOptions: DEFAULT_TEXT_OPTIONS }).texts();
}
