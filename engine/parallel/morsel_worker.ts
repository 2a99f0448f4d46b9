/**
 * A worker: runs fragments of plans over morsels, which are some blocks of a segment's file each. It opens the files by
 * itself and keeps their blocks in a cache of its own; all else that the rows depend on comes with the morsel.
 *
 * Nothing waits inside: a morsel without a credit for its next batch is left alone until one comes.
 */
import { assertDefined } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { KeptTables } from "../execution/runtime/execution.ts";
import type { Disk } from "../host/disk.ts";
import type { FragmentExecution, FragmentTask } from "../sharding/fragment_runs.ts";
import { KnownFragments } from "../sharding/known_fragments.ts";
import { toRemote } from "../sharding/shard_messages.ts";
import { StopFlags } from "../sharding/stop_flags.ts";
import type { StoredFile } from "../storage/access/readable_table.ts";
import { BlockCache } from "../storage/table/block_cache.ts";
import { StoredSegment } from "../storage/table/stored_segment.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import { type FragmentGiven, FragmentOver, type FragmentText } from "./fragment_over.ts";
import { CallWork } from "./call_work.ts";
import { CopyWork } from "./copy_work.ts";
import { IndexWork } from "./index_work.ts";
import type { FromWorker, MorselReply, MorselRequest, RunRequest, ToWorker } from "./messages.ts";
import { tablesOver } from "./shared_tables.ts";

/** Fewer rows than this can wait for more, as long as the worker knows of more morsels than the other number. */
const SMALL_ROWS = 256, LEAST_KNOWN = 2;

/** What a worker works with. */
export interface WorkerOptions {
  readonly disk: Disk;
  readonly blockCacheBytes: number;
  readonly stopFlags: SharedArrayBuffer;
  /** Where hash tables are that are made for all workers. */
  readonly sharedMemory: SharedArrayBuffer;
  /** Microseconds. */
  monotonic(): number;
  /** `isLate`: it can wait for what comes next. */
  send(reply: FromWorker, isLate?: boolean): void;
}

/** A morsel that is being worked on. */
interface Morsel {
  readonly number: number;
  readonly task: FragmentTask;
  readonly execution: FragmentExecution;
  /** Batches that may still be sent. */
  credits: number;
  /** Of work that was not told. */
  microseconds: number;
}

/** A fragment that is being run. */
interface Run {
  readonly request: RunRequest;
  readonly code: Known;
  /** What no worker has, as far as it knows: its own morsels, and those of others. */
  readonly own: MorselRequest[];
  readonly others: MorselRequest[];
  /** By morsel: 1 when a worker has it. */
  readonly marks: Uint8Array;
  readonly kept: KeptTables;
  current: Morsel | null;
}

interface Known extends FragmentText {
  over: FragmentOver | null;
}

/** See the file's head. */
export class MorselWorker {
  readonly #options: WorkerOptions;
  readonly #stops: StopFlags;
  readonly #cache: BlockCache;
  readonly #known = new KnownFragments<Known>();
  readonly #segments = new Map<string, StoredSegment>();
  /** As the newest fragments know them. */
  readonly #tables = new Map<number, TableDefinition>();
  /** Files of indexes, made one after the other. */
  readonly #indexes: IndexWork[] = [];
  readonly #copies = new Map<number, CopyWork>();
  readonly #calls = new Map<number, CallWork>();
  /** In the order in which they get their turns. */
  readonly #runs = new Map<number, Run>();

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#stops = new StopFlags(options.stopFlags);
    this.#cache = new BlockCache(options.blockCacheBytes);
  }

  receive(request: ToWorker): void {
    switch (request.kind) {
      case "run": {
        const { fragment, code } = request;
        if (code !== null) this.#known.add(fragment, { ...code, over: null });
        const known = assertDefined(this.#known.get(fragment), `fragment ${fragment}`);
        for (const table of known.tables) this.#tables.set(table.id, table);
        this.#runs.set(request.run, {
          request,
          code: known,
          own: [],
          others: [],
          marks: new Uint8Array(this.#options.sharedMemory, request.marksAt),
          kept: tablesOver(request.kept, this.#options.sharedMemory, request.keptAt),
          current: null,
        });
        return;
      }
      case "morsel": {
        const run = this.#runs.get(request.run);
        (run?.request.place === request.home ? run.own : run?.others)?.push(request);
        return;
      }
      case "credit": {
        const current = this.#runs.get(request.run)?.current;
        if (current?.number === request.morsel) current.credits++;
        return;
      }
      case "end":
        this.#runs.delete(request.run);
        this.#options.send({ endedRun: request.run });
        return;
      case "index":
        this.#indexes.push(
          new IndexWork(request, {
            disk: this.#options.disk,
            cache: this.#cache,
            send: (reply) => this.#options.send(reply),
          }),
        );
        return;
      case "copy":
        this.#copies.set(request.copy, new CopyWork(request, (reply) => this.#options.send(reply)));
        return;
      case "copy_data":
        this.#copies.get(request.copy)?.add(request.bytes);
        return;
      case "copy_end":
        this.#copies.delete(request.copy);
        return;
      case "call":
        this.#calls.set(request.call, new CallWork(request, (reply) => this.#options.send(reply)));
        return;
      case "call_argument":
        this.#calls.get(request.call)?.add(request.part);
        return;
      case "call_more":
        this.#calls.get(request.call)?.goOn();
        return;
      case "call_end":
        this.#calls.delete(request.call);
        return;
      case "sweep":
        for (const path of this.#segments.keys()) if (!this.#options.disk.exists(path)) this.#forget(path);
        return;
    }
  }

  /** Works for about a millisecond. false: there is nothing to do before something comes. */
  step(): boolean {
    const [index] = this.#indexes;
    if (index?.step() === true) this.#indexes.shift();
    const isParsing = this.#stepCopies();
    const isCalling = this.#stepCall();
    return this.#stepRun() || isParsing || isCalling || index !== undefined;
  }

  /** A call, or a part of its value. */
  #stepCall(): boolean {
    for (const [number, call] of this.#calls) {
      if (!call.isAsked) continue;
      // The others come first from now on.
      this.#calls.delete(number);
      if (!call.step()) this.#calls.set(number, call);
      return true;
    }
    return false;
  }

  /** A piece of each COPY's data. */
  #stepCopies(): boolean {
    let hasWorked = false;
    for (const copy of this.#copies.values()) hasWorked = copy.step() || hasWorked;
    return hasWorked;
  }

  #stepRun(): boolean {
    for (const [number, run] of this.#runs) {
      if (this.#stops.isStopped(run.request.stop)) {
        this.#runs.delete(number);
        continue;
      }
      const taken = run.current === null ? takeMorsel(run) : null;
      if (run.current === null ? taken === null : isHeld(run.current)) continue;
      // The others come first from now on.
      this.#runs.delete(number);
      this.#runs.set(number, run);
      this.#work(run, taken);
      return true;
    }
    return false;
  }

  /** `taken`: what is begun; null: the current one goes on. */
  #work(run: Run, taken: MorselRequest | null): void {
    const begin = this.#options.monotonic();
    const number = assertDefined(run.current?.number ?? taken?.morsel, "a morsel");
    try {
      const morsel = run.current ??= this.#begin(run, assertDefined(taken ?? undefined, "a morsel"));
      const isDone = morsel.task.step();
      morsel.microseconds += this.#options.monotonic() - begin;
      if (isDone) this.#say(run, morsel, { batch: morsel.execution.rest(), isLast: true });
    } catch (error) {
      if (this.#stops.isStopped(run.request.stop)) return;
      const isOfFile = error instanceof DatabaseError &&
        (error.code === SQLSTATE.dataCorrupted || error.code === SQLSTATE.ioError);
      // Something may go wrong with the rows before it first, where they are written.
      const batch = isOfFile ? null : run.current?.execution.rest() ?? null;
      run.current = null;
      const microseconds = this.#options.monotonic() - begin;
      const said = { run: run.request.run, morsel: number, batch, isLast: true, microseconds };
      this.#options.send({ ...said, error: toRemote(error), isOfFile });
    }
  }

  #say(run: Run, morsel: Morsel, said: Pick<MorselReply, "batch" | "isLast">): void {
    const { microseconds } = morsel;
    morsel.microseconds = 0;
    if (said.isLast) run.current = null;
    const { request: { run: number } } = run;
    const reply = { run: number, morsel: morsel.number, ...said, error: null, isOfFile: false, microseconds };
    const isSmall = (said.batch?.rowCount ?? 0) < SMALL_ROWS;
    this.#options.send(reply, isSmall && run.own.length > LEAST_KNOWN);
  }

  #codeOf({ code }: Run): FragmentOver {
    return code.over ??= new FragmentOver(code);
  }

  #givenFor({ request, kept }: Run): Omit<FragmentGiven, "send"> {
    return {
      kept,
      parameters: request.parameters,
      session: request.session,
      memoryLimitBytes: request.memoryLimitBytes,
      monotonic: () => this.#options.monotonic(),
      checkWanted: () => {
        if (!this.#stops.isStopped(request.stop)) return;
        throw new DatabaseError(SQLSTATE.queryCanceled, "canceling statement due to user request");
      },
    };
  }

  #begin(run: Run, { morsel: number, file, from, to, hidden, parameters }: MorselRequest): Morsel {
    const { request } = run;
    const segment = this.#segment(file);
    const { task, execution } = this.#codeOf(run).start(
      {
        ...this.#givenFor(run),
        parameters: parameters ?? request.parameters,
        send: (batch) => {
          if (morsel.credits === 0) return false;
          morsel.credits--;
          this.#say(run, morsel, { batch, isLast: false });
          return true;
        },
      },
      (columnIds, options) => segment.scan(columnIds, options, { from, to, hidden }),
    );
    const morsel: Morsel = { number, task, execution, credits: request.credits, microseconds: 0 };
    return morsel;
  }

  #segment(file: StoredFile): StoredSegment {
    const known = this.#segments.get(file.path);
    if (known !== undefined) {
      const { size, checksum } = known.file.summary;
      if (size === file.summary.size && checksum === file.summary.checksum) return known;
      // Another file has taken its name.
      this.#forget(file.path);
    }
    const { tableId } = file;
    const opened = new StoredSegment(
      file,
      this.#options.disk,
      this.#cache,
      () => assertDefined(this.#tables.get(tableId), `table ${tableId}`),
    );
    this.#segments.set(file.path, opened);
    return opened;
  }

  #forget(path: string): void {
    this.#segments.get(path)?.close();
    this.#segments.delete(path);
  }
}

/** The next morsel that no worker has; null: there is none. */
function takeMorsel({ own, others, marks }: Run): MorselRequest | null {
  for (const queue of [own, others]) {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      if (Atomics.compareExchange(marks, next.morsel, 0, 1) === 0) return next;
    }
  }
  return null;
}

/** Whether its next batch has to wait. */
function isHeld({ task, credits }: Morsel): boolean {
  return task.isWaiting && credits === 0;
}
