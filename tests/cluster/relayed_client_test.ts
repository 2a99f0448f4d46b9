/**
 * Clients that are connected to a backup when the primary hangs or ends, or when their member is cut off: none waits
 * for ever, and each is told what became of what it did.
 */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import pg from "pg";
import { WebSocket } from "ws";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { ClusterProcesses, type MemberProcess } from "./cluster_processes.ts";
import { FaultNetwork } from "./fault_network.ts";

/** A connection whose end is waited for. */
class WatchedClient {
  readonly client: pg.Client;
  readonly #told = Promise.withResolvers<string>();

  private constructor({ host, port }: MemberProcess) {
    this.client = new pg.Client({ host, port, user: "test", database: "test" });
    this.client.on("error", (error) => this.#told.resolve(codeOf(error)));
  }

  static async connect(member: MemberProcess, ...statements: readonly string[]): Promise<WatchedClient> {
    const watched = new WatchedClient(member);
    await watched.client.connect();
    for (const text of statements) await watched.client.query(text);
    return watched;
  }

  /** Asks what is not answered. */
  ask(text: string): WatchedClient {
    this.client.query(text).catch((error) => this.#told.resolve(codeOf(error)));
    return this;
  }

  /** The code of the error that it is told. */
  get told(): Promise<string> {
    return this.#told.promise;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}

/** How a WebSocket is closed. */
async function webSocket({ host, httpPort }: MemberProcess): Promise<Promise<[number, string]>[]> {
  const socket = new WebSocket(`ws://${host}:${httpPort}/v1/ws`, "db-op-v1");
  const closed = new Promise<[number, string]>((resolve) =>
    socket.once("close", (code: number, reason: Uint8Array) => resolve([code, String(reason)]))
  );
  await new Promise((resolve) => socket.once("open", resolve));
  return [closed];
}

const LOSSES: Record<
  string,
  (cluster: ClusterProcesses, network: FaultNetwork, backup: MemberProcess) => Promise<() => void>
> = {
  "the primary is killed": async (cluster) => {
    const primary = await cluster.primary();
    await primary.stop("SIGKILL");
    return () => primary.start();
  },
  "the primary hangs": async (cluster) => {
    const primary = await cluster.primary();
    primary.signal("SIGSTOP");
    return () => primary.signal("SIGCONT");
  },
  "their member is cut off": (_, network, { index }) => {
    for (const what of ["received", "sent"] as const) network.cut(index, what);
    return Promise.resolve(() => network.heal());
  },
};

Deno.test("clients of a backup are told what became of what they did, however the primary is lost", async (t) => {
  const { dbd } = await compiledPrograms();
  using network = new FaultNetwork();
  await using cluster = await ClusterProcesses.start({ dbd, memberCount: 3, peersOf: network.peersOf });
  const first = await WatchedClient.connect(await cluster.primary(), "CREATE TABLE t (id int PRIMARY KEY)");
  await first.client.end();
  let id = 0;
  for (const [what, lose] of Object.entries(LOSSES)) {
    await t.step(what, async () => {
      const primary = await cluster.primary();
      const backup = cluster.members.find((member) => member !== primary);
      ok(backup !== undefined);
      const idle = await WatchedClient.connect(
        backup,
        ...["SET TimeZone TO 'Asia/Tokyo'", "CREATE TEMP TABLE mine (a int)", "LISTEN heard"],
        ...["PREPARE p AS SELECT 1", "DECLARE c CURSOR WITH HOLD FOR SELECT 1"],
      );
      const block = await WatchedClient.connect(backup, "BEGIN", `INSERT INTO t VALUES (${++id})`);
      const waiting = await WatchedClient.connect(backup);
      waiting.ask("SELECT pg_sleep(600)");
      const [closed] = await webSocket(backup);
      const heal = await lose(cluster, network, backup);
      const told = await Promise.all([idle, block, waiting].map((client) => client.told));
      deepStrictEqual(told, ["57P01", "40001", "40003"], cluster.logs());
      const [code, reason] = await closed ?? [0, ""];
      strictEqual(code, 1012);
      match(reason, /^40003: /);
      heal();
      await cluster.level();
      const again = await WatchedClient.connect(backup);
      deepStrictEqual((await again.client.query(`SELECT FROM t WHERE id = ${id}`)).rowCount, 0);
      await again.client.end();
    });
  }
});
