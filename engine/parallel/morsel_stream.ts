/**
 * The rows of a fragment that workers run over the morsels of a table, in the order that a scan would give them in.
 * Rows that are in no file are read here, when it is their turn.
 *
 * All workers know the next morsels, and take one after the other without asking this thread: the first one that marks
 * a morsel in shared memory has it. Workers may be ahead of the reader by so many morsels, and by four batches in each.
 * A morsel whose turn it is never waits for another one: each worker takes its own in order, then those of others.
 */
import { assertDefined } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { BatchSource, GatheredBatch, PlaceWork } from "../execution/runtime/execution.ts";
import type { FragmentExecution, FragmentTask } from "../sharding/fragment_runs.ts";
import { batchBytes } from "../sharding/fragment_needs.ts";
import { fromRemote } from "../sharding/shard_messages.ts";
import { BLOCK_ROWS, type BlockCursor } from "../storage/access/block.ts";
import type { Bounds, ScanPiece, ZonePredicate } from "../storage/access/readable_table.ts";
import type { StoredValue } from "../operations/effect.ts";
import type { GatheredStream } from "../statements/statement_host.ts";
import { SpillNeed } from "../transactions/signals.ts";
import type { FragmentGiven, FragmentOver } from "./fragment_over.ts";
import type { MorselReply, RunRequest } from "./messages.ts";
import { FOR_MARKS, type SharedMemory } from "./shared_memory.ts";
import { copyTables, measureTables } from "./shared_tables.ts";
import type { WorkerPort } from "./worker_port.ts";

/** Values of kept sides that travel to each worker are no more than morsels are left times so many. */
const MAX_VALUES_A_MORSEL = 4096;

/** Rows of one piece of the scan: some blocks of a file, or what is read here. */
interface Stretch {
  readonly piece: ScanPiece;
  readonly from: number;
  readonly to: number;
  /** Groups with keys above the one and below the other are in it alone; null: none is known to be. */
  apart: Bounds | null;
  /** Workers run it. */
  isShared: boolean;
  /** Who does; null: nothing has come yet. */
  worker: WorkerPort | null;
  /** What has come and was not read, and how many have come in all. */
  readonly batches: GatheredBatch[];
  come: number;
  hasEnded: boolean;
  error: DatabaseError | null;
}

/** A stretch that is being read in this thread. */
interface ReadHere {
  readonly task: FragmentTask;
  readonly execution: FragmentExecution;
  readonly sent: GatheredBatch[];
  isDone: boolean;
  /** Batches of those that had come before. */
  skipped: number;
}

/** What the stream works with. */
export interface MorselRun {
  readonly over: FragmentOver;
  readonly given: Omit<FragmentGiven, "send">;
  /** What each worker gets before its first morsel; the text it gets once. */
  readonly request: RunRequest;
  readonly workers: readonly WorkerPort[];
  readonly pieces: readonly ScanPiece[];
  readonly prune: readonly ZonePredicate[];
  /** Where the parameters are that say which groups a morsel has alone; null: it does not matter. */
  readonly apart: { readonly columnId: number; readonly low: number; readonly high: number } | null;
  /** Where kept sides of joins are put for workers, and the marks of who has which morsel. */
  readonly memory: SharedMemory;
  /** Blocks of a morsel. */
  readonly morselBlocks: number;
  /** How many more than the one that is being read there may be for each worker. */
  readonly morselsAhead: number;
  /** So many blocks, or fewer, are read here. */
  readonly fewBlocks: number;
  /** Nobody waits for it any more; `awaited`: who is to say that nothing is read of its tables. */
  stop(awaited: readonly WorkerPort[], released: () => void): void;
  /** Hears of rows that a scan meets. */
  met(rows: number): void;
}

/** What a worker has done for a run. */
export interface WorkerWork extends PlaceWork {
  readonly morsels: number;
}

/** See the file's head. */
export class MorselStream implements GatheredStream {
  readonly next: BatchSource;
  readonly #run: MorselRun;
  readonly #stretches: Stretch[];
  /** Those that know the fragment. */
  readonly #readers = new Set<WorkerPort>();
  readonly #work = new Map<number, WorkerWork>();
  readonly #ahead: number;
  /** Morsels for workers. */
  readonly #shared: number;
  /** Stretches that have been looked at, and whose morsels workers know. */
  #announced = 0;
  #bytes = 0;
  /** The stretch that is being read. */
  #reading = 0;
  #here: ReadHere | null = null;
  /** Puts kept sides where workers see them; null: that is done. */
  #sharing: Generator<void, void> | null;
  /** What workers have of the shared memory; null: nothing. */
  #memory: { readonly at: number; readonly bytes: number } | null = null;
  #wake: () => void = () => {};
  #failure: unknown = null;
  #isClosed = false;

  constructor(run: MorselRun) {
    this.#run = run;
    this.#ahead = run.workers.length * run.morselsAhead + 1;
    this.#stretches = stretchesOf(run);
    this.#shared = this.#stretches.filter(({ isShared }) => isShared).length;
    this.next = () => this.#next();
    this.#sharing = this.#shared === 0 ? null : this.#share();
    if (run.given.kept.size === 0) this.#sharing?.next();
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** By worker. */
  get work(): ReadonlyMap<number, WorkerWork> {
    return this.#work;
  }

  onChange(wake: () => void): void {
    this.#wake = wake;
  }

  /** Shares the work out, when kept sides are where workers see them; without that all is read here. */
  *#share(): Generator<void, void> {
    const { given, memory, workers } = this.#run;
    const measured = yield* measureTables(given.kept);
    const isWorth = measured !== null && measured.travelling <= this.#shared * MAX_VALUES_A_MORSEL;
    const tables = measured?.bytes ?? 0;
    const marks = this.#stretches.length;
    if (isWorth) this.#memory = memory.take(tables + marks, tables > 0 ? FOR_MARKS : 0);
    if (measured === null || this.#memory === null) {
      for (const stretch of this.#stretches) stretch.isShared = false;
      return;
    }
    const { at } = this.#memory;
    const marksAt = at + tables;
    new Uint8Array(memory.memory, marksAt, marks).fill(0);
    yield* copyTables(measured, memory.memory, at);
    for (const [place, worker] of workers.entries()) {
      this.#open(worker, { kept: measured.tables, keptAt: at, marksAt, place });
    }
    this.#announce();
  }

  #open(
    worker: WorkerPort,
    own: Pick<RunRequest, "kept" | "keptAt" | "marksAt" | "place">,
  ): void {
    const request = { ...this.#run.request, ...own };
    const isKnown = worker.known.get(request.fragment) === true;
    if (!isKnown) worker.known.add(request.fragment, true);
    this.#readers.add(worker);
    worker.tell(isKnown ? { ...request, code: null } : request);
  }

  /** Sends workers the morsels that they may take. */
  #announce(): void {
    const end = Math.min(this.#stretches.length, this.#reading + this.#ahead);
    for (; this.#announced < end; this.#announced++) {
      const stretch = this.#stretches[this.#announced] as Stretch;
      if (stretch.isShared) this.#announceOne(stretch, this.#announced);
    }
  }

  #announceOne(stretch: Stretch, morsel: number): void {
    const file = assertDefined(stretch.piece.file ?? undefined, "a file");
    const hidden = new Map<number, Uint8Array>();
    for (let block = stretch.from; block < stretch.to; block++) {
      const mask = file.hidden(block);
      if (mask !== null) hidden.set(block, mask);
    }
    const { request: { run }, met, workers, morselBlocks } = this.#run;
    const { from, to } = stretch;
    const parameters = this.#parametersFor(stretch);
    // The same one each time, which has the blocks in its cache.
    const home = (file.stored.op + Math.floor(from / morselBlocks)) % workers.length;
    met((to - from) * BLOCK_ROWS);
    for (const worker of this.#readers) {
      worker.tell({ kind: "morsel", run, morsel, home, parameters, file: file.stored, from, to, hidden });
    }
  }

  #parametersFor({ apart: bounds }: Stretch): readonly StoredValue[] | null {
    const { apart, request: { parameters } } = this.#run;
    if (apart === null || bounds === null) return null;
    const own = [...parameters];
    own[apart.low] = bounds.low;
    own[apart.high] = bounds.high;
    return own;
  }

  /** Takes what a worker says. */
  take(
    { morsel: number, batch, isLast, error, isOfFile, microseconds }: MorselReply,
    worker: WorkerPort,
  ): void {
    const stretch = this.#stretches[number];
    if (stretch === undefined || this.#isClosed) return;
    stretch.worker = worker;
    const { index } = worker;
    const work = this.#work.get(index) ?? { rows: 0, bytes: 0, batches: 0, microseconds: 0, morsels: 0 };
    const rows = batch?.rowCount ?? 0;
    const bytes = batch === null ? 0 : batchBytes(batch);
    this.#bytes += bytes;
    this.#work.set(index, {
      rows: work.rows + rows,
      bytes: work.bytes + bytes,
      batches: work.batches + (rows > 0 ? 1 : 0),
      microseconds: work.microseconds + microseconds,
      morsels: work.morsels + (isLast ? 1 : 0),
    });
    if (batch !== null) stretch.come = stretch.come + 1;
    if (batch !== null && rows > 0) stretch.batches.push(batch);
    // What others have opened they can still read, and say what is wrong with it; what has come comes again.
    if (isOfFile) stretch.isShared = false;
    else if (error !== null) stretch.error = fromRemote(error);
    if (isLast) stretch.hasEnded = true;
    if (number === this.#reading) this.#wake();
  }

  /** A worker cannot go on. */
  lost(worker: WorkerPort, error: DatabaseError): void {
    if (!this.#readers.has(worker) || this.#failure !== null) return;
    this.#failure = error;
    this.#wake();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#failure ??= new DatabaseError(SQLSTATE.queryCanceled, "canceling statement due to user request");
    const { request: { run }, stop, memory } = this.#run;
    const taken = this.#memory;
    stop([...this.#readers], () => taken !== null && memory.give(taken));
    for (const worker of this.#readers) worker.tell({ kind: "end", run });
  }

  #next(): ReturnType<BatchSource> {
    if (this.#failure !== null) throw this.#failure;
    if (this.#sharing !== null) {
      if (this.#sharing.next().done === true) this.#sharing = null;
      return NOTHING_YET;
    }
    for (;;) {
      const stretch = this.#stretches[this.#reading];
      if (stretch === undefined) return undefined;
      const batch = stretch.isShared ? this.#come(stretch) : this.#readHere(stretch);
      if (batch !== undefined) return batch;
      this.#reading++;
      this.#announce();
    }
  }

  /** What has come of a morsel; undefined: all of it was read. */
  #come(stretch: Stretch): ReturnType<BatchSource> {
    const batch = stretch.batches.shift();
    if (batch !== undefined) {
      const { run } = this.#run.request;
      if (!stretch.hasEnded) stretch.worker?.tell({ kind: "credit", run, morsel: this.#reading });
      return batch;
    }
    if (!stretch.hasEnded) return null;
    const { error } = stretch;
    // Here there may be files for what a worker has no room for.
    if (error !== null) throw error.code === SQLSTATE.outOfMemory ? new SpillNeed(error) : error;
    return undefined;
  }

  /** What is read here of the stretch; undefined: all of it was read. */
  #readHere(stretch: Stretch): ReturnType<BatchSource> {
    const { batches, come } = stretch;
    const known = batches.shift();
    if (known !== undefined) return known;
    const here = this.#here ??= this.#beginHere(stretch);
    const sent = here.sent.shift();
    if (sent !== undefined) return here.skipped++ < come ? NOTHING_YET : sent;
    if (here.isDone) {
      this.#here = null;
      return undefined;
    }
    here.isDone = here.task.step();
    if (here.isDone) here.sent.push(here.execution.rest());
    return NOTHING_YET;
  }

  #beginHere({ piece, from, to }: Stretch): ReadHere {
    const { over, given, met } = this.#run;
    const sent: GatheredBatch[] = [];
    const send = (batch: GatheredBatch): boolean => sent.push(batch) > 0;
    const { task, execution } = over.start({ ...given, send }, (columnIds, options) => {
      const cursor = piece.scan(columnIds, options, from, to);
      const next = (): ReturnType<BlockCursor["next"]> => {
        const block = cursor.next();
        if (block !== null) met(block.rowCount);
        return block;
      };
      return { next };
    });
    return { task, execution, sent, isDone: false, skipped: 0 };
  }
}

/** A batch of no rows says that some work was done. */
const NOTHING_YET: GatheredBatch = { rowCount: 0, columns: [] };

/** What is to be read, in the order of the scan. */
function stretchesOf({ pieces, prune, workers, morselBlocks, fewBlocks, apart }: MorselRun): Stretch[] {
  const make = (piece: ScanPiece, from: number, to: number, isShared: boolean): Stretch => {
    return {
      piece,
      from,
      to,
      isShared,
      apart: null,
      worker: null,
      batches: [],
      come: 0,
      hasEnded: false,
      error: null,
    };
  };
  let blocks = 0;
  const shared = pieces.flatMap((piece) => {
    const { file } = piece;
    if (file === null) return [make(piece, 0, Infinity, false)];
    const morsels: Stretch[] = [];
    for (let start = 0; start < file.blockCount; start += morselBlocks) {
      const end = Math.min(file.blockCount, start + morselBlocks);
      let from = start;
      while (from < end && !file.admits(from, prune)) from++;
      let to = end;
      while (to > from && !file.admits(to - 1, prune)) to--;
      if (from === to) continue;
      morsels.push(make(piece, from, to, true));
      blocks += to - from;
    }
    return morsels;
  });
  if (workers.length > 0 && blocks > fewBlocks) {
    if (apart !== null) setApart(shared, apart.columnId);
    return shared;
  }
  return pieces.map((piece) => make(piece, 0, Infinity, false));
}

/** Blocks in memory whose keys are looked at. */
const MAX_BLOCKS_HERE = 32;

/** Finds which keys of a column each stretch has alone. */
function setApart(stretches: readonly Stretch[], columnId: number): void {
  const known = stretches.map(({ piece, from, to }) =>
    piece.file === null ? boundsHere(piece, columnId) : piece.file.bounds(columnId, from, to)
  );
  const bounds = known.filter((each) => each !== null);
  if (bounds.length < known.length) return;
  const order = stretches.map((stretch, index) => ({ stretch, bounds: bounds[index] as Bounds }))
    .sort((one, other) => one.bounds.low - other.bounds.low);
  // How far those reach that begin below.
  let below = -Infinity;
  order.forEach(({ stretch, bounds: { low, high } }, place) => {
    stretch.apart = widestGap({ low: Math.max(below, low - 1), high: high + 1 }, order, place + 1);
    below = Math.max(below, high);
  });
}

/** Between two numbers the longest way without any of the ranges from `first` on, in the order of their beginnings. */
function widestGap(
  { low, high }: Bounds,
  others: readonly { readonly bounds: Bounds }[],
  first: number,
): Bounds | null {
  let widest: Bounds | null = null;
  let from = low;
  for (let place = first; from < high; place++) {
    const bounds = others[place]?.bounds ?? { low: high, high };
    const to = Math.min(bounds.low, high);
    if (to - from > (widest === null ? 1 : widest.high - widest.low)) widest = { low: from, high: to };
    from = Math.max(from, bounds.high);
  }
  return widest;
}

/** The least and the greatest number in a column of rows in memory; null: not known. */
function boundsHere(piece: ScanPiece, columnId: number): Bounds | null {
  const cursor = piece.scan([columnId], { ids: false, prune: [] }, 0, Infinity);
  let low = Infinity, high = -Infinity;
  for (let blocks = 0;; blocks++) {
    const block = cursor.next();
    if (block === null) return { low, high };
    const [vector] = block.columns;
    if (vector?.kind !== "number" || vector.big !== null || blocks === MAX_BLOCKS_HERE) return null;
    const { data, nulls } = vector;
    for (let row = 0; row < block.rowCount; row++) {
      const value = data[row] as number;
      if (nulls !== null && nulls[row] !== 0) continue;
      if (value !== value) return null;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
}
