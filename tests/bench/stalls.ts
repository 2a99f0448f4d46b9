/**
 * `deno run -A tests/bench/stalls.ts [--smoke] [--rows N]`: how long others wait while large work goes on.
 *
 * One process holds an engine on a real disk. A session reads a row by its key about every millisecond; meanwhile another
 * loads rows with COPY, updates some, and checkpoints run until segments are merged. Printed are, for each phase, the
 * longest times between two reads and what ran in them: the spans of the operations in {@link TRACED} that fill
 * most of the gap. What no span covers is parsing, other statements or garbage collection. Resident memory is printed too.
 */
import { parseArgs } from "node:util";
import { denoHost } from "../../engine/host/deno_host.ts";
import { StateMachine } from "../../engine/machine/state_machine.ts";
import { TextFormatReader } from "../../engine/session/copy/text_reader.ts";
import { Engine } from "../../engine/session/engine.ts";
import type { CopyFormat, CopyTarget } from "../../engine/session/outcome.ts";
import { RowBuffer } from "../../engine/session/row_buffer.ts";
import { Log } from "../../engine/storage/log.ts";
import { PartSet } from "../../engine/storage/table/part_set.ts";
import { TableStore } from "../../engine/storage/table/table_store.ts";
import { TransactionManager } from "../../engine/transactions/transaction_manager.ts";
import { Checkpoint } from "../../engine/storage/checkpoint.ts";

/** Methods whose time is looked at. Inner ones explain outer ones. */
const TRACED: readonly (readonly [string, object, readonly string[]])[] = [
  ["StateMachine", StateMachine.prototype, ["commit", "encodeState"]],
  ["TransactionManager", TransactionManager.prototype, ["commit"]],
  ["Log", Log.prototype, ["append"]],
  ["TableStore", TableStore.prototype, ["createBatch", "freeze", "alter", "range"]],
  ["PartSet", PartSet.prototype, ["step", "describe", "release"]],
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

/** Reads a row again and again until it is stopped. */
class Reader {
  readonly gaps: Span[] = [];
  reads = 0;
  #running = true;
  #ended: Promise<void> = Promise.resolve();

  start(engine: Engine, keyOf: () => number): void {
    const session = engine.openSession();
    this.#ended = (async () => {
      let last = performance.now();
      while (this.#running) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        await session.simple(
          `SELECT abalance FROM pgbench_accounts WHERE aid = ${keyOf()}`,
          new RowBuffer(),
          () => undefined,
        );
        const now = performance.now();
        this.gaps.push({ name: "gap", start: last, end: now });
        last = now;
        this.reads++;
      }
      session.close();
    })();
  }

  async stop(): Promise<void> {
    this.#running = false;
    await this.#ended;
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
function* accounts(first: number, count: number): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  const filler = " ".repeat(84);
  let text = "";
  for (let row = 0; row < count; row++) {
    text += `${first + row}\t${(row * 7919) % 100}\t0\t${filler}\n`;
    if (text.length < 65_536) continue;
    yield encoder.encode(text);
    text = "";
  }
  yield encoder.encode(text);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    args: Deno.args,
    options: { smoke: { type: "boolean", default: false }, rows: { type: "string", default: "1000000" } },
  });
  const rows = values.smoke ? 20_000 : Number(values.rows);
  const directory = await Deno.makeTempDir({ prefix: "dbd-stalls-" });
  const trace = new Trace();
  trace.install();
  try {
    const engine = await Engine.open({ host: denoHost(), directory: `${directory}/data` });
    const session = engine.openSession();
    const run = (text: string, sink: RowBuffer = new RowBuffer()): Promise<void> =>
      Promise.resolve(session.simple(text, sink, () => undefined)).then(() => undefined);
    await run("CREATE TABLE pgbench_accounts (aid int PRIMARY KEY, bid int, abalance int, filler char(84))");
    await run("CREATE INDEX accounts_bid ON pgbench_accounts (bid)");
    await run("INSERT INTO pgbench_accounts SELECT -g, 1, 0, '' FROM generate_series(1, 1000) AS g");
    console.log(`${"start".padEnd(12)} resident ${resident()} MB`);
    const phase = async (name: string, work: () => Promise<void>): Promise<void> => {
      trace.spans = [];
      const reader = new Reader();
      let next = 0;
      reader.start(engine, () => -1 - (next++ * 7919) % 1000);
      const start = performance.now();
      await work();
      const seconds = (performance.now() - start) / 1000;
      await reader.stop();
      const longest = reader.gaps.sort((a, b) => (b.end - b.start) - (a.end - a.start)).slice(0, 5);
      console.log(
        `${name.padEnd(12)} ${seconds.toFixed(2)} s, ${reader.reads} reads, resident ${resident()} MB`,
      );
      for (const gap of longest) {
        console.log(`  ${(gap.end - gap.start).toFixed(1).padStart(7)} ms  ${trace.cause(gap)}`);
      }
    };
    const load = (first: number, count: number): Promise<void> =>
      run("COPY pgbench_accounts FROM STDIN", new Loader(() => accounts(first, count)));
    await phase("COPY", () => load(1, rows));
    await phase("checkpoint", () => engine.checkpoint());
    await phase("UPDATE", () => run(`UPDATE pgbench_accounts SET abalance = 1 WHERE bid < 10`));
    await phase("checkpoint", () => engine.checkpoint());
    await phase("compaction", async () => {
      const part = Math.ceil(rows / 5);
      for (let round = 0; round < 6; round++) {
        await load(rows + round * part + 1, part);
        await engine.checkpoint();
      }
    });
    await phase(
      "CREATE INDEX",
      () => run("CREATE INDEX accounts_balance ON pgbench_accounts (abalance, aid)"),
    );
    await phase("DELETE", () => run("DELETE FROM pgbench_accounts WHERE bid = 3"));
    await phase("idle", () => new Promise((resolve) => setTimeout(resolve, values.smoke ? 50 : 2000)));
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
