/**
 * Reads a Parquet file column by column into the columns of a batch, row group by row group: the footer, then the
 * column chunks that are asked for, and nothing else of the file.
 *
 * Format: `README.md` and the other pages of apache/parquet-format, version 2. What of it is read is a table in
 * `docs/external-sources.md`. Memory is bounded by a page of each column, whatever the file says. Nothing is lost: what
 * cannot be read as it is raises 0A000, what is damaged 22P04.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { PathStep } from "../../catalog/source_path.ts";
import type { ColumnBuilder } from "../../transactions/batch_builder.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { formatType } from "../../types/type_names.ts";
import { openWindows, type RangeReader, readRange } from "./byte_window.ts";
import { chunkRange, ColumnPages, type PageConsumer, type PageContext } from "./column_pages.ts";
import { FlatColumn } from "./flat_column.ts";
import { PARQUET_LIMITS } from "./limits.ts";
import { type FileMetadata, readFileMetadata, type RowGroup } from "./metadata.ts";
import { NestedColumn, nestedMismatch } from "./nested_column.ts";
import { PageCodec, type PagePlatform } from "./page_codec.ts";
import { FilePosition } from "./parquet_error.ts";
import { type FileSchema, findNode, leavesOf, readSchema, type SchemaNode } from "./schema.ts";
import { targetConversion } from "./target_values.ts";

/** How a file is opened. */
export interface ParquetOptions {
  /** Names the file in messages. */
  readonly name: string;
  readonly platform: PagePlatform;
  /** A page's bytes after decompression; {@link PARQUET_LIMITS.maximumPageBytes} by default. */
  readonly maximumPageBytes?: number;
}

/** A column to be filled. */
export interface ParquetColumn {
  readonly name: string;
  readonly type: SqlType;
  readonly path: readonly PathStep[];
  readonly builder: ColumnBuilder;
}

/** Where rows go. */
export interface RowSink {
  /** The row of the batch that is written next. */
  readonly batchRow: number;
  /** Rows that the batch has room for, at least 1. */
  readonly room: number;
  /** The next rows are in all columns. The batch may be taken, so that `batchRow` begins anew. */
  endRows(count: number): void;
  /** Lets others have their turn when it is time. */
  pause(): Promise<void> | undefined;
}

const MAGIC = "PAR1";

/** See the file's head. */
export class ParquetFile {
  /** Rows, as the footer has them. */
  readonly rowCount: number;
  readonly schema: FileSchema;
  readonly #metadata: FileMetadata;
  readonly #reader: RangeReader;
  readonly #context: PageContext;
  /** Where the footer begins. */
  readonly #end: number;

  private constructor(reader: RangeReader, context: PageContext, metadata: FileMetadata, end: number) {
    this.#reader = reader;
    this.#context = context;
    this.#metadata = metadata;
    this.#end = end;
    this.schema = readSchema(metadata, context.position);
    this.rowCount = metadata.rowCount;
  }

  /** Reads the footer. Raises 22P04 and 0A000. */
  static async open(reader: RangeReader, options: ParquetOptions): Promise<ParquetFile> {
    const position = new FilePosition(options.name);
    const { size } = reader;
    if (size < 12) throw position.damaged("it is no Parquet file");
    let from = Math.max(0, size - PARQUET_LIMITS.footerReadBytes);
    let tail = await readRange(reader, { start: from, end: size }, position);
    const magic = String.fromCharCode(...tail.subarray(tail.length - 4));
    if (magic === "PARE") throw position.unsupported("its footer is encrypted");
    if (magic !== MAGIC) throw position.damaged("it is no Parquet file, or was not written to its end");
    const length = new DataView(tail.buffer, tail.byteOffset).getUint32(tail.length - 8, true);
    const start = size - 8 - length;
    if (start < 4) throw position.damaged("its footer is longer than the file");
    if (length > PARQUET_LIMITS.maximumFooterBytes) {
      throw position.unsupported(
        `a footer of ${length} bytes; at most ${PARQUET_LIMITS.maximumFooterBytes} can be read`,
      );
    }
    if (start < from) {
      from = start;
      tail = await readRange(reader, { start, end: size }, position);
    }
    const metadata = readFileMetadata(tail.subarray(start - from, start - from + length), position);
    const context: PageContext = {
      position,
      codec: new PageCodec(options.platform),
      maximumPageBytes: options.maximumPageBytes ?? PARQUET_LIMITS.maximumPageBytes,
    };
    return new ParquetFile(reader, context, metadata, start);
  }

  /** Reads all rows. Raises 42703, 42804, 0A000, 22P04, 54000 and what the columns' types raise. */
  async read(columns: readonly ParquetColumn[], sink: RowSink): Promise<void> {
    const readers = columns.map((column) => this.#column(column));
    const { position } = this.#context;
    for (const [index, group] of this.#metadata.rowGroups.entries()) {
      position.rowGroup = index;
      position.column = position.page = null;
      if (group.rowCount < 0) throw position.damaged("a row group has fewer than no rows");
      if (group.rowCount > 0) await this.#readGroup(group, readers, sink);
    }
  }

  #column(column: ParquetColumn): FlatColumn | NestedColumn {
    const { position } = this.#context;
    position.column = null;
    const { builder, type } = column;
    const node = findNode(this.schema, column.path, position);
    for (const leaf of leavesOf(node)) {
      position.column = leaf.path.join(".");
      if (leaf.nesting > PARQUET_LIMITS.maximumNesting) {
        throw position.unsupported(
          `nesting of ${leaf.nesting} levels; at most ${PARQUET_LIMITS.maximumNesting} can be read`,
        );
      }
      if (typeof leaf.type === "string") throw position.unsupported(leaf.type);
    }
    if (node.kind === "leaf" && node.maxRepetition === 0) {
      const target = targetConversion(node.type as SqlType, type);
      if (target.kind === "impossible") throw mismatch(column, node);
      return new FlatColumn(node, target, { builder, position });
    }
    if (nestedMismatch(node, type) !== undefined) throw mismatch(column, node);
    return new NestedColumn(node, type, { builder, position });
  }

  async #readGroup(
    group: RowGroup,
    readers: readonly (FlatColumn | NestedColumn)[],
    sink: RowSink,
  ): Promise<void> {
    await this.#begin(group, readers);
    const flat = readers.filter((reader) => reader.kind === "flat");
    const nested = readers.filter((reader) => reader.kind === "nested");
    const most = nested.length > 0 ? PARQUET_LIMITS.nestedPieceRows : PARQUET_LIMITS.pieceRows;
    for (let left = group.rowCount; left > 0;) {
      let count = Math.min(left, most, sink.room);
      for (const column of flat) {
        if (column.left === 0) await column.fetch();
        count = Math.min(count, column.left, column.rowLimit);
      }
      const row = sink.batchRow;
      for (const column of flat) column.read(count, row);
      for (const column of nested) await column.read(count, row);
      sink.endRows(count);
      left -= count;
      const pause = sink.pause();
      if (pause !== undefined) await pause;
    }
  }

  /** Opens the column chunks of a row group. */
  async #begin(group: RowGroup, readers: readonly (FlatColumn | NestedColumn)[]): Promise<void> {
    const { position } = this.#context;
    const consumers = readers.flatMap((reader): readonly PageConsumer[] =>
      reader.kind === "flat" ? [reader] : reader.leaves
    );
    const chunks = consumers.map((consumer) => {
      const { leaf } = consumer;
      position.column = leaf.path.join(".");
      position.page = null;
      const chunk = group.columns[leaf.index];
      if (chunk === undefined || group.columns.length !== this.schema.leaves.length) {
        throw position.damaged("a row group has not all columns");
      }
      if (chunk.path.length > 0 && chunk.path.join("\0") !== leaf.path.join("\0")) {
        throw position.damaged("the columns of a row group are in another order than the schema's");
      }
      const range = chunkRange(chunk, leaf, this.#end, position);
      if (leaf.maxRepetition === 0 && chunk.valueCount !== group.rowCount) {
        throw position.damaged("a column has not as many values as its row group has rows");
      }
      return { consumer, chunk, range };
    });
    const windows = await openWindows(this.#reader, chunks.map(({ range }) => range), position);
    for (const [index, { consumer, chunk }] of chunks.entries()) {
      const window = windows[index];
      if (window === undefined) continue;
      const { leaf, dictionaryConversion: convert } = consumer;
      const capacity = PARQUET_LIMITS.pieceRows;
      consumer.begin(new ColumnPages(this.#context, { leaf, chunk, window, convert, capacity }));
    }
  }
}

function mismatch(column: ParquetColumn, node: SchemaNode): DatabaseError {
  return new DatabaseError(
    SQLSTATE.datatypeMismatch,
    `column "${column.name}" is of type ${formatType(column.type)} but the file has ${describe(node)}`,
    {
      hint: node.kind === "leaf"
        ? `Declare the column as ${formatType(node.type as SqlType).toUpperCase()}, or as TEXT.`
        : "Declare the column as JSONB; a list of values may be an array.",
    },
  );
}

function describe(node: SchemaNode): string {
  if (node.kind !== "leaf") return `a ${node.kind}`;
  return `type ${formatType(node.type as SqlType)}`;
}
