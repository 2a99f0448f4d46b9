/**
 * Three members whose rows are at four shards each, under transactions over shards at every level: a killed primary, a
 * lost disk, a restart of each. Every acknowledged transaction is there whole, none at READ COMMITTED has lost a
 * race, and at the end all members have the same checkpoint of all shards, file by file.
 */
import { ok, strictEqual } from "node:assert/strict";
import pg from "pg";
import { ISOLATION_LEVELS } from "../../engine/transactions/isolation_level.ts";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { runProgram } from "../support/programs.ts";
import { ClusterProcesses, type MemberProcess } from "./cluster_processes.ts";
import { expectEqualDirectories } from "./equal_members.ts";

const ROWS = 3;

/** Writes transactions of some rows each, one after the other, to whoever serves. */
class Writer {
  readonly #cluster: ClusterProcesses;
  readonly #writer: number;
  readonly acknowledged: number[] = [];
  /** Transactions at READ COMMITTED that have lost a race, and not the primary. */
  lost = 0;
  #isStopped = false;
  readonly end: Promise<void>;

  constructor(cluster: ClusterProcesses, writer: number) {
    this.#cluster = cluster;
    this.#writer = writer;
    this.end = this.#write();
  }

  stop(): Promise<void> {
    this.#isStopped = true;
    return this.end;
  }

  async #write(): Promise<void> {
    let client: pg.Client | null = null;
    for (let number = 0; !this.#isStopped; number++) {
      const level = ISOLATION_LEVELS[number % ISOLATION_LEVELS.length];
      try {
        client ??= await connect(await this.#cluster.primary());
        await client.query(`BEGIN ISOLATION LEVEL ${level}`);
        for (let row = 0; row < ROWS; row++) {
          await client.query(`INSERT INTO line (writer, number) VALUES (${this.#writer}, ${number})`);
        }
        await client.query(`UPDATE total SET lines = lines + ${ROWS} WHERE writer = ${this.#writer}`);
        await client.query(`UPDATE total SET lines = lines + ${ROWS} WHERE writer = 0`);
        await client.query("COMMIT");
        this.acknowledged.push(number);
      } catch (error) {
        // Unknown, or not done: the next one has another number.
        if (level === "read committed" && /due to concurrent update/.test(String(error))) this.lost++;
        await client?.end().catch(() => {});
        client = null;
      }
    }
    await client?.end();
  }
}

async function connect({ host, port }: MemberProcess): Promise<pg.Client> {
  const client = new pg.Client({ host, port, user: "test", database: "test" });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

async function query(member: MemberProcess, text: string): Promise<Record<string, unknown>[]> {
  const client = await connect(member);
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

Deno.test("three members of four shards keep every transaction over shards whole, and have equal checkpoints", async () => {
  const { dbd } = await compiledPrograms();
  await using cluster = await ClusterProcesses.start({
    dbd,
    memberCount: 3,
    flags: ["--shards", "4", "--checkpoint-log", "64KiB"],
  });
  const writers = [1, 2, 3, 4];
  await query(
    await cluster.primary(),
    `CREATE TABLE line (id SERIAL PRIMARY KEY, writer INT NOT NULL, number INT NOT NULL);
     CREATE TABLE total (writer INT PRIMARY KEY, lines INT NOT NULL);
     INSERT INTO total VALUES ${[0, ...writers].map((writer) => `(${writer}, 0)`).join(", ")}`,
  );
  const running = writers.map((writer) => new Writer(cluster, writer));
  const more = async (): Promise<void> => {
    const before = running.map(({ acknowledged }) => acknowledged.length);
    const end = performance.now() + 60_000;
    while (running.some(({ acknowledged }, index) => acknowledged.length < (before[index] ?? 0) + 3)) {
      ok(performance.now() < end, `nothing is acknowledged any more:\n${cluster.logs()}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  await more();
  const killed = await cluster.primary();
  await killed.stop("SIGKILL");
  await more();
  killed.start();
  await query(await cluster.primary(), "CHECKPOINT");
  const lost = cluster.members.find((member) => member !== killed) as MemberProcess;
  await lost.stop("SIGKILL");
  await Deno.remove(lost.directory, { recursive: true });
  await more();
  lost.start();
  await cluster.caughtUp(lost);
  for (const member of cluster.members) {
    await member.stop("SIGTERM");
    member.start();
    await cluster.caughtUp(member);
    await more();
  }
  for (const writer of running) await writer.stop();
  await query(await cluster.primary(), "CHECKPOINT");
  await cluster.level();
  for (const member of cluster.members) {
    const client = await member.follower();
    const { rows } = await client.query(
      "SELECT writer, number, count(*)::int AS count FROM line GROUP BY 1, 2",
    );
    const { rows: totals } = await client.query("SELECT writer, lines FROM total");
    await client.end();
    ok(rows.every(({ count }) => count === ROWS), `a transaction is there in part at member ${member.index}`);
    const linesOf = (writer: number): unknown => totals.find((each) => each.writer === writer)?.lines;
    strictEqual(linesOf(0), rows.length * ROWS);
    for (const [index, { acknowledged }] of running.entries()) {
      const numbers = new Set(rows.filter(({ writer }) => writer === index + 1).map(({ number }) => number));
      ok(
        acknowledged.every((number) => numbers.has(number)),
        `an acknowledged transaction of ${index + 1} is lost`,
      );
      strictEqual(linesOf(index + 1), numbers.size * ROWS);
    }
  }
  for (const { lost } of running) strictEqual(lost, 0);
  strictEqual(cluster.bugs().join("\n"), "");
  await Promise.all(cluster.members.map((member) => member.stop("SIGKILL")));
  const directories = cluster.members.map(({ directory }) => directory);
  await expectEqualDirectories(dbd, directories);
  for (const directory of directories) {
    const { code, stdout, stderr } = await runProgram(dbd, ["verify", directory]);
    strictEqual(code, 0, stderr);
    ok(stdout.includes('table "line" at shard 3'), stdout);
  }
});
