/**
 * Each operation of the disk fails once, in a short life of an engine: opening, statements, checkpoints, a snapshot,
 * recovery.
 *
 * Whatever fails, nothing acknowledged is lost, and what a statement that failed wanted is there whole or not at all.
 * A failed sync always stops the node. Where only space is missing and nothing written is at stake, the statement
 * ends with 53100 and the node goes on. A failed read costs the statement or the start, and nothing else.
 */
import { ok, strictEqual } from "node:assert/strict";
import { DatabaseError } from "../../engine/base/errors.ts";
import { type DiskFaults, type FailureCode, NO_FAULTS } from "../../engine/host/simulated_disk.ts";
import { SimulatedHost } from "../../engine/host/simulated_host.ts";
import { Engine } from "../../engine/session/engine.ts";
import { RowBuffer } from "../../engine/statements/row_buffer.ts";

const LOG = {
  fileBytes: 6000,
  reserveBytes: 1500,
  bufferBytes: 4096,
  directWriteBytes: 1000,
  parts: { leastBytes: 600, partBytes: 250 },
};
/** Of all operations, one in so many is tried, another share in each kind of failure. */
const STRIDE = 6;

/** What a life showed. */
interface Life {
  /** Ids of rows that were acknowledged, and of those whose statement failed. */
  readonly acknowledged: Set<number>;
  readonly failed: Set<number>;
  readonly codes: string[];
  stopped: boolean;
}

function open(host: SimulatedHost): Promise<Engine> {
  return host.settle(Engine.open({ host, directory: "db", checkpointLogBytes: 3000, log: LOG }));
}

async function run(host: SimulatedHost, engine: Engine, sql: string): Promise<number[]> {
  const session = engine.openSession();
  const sink = new RowBuffer();
  let op = 0;
  const done = async () => {
    await session.simple(sql, sink, (outcome) => op = Math.max(op, outcome.durableOp));
    await engine.whenDurable(op as never);
  };
  try {
    await host.settle(done());
  } finally {
    session.close();
  }
  return sink.rows.map(([value]) => Number(value));
}

/** Two lives of a database, the first of which ends cleanly; what fails is noted, and all goes on that can. */
async function live(host: SimulatedHost): Promise<Life> {
  const life: Life = { acknowledged: new Set(), failed: new Set(), codes: [], stopped: false };
  const attempt = async (work: () => Promise<unknown>): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      ok(error instanceof DatabaseError, String(error));
      life.codes.push(error.code);
      return false;
    }
  };
  let id = 1;
  for (let round = 0; round < 2; round++) {
    let engine: Engine | null = null;
    for (let tries = 0; engine === null && tries < 2; tries++) {
      await attempt(async () => {
        engine = await open(host);
      });
      if (engine === null) host.crash();
    }
    ok(engine !== null, "the second try is without faults");
    const current: Engine = engine;
    const statement = (sql: string) => attempt(() => run(host, current, sql));
    if (!await statement("CREATE TABLE IF NOT EXISTS t (id int PRIMARY KEY, body text)")) {
      await statement("CREATE TABLE IF NOT EXISTS t (id int PRIMARY KEY, body text)");
    }
    for (let count = 0; count < 14 && !current.isFailed; count++, id += 2) {
      const body = "x".repeat(count % 5 === 0 ? 1200 : 300);
      const isDone = await statement(`INSERT INTO t VALUES (${id}, '${body}'), (${id + 1}, '${body}')`);
      (isDone ? life.acknowledged : life.failed).add(id);
      if (count === 6) await statement("CREATE INDEX IF NOT EXISTS t_body ON t (body, id)");
      if (count === 9) await statement("UPDATE t SET body = upper(body) WHERE id % 4 = 1");
    }
    if (!current.isFailed) await attempt(() => host.settle(current.snapshotTo(`copy-${round}`)));
    if (!current.isFailed && await attempt(() => host.settle(current.close()))) continue;
    life.stopped = true;
    await host.rest();
    host.crash();
  }
  return life;
}

/** Opens without faults and compares. */
async function check(host: SimulatedHost, life: Life, label: string): Promise<void> {
  host.disk.faults = NO_FAULTS;
  host.crash();
  const engine = await open(host);
  const present = new Set(await run(host, engine, "SELECT id FROM t"));
  for (const id of life.acknowledged) {
    ok(present.has(id) && present.has(id + 1), `${label}: row ${id} was acknowledged`);
  }
  for (const id of present) {
    const first = id % 2 === 1 ? id : id - 1;
    ok(life.acknowledged.has(first) || life.failed.has(first), `${label}: nobody wrote row ${id}`);
    ok(present.has(first) && present.has(first + 1), `${label}: half of row ${first}'s statement`);
  }
  const indexed = await run(host, engine, "SELECT count(*) FROM t WHERE body >= 'X'");
  strictEqual(indexed[0], present.size, `${label}: the index has all rows`);
  engine.storage.verify();
  await host.settle(engine.close());
}

async function withFault(
  faults: Partial<DiskFaults>,
  label: string,
): Promise<{ life: Life; host: SimulatedHost }> {
  const host = new SimulatedHost(5, faults);
  const life = await live(host);
  await check(host, life, label);
  return { life, host };
}

async function sweep(code: FailureCode, offset: number): Promise<Map<string, number>> {
  const { host } = await withFault({}, "without faults");
  const seen = new Map<string, number>();
  for (let at = 1 + offset; at <= host.disk.operations; at += STRIDE) {
    const label = `${code} at operation ${at}`;
    const { life, host } = await withFault({ failAtOperation: at, failureCode: code }, label);
    const operation = host.disk.failedOperation;
    if (operation === null) continue;
    const kind = operation.split(" ", 1)[0] ?? "";
    const isOfCopy = operation.includes(" copy-");
    const isStart = life.codes.length > 0 && !life.stopped;
    if (kind === "sync" && !isOfCopy) {
      const isTold = life.stopped || life.codes.includes("58030");
      ok(isTold && !life.codes.includes("53100"), `${label}, ${operation}: ${life.codes}`);
    }
    if (life.stopped) {
      ok(!life.codes.includes("53100"), `${label}, ${operation}: no statement may be told of a full disk`);
    }
    const outcome = life.stopped ? "stopped" : isStart ? "refused" : "unnoticed";
    seen.set(`${kind} ${outcome}`, (seen.get(`${kind} ${outcome}`) ?? 0) + 1);
  }
  return seen;
}

Deno.test("Engine loses nothing when any one operation of the disk fails", async () => {
  const seen = await sweep("EIO", 0);
  for (const outcome of ["write stopped", "sync stopped"]) ok(seen.has(outcome), `${outcome}: ${[...seen]}`);
});

Deno.test("Engine refuses the statement or waits when any one operation of the disk finds no space", async () => {
  const seen = await sweep("ENOSPC", 2);
  for (const outcome of ["write refused", "write unnoticed", "sync stopped"]) {
    ok(seen.has(outcome), `${outcome}: ${[...seen]}`);
  }
});

Deno.test("Engine fails the statement or the start whose read fails, and loses nothing", async () => {
  const { host } = await withFault({}, "without faults");
  let failures = 0;
  for (let at = 1; at <= host.disk.reads; at += STRIDE) {
    const { life } = await withFault({ failAtRead: at }, `read ${at}`);
    // A read for a checkpoint or an entry stops the node, which then refuses what comes.
    const expected = life.stopped ? ["58030", "57P03"] : ["58030"];
    for (const code of life.codes) ok(expected.includes(code), `read ${at}: ${code}`);
    failures += life.codes.length;
  }
  ok(failures > 5, `only ${failures} reads were met`);
});
