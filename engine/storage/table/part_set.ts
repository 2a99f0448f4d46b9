/**
 * The parts of a table and the work that turns them into one another: freezing the delta, building segments, merging
 * them, describing them for the manifest and finding them again.
 *
 * At a checkpoint the delta is frozen at the checkpoint's op number N and a *build* is queued that makes a segment of
 * what is live in it at N; the policy may queue a *merge* behind it. Jobs run in order, in slices. A finished output
 * serves snapshots from N on and its inputs those before N; versions that ended after N are marked in the output when
 * it is installed. Inputs are released when every snapshot that may hold a location in them is gone, and their files
 * are removed when no manifest names them.
 *
 * An entry that is too large for memory is *cut*: while it is applied, what has come of it becomes a segment under the
 * entry's own op number, which no snapshot sees before the entry is complete.
 *
 * Everything written is a function of the log and of the op numbers of the checkpoints; when the slices run is not part
 * of it. A job that fails (a full disk) begins again at the next step.
 */
import { assert, assertDefined } from "../../base/assert.ts";
import { equalBytes } from "../../base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { TableDefinition } from "../../catalog/definitions.ts";
import { STAGE_TABLE } from "../../catalog/stage_table.ts";
import type { DiskFile } from "../../host/disk.ts";
import type { OpNumber } from "../../operations/effect.ts";
import { BLOCK_ROWS } from "../access/block.ts";
import type { BlockCache } from "./block_cache.ts";
import { ChunkFile, type ChunkFileSummary } from "./chunk_file.ts";
import { type MergeCandidate, planMerge } from "./compaction_policy.ts";
import { decodeDeletions, encodeDeletions, type SegmentDeletions } from "./deletion_file.ts";
import { Delta } from "./delta.ts";
import { DRAINED, type IndexKeys, type Part, type TableShape } from "./part.ts";
import { atOnce, type IndexJob, keyOf, markIn, nextOf, type PartJob } from "./part_job.ts";
import { IndexFile } from "./index_file.ts";
import { Segment } from "./segment.ts";
import { buildSegment, MERGED_OBJECT, type SegmentFileSet } from "./segment_builder.ts";
import { notingCreated, type SegmentFiles } from "./segment_files.ts";
import { SegmentIndex } from "./segment_index.ts";
import { filesOf, type SegmentPiece, type TablePiece } from "./table_piece.ts";
import { storedFileOf } from "./stored_segment.ts";
import { buildIndexOfSegment, indexFileName } from "./segment_index_builder.ts";

/** Ended versions that are marked between two yields; a power of two. */
const MARKS_AT_ONCE = 256;

/** What a part set is made with. */
export interface PartSetOptions {
  readonly shape: TableShape;
  readonly files: SegmentFiles;
  readonly cache: BlockCache;
  /** Whether new deltas leave their indexes alone until {@link PartSet.endReplay}; see `Delta.deferIndexes`. */
  readonly defersIndexes: boolean;
}

/** The state of a table at a checkpoint, as of when its delta was frozen. */
interface Checkpoint {
  readonly op: number;
  /** The indexes then, until {@link PartSet.describe} is called: what it says must not depend on the pace. */
  readonly indexes: readonly IndexKeys[] | null;
  readonly rowCount: number;
  readonly lastModifiedOp: number;
}

/** The parts of a table. */
export class PartSet {
  readonly #shape: TableShape;
  readonly #files: SegmentFiles;
  readonly #cache: BlockCache;
  #definition: TableDefinition;
  #indexes: readonly IndexKeys[];
  /** The part that takes writes. */
  delta: Delta;
  /** Frozen deltas and segments, newest first; retired ones included. */
  older: Part[] = [];
  readonly #byNumber: (Part | undefined)[] = [];
  /** Retired parts, and the newest snapshot that may have been read when each was. */
  #retired: { readonly part: Part; readonly after: number }[] = [];
  #jobs: PartJob[] = [];
  /** The entry that was cut last, and how often. */
  #cuts = { op: 0, count: 0 };
  #indexJobs: IndexJob[] = [];
  #checkpoint: Checkpoint = { op: 0, indexes: null, rowCount: 0, lastModifiedOp: 0 };
  /** Files that a manifest may name, those that the last description names, and those to remove once none does. */
  #named = new Set<string>();
  #described = new Set<string>();
  readonly #obsolete = new Set<string>();
  #holdsRanges = false;
  #defersIndexes: boolean;
  #unsynced: DiskFile[] = [];
  /** What {@link prepareDescription} has made: for which segments at which op. */
  #prepared:
    | { readonly op: number; readonly segments: readonly Segment[]; readonly bytes: Uint8Array | null }
    | null = null;
  #deletions: { readonly name: string; readonly size: number; readonly bytes: Uint8Array } | null = null;
  /** Grows when parts come or go. */
  version = 0;
  /** The newest snapshot that anything may have been read at. */
  latestSnapshot = 0;

  constructor(definition: TableDefinition, indexes: readonly IndexKeys[], options: PartSetOptions) {
    this.#shape = options.shape;
    this.#files = options.files;
    this.#cache = options.cache;
    this.#definition = definition;
    this.#indexes = indexes;
    this.#defersIndexes = options.defersIndexes;
    this.delta = this.#newDelta();
  }

  #newDelta(): Delta {
    const delta = new Delta(this.#freeNumber(), this.#shape);
    delta.setColumns(this.#definition.columns);
    delta.holdsRanges = this.#holdsRanges;
    delta.setIndexes(this.#indexes);
    if (this.#defersIndexes) delta.deferIndexes();
    this.#byNumber[delta.number] = delta;
    return delta;
  }

  #freeNumber(): number {
    const free = this.#byNumber.findIndex((part) => part === undefined);
    return free < 0 ? this.#byNumber.length : free;
  }

  /** The part with the number; undefined when it has been released. */
  part(number: number): Part | undefined {
    return this.#byNumber[number];
  }

  get memoryBytes(): number {
    let bytes = this.delta.memoryBytes;
    for (const part of this.older) bytes += part.memoryBytes;
    return bytes;
  }

  /** Bytes of the files of live segments. */
  get fileBytes(): number {
    let bytes = 0;
    for (const part of this.older) if (part instanceof Segment) bytes += part.fileBytes;
    return bytes;
  }

  /** The deltas: the one that takes writes, and those that are not in a segment yet. */
  get deltas(): Delta[] {
    return [this.delta, ...this.older.filter((part): part is Delta => part instanceof Delta)];
  }

  /** From now on rows go into the indexes of deltas as they come; those that were deferred are noted. */
  endReplay(): void {
    this.#defersIndexes = false;
    for (const delta of this.deltas) delta.noteDeferred();
  }

  /** Whether indexes of deltas keep rows that come in bulk apart; see `Delta.holdsRanges`. */
  set holdsRanges(holds: boolean) {
    this.#holdsRanges = holds;
    for (const delta of this.deltas) delta.holdsRanges = holds;
  }

  /**
   * Builds indexes of segments that the table does not have yet, in steps, until every segment has them. The table
   * must take the indexes on, or {@link forgetIndexesAhead} be called.
   */
  *buildIndexesAhead(indexes: readonly IndexKeys[]): Generator<void, void> {
    for (;;) {
      const [next] = this.#lacking(indexes);
      if (next === undefined) return;
      const job = this.#indexJob(next.segment, next.keys);
      // The job may be finished by another caller, or its segment be merged away, between two steps.
      while (this.#indexJobs.includes(job) && !this.#stepIndex(job)) yield;
    }
  }

  /** Which segments lack which of the indexes. */
  *#lacking(
    indexes: readonly IndexKeys[],
  ): Generator<{ readonly segment: Segment; readonly keys: IndexKeys }> {
    for (const segment of this.older) {
      if (!(segment instanceof Segment) || segment.until !== Infinity) continue;
      for (const keys of indexes) if (!segment.indexes.has(keys.indexId)) yield { segment, keys };
    }
  }

  /** The files that {@link buildIndexesAhead} would make, for other threads to make. */
  indexFilesAhead(indexes: readonly IndexKeys[], definition: TableDefinition): IndexFile[] {
    return [...this.#lacking(indexes)].map(({ segment, keys }) => {
      const name = indexFileName(definition.id, segment.op, segment.object, keys.indexId);
      return new IndexFile({
        segment: storedFileOf(segment, definition.id),
        definition,
        index: assertDefined(definition.indexes.find(({ id }) => id === keys.indexId), "the index"),
        create: () => this.#files.create(name),
        remove: () => this.#removeFile(name),
        take: (file, { summary, footer }) => {
          if (segment.until !== Infinity || !this.older.includes(segment)) return false;
          this.#unsynced.push(file);
          this.#openIndex(segment, keys, summary, footer);
          return true;
        },
      });
    });
  }

  /** Drops indexes of segments that the table does not have. */
  forgetIndexesAhead(): void {
    for (const part of this.older) if (part instanceof Segment) this.#alignIndexes(part);
  }

  /** Takes a new definition; an added index is built for every part, for segments in steps or when it is first used. */
  alter(definition: TableDefinition, indexes: readonly IndexKeys[]): void {
    this.#definition = definition;
    this.#indexes = indexes;
    this.delta.setColumns(definition.columns);
    this.delta.setIndexes(indexes);
    for (const part of this.older) {
      if (part instanceof Delta) part.setIndexes(indexes);
      else if (part instanceof Segment) this.#alignIndexes(part);
    }
  }

  #alignIndexes(segment: Segment): void {
    const kept = [...this.#indexes, ...(this.#checkpoint.indexes ?? [])];
    const wanted = new Set(kept.map((keys) => keys.indexId));
    for (const indexId of [...segment.indexes.keys()]) {
      if (wanted.has(indexId)) continue;
      const dropped = segment.dropIndex(indexId);
      if (dropped !== undefined) {
        dropped.close();
        this.#removeFile(dropped.file.summary.name);
      }
    }
    this.#forgetIndexJobs((job) => job.segment === segment && !wanted.has(job.keys.indexId));
    for (const keys of this.#indexes) {
      if (!segment.indexes.has(keys.indexId)) this.#indexJob(segment, keys);
    }
  }

  /** The work on an index of a segment, queued now if it is not. */
  #indexJob(segment: Segment, keys: IndexKeys): IndexJob {
    const queued = this.#indexJobs.find((job) =>
      job.segment === segment && job.keys.indexId === keys.indexId
    );
    if (queued !== undefined) return queued;
    const job: IndexJob = { segment, keys, work: null, files: [] };
    this.#indexJobs.push(job);
    return job;
  }

  /** One step of building an index; true when the segment has it. */
  #stepIndex(job: IndexJob): boolean {
    const { segment, keys } = job;
    try {
      job.work ??= buildIndexOfSegment({
        tableId: this.#definition.id,
        op: segment.op,
        object: segment.object,
        files: notingCreated(this.#files, job.files),
        keys,
      }, segment);
      const step = job.work.next();
      if (step.done !== true) return false;
      this.#indexJobs = this.#indexJobs.filter((other) => other !== job);
      this.#unsynced.push(...job.files);
      this.#openIndex(segment, keys, step.value.summary, step.value.footer);
      return true;
    } catch (error) {
      for (const file of job.files) file.close();
      job.files = [];
      job.work = null;
      throw error;
    }
  }

  #forgetIndexJobs(gone: (job: IndexJob) => boolean): void {
    if (this.#indexJobs.length === 0) return;
    this.#indexJobs = this.#indexJobs.filter((job) => {
      if (!gone(job)) return true;
      job.work?.[Symbol.dispose]();
      for (const file of job.files) {
        file.close();
        this.#removeFile(
          indexFileName(this.#definition.id, job.segment.op, job.segment.object, job.keys.indexId),
        );
      }
      return false;
    });
  }

  /** A reader needs an index now: what is left of building it is done at once. */
  #needIndex(segment: Segment, keys: IndexKeys): void {
    if (!this.#indexes.some((present) => present.indexId === keys.indexId)) return;
    const job = this.#indexJob(segment, keys);
    let isDone = this.#stepIndex(job);
    while (!isDone) isDone = this.#stepIndex(job);
  }

  /** Ends all parts: snapshots from the op number on see none of their rows. */
  truncate(op: OpNumber): void {
    const old = this.delta;
    old.until = op;
    this.older.unshift(old);
    this.#retired.push({ part: old, after: op - 1 });
    for (const part of this.older) {
      if (part.until !== Infinity) continue;
      part.until = op;
      // What a job still reads is retired when the job is done.
      if (!this.#isInput(part)) this.#retired.push({ part, after: op - 1 });
    }
    this.delta = this.#newDelta();
    this.version++;
  }

  #isInput(part: Part): boolean {
    return this.#jobs.some((job) =>
      job.frozen === part || (part instanceof Segment && job.inputs.includes(keyOf(part.op, part.object)))
    );
  }

  // Checkpoints.

  /** Freezes the delta at the op number and queues what follows from it. Cheap, unless the last build is not done. */
  freeze(op: OpNumber, state: { readonly rowCount: number; readonly lastModifiedOp: number }): void {
    assert(op >= this.#checkpoint.op, `checkpoint ${op} comes after checkpoint ${this.#checkpoint.op}`);
    if (this.#jobs.some((job) => job.kind === "build")) this.step(Infinity, "all");
    const dirty = state.lastModifiedOp > this.#checkpoint.lastModifiedOp;
    this.#checkpoint = {
      op,
      indexes: this.#indexes,
      rowCount: state.rowCount,
      lastModifiedOp: state.lastModifiedOp,
    };
    if (!dirty) return;
    const pending = this.#candidates();
    const frozen = this.delta;
    if (frozen.slotCount > 0) {
      this.older.unshift(frozen);
      this.delta = this.#newDelta();
      this.version++;
      this.#queue({ kind: "build", op, object: 0, frozen, inputs: [] });
      if (frozen.liveCount > 0) {
        pending.push({ key: keyOf(op, 0), rows: frozen.liveCount, liveRows: frozen.liveCount });
      }
    }
    // The stage is read once, in order, and gone then.
    const inputs = this.#definition.id === STAGE_TABLE.id ? null : planMerge(pending);
    if (inputs !== null) this.#queue({ kind: "merge", op, object: MERGED_OBJECT, frozen: null, inputs });
  }

  /**
   * Makes a segment of the delta, under the op of the entry that is being applied, none of whose effects comes
   * meanwhile. Where the disk is full the next checkpoint does it; or, with `waitForSpace`, that is called before each
   * further attempt: the files are the same then, wherever the disk was full.
   */
  *cut(op: OpNumber, waitForSpace: (() => void) | null): Generator<void, void> {
    const isFirst = this.#cuts.op !== op;
    if (isFirst) this.#cuts = { op, count: 0 };
    const frozen = this.delta;
    if (frozen.slotCount === 0) return;
    this.#cuts.count++;
    this.older.unshift(frozen);
    this.delta = this.#newDelta();
    this.version++;
    const job = this.#jobOf({
      kind: "cut",
      op,
      object: MERGED_OBJECT + this.#cuts.count,
      frozen,
      inputs: [],
    });
    job.sources = [frozen];
    for (let isDone = false; !isDone;) {
      try {
        yield* this.#work(job);
        isDone = true;
      } catch (error) {
        if (!(error instanceof DatabaseError && error.code === SQLSTATE.diskFull)) throw error;
        if (waitForSpace === null) {
          this.#jobs.push(job);
          return;
        }
        waitForSpace();
        yield;
      }
    }
    // All rows behind the first cut are of the entry: there is no snapshot that sees one of them.
    if (!isFirst) this.#forget(frozen);
  }

  #forget(part: Part): void {
    this.#retired = this.#retired.filter((retired) => retired.part !== part);
    this.#drop(part);
  }

  #queue(job: Pick<PartJob, "kind" | "op" | "object" | "frozen" | "inputs">): void {
    this.#jobs.push(this.#jobOf(job));
  }

  #jobOf(job: Pick<PartJob, "kind" | "op" | "object" | "frozen" | "inputs">): PartJob {
    return { ...job, definition: this.#definition, indexes: this.#indexes, sources: [], work: null };
  }

  /** The segments there are, with the outcome of queued merges in place of their inputs. */
  #candidates(): MergeCandidate[] {
    const byKey = new Map<string, MergeCandidate>();
    for (const part of this.older) {
      if (!(part instanceof Segment) || part.until !== Infinity) continue;
      const key = keyOf(part.op, part.object);
      byKey.set(key, { key, rows: part.rowLimit, liveRows: part.liveCount });
    }
    for (const job of this.#jobs) {
      let liveRows = 0;
      for (const input of job.inputs) {
        liveRows += byKey.get(input)?.liveRows ?? 0;
        byKey.delete(input);
      }
      if (job.kind === "cut") liveRows = job.frozen?.liveCount ?? 0;
      if (job.kind === "build" || liveRows === 0) continue;
      const key = keyOf(job.op, job.object);
      byKey.set(key, { key, rows: liveRows, liveRows });
    }
    return [...byKey.values()];
  }

  /** Whether a checkpoint's build is under way: {@link describe} has to wait. */
  get isBuilding(): boolean {
    return this.#jobs.some((job) => job.kind !== "merge");
  }

  /** Whether any work is queued. */
  get hasWork(): boolean {
    return this.#jobs.length > 0 || this.#indexJobs.length > 0;
  }

  /** Whether indexes wait to be built for segments that are older than they. */
  get hasIndexWork(): boolean {
    return this.#indexJobs.length > 0;
  }

  /** Works on the queue for about so many column values, until `until` or everything is done. */
  step(budgetValues: number, until: "indexed" | "built" | "all"): void {
    let left = budgetValues;
    while (left > 0) {
      const job = this.#jobs[0];
      const indexJob = this.#indexJobs[0];
      if (until === "indexed" && indexJob === undefined || until === "built" && !this.isBuilding) return;
      // A merge reads the indexes of its inputs.
      if (indexJob !== undefined && (until !== "built" || job?.kind === "merge" && job.work === null)) {
        this.#stepIndex(indexJob);
        left -= BLOCK_ROWS;
        continue;
      }
      if (job === undefined) return;
      if (job.work === null) this.#start(job);
      const work = job.work;
      if (work === null) continue;
      try {
        if (work.next().done === true) this.#jobs.shift();
      } catch (error) {
        job.work = null;
        throw error;
      }
      left -= BLOCK_ROWS;
    }
  }

  #start(job: PartJob): void {
    if (job.frozen !== null) job.sources = [job.frozen];
    else {
      job.sources = this.older.filter((part) =>
        part instanceof Segment && job.inputs.includes(keyOf(part.op, part.object))
      );
      if (job.sources.length === 0) {
        this.#jobs.shift();
        return;
      }
    }
    job.work = this.#work(job);
  }

  *#work(job: PartJob): Generator<void, void> {
    const files = yield* buildSegment({
      definition: job.definition,
      indexes: job.indexes,
      sources: job.sources,
      op: job.op,
      object: job.object,
      files: notingCreated(this.#files, this.#unsynced),
    });
    const output = files === null ? null : yield* this.#openOutput(job, files);
    // In the step in which the last end was marked: later ones are marked in the output.
    this.#install(job, output);
  }

  /** Opens what was built and marks, in steps, the versions in it that have ended since the op number, up to now. */
  *#openOutput(job: PartJob, files: SegmentFileSet): Generator<void, Segment> {
    const pieces: SegmentPiece = {
      op: files.op,
      object: files.object,
      rows: files.rows,
      data: files.data.summary,
      indexes: files.indexes.map(({ indexId, file }) => ({ indexId, file: file.summary })),
    };
    const output = this.#openSegment(pieces, job.indexes, files);
    yield;
    const walks = job.sources.map((source) => ({ source, rows: source.endedAfter(job.op) }));
    let count = 0;
    try {
      // Until none of the sources has anything more in one and the same step.
      for (let isUpToDate = false; !isUpToDate;) {
        isUpToDate = true;
        for (const { source, rows } of walks) {
          for (let row = nextOf(rows); row !== DRAINED; row = nextOf(rows)) {
            isUpToDate = false;
            if (row >= 0) markIn(output, source, row);
            if ((++count & (MARKS_AT_ONCE - 1)) === 0 || row < 0) yield;
          }
        }
      }
    } finally {
      for (const { rows } of walks) rows.return();
    }
    return output;
  }

  #install(job: PartJob, output: Segment | null): void {
    const latestSnapshot = this.latestSnapshot;
    let until = Infinity;
    for (const source of job.sources) until = Math.min(until, source.until);
    if (output !== null) {
      output.until = until;
      this.#alignIndexes(output);
      this.#addOlder(output);
      if (until !== Infinity) this.#retired.push({ part: output, after: latestSnapshot });
    }
    this.#forgetIndexJobs(({ segment }) => job.sources.includes(segment));
    for (const source of job.sources) {
      source.until = Math.min(source.until, job.op);
      this.#retired.push({ part: source, after: latestSnapshot });
    }
    this.version++;
  }

  /** Behind the frozen deltas, before older segments. */
  #addOlder(segment: Segment): void {
    const at = this.older.findIndex((part) => part instanceof Segment && part.op <= segment.op);
    this.older.splice(at < 0 ? this.older.length : at, 0, segment);
  }

  /** `written`: the footers of files just written. */
  #openSegment(
    files: SegmentPiece,
    indexes: readonly IndexKeys[],
    written: SegmentFileSet | null = null,
  ): Segment {
    const number = this.#freeNumber();
    const file = new ChunkFile(
      this.#files.open(files.data.name),
      {
        kind: "segment",
        tableId: this.#definition.id,
        op: files.op,
        object: files.object,
      },
      files.data,
      { written: written?.data.footer ?? null, onDamage: this.#files.onDamage },
    );
    const segment = new Segment({ number, op: files.op as OpNumber, object: files.object }, file, {
      shape: this.#shape,
      cache: this.#cache,
      blocks: this.#cache.blocksOf(this.#definition.id),
      needIndex: (keys) => this.#needIndex(segment, keys),
    });
    assert(segment.rowLimit === files.rows, `segment ${files.data.name} has the rows that the manifest says`);
    this.#byNumber[number] = segment;
    for (const index of files.indexes) {
      const keys = indexes.find((candidate) => candidate.indexId === index.indexId);
      const footer = written?.indexes.find((candidate) => candidate.indexId === index.indexId)?.file.footer;
      if (keys !== undefined) this.#openIndex(segment, keys, index.file, footer);
    }
    return segment;
  }

  #openIndex(segment: Segment, keys: IndexKeys, summary: ChunkFileSummary, footer?: Uint8Array): void {
    const file = new ChunkFile(
      this.#files.open(summary.name),
      {
        kind: "index",
        tableId: this.#definition.id,
        op: segment.op,
        object: keys.indexId * 2 + segment.object,
      },
      summary,
      { written: footer ?? null, onDamage: this.#files.onDamage },
    );
    segment.addIndex(keys.indexId, new SegmentIndex(file, keys, this.#cache, segment.rowLimit));
  }

  /** Files to sync before a manifest may name them; each is handed out once. Close them afterwards. */
  takeUnsynced(): DiskFile[] {
    return this.#unsynced.splice(0);
  }

  /** Gathers in steps what {@link describe} needs to know of ended rows; without it that takes as long at once. */
  *prepareDescription(): Generator<void, void> {
    const { op } = this.#checkpoint;
    const segments = this.#segmentsAt(op);
    this.#prepared = { op, segments, bytes: yield* this.#encodeDeletions(op, segments) };
  }

  /** Whether segments have indexes that no manifest names. */
  get hasUnnamedIndexes(): boolean {
    return this.older.some((part) =>
      part instanceof Segment && part.until === Infinity && this.#named.has(part.file.summary.name) &&
      [...part.indexes.values()].some((index) => !this.#named.has(index.file.summary.name))
    );
  }

  #segmentsAt(op: number): Segment[] {
    return this.older.filter((part): part is Segment =>
      part instanceof Segment && part.from <= op && op < part.until
    ).sort((left, right) => left.op - right.op || left.object - right.object);
  }

  /** The content of the file of ended rows, without those that end later; null when there are none. */
  *#encodeDeletions(op: number, segments: readonly Segment[]): Generator<void, Uint8Array | null> {
    const deletions: SegmentDeletions[] = [];
    for (const segment of segments) {
      const rows = yield* segment.deletions.endedWithin(0, op);
      if (rows.length > 0) deletions.push({ op: segment.op, object: segment.object, rows });
    }
    return deletions.length === 0 ? null : yield* encodeDeletions(this.#definition.id, deletions);
  }

  /** The table at the last frozen op number. Its build must be done. */
  describe(): TablePiece {
    assert(!this.isBuilding, "a table is described after its segment is built");
    const { op, rowCount, lastModifiedOp, indexes } = this.#checkpoint;
    const described = new Set((indexes ?? this.#indexes).map((keys) => keys.indexId));
    const valid = this.#segmentsAt(op);
    const segments: SegmentPiece[] = valid.map((segment) => ({
      op: segment.op,
      object: segment.object,
      rows: segment.rowLimit,
      data: segment.file.summary,
      // Not those that came later, or were built ahead.
      indexes: [...segment.indexes].filter(([id]) => described.has(id)).sort(([a], [b]) => a - b)
        .map(([indexId, index]) => ({ indexId, file: index.file.summary })),
    }));
    const prepared = this.#prepared;
    this.#prepared = null;
    const isPrepared = prepared !== null && prepared.op === op && prepared.segments.length === valid.length &&
      valid.every((segment, index) => prepared.segments[index] === segment);
    const bytes = isPrepared ? prepared.bytes : atOnce(this.#encodeDeletions(op, valid));
    const piece: TablePiece = {
      op,
      rowCount,
      lastModifiedOp,
      segments,
      deletions: this.#writeDeletions(op, bytes),
      merges: this.#jobs.filter((job) => job.kind === "merge").map((job) => ({
        op: job.op,
        inputs: job.inputs,
      })),
    };
    this.#checkpoint = { ...this.#checkpoint, indexes: null };
    this.#described = filesOf(piece);
    for (const name of this.#described) this.#named.add(name);
    if (indexes?.some((keys) => !this.#indexes.includes(keys))) this.forgetIndexesAhead();
    return piece;
  }

  #writeDeletions(op: number, bytes: Uint8Array | null): TablePiece["deletions"] {
    const last = this.#deletions;
    if (bytes === null) {
      if (last !== null) this.#removeFile(last.name);
      this.#deletions = null;
      return null;
    }
    if (last !== null && equalBytes(last.bytes, bytes)) return { name: last.name, size: last.size };
    const name = `${this.#definition.id}-${op.toString(16).padStart(14, "0")}.deletions`;
    const file = notingCreated(this.#files, this.#unsynced).create(name);
    file.writeAt(0, bytes);
    if (last !== null && last.name !== name) this.#removeFile(last.name);
    this.#deletions = { name, size: bytes.length, bytes };
    return { name, size: bytes.length };
  }

  /** The manifest with the last description is durable: older descriptions count no more. */
  manifestInstalled(): void {
    this.#named = new Set(this.#described);
    for (const name of [...this.#obsolete]) {
      if (this.#named.has(name)) continue;
      this.#obsolete.delete(name);
      this.#files.remove(name);
    }
  }

  #removeFile(name: string): void {
    if (this.#named.has(name)) this.#obsolete.add(name);
    else this.#files.remove(name);
  }

  /** Takes up what a manifest describes. */
  restore(piece: TablePiece): void {
    const { op, rowCount, lastModifiedOp } = piece;
    this.#checkpoint = { op, indexes: null, rowCount, lastModifiedOp };
    this.#named = filesOf(piece);
    this.#described = new Set(this.#named);
    for (const files of piece.segments) {
      const segment = this.#openSegment(files, this.#indexes);
      this.#alignIndexes(segment);
      this.#addOlder(segment);
    }
    if (piece.deletions !== null) this.#readDeletions(piece.deletions, piece.op);
    for (const merge of piece.merges) {
      const op = merge.op as OpNumber;
      this.#queue({ kind: "merge", op, object: MERGED_OBJECT, frozen: null, inputs: merge.inputs });
    }
  }

  #readDeletions(deletions: { readonly name: string; readonly size: number }, op: number): void {
    const file = this.#files.open(deletions.name);
    const bytes = new Uint8Array(deletions.size);
    const count = file.readAt(0, bytes);
    file.close();
    const read = decodeDeletions(this.#definition.id, file.path, bytes.subarray(0, count));
    for (const { op: segmentOp, object, rows } of read) {
      const segment = this.older.find((part) =>
        part instanceof Segment && part.op === segmentOp && part.object === object
      );
      for (const row of rows) assertDefined(segment, `segment ${segmentOp}`).markEnd(row, op);
    }
    this.#deletions = { ...deletions, bytes };
  }

  /** Lets go of parts that no snapshot can hold a location in, and that nothing under way needs. */
  release(oldestSnapshot: number): void {
    if (this.#retired.length === 0) return;
    // No snapshot reads the stage, and whoever fills it has one that is older than all of it.
    const oldest = this.#definition.id === STAGE_TABLE.id ? Infinity : oldestSnapshot;
    this.#retired = this.#retired.filter(({ part, after }) => {
      if (oldest <= after || oldest < part.until || this.#isInput(part)) return true;
      if (this.#isToBeDescribed(part)) return true;
      this.#drop(part);
      return false;
    });
  }

  /** Whether a segment belongs to the checkpoint that has begun and is not described yet. */
  #isToBeDescribed(part: Part): boolean {
    const { op, indexes } = this.#checkpoint;
    return indexes !== null && part instanceof Segment && part.from <= op && op < part.until;
  }

  #drop(part: Part): void {
    const at = this.older.indexOf(part);
    if (at < 0) return;
    this.older.splice(at, 1);
    this.#byNumber[part.number] = undefined;
    this.version++;
    if (!(part instanceof Segment)) return;
    this.#forgetIndexJobs(({ segment }) => segment === part);
    part.close();
    this.#removeFile(part.file.summary.name);
    for (const index of part.indexes.values()) this.#removeFile(index.file.summary.name);
  }

  /** Names of all files that the table has now or that a manifest may name. */
  fileNames(): string[] {
    const names = new Set(this.#named);
    for (const part of this.older) {
      if (!(part instanceof Segment)) continue;
      names.add(part.file.summary.name);
      for (const index of part.indexes.values()) names.add(index.file.summary.name);
    }
    if (this.#deletions !== null) names.add(this.#deletions.name);
    return [...names].sort();
  }

  /** Checks every file; raises XX001 naming file and offset. */
  verify(): void {
    for (const part of this.older) if (part instanceof Segment) part.verify();
    if (this.#deletions === null) return;
    const file = this.#files.open(this.#deletions.name);
    const bytes = new Uint8Array(this.#deletions.size);
    const count = file.readAt(0, bytes);
    file.close();
    decodeDeletions(this.#definition.id, file.path, bytes.subarray(0, count));
  }

  /** Closes all files. */
  close(): void {
    for (const part of this.older) if (part instanceof Segment) part.close();
    for (const file of this.#unsynced) file.close();
    this.#unsynced = [];
    for (const job of this.#indexJobs) for (const file of job.files) file.close();
    this.#indexJobs = [];
  }
}
