/**
 * `deno run -A tests/bench/stalls.ts [--smoke] [--rows N] [--large] [--causes]`: how long others wait while large
 * work goes on.
 *
 * One process holds an engine on a real disk. A session reads a row by its key about every millisecond; meanwhile
 * another loads rows with COPY, updates, deletes and indexes many, checkpoints run until segments are merged, a
 * snapshot is copied, a table is dropped. Printed is, for each case, how long a read that comes at any moment waits
 * for its answer: the median, 99 %, 99.9 % and the longest. A read every millisecond stands for those that would have
 * come while nothing was answered.
 *
 * What the process waits for a processor is not counted where the system tells it (Linux): the figures are those of a
 * machine that has one to spare. `--causes` adds for the longest gaps the spans of the operations in {@link TRACED}
 * that lie in them; what no span covers is statements themselves or garbage collection. `--large` adds COPY of five
 * times the rows.
 */
import { parseArgs } from "node:util";
import { denoHost } from "../../engine/host/deno_host.ts";
import { StateMachine } from "../../engine/state_machine/state_machine.ts";
import { TextFormatReader } from "../../engine/statements/copy/text_reader.ts";
import { Engine } from "../../engine/session/engine.ts";
import type { CopyFormat, CopyTarget } from "../../engine/statements/outcome.ts";
import { RowBuffer } from "../../engine/statements/row_buffer.ts";
import { Log } from "../../engine/storage/log.ts";
import { StorageEngine } from "../../engine/storage/storage_engine.ts";
import { PartSet } from "../../engine/storage/table/part_set.ts";
import { opNumber } from "../../engine/operations/effect.ts";
import { TableStore } from "../../engine/storage/table/table_store.ts";
import { TransactionManager } from "../../engine/transactions/transaction_manager.ts";
import { Checkpoint } from "../../engine/storage/checkpoint.ts";

/** Methods whose time is looked at. Inner ones explain outer ones. */
const TRACED: readonly (readonly [string, object, readonly string[]])[] = [
  ["StateMachine", StateMachine.prototype, ["commit", "encodeState"]],
  ["TransactionManager", TransactionManager.prototype, ["commit"]],
  ["Log", Log.prototype, ["append"]],
  ["TableStore", TableStore.prototype, ["createBatch", "alter", "range", "releaseOldVersions", "close"]],
  ["StorageEngine", StorageEngine.prototype, ["work", "beginCheckpoint"]],
  ["TransactionManager", TransactionManager.prototype, ["end", "advanceSnapshot"]],
  ["PartSet", PartSet.prototype, ["step", "describe", "release", "freeze"]],
  ["Checkpoint", Checkpoint.prototype, ["buildStep", "install", "finishNow"]],
  ["TextFormatReader", TextFormatReader.prototype, ["write"]],
];

interface Span {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** Shorter spans explain no gap. */
const SHORTEST_SPAN_MILLISECONDS = 1;

class Trace {
  spans: Span[] = [];

  install(): void {
    for (const [owner, prototype, methods] of TRACED) {
      for (const method of methods) this.#wrap(owner, prototype, method);
    }
  }

  #wrap(owner: string, prototype: object, method: string): void {
    const original: unknown = Reflect.get(prototype, method);
    if (typeof original !== "function") throw new Error(`${owner}.${method} is no method`);
    const note = (start: number): void => {
      const end = performance.now();
      if (end - start < SHORTEST_SPAN_MILLISECONDS) return;
      this.spans.push({ name: `${owner}.${method}`, start, end });
    };
    Reflect.set(prototype, method, function (this: unknown, ...inputs: unknown[]): unknown {
      const start = performance.now();
      try {
        return Reflect.apply(original, this, inputs);
      } finally {
        note(start);
      }
    });
  }

  /** What ran in a gap: the innermost spans that lie in it, with their milliseconds. */
  cause(gap: Span): string {
    const inside = this.spans.filter((span) => span.start >= gap.start - 1 && span.end <= gap.end + 1)
      .sort((a, b) => (b.end - b.start) - (a.end - a.start)).slice(0, 3);
    return inside.map((span) => `${span.name} ${(span.end - span.start).toFixed(1)}`).join(", ") || "–";
  }
}

interface Gap extends Span {
  /** Milliseconds between two answers, without those that the process waited for a processor. */
  readonly milliseconds: number;
}

/** Milliseconds that the main thread has waited for a processor so far; 0 where the system does not tell. */
function processorWait(): number {
  try {
    const [, wait] = Deno.readTextFileSync(`/proc/self/task/${Deno.pid}/schedstat`).split(" ");
    return Number(wait) / 1e6;
  } catch {
    return 0;
  }
}

/** Reads a row again and again until it is stopped. */
class Reader {
  readonly gaps: Gap[] = [];
  #running = true;
  #ended: Promise<void> = Promise.resolve();

  start(engine: Engine, keyOf: () => number): void {
    const session = engine.openSession();
    this.#ended = (async () => {
      let last = performance.now(), lastWait = processorWait();
      while (this.#running) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        let durableOp = opNumber(0);
        await session.simple(
          `SELECT abalance FROM pgbench_accounts WHERE aid = ${keyOf()}`,
          new RowBuffer(),
          (outcome) => durableOp = outcome.durableOp,
        );
        await engine.whenDurable(durableOp);
        const now = performance.now(), wait = processorWait();
        // The two clocks are not read in one moment: a short gap spent waiting for a processor may come out below zero.
        const milliseconds = Math.max(0, now - last - (wait - lastWait));
        this.gaps.push({ name: "gap", start: last, end: now, milliseconds });
        [last, lastWait] = [now, wait];
      }
      session.close();
    })();
  }

  async stop(): Promise<void> {
    this.#running = false;
    await this.#ended;
  }

  /** What share of the reads, one due every millisecond, had their answer within how many milliseconds. */
  percentile(share: number): number {
    const lengths = this.gaps.map((gap) => gap.milliseconds).sort((a, b) => b - a);
    let total = 0;
    for (const length of lengths) total += length;
    if (total === 0) return 0;
    // Reads that wait longer than `limit`: for each gap those that came more than `limit` before its end.
    const beyond = total * (1 - share);
    let sum = 0;
    for (const [index, length] of lengths.entries()) {
      // With the limit at `length`, the gaps before it exceed it by this much together.
      if (sum - index * length >= beyond) return (sum - beyond) / index;
      sum += length;
    }
    return Math.max(0, (sum - beyond) / lengths.length);
  }

  get longest(): number {
    return Math.max(0, ...this.gaps.map((gap) => gap.milliseconds));
  }
}

class Loader extends RowBuffer {
  readonly #pieces: () => Iterable<Uint8Array>;

  constructor(pieces: () => Iterable<Uint8Array>) {
    super();
    this.#pieces = pieces;
  }

  override async copyIn(_format: CopyFormat, target: CopyTarget): Promise<void> {
    for (const piece of this.#pieces()) {
      await target.write(piece);
      // As from a socket: other work comes in between.
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
  }
}

/** Rows of pgbench_accounts as COPY data, in pieces of about 64 KiB. */
function* accounts(first: number, count: number, filler: string): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  let text = "";
  for (let row = 0; row < count; row++) {
    text += `${first + row}\t${(row * 7919) % 100}\t0\t${filler}\n`;
    if (text.length < 65_536) continue;
    yield encoder.encode(text);
    text = "";
  }
  yield encoder.encode(text);
}

/** A table, an index, and rows to read that nothing else touches. */
const SCHEMA = `
  CREATE TABLE pgbench_accounts (aid int PRIMARY KEY, bid int, abalance int, filler char(84));
  CREATE INDEX accounts_bid ON pgbench_accounts (bid);
  CREATE TABLE dropped (aid int PRIMARY KEY, bid int, abalance int, filler text);
  INSERT INTO pgbench_accounts SELECT -g, 1, 0, '' FROM generate_series(1, 1000) AS g`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      smoke: { type: "boolean", default: false },
      rows: { type: "string", default: "1000000" },
      large: { type: "boolean", default: false },
      causes: { type: "boolean", default: false },
    },
  });
  const rows = values.smoke ? 20_000 : Number(values.rows);
  const directory = await Deno.makeTempDir({ prefix: "dbd-stalls-" });
  const trace = new Trace();
  if (values.causes) trace.install();
  try {
    const engine = await Engine.open({ host: denoHost(), directory: `${directory}/data` });
    const session = engine.openSession();
    const run = (text: string, sink: RowBuffer = new RowBuffer()): Promise<void> =>
      Promise.resolve(session.simple(text, sink, () => undefined)).then(() => undefined);
    await run(SCHEMA);
    console.log(`milliseconds         median      99 %    99.9 %   longest   seconds   resident MB`);
    const phase = async (name: string, work: () => Promise<unknown>): Promise<void> => {
      trace.spans = [];
      const reader = new Reader();
      let next = 0;
      reader.start(engine, () => -1 - (next++ * 7919) % 1000);
      const start = performance.now();
      await work();
      const seconds = (performance.now() - start) / 1000;
      await reader.stop();
      const figures = [
        reader.percentile(0.5),
        reader.percentile(0.99),
        reader.percentile(0.999),
        reader.longest,
      ];
      console.log(
        `${name.padEnd(16)} ${figures.map((each) => each.toFixed(1).padStart(9)).join(" ")} ${
          seconds.toFixed(2).padStart(9)
        } ${String(resident()).padStart(13)}`,
      );
      if (!values.causes) return;
      const longest = reader.gaps.sort((a, b) => b.milliseconds - a.milliseconds).slice(0, 5);
      for (const gap of longest) {
        console.log(`  ${gap.milliseconds.toFixed(1).padStart(7)} ms  ${trace.cause(gap)}`);
      }
    };
    const load = (table: string, first: number, count: number, filler: string): Promise<void> =>
      run(`COPY ${table} FROM STDIN`, new Loader(() => accounts(first, count, filler)));
    const text = "abcdefghijklmnopqrstuvwxyz".repeat(4).slice(0, 84);
    await phase("COPY", () => load("pgbench_accounts", 1, rows, " ".repeat(84)));
    await phase("checkpoint", () => engine.checkpoint());
    await phase("UPDATE", () => run(`UPDATE pgbench_accounts SET abalance = 1 WHERE aid <= ${rows / 2}`));
    await phase("checkpoint", () => engine.checkpoint());
    await phase(
      "UPDATE again",
      () => run(`UPDATE pgbench_accounts SET abalance = 2 WHERE aid <= ${rows / 2}`),
    );
    await phase("compaction", async () => {
      const part = Math.ceil(rows / 5);
      for (let round = 0; round < 6; round++) {
        await load("pgbench_accounts", rows + round * part + 1, part, "");
        await engine.checkpoint();
      }
    });
    await phase("CREATE INDEX", async () => {
      await run("CREATE INDEX accounts_balance ON pgbench_accounts (abalance, aid)");
      await run("SELECT abalance FROM pgbench_accounts WHERE abalance = 2 ORDER BY abalance, aid LIMIT 1");
    });
    await phase("COPY of text", () => load("dropped", 1, rows, text));
    await phase("snapshot", () => engine.snapshotTo(`${directory}/copy`));
    await phase(
      "DELETE",
      () => run(`DELETE FROM pgbench_accounts WHERE aid > ${rows / 4} AND aid <= ${rows * 0.75}`),
    );
    await phase("ANALYZE", () => run("ANALYZE"));
    await phase("VACUUM", () => run("VACUUM"));
    await phase("DROP TABLE", () => run("DROP TABLE dropped"));
    await phase("idle", () => new Promise((resolve) => setTimeout(resolve, values.smoke ? 50 : 3000)));
    if (values.large) await phase("COPY, 5 times", () => load("pgbench_accounts", 10 * rows, 5 * rows, text));
    session.close();
    await engine.close();
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

function resident(): number {
  return Math.round(Deno.memoryUsage().rss / 1e6);
}

if (import.meta.main) await main();
