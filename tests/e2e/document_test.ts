/**
 * The database document row by row, from outside: a compiled server, clients over the wire. What is not built yet is
 * in a list of its own, so that the count says how much of the document holds.
 */
import { deepStrictEqual, ok } from "node:assert/strict";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { isInstalled, reportNotRun } from "../../tools/not_run.ts";
import { ServerProcess } from "../support/server_process.ts";
import { HTTP_ROWS, WEBSOCKET_ROWS } from "./document/http_rows.ts";
import type { DocumentRow, DocumentServer } from "./document/row.ts";
import { EXTERNAL_ROWS, LIMIT_ROWS, PROGRAM_ROWS, TLS_ROWS } from "./document/server_rows.ts";
import { LOGIC_ROWS, RESOURCE_ROWS, STATEMENT_ROWS } from "./document/sql_rows.ts";
import { BINARY_ROWS, CLIENT_ROWS, PG_ROWS } from "./document/wire_rows.ts";

/** In this order, for later rows use what earlier ones have made. */
const SECTIONS: readonly (readonly [title: string, rows: readonly DocumentRow[]])[] = [
  ["tables, columns, rows", RESOURCE_ROWS],
  ["constraints and logic", LOGIC_ROWS],
  ["SQL statements", STATEMENT_ROWS],
  ["HTTP gateway", HTTP_ROWS],
  ["WebSocket", WEBSOCKET_ROWS],
  ["PG wire protocol", PG_ROWS],
  ["binary protocol", BINARY_ROWS],
  ["dbcli", CLIENT_ROWS],
  ["external sources", EXTERNAL_ROWS],
  ["server program", PROGRAM_ROWS],
  ["transport encryption", TLS_ROWS],
  ["limits", LIMIT_ROWS],
];

/** Rows of the document that no server does yet. */
const MISSING: readonly string[] = [
  "replication over TCP (`--replica`, `--peers`)",
  "a cluster client finds the primary and retries safely on failover",
  "`shard_count`: K shard groups behind a router",
  "cross-shard transactions of point operations",
  "scans across shards fan out and merge; `partial_on_timeout`",
];

const TOKEN = "shared-secret";

/** Runs a compiled server around some work. */
async function withServer(work: (server: DocumentServer) => Promise<void>): Promise<void> {
  const { dbd, dbcli } = await compiledPrograms();
  const any = "127.0.0.1:0";
  const server = await ServerProcess.startEmpty(dbd, {
    flags: [
      ...["--token", TOKEN, "--pg-max-conns", "16", "--pg-idle-timeout", "2"],
      ...["--dev-tls", "--http-tls-addr", any, "--external-allow", "127.0.0.1"],
    ],
  });
  try {
    await work({
      dbd,
      dbcli,
      token: TOKEN,
      address: server.addressOf("binary protocol"),
      http: server.addressOf("HTTP"),
      https: server.addressOf("HTTPS").replace("127.0.0.1", "localhost"),
      ca: `${server.directory}/data/tls/ca.pem`,
      pgPort: server.portOf("PostgreSQL protocol"),
    });
  } finally {
    // The work may have ended it, and has noticed then.
    await server.end("SIGTERM");
  }
}

Deno.test("every row of the database document that is built holds on the compiled server", () =>
  withServer(async (server) => {
    const failures: string[] = [];
    const peers = ["psql", "curl"];
    const isThere = await Promise.all(peers.map((program) => isInstalled(program)));
    const installed = new Set(peers.filter((_, index) => isThere[index]));
    let count = 0;
    for (const [title, rows] of SECTIONS) {
      for (const { name, needs, check } of rows) {
        if (needs !== undefined && !installed.has(needs)) {
          reportNotRun(`${title}: ${name}`, `${needs} is not installed`);
          continue;
        }
        count++;
        try {
          await check(server);
        } catch (error) {
          failures.push(`${title}: ${name}: ${error instanceof Error ? error.message.slice(0, 500) : error}`);
        }
      }
    }
    const total = count + MISSING.length;
    console.log(`${count - failures.length} of ${total} rows of the database document hold`);
    ok(count > 150, `only ${count} rows`);
    deepStrictEqual(failures, []);
  }));
