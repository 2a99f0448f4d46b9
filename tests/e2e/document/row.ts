/** A row of the database document, and what is asked of a server to see it hold. */
import { deepStrictEqual, match, ok } from "node:assert/strict";

/** A running server, as a client sees it. */
export interface DocumentServer {
  /** The compiled programs. */
  readonly dbd: string;
  readonly dbcli: string;
  /** `host:port` of the binary protocol. */
  readonly address: string;
  /** `http://host:port`. */
  readonly http: string;
  readonly pgPort: number;
  /** `https://host:port`. */
  readonly https: string;
  /** The file with the certificate that signed the server's. */
  readonly ca: string;
  /** The shared secret. */
  readonly token: string;
}

/** One row: its name is the document's words. */
export interface DocumentRow {
  readonly name: string;
  /** The program that must be installed. */
  readonly needs?: "psql" | "curl";
  /** Rejects when the server does not do what the row says. */
  readonly check: (server: DocumentServer) => Promise<void>;
}

/** The answer to a text of SQL over HTTP. */
export async function ask(
  { http, token }: DocumentServer,
  sql: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  const response = await fetch(`${http}/v1/sql`, {
    method: "POST",
    headers: { "content-type": "text/plain", authorization: `Bearer ${token}`, ...headers },
    body: sql,
  });
  return { status: response.status, body: await response.json() };
}

/** A row that statements show: all must succeed, and the last answers with this JSON. */
export function answers(
  name: string,
  statements: string | readonly string[],
  expected: unknown,
): DocumentRow {
  const texts = typeof statements === "string" ? [statements] : statements;
  return {
    name,
    check: async (server) => {
      let last: unknown = null;
      for (const text of texts) {
        const { status, body } = await ask(server, text);
        ok(status === 200, `${text}: ${JSON.stringify(body)}`);
        last = body.rows ?? ("value" in body ? body.value : body);
      }
      deepStrictEqual(last, expected);
    },
  };
}

/** A row that a refused statement shows: its SQLSTATE, status and message. */
export function refuses(
  name: string,
  statement: string,
  expected: {
    readonly code: string;
    readonly status?: number;
    readonly message?: RegExp;
    readonly hint?: RegExp;
  },
): DocumentRow {
  return {
    name,
    check: async (server) => {
      const { status, body } = await ask(server, statement);
      deepStrictEqual({ status, code: body.code }, { status: expected.status ?? 400, code: expected.code });
      if (expected.message !== undefined) match(String(body.message), expected.message);
      if (expected.hint !== undefined) match(String(body.hint), expected.hint);
    },
  };
}
