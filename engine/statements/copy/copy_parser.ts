/** Makes batches of COPY's data, in this thread or, once it is clear that there is much of it, in another one. */
import { assertDefined } from "../../base/assert.ts";
import type { TableDefinition } from "../../catalog/definitions.ts";
import type { RowBatch } from "../../operations/effect.ts";
import { BatchBuilder } from "../../transactions/batch_builder.ts";
import type { TextOptions } from "../../types/text_io.ts";
import { BinaryFormatReader } from "./binary_reader.ts";
import type { CopyForm, CopyPlace, ParsedBatch, ParsedIds } from "../parsed_copy.ts";
import { forcedColumns } from "./copy_options.ts";
import { fieldReader } from "./field_readers.ts";
import { TextFormatReader } from "./text_reader.ts";

/** See {@link ParsedBatch.ids}; `position`: of the column with the ids. */
export function parsedIds({ columns, rowCount }: RowBatch, position: number): ParsedIds | null {
  const column = columns[position];
  if (column?.storageClass !== "int" || column.big !== null) return null;
  let first = Infinity, last = -Infinity, lowest = Infinity, isAscending = true;
  for (let row = 0; row < rowCount; row++) {
    if (column.nulls?.[row] === 1) continue;
    const id = column.data[row] as number;
    if (first === Infinity) first = id;
    if (id <= last) isAscending = false;
    if (id < lowest) lowest = id;
    last = id;
  }
  return { first, last, lowest, isAscending };
}

/** See the file's head. */
export class CopyParser {
  readonly #form: CopyForm;
  readonly #builder: BatchBuilder;
  readonly #reader: TextFormatReader | BinaryFormatReader;
  readonly #emit: (parsed: ParsedBatch) => void;
  readonly #idPosition: number;
  #firstLine: number;
  #pauses = false;

  /** `emit` takes each full batch, and the last one. `from`: where it goes on; null: at the beginning. */
  constructor(
    form: CopyForm,
    options: TextOptions,
    emit: (parsed: ParsedBatch) => void,
    from: CopyPlace | null = null,
  ) {
    const { table, settings } = form;
    this.#form = form;
    this.#emit = emit;
    this.#builder = new BatchBuilder(table);
    this.#idPosition = table.columns.findIndex((column) => column.id === table.rowIdColumn);
    this.#firstLine = from?.firstLine ?? (settings.header === false ? 1 : 2);
    this.#reader = settings.format === "binary" ? this.#binaryReader(from) : this.#textReader(options, from);
    if (from !== null) this.write(from.rest);
  }

  get #columns(): readonly {
    readonly column: TableDefinition["columns"][number];
    readonly position: number;
  }[] {
    const { table, positions } = this.#form;
    return positions.map((position) => ({
      column: assertDefined(table.columns[position], "column of COPY"),
      position,
    }));
  }

  #binaryReader(from: CopyPlace | null): BinaryFormatReader {
    return new BinaryFormatReader({
      from,
      tableName: this.#form.table.name,
      batch: this.#builder,
      flush: () => this.#flush(),
      columns: this.#columns.map(({ column: { name, type }, position }) => ({ name, type, position })),
    });
  }

  #textReader(options: TextOptions, from: CopyPlace | null): TextFormatReader {
    const { table, settings } = this.#form;
    const columns = this.#columns;
    const names = columns.map(({ column }) => column.name);
    const notNull = forcedColumns(names, settings.forceNotNull, "FORCE_NOT_NULL");
    const forceNull = forcedColumns(names, settings.forceNull, "FORCE_NULL");
    return new TextFormatReader({
      tableName: table.name,
      settings,
      batch: this.#builder,
      flush: () => this.#flush(),
      columns: columns.map(({ column, position }, index) => {
        const builder = assertDefined(this.#builder.columns[position], "column of a batch");
        return {
          name: column.name,
          builder,
          reader: fieldReader(column.type, builder, options),
          forceNotNull: notNull[index] === true,
          forceNull: forceNull[index] === true,
        };
      }),
      from,
    });
  }

  /** Parses a piece of bytes. */
  write(bytes: Uint8Array, start = 0, end = bytes.length): void {
    this.#reader.write(bytes, start, end);
  }

  /** The data has ended. */
  finish(): void {
    this.#reader.finish();
    this.#flush();
  }

  /** After the batch that is being made it leaves what comes to another parser. */
  pauseBehindBatch(): void {
    this.#pauses = true;
  }

  /** Where another one goes on when it has paused; null: it has not. */
  takePlace(): CopyPlace | null {
    const place = this.#reader.takePlace();
    return place === null ? null : { ...place, firstLine: this.#firstLine };
  }

  #flush(): void {
    const builder = this.#builder;
    const { rowCount } = builder;
    if (rowCount === 0) return;
    for (const [position, column] of builder.columns.entries()) {
      // Columns that the data lacks are filled later.
      if (!this.#form.positions.includes(position)) column.setNull(rowCount - 1);
    }
    const batch = builder.take(new Float64Array(0));
    const firstLine = this.#firstLine;
    this.#firstLine = this.#reader.line + 1;
    if (this.#pauses) this.#reader.pause();
    this.#emit({ batch, firstLine, ids: parsedIds(batch, this.#idPosition) });
  }
}
