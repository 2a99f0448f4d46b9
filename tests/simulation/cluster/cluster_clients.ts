/**
 * Clients of a simulated cluster, each over its protocol: node-postgres, requests over HTTP, and the project's own
 * client. They are real but for the sockets, and repeat only what their documents allow.
 */
import { Agent, request } from "node:http";
import type { Socket } from "node:net";
import pg from "pg";
import { OperationClient } from "../../../gateways/binary/client.ts";
import { CopyIn } from "../../support/clients.ts";
import type { Connection } from "../../isolation/connections.ts";
import { PORTS } from "./machine_gateways.ts";
import { CLIENT_HOST, type StreamNetwork } from "./simulated_sockets.ts";

/** A client that hears nothing for so long gives its connection up. */
const PATIENCE_MILLISECONDS = 4000;

/** What a request failed with, in one form for all protocols. */
export class RequestError extends Error {
  /** SQLSTATE; 08006: the connection is gone. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(`${code} ${message}`);
    this.code = code;
  }

  /** Whether nothing of the request can hold. */
  get isKnown(): boolean {
    return !["40003", "08006", "57P01", "58030"].includes(this.code);
  }
}

/** Codes that clients may see while members fail and return; XX001: a file is being fetched from another member. */
const EXPECTED_CODES = /^(08...|40001|40P01|40003|57P0.|53100|53300|58030|25P02|XX001)$/;

/** An error of any client as a {@link RequestError}; what no fault explains is thrown on. */
export function requestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  const code = typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
  const message = error instanceof Error ? error.message : String(error);
  if (EXPECTED_CODES.test(code)) return new RequestError(code.startsWith("08") ? "08006" : code, message);
  if (/^(ECONN|EPIPE)/.test(code) || /Connection terminated|not queryable|socket hang up/.test(message)) {
    return new RequestError("08006", message);
  }
  throw error;
}

/** A connection by node-postgres to one member. */
export class PgConnection implements Connection {
  readonly hasBlocks = true;
  readonly #client: pg.Client;
  readonly #socket: Socket;
  isGone = false;

  private constructor(client: pg.Client, socket: Socket) {
    this.#client = client;
    this.#socket = socket;
  }

  static async open(
    streams: StreamNetwork,
    member: number,
    readFrom: "primary" | "follower" = "primary",
  ): Promise<PgConnection> {
    const socket = streams.connect(CLIENT_HOST, member, PORTS.pg);
    const client = new pg.Client({
      user: "test",
      database: "test",
      options: `-c read_from=${readFrom}`,
      // The driver connects the socket that it is given.
      stream: () => Object.assign(socket, { connect: () => socket }),
      types: { getTypeParser: () => (text: string) => text },
    });
    const connection = new PgConnection(client, socket);
    client.on("error", () => connection.isGone = true);
    await connection.#within(client.connect());
    return connection;
  }

  async query(sql: string): Promise<(string | null)[][]> {
    const { rows } = await this.#within(
      this.#client.query<(string | null)[]>({ text: sql, rowMode: "array" }),
    );
    return rows;
  }

  copyIn(sql: string, data: string): Promise<void> {
    return this.#within(
      new Promise<void>((resolve, reject) =>
        void this.#client.query(new CopyIn(sql, data, { resolve, reject }))
      ),
    );
  }

  async #within<T>(promise: Promise<T>): Promise<T> {
    try {
      return await withPatience(promise);
    } catch (error) {
      const known = requestError(error);
      // Those are about the statement; what else goes wrong is the end of the connection.
      if (!["40001", "40P01", "25P02", "XX001"].includes(known.code)) {
        this.isGone = true;
        this.#socket.destroy();
      }
      throw known;
    }
  }

  close(): Promise<void> {
    this.isGone = true;
    this.#socket.destroy();
    return Promise.resolve();
  }
}

/** A list or bank workload has one word for a connection that is of no use any more. */
export function forWorkload(connection: PgConnection): Connection {
  return {
    hasBlocks: connection.hasBlocks,
    query: async (sql) => {
      try {
        return await connection.query(sql);
      } catch (error) {
        if (connection.isGone) {
          throw Object.assign(new Error("the connection is gone"), { code: "ECONNRESET" });
        }
        throw error;
      }
    },
    close: () => connection.close(),
  };
}

/** How a request over HTTP is made. */
export interface HttpRequestOptions {
  readonly readFrom?: "follower";
  readonly once?: { readonly clientId: string; readonly sequence: number };
}

/** Makes requests to one member over a connection that is kept. */
export class HttpClient {
  readonly #agent: Agent;

  constructor(streams: StreamNetwork, member: number) {
    this.#agent = new class extends Agent {
      override createConnection(): Socket {
        return streams.connect(CLIENT_HOST, member, PORTS.http);
      }
    }({ keepAlive: true, maxSockets: 1 });
  }

  /** Runs a statement; answers its rows. */
  async sql(
    text: string,
    { readFrom, once }: HttpRequestOptions = {},
  ): Promise<readonly Record<string, unknown>[]> {
    const headers = {
      "Content-Type": "text/plain",
      Host: "simulated",
      ...(readFrom === undefined ? {} : { "X-Db-Read-From": readFrom }),
      ...(once === undefined
        ? {}
        : { "X-Db-Client-Id": once.clientId, "X-Db-Req-Seq": String(once.sequence) }),
    };
    const { status, body } = await this.#post(headers, text);
    const answer = JSON.parse(body);
    if (status === 200) return answer.rows ?? [];
    throw requestError(Object.assign(new Error(answer.message), { code: answer.code }));
  }

  #post(headers: Record<string, string>, text: string): Promise<{ status: number; body: string }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
    const options = { agent: this.#agent, method: "POST", path: "/v1/sql", headers };
    const asked = request(options, (answer) => {
      let body = "";
      answer.setEncoding("utf8");
      answer.on("data", (piece: string) => body += piece);
      answer.on("end", () => {
        if (answer.complete) resolve({ status: answer.statusCode ?? 0, body });
        else reject(new RequestError("08006", "half an answer"));
      });
      answer.on("error", reject);
    });
    // Deno repeats a request by itself when a connection that was used before ends.
    asked.on("socket", () => asked.reusedSocket = false);
    asked.on("error", reject);
    asked.end(text);
    return withPatience(promise).catch((error) => {
      asked.destroy();
      throw requestError(error);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Connects the project's own client to all members. */
export function connectBinary(
  streams: StreamNetwork,
  members: number,
  options: { readonly clientId: string; readonly first: number },
): Promise<OperationClient> {
  const addresses = Array.from(
    { length: members },
    (_, at) => `member-${(at + options.first) % members}:${PORTS.binary}`,
  );
  return OperationClient.connect(
    { addresses },
    {
      clientId: options.clientId,
      openSocket: ({ hostname, port }) =>
        streams.connect(CLIENT_HOST, Number(hostname.replace("member-", "")), port),
    },
  );
}

/** Rejects when nothing comes within a client's patience. */
async function withPatience<T>(promise: Promise<T>, milliseconds = PATIENCE_MILLISECONDS): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new RequestError("08006", "no answer")), milliseconds);
  });
  promise.catch(() => {});
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
