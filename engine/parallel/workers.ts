/**
 * Workers: threads that run parts of statements over the files of tables, while the thread of the sessions serves
 * others. They are started when statements have scanned so much that it would have been worth it, and stop with the
 * engine.
 */
import { assertDefined } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { BLOCK_ROWS } from "../storage/access/block.ts";
import type { GatherExplanation, KeptTables } from "../execution/runtime/execution.ts";
import { factsOf } from "../sharding/fragment_needs.ts";
import { CREDITS } from "../sharding/exchange_ends.ts";
import { StopFlags } from "../sharding/stop_flags.ts";
import { bytesOf, type SharedTables, type Spread } from "../sql/fragments/join_places.ts";
import { fragmentWork, gainOf } from "../sql/fragments/fragment_work.ts";
import { isWholeSort } from "../sql/fragments/shared_sort.ts";
import type { Fragment } from "../sql/plan/plan.ts";
import { stepsAhead } from "../sql/functions/call_steps.ts";
import { hasText } from "../sql/fragments/fragment_text.ts";
import type { CallOutcome } from "../statements/large_calls.ts";
import type { CopyElsewhere } from "../statements/parsed_copy.ts";
import type { GatheredStream, StatementWorkers, WorkerContext } from "../statements/statement_host.ts";
import type { ReadableTable } from "../storage/access/readable_table.ts";
import type { IndexFile } from "../storage/table/index_file.ts";
import { toStored } from "../types/stored_value.ts";
import { FragmentOver } from "./fragment_over.ts";
import { CopyParsing } from "./copy_parsing.ts";
import { IndexBuilds } from "./index_builds.ts";
import type { FromWorker } from "./messages.ts";
import { type MorselRun, MorselStream } from "./morsel_stream.ts";
import { SharedMemory } from "./shared_memory.ts";
import { WorkerCalls } from "./worker_calls.ts";
import type { WorkerPort } from "./worker_port.ts";
import { type StartWorker, startWorkerThread } from "./worker_thread.ts";

/** Blocks of a morsel: some milliseconds of work. */
const MORSEL_BLOCKS = 32;
/** What a worker may hold for one morsel at least. */
const LEAST_BYTES = 1 << 22;
/** What a row takes in files, roughly. */
const ROW_BYTES = 32;
const BLOCK_BYTES = BLOCK_ROWS * ROW_BYTES;
/**
 * A statement is shared out when what is shared takes one thread so long for each byte that a table must have: some
 * 70 ms for the 8 MB that these are unless something else is set. A worker needs some ten runs until V8 has optimized
 * its code, and takes twice as long for a row before: a scan of six million rows (Q6 of TPC-H, 17 ms) was slower with
 * two of them.
 */
const BYTE_NANOSECONDS = 8.4;
/**
 * Rows of large tables that statements scan before workers are started: that takes as long as scanning some millions,
 * and workers compile all code anew, while the first statements after a start are slow already.
 */
const START_ROWS = 16_000_000;

/** Most steps take less than a tenth of a microsecond, and none more than half of one. */
const LEAST_CALL_STEPS = 200_000;

/** How many there may be, and with what they work. */
export interface WorkersOptions {
  readonly count: number;
  readonly blockCacheBytes?: number;
  /** How one is started, when not in a thread of its own. */
  readonly start?: StartWorker;
  /** Blocks of a morsel; for tests. */
  readonly morselBlocks?: number;
  /** Steps of a call (see `stepsAhead`) from which on a worker computes it; for tests. */
  readonly leastCallSteps?: number;
  /** Rows that are scanned before they are started; for tests. */
  readonly startRows?: number;
}

/** See the file's head. */
export class Workers implements StatementWorkers {
  readonly #options: WorkersOptions;
  readonly #stops = new StopFlags();
  readonly #ports: WorkerPort[] = [];
  /** Those that are being started, by index. */
  readonly #starting = new Map<number, Promise<void>>();
  readonly #streams = new Map<number, MorselStream>();
  /** Hash tables of joins, for all workers. */
  #memory: SharedMemory | null = null;
  /** Runs that have ended, of which some workers do not know it yet. */
  readonly #ending = new Map<number, { readonly readers: Set<WorkerPort>; released(): void }>();
  readonly #indexes = new IndexBuilds();
  readonly #copies = new Map<number, CopyParsing>();
  readonly #calls = new WorkerCalls();
  readonly #code = new WeakMap<Fragment, { readonly number: number; readonly over: FragmentOver }>();
  #nextFragment = 1;
  #nextRun = 1;
  /** Rows to be scanned until they are started. */
  #untilStart: number;
  #isClosed = false;

  constructor(options: WorkersOptions) {
    this.#options = options;
    this.#untilStart = options.startRows ?? START_ROWS;
  }

  get count(): number {
    return this.#options.count;
  }

  allowed(settings: WorkerContext["settings"]): number {
    return this.#isClosed ? 0 : Math.min(this.#options.count, settings.number("max_parallel_workers"));
  }

  spread({ settings, stored }: WorkerContext): Spread {
    const shared = settings.bytes("min_parallel_table_scan_size") === 0 ? ANY_TABLE : stored;
    // How many workers there are makes no difference to plans.
    return { count: 1, broadcastBytes: settings.bytes("broadcast_limit"), room: "all", shared };
  }

  mayRead(tableIds: readonly number[], context: WorkerContext): boolean {
    return this.allowed(context.settings) > 0 && tableIds.some((id) => isWorth(context.table(id), context));
  }

  wants(fragments: readonly Fragment[], context: WorkerContext): boolean {
    const least = context.settings.bytes("min_parallel_table_scan_size") * BYTE_NANOSECONDS;
    const sum = { rows: 0, here: 0, travelling: 0 };
    let hasLarge = false;
    for (const fragment of fragments) {
      const table = tableOf(fragment, context);
      if (!isWorth(table, context)) continue;
      hasLarge = true;
      const { here, travelling } = fragmentWork(fragment, table.estimatedRows);
      sum.rows += table.estimatedRows;
      sum.here += here;
      sum.travelling += travelling;
    }
    const isGain = sum.here >= least && gainOf(sum, this.allowed(context.settings)) > 0;
    if (!hasLarge || least > 0 && !isGain) return false;
    this.#untilStart = least === 0 ? 0 : Math.max(0, this.#untilStart - sum.rows);
    return this.#ready(context).length > 0;
  }

  /** Of the memory that is shared with workers, what runs have. */
  get sharedBytes(): number {
    return this.#memory === null ? 0 : this.#memory.memory.byteLength - this.#memory.freeBytes;
  }

  /** Fragments that are being run. */
  get running(): number {
    return this.#streams.size;
  }

  /** Starts all that are allowed; resolves when they are ready. */
  async started(): Promise<void> {
    this.#start(this.#options.count);
    await Promise.all(this.#starting.values());
  }

  #ready({ settings }: WorkerContext): readonly WorkerPort[] {
    const count = this.allowed(settings);
    if (this.#ports.length < count && this.#untilStart === 0) this.#start(count);
    return this.#ports.slice(0, count);
  }

  #start(count: number): void {
    const { start = startWorkerThread, blockCacheBytes = LIMITS.blockCacheBytes } = this.#options;
    for (let index = 0; index < count; index++) {
      if (this.#starting.has(index) || this.#ports.some((port) => port.index === index)) continue;
      const starting = start({
        index,
        blockCacheBytes: Math.ceil(blockCacheBytes / this.#options.count),
        stopFlags: this.#stops.memory,
        sharedMemory: this.#sharedMemory.memory,
        receive: (reply) => this.#receive(reply, index),
        failed: (port, error) => this.#lost(port, error),
      });
      const started = starting.then((port) => {
        if (this.#isClosed) return port.close(closed());
        this.#ports.push(port);
        this.#ports.sort((one, other) => one.index - other.index);
      }, () => {
        // Statements run without it, and the next one that wants it tries again.
      });
      this.#starting.set(index, started.finally(() => this.#starting.delete(index)));
    }
  }

  /** See {@link StatementWorkers.buildIndexes}. */
  async buildIndexes(files: readonly IndexFile[], settings: WorkerContext["settings"]): Promise<void> {
    const count = this.allowed(settings);
    const bytes = files.reduce((sum, { segment: { summary } }) => sum + summary.size, 0);
    if (count === 0 || files.length === 0 || bytes < settings.bytes("min_parallel_table_scan_size")) return;
    this.#start(count);
    await Promise.all(this.#starting.values());
    await this.#indexes.run(files, this.#ports.slice(0, count));
  }

  /** See {@link StatementWorkers.leastCopyBytes}. */
  leastCopyBytes(settings: WorkerContext["settings"]): number {
    return this.allowed(settings) === 0 ? Infinity : settings.bytes("min_parallel_table_scan_size");
  }

  /** See {@link StatementWorkers.mayParse}. */
  mayParse(settings: WorkerContext["settings"]): boolean {
    // One for each COPY: it costs the thread of the sessions some 50 ms to start one.
    this.#start(Math.min(this.allowed(settings), this.#copies.size + 1));
    return Math.min(this.allowed(settings), this.#ports.length) > 0;
  }

  /** See {@link StatementWorkers.parseCopy}. */
  parseCopy(...[form, given, emit]: Parameters<StatementWorkers["parseCopy"]>): CopyElsewhere | null {
    const { evaluation, now, settings, place } = given;
    const copy = this.#nextRun++;
    const ports = this.#ports.slice(0, this.allowed(settings));
    const worker = ports[copy % ports.length];
    if (worker === undefined) return null;
    const parsing = new CopyParsing(worker, copy, { emit, forget: () => this.#copies.delete(copy) });
    this.#copies.set(copy, parsing);
    const session = { ...factsOf(evaluation), transactionTimestamp: Number(now) };
    worker.tell({ kind: "copy", copy, form, session, place });
    return parsing;
  }

  /** See {@link StatementWorkers.mayCall}. */
  mayCall(...[called, args, settings]: Parameters<StatementWorkers["mayCall"]>): boolean {
    const { leastCallSteps = LEAST_CALL_STEPS } = this.#options;
    return stepsAhead(called, args) >= leastCallSteps && this.allowed(settings) > 0 && hasText(called);
  }

  /** See {@link StatementWorkers.call}. */
  async call(...[given, settings, abort]: Parameters<StatementWorkers["call"]>): Promise<CallOutcome | null> {
    const count = this.allowed(settings);
    if (this.#ports.length === 0) {
      this.#start(count);
      await Promise.all(this.#starting.values());
      abort.throwIfAborted();
    }
    return await this.#calls.run(this.#ports.slice(0, count), given, abort);
  }

  get #sharedMemory(): SharedMemory {
    return this.#memory ??= new SharedMemory();
  }

  #receive(reply: FromWorker, index: number): void {
    const port = this.#ports.find((each) => each.index === index);
    if ("endedRun" in reply) {
      if (port !== undefined) this.#hasEnded(reply.endedRun, port);
    } else if ("call" in reply) this.#calls.take(reply);
    else if ("copy" in reply) this.#copies.get(reply.copy)?.take(reply);
    else if ("build" in reply) this.#indexes.take(reply);
    else if (port !== undefined) this.#streams.get(reply.run)?.take(reply, port);
  }

  /** Nothing is read at a worker of a run's tables. */
  #hasEnded(run: number, port: WorkerPort): void {
    const ending = this.#ending.get(run);
    if (ending?.readers.delete(port) !== true || ending.readers.size > 0) return;
    this.#ending.delete(run);
    ending.released();
  }

  #lost(port: WorkerPort, error: DatabaseError): void {
    const at = this.#ports.indexOf(port);
    if (at >= 0) this.#ports.splice(at, 1);
    for (const stream of this.#streams.values()) stream.lost(port, error);
    for (const run of [...this.#ending.keys()]) this.#hasEnded(run, port);
    this.#indexes.lost(port);
    this.#calls.lost(port);
    for (const copy of this.#copies.values()) if (copy.worker === port) copy.fail(error);
  }

  stream(fragment: Fragment, context: WorkerContext, kept: KeptTables): GatheredStream {
    const { number, over } = this.#codeOf(fragment);
    const { parameters: values, evaluation, memoryLimitBytes, fragmentBytes } = context;
    const parameters = fragment.parameters.map(({ index, type }) => toStored(type, values[index] ?? null));
    const session = fragment.asksSession ? factsOf(evaluation) : null;
    const workers = this.#ready(context);
    const given: MorselRun["given"] = {
      parameters,
      session,
      kept,
      memoryLimitBytes,
      monotonic: () => context.monotonic(),
      checkWanted: () => context.checkCanceled(),
    };
    const prune = over.prune({ ...given, send: () => true });
    const stop = this.#stops.next();
    const run = this.#nextRun++;
    const [tableId] = fragment.tableIds;
    const reads = context.reads.of(assertDefined(tableId, "a table"));
    reads.scans++;
    const { text, tables, apart, plan, columns } = fragment;
    const ownBytes = Math.max(LEAST_BYTES, fragmentBytes / Math.max(1, workers.length));
    const { morselBlocks: blocks = MORSEL_BLOCKS } = this.#options;
    const isSort = isWholeSort(plan);
    const table = tableOf(fragment, context);
    const stream = new MorselStream({
      over,
      given,
      request: {
        kind: "run",
        run,
        stop,
        fragment: number,
        code: { text, tables },
        parameters,
        session,
        memoryLimitBytes: ownBytes,
        // What is sorted is sent at once, and does not keep the worker from the next morsel.
        credits: isSort ? Infinity : CREDITS,
        kept: [],
        keptAt: 0,
        marksAt: 0,
        place: 0,
      },
      workers,
      pieces: prune === null ? [] : table.pieces?.(prune) ?? [],
      prune: prune ?? [],
      apart: apart === undefined ? null : {
        columnId: apart.columnId,
        low: fragment.parameters.findIndex(({ index }) => index === apart.low),
        high: fragment.parameters.findIndex(({ index }) => index === apart.high),
      },
      morselBlocks: isSort ? blocksToSort(ownBytes, columns, blocks) : blocks,
      morselsAhead: isSort ? 2 : 8,
      fewBlocks: fewBlocks(fragment, table, context),
      memory: this.#sharedMemory,
      stop: (awaited, released) => {
        this.#stops.stop(stop);
        this.#streams.delete(run);
        const readers = new Set(awaited.filter(({ failure }) => failure === null));
        if (readers.size === 0) released();
        else this.#ending.set(run, { readers, released });
      },
      met: (rows) => {
        reads.rows += rows;
      },
    });
    this.#streams.set(run, stream);
    return stream;
  }

  explain(stream: GatheredStream | null, context: WorkerContext): GatherExplanation {
    const count = this.#ready(context).length;
    const work = stream instanceof MorselStream ? stream.work : null;
    const places = Array.from({ length: count }, (_, index) => index);
    return {
      places,
      count,
      route: null,
      isByMorsels: true,
      work: work === null
        ? null
        : places.map((index) =>
          work.get(index) ?? { rows: 0, bytes: 0, batches: 0, microseconds: 0, morsels: 0 }
        ),
    };
  }

  #codeOf(fragment: Fragment): { readonly number: number; readonly over: FragmentOver } {
    let code = this.#code.get(fragment);
    if (code === undefined) {
      this.#code.set(fragment, code = { number: this.#nextFragment++, over: new FragmentOver(fragment) });
    }
    return code;
  }

  sweep(): void {
    for (const port of this.#ports) port.tell({ kind: "sweep" });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#starting.values());
    for (const port of this.#ports.splice(0)) {
      port.close(closed());
      this.#indexes.lost(port);
      this.#calls.lost(port);
    }
    for (const copy of this.#copies.values()) copy.fail(closed());
  }
}

/** How many blocks a worker can sort, of which it holds the rows once more while they are on their way. */
function blocksToSort(bytes: number, columns: Fragment["columns"], most: number): number {
  const blockBytes = 4 * bytesOf(BLOCK_ROWS, columns);
  return Math.min(most, Math.max(1, Math.floor(bytes / blockBytes)));
}

/** What is shared out whatever it costs, for tests. */
const ANY_TABLE: SharedTables = { rows: () => Infinity, isInOrderOf: () => true };

function tableOf({ tableIds: [tableId] }: Fragment, context: WorkerContext): ReadableTable {
  return context.table(assertDefined(tableId, "a table"));
}

/** Whether a table has so much in files that a scan of it is shared out. */
function isWorth({ fileBytes = 0 }: ReadableTable, { settings }: WorkerContext): boolean {
  return fileBytes > 0 && fileBytes >= settings.bytes("min_parallel_table_scan_size");
}

/** So many blocks, or fewer, take less than it is worth to share them out. */
function fewBlocks(
  fragment: Fragment,
  { estimatedRows }: ReadableTable,
  { settings }: WorkerContext,
): number {
  const bytes = settings.bytes("min_parallel_table_scan_size");
  const blockWork = fragmentWork(fragment, estimatedRows).here / Math.max(1, estimatedRows / BLOCK_ROWS);
  return Math.max(bytes / BLOCK_BYTES, bytes * BYTE_NANOSECONDS / Math.max(1, blockWork));
}

function closed(): DatabaseError {
  return new DatabaseError(SQLSTATE.adminShutdown, "the engine is closed");
}
