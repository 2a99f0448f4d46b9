/** What the thread of the sessions and those of the workers say to each other. */
import type { IndexDefinition, TableDefinition } from "../catalog/definitions.ts";
import type { GatheredBatch } from "../execution/runtime/execution.ts";
import type { StoredValue } from "../operations/effect.ts";
import type { RemoteError, SessionFacts } from "../sharding/shard_messages.ts";
import type { ValuePart } from "./value_parts.ts";
import type { CopyForm, CopyPlace, ParsedBatch } from "../statements/parsed_copy.ts";
import type { SharedTable } from "./shared_tables.ts";
import type { FinishedChunkFile } from "../storage/table/chunk_file.ts";
import type { StoredFile } from "../storage/access/readable_table.ts";

/** A fragment of which morsels are going to come. */
export interface RunRequest {
  readonly kind: "run";
  readonly run: number;
  /** What says that nobody waits for it any more; see `StopFlags`. */
  readonly stop: number;
  readonly fragment: number;
  /** The fragment and the tables that it names; null: the worker has them. */
  readonly code: { readonly text: string; readonly tables: readonly TableDefinition[] } | null;
  readonly parameters: readonly StoredValue[];
  readonly session: SessionFacts | null;
  readonly memoryLimitBytes: number;
  /** Batches that may be sent of a morsel before one of them has been read. */
  readonly credits: number;
  /** Kept sides of its joins, and where in the shared memory they begin. */
  readonly kept: readonly SharedTable[];
  readonly keptAt: number;
  /** Where in the shared memory each morsel has a byte: who has set it to 1 has the morsel. */
  readonly marksAt: number;
  /** Which one of those that run it the worker is. */
  readonly place: number;
}

/** Blocks of a file, which a fragment is to be run over by who takes them first. */
export interface MorselRequest {
  readonly kind: "morsel";
  readonly run: number;
  readonly morsel: number;
  /** Whose it is; others take it when they have none of their own. */
  readonly home: number;
  readonly file: StoredFile;
  /** In the place of the run's; null: those. */
  readonly parameters: readonly StoredValue[] | null;
  /** The first block, and the one behind the last. */
  readonly from: number;
  readonly to: number;
  /** Masks of blocks with rows that the snapshot does not see. */
  readonly hidden: ReadonlyMap<number, Uint8Array>;
}

/** The file of an index is to be made of a segment's. */
export interface IndexRequest {
  readonly kind: "index";
  readonly build: number;
  readonly segment: StoredFile;
  readonly definition: TableDefinition;
  readonly index: Pick<IndexDefinition, "id" | "columns">;
}

/** A COPY's data is going to come, from a place on. */
export interface CopyRequest {
  readonly kind: "copy";
  readonly copy: number;
  readonly form: CopyForm;
  readonly session: SessionFacts;
  readonly place: CopyPlace;
}

/** A call on large values is going to be asked for. */
export interface CallRequest {
  readonly kind: "call";
  readonly call: number;
  /** See `callText`. */
  readonly text: string;
  readonly session: SessionFacts;
}

/** What a worker is asked. */
export type ToWorker =
  | RunRequest
  | MorselRequest
  /** One more batch of a morsel may be sent. */
  | { readonly kind: "credit"; readonly run: number; readonly morsel: number }
  /** Nobody wants anything more of a run; the worker says that it does nothing more for it. */
  | { readonly kind: "end"; readonly run: number }
  | IndexRequest
  | CopyRequest
  | CallRequest
  /** A part of the next argument of a call; null: the one before has ended. */
  | { readonly kind: "call_argument"; readonly call: number; readonly part: ValuePart | null }
  /** All of the arguments have come, or one more part of the value may be sent. */
  | { readonly kind: "call_more"; readonly call: number }
  /** Nobody wants the value any more. */
  | { readonly kind: "call_end"; readonly call: number }
  /** Data of a COPY; null: it has ended. */
  | { readonly kind: "copy_data"; readonly copy: number; readonly bytes: Uint8Array | null }
  /** Nobody wants anything more of a COPY. */
  | { readonly kind: "copy_end"; readonly copy: number }
  /** Files may have been removed. */
  | { readonly kind: "sweep" };

/** Bytes of the file of an index. */
export interface IndexReply {
  readonly build: number;
  readonly bytes: Uint8Array | null;
  /** There are no more; null: it cannot be made there. */
  readonly ended: { readonly finished: FinishedChunkFile | null } | null;
}

/** What has come of a COPY's data. */
export interface CopyReply {
  readonly copy: number;
  readonly parsed: ParsedBatch | null;
  /** Pieces of data that have been parsed since the last reply. */
  readonly pieces: number;
  readonly error: RemoteError | null;
  /** All has been parsed. */
  readonly isLast: boolean;
}

/** A part of the value of a call; null: there are no more. */
export interface CallReply {
  readonly call: number;
  readonly part: ValuePart | null;
  readonly error: RemoteError | null;
}

/** What a worker says. */
export type FromWorker =
  | MorselReply
  | IndexReply
  | CopyReply
  | CallReply
  /** Nothing more is done for a run. */
  | { readonly endedRun: number };

/** Rows of a morsel, or why there are none. */
export interface MorselReply {
  readonly run: number;
  readonly morsel: number;
  readonly batch: GatheredBatch | null;
  readonly isLast: boolean;
  readonly error: RemoteError | null;
  /** The error is the file's, which may be gone, or damaged. */
  readonly isOfFile: boolean;
  /** Of work, since what was said before of this morsel. */
  readonly microseconds: number;
}
