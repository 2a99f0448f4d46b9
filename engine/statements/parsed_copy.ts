/** The data of a COPY … FROM on its way: how it is written, where parsing goes on, and what comes of it. */
import type { TableDefinition } from "../catalog/definitions.ts";
import type { RowBatch } from "../operations/effect.ts";
import type { MaybePromise } from "./outcome.ts";

/** The options as they apply. Delimiter, quote and escape are ASCII codes. */
export interface CopySettings {
  readonly format: "text" | "csv" | "binary";
  readonly delimiter: number;
  readonly nullText: string;
  readonly header: boolean | "match";
  readonly quote: number;
  readonly escape: number;
  readonly forceQuote: readonly string[] | "all";
  readonly forceNotNull: readonly string[] | "all";
  readonly forceNull: readonly string[] | "all";
}

/** Parsed rows and the line of the data that the first came from. */
export interface ParsedBatch {
  readonly batch: RowBatch;
  readonly firstLine: number;
  /** The ids that the data has; null: none, or some that are too large for a batch. */
  readonly ids: ParsedIds | null;
}

/** What is known of the ids of a batch, NULL left out. */
export interface ParsedIds {
  readonly first: number;
  readonly last: number;
  readonly lowest: number;
  /** Each is larger than the one before. */
  readonly isAscending: boolean;
}

/** How lines end; the first line decides. */
export type LineEnd = "unknown" | "newline" | "return newline" | "return";

/** Where a reader goes on that has paused. */
export interface ReaderPlace {
  /** Number of the line that comes next. */
  readonly line: number;
  readonly lineEnd: LineEnd;
  /** What has come and is not parsed. */
  readonly rest: Uint8Array;
}

/** What the data is for, and how it is written. */
export interface CopyForm {
  readonly table: TableDefinition;
  /** Positions of the columns that the data has. */
  readonly positions: readonly number[];
  readonly settings: CopySettings;
}

/** Where another parser goes on. */
export interface CopyPlace extends ReaderPlace {
  readonly firstLine: number;
}

/** A parser in another thread. */
export interface CopyElsewhere {
  /** Copies the bytes. A promise asks to wait. Raises what has gone wrong. */
  write(bytes: Uint8Array, start: number, end: number): MaybePromise<void>;
  /** The data has ended: resolves when all batches have come. */
  finish(): Promise<void>;
  /** Nobody wants anything more of it. */
  release(): void;
}
