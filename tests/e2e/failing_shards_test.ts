/**
 * A thread of a shard fails, or does not come to an end of a turn, at each stage of a statement and of a commit: the
 * server ends with one line, or statements fail with 57014 after `scatter_timeout`; a restart has what was
 * acknowledged, and nothing of what was refused. With ALL_STAGES set it is every stage.
 */
import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import pg from "pg";
import { killableServer } from "../sharding/kill_points/build.ts";
import { type KillOrder, orderFile } from "../sharding/kill_points/kill_point.ts";
import { ServerProcess } from "../support/server_process.ts";

const ACCOUNTS = 20;
/** What a thread may have, so that it is soon too little. */
const HEAP_MEBIBYTES = 128;

/** Stages of statements that read, of commits with votes and without, and of what comes later; or those given. */
const stages = (...few: readonly string[]): readonly string[] =>
  Deno.env.get("ALL_STAGES") === undefined ? few : [
    ...["begin", "fetch", "run", "after run", "agree", "after agree", "keep", "after keep"],
    ...["apply", "after apply", "checkpoint", "built", "answers", "has answered"],
  ];

/** Each of them comes to every step but a few. */
const MAX_TRANSFERS = 1000;
/** What a shard of a busy machine may fail to do too, at times. */
const TIMEOUT_MILLISECONDS = 250;

/** Transfers, one after the other, and what has come of each. */
class Transfers {
  readonly acknowledged = new Set<number>();
  readonly refused = new Set<number>();
  /** What the last of them failed of. */
  error = "";
  #next = 1;

  /** Works until the connection is lost, or until a shard has not answered in time and `isOver` then. */
  async run(port: number, timeout: number, isOver = () => Promise.resolve(true)): Promise<void> {
    const client = await connect(port);
    try {
      await client.query(`SET scatter_timeout = ${timeout}`);
      const last = this.#next + MAX_TRANSFERS;
      while (await this.#transfer(client, this.#next++) || !await isOver()) {
        ok(this.#next < last, `nothing has failed in ${MAX_TRANSFERS} transfers`);
        if (this.error !== "") await client.query("ROLLBACK");
      }
    } finally {
      await client.end().catch(() => {});
    }
  }

  async #transfer(client: pg.Client, number: number): Promise<boolean> {
    const from = 1 + number % ACCOUNTS, to = 1 + (number * 7 + 3) % ACCOUNTS;
    // Every other one needs votes, since it has read more than what it writes.
    const source = number % 2 === 0 ? String(from) : `(SELECT max(id) FROM account WHERE id <= ${from})`;
    const statements = [
      "BEGIN",
      `UPDATE account SET balance = balance - 1 WHERE id = ${source}`,
      `UPDATE account SET balance = balance + 1 WHERE id = ${to}`,
      `INSERT INTO done VALUES (${number})`,
      "COMMIT",
    ];
    this.error = "";
    try {
      for (const statement of statements) await client.query(statement);
      this.acknowledged.add(number);
      // What lets checkpoints begin, and reads at all shards.
      await client.query(`UPDATE filler SET body = repeat('x', 4000) || ${number} WHERE id = ${to}`);
      await client.query("SELECT sum(length(body)) FROM filler");
    } catch (error) {
      const { code, message } = error as { readonly code?: string; readonly message: string };
      this.error = `${code}: ${message}`;
      // Otherwise nobody knows what has become of it.
      if (code === "57014" && !this.acknowledged.has(number)) this.refused.add(number);
      return false;
    }
    return true;
  }
}

async function connect(port: number): Promise<pg.Client> {
  const client = new pg.Client({ host: "127.0.0.1", port, user: "test", database: "test" });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

/** A killable server over one directory. */
class Killable implements AsyncDisposable {
  readonly #folder: string;
  readonly #parameters: readonly string[];
  readonly #program: string;
  server: ServerProcess | null = null;

  private constructor(
    folder: string,
    program: { readonly dbd: string; readonly programArguments: readonly string[] },
  ) {
    this.#folder = folder;
    this.#program = program.dbd;
    this.#parameters = [
      ...program.programArguments,
      ...[
        "--shards",
        "2",
        "--checkpoint-log",
        "32KiB",
        "--pg-addr",
        "127.0.0.1:0",
        "127.0.0.1:0",
        this.directory,
      ],
    ];
  }

  static async make(heapMebibytes?: number): Promise<Killable> {
    const folder = await Deno.makeTempDir({ prefix: "failing-shards-" });
    return new Killable(folder, await killableServer(heapMebibytes));
  }

  get directory(): string {
    return `${this.#folder}/data`;
  }

  async start(): Promise<number> {
    this.server = await ServerProcess.start(this.#program, this.#parameters);
    return this.server.portOf("PostgreSQL protocol");
  }

  async order(wanted: KillOrder): Promise<void> {
    const { order } = orderFile(this.directory);
    await Deno.writeTextFile(`${order}.tmp`, JSON.stringify(wanted));
    await Deno.rename(`${order}.tmp`, order);
  }

  /** Whether the order was met. */
  isMet(): Promise<boolean> {
    return Deno.stat(orderFile(this.directory).said).then(() => true, () => false);
  }

  /** The same, and nothing is ordered any more. */
  async forget(): Promise<boolean> {
    const { order, said } = orderFile(this.directory);
    await Deno.remove(order).catch(() => {});
    return await Deno.remove(said).then(() => true, () => false);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server?.end("SIGKILL");
    await Deno.remove(this.#folder, { recursive: true });
  }
}

async function makeTables(port: number): Promise<void> {
  const client = await connect(port);
  await client.query(
    `CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL);
     CREATE TABLE done (number INT PRIMARY KEY);
     CREATE TABLE filler (id INT PRIMARY KEY, body TEXT);
     INSERT INTO account SELECT n, 100 FROM generate_series(1, ${ACCOUNTS}) AS n;
     INSERT INTO filler SELECT n, '' FROM generate_series(1, ${ACCOUNTS}) AS n`,
  );
  await client.end();
}

/** All that was acknowledged is there, and nothing that was refused. */
async function check(port: number, { acknowledged, refused }: Transfers, stage: string): Promise<void> {
  const client = await connect(port);
  const { rows: [sum] } = await client.query("SELECT sum(balance)::int AS sum FROM account");
  strictEqual(sum?.sum, ACCOUNTS * 100, stage);
  const { rows } = await client.query("SELECT number FROM done");
  const found = new Set(rows.map(({ number }) => number as number));
  for (const number of acknowledged) ok(found.has(number), `${stage}: transfer ${number} was acknowledged`);
  for (const number of refused) ok(!found.has(number), `${stage}: transfer ${number} was refused`);
  await client.end();
}

/** What a server has said since it was ready. */
function said({ log }: ServerProcess): string {
  return log.slice(log.indexOf("dbd: ready") + "dbd: ready".length).trim();
}

Deno.test("an error in a shard's thread ends the server with one line, at whatever stage", async () => {
  await using killable = await Killable.make();
  const transfers = new Transfers();
  let port = await killable.start();
  await makeTables(port);
  for (const [index, stage] of stages("agree", "apply").entries()) {
    const server = killable.server as ServerProcess;
    const shard = index % 2;
    await killable.order({ point: `shard ${shard}: ${stage}`, count: 3, instead: "error" });
    await transfers.run(port, 0);
    const { code } = await server.child.status;
    await server.end("SIGKILL");
    strictEqual(code, 1, `${stage}: ${server.log}`);
    match(said(server), new RegExp(`^dbd: .*shard ${shard} has ended: .*planted in a thread.*$`), stage);
    ok(await killable.forget(), stage);
    port = await killable.start();
    await check(port, transfers, stage);
  }
});

Deno.test("a shard whose turn does not end fails statements in time, and a restart has nothing half done", async () => {
  await using killable = await Killable.make();
  const transfers = new Transfers();
  let port = await killable.start();
  await makeTables(port);
  for (const [index, stage] of stages("run", "agree").entries()) {
    const shard = index % 2;
    await killable.order({ point: `shard ${shard}: ${stage}`, count: 3, instead: "hang" });
    const late = new RegExp(
      `^57014: .*shards? .*\\b${shard}\\b.* did not answer within ${TIMEOUT_MILLISECONDS} ms`,
    );
    await transfers.run(port, TIMEOUT_MILLISECONDS, () => killable.isMet());
    // Just before, it may have been the other one.
    if (!late.test(transfers.error)) await transfers.run(port, TIMEOUT_MILLISECONDS);
    match(transfers.error, late, stage);
    const client = await connect(port);
    // What needs no shard goes on, and what needs this one is told so.
    deepStrictEqual((await client.query("SELECT 6 * 7 AS n")).rows, [{ n: 42 }]);
    await client.query("SET scatter_timeout = 100");
    await rejects(client.query("SELECT count(*) FROM account"), { code: "57014" });
    await client.end();
    ok(await killable.forget(), stage);
    await killable.server?.end("SIGKILL");
    port = await killable.start();
    await check(port, transfers, stage);
  }
});

Deno.test("a shard that needs more memory than there is ends the server, and a restart has everything", async () => {
  await using killable = await Killable.make(HEAP_MEBIBYTES);
  const transfers = new Transfers();
  let port = await killable.start();
  await makeTables(port);
  const server = killable.server as ServerProcess;
  await killable.order({ point: "shard 1: apply", count: 3, instead: "memory" });
  await transfers.run(port, 0);
  // The runtime's own end, which cannot be put into a line.
  const { success } = await server.child.status;
  await server.end("SIGKILL");
  ok(!success);
  match(said(server), /out of memory/);
  ok(await killable.forget());
  port = await killable.start();
  await check(port, transfers, "memory");
});
