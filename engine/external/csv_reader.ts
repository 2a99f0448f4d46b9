/**
 * FORMAT CSV: RFC 4180 with a header line, whose names the columns are found by. Fields in quotes may hold commas,
 * quotes and line ends; an empty field is NULL, an empty field in quotes is the empty text. Lines may end in any way.
 *
 * It is COPY's reader of CSV, for files that were not made for COPY.
 */
import { closest } from "../base/suggest.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { FieldReader } from "../statements/copy/field_readers.ts";
import { type CopyColumn, TextFormatReader } from "../statements/copy/text_reader.ts";
import type { CopySettings } from "../statements/parsed_copy.ts";
import type { RowTarget, TargetColumn } from "../statements/refresh/row_target.ts";
import type { FormatReader, SourceBytes } from "./source_reader.ts";
import { piecesWithoutMark } from "./text_mark.ts";

const SETTINGS: CopySettings = {
  format: "csv",
  delimiter: 44,
  nullText: "",
  header: true,
  quote: 34,
  escape: 34,
  forceQuote: [],
  forceNotNull: [],
  forceNull: [],
};
/** Bytes parsed between looks at the clock. */
const PIECE_BYTES = 16_384;

/** See the file's head. */
export const csvReader: FormatReader = {
  format: "csv",
  async read(bytes: SourceBytes, target: RowTarget): Promise<null> {
    let hasHeader = false;
    const reader = new TextFormatReader({
      tableName: target.tableName,
      settings: SETTINGS,
      columns: [],
      batch: {
        isFull: false,
        get rowCount() {
          return target.batchRow;
        },
      },
      flush: () => undefined,
      plain: {
        place: `REFRESH ${target.tableName}, page ${target.progress.pages}`,
        columnsOf: (header) => {
          hasHeader = true;
          return fileColumns(header, target);
        },
        endRow: () => target.endRow(),
      },
    });
    for await (const piece of piecesWithoutMark(bytes.chunks())) {
      for (let at = 0; at < piece.length; at += PIECE_BYTES) {
        reader.write(piece.subarray(at, at + PIECE_BYTES));
        const pause = target.pause();
        if (pause !== undefined) await pause;
      }
    }
    reader.finish();
    if (hasHeader) return null;
    throw target.rowFailure(
      new DatabaseError(SQLSTATE.badCopyFileFormat, "the CSV has no header line", {
        hint: "The names in its first line say which column is which.",
      }),
    );
  },
};

/** What takes a field that is not wanted. */
const IGNORED: Pick<CopyColumn, "forceNull" | "forceNotNull" | "reader"> = {
  reader: { read: () => undefined },
  forceNotNull: true,
  forceNull: false,
};

/** The columns of the file, in its order. */
function fileColumns(header: readonly string[], target: RowTarget): CopyColumn[] {
  const names = header.map((name) => name.trim());
  const columns = names.map((name): CopyColumn => ({
    ...IGNORED,
    name,
    builder: (target.columns[0] as TargetColumn).builder,
  }));
  const taken = new Set<number>();
  for (const [index, column] of target.columns.entries()) {
    const at = positionOf(names, column);
    if (taken.has(at)) {
      // One field for two columns: the row has it once more.
      columns[at] = both(columns[at] as CopyColumn, column, index, target);
      continue;
    }
    taken.add(at);
    columns[at] = {
      name: column.name,
      builder: column.builder,
      reader: marking(column.reader, index, target),
      forceNotNull: false,
      forceNull: false,
    };
    target.found[index] = 1;
  }
  return columns;
}

/** Reads a field, and notes that the row has it. */
function marking(reader: FieldReader, index: number, target: RowTarget): FieldReader {
  return {
    read(bytes, start, end, row) {
      reader.read(bytes, start, end, row);
      target.mark(index);
    },
  };
}

function both(first: CopyColumn, second: TargetColumn, index: number, target: RowTarget): CopyColumn {
  const other = marking(second.reader, index, target);
  return {
    ...first,
    reader: {
      read(bytes, start, end, row) {
        first.reader.read(bytes, start, end, row);
        other.read(bytes, start, end, row);
      },
    },
  };
}

/** The place of a column in the header: its very name, or the only one that differs in upper and lower case alone. */
function positionOf(names: readonly string[], { name, from }: TargetColumn): number {
  const exact = names.flatMap((each, index) => each === from ? [index] : []);
  const lower = from.toLowerCase();
  const found = exact.length > 0
    ? exact
    : names.flatMap((each, index) => each.toLowerCase() === lower ? [index] : []);
  const [first] = found;
  if (first !== undefined && found.length === 1) return first;
  if (found.length > 1) {
    throw new DatabaseError(
      SQLSTATE.badCopyFileFormat,
      `the header of the CSV has "${from}" ${found.length} times, and column "${name}" is filled from it`,
    );
  }
  const near = closest(from, names);
  const shown = names.slice(0, 20).map((each) => `"${each}"`).join(", ").slice(0, 400);
  throw new DatabaseError(
    SQLSTATE.badCopyFileFormat,
    `the header of the CSV has no "${from}", which column "${name}" is filled from`,
    { detail: `It has ${shown}.`, ...(near === undefined ? {} : { hint: `Did you mean FROM '${near}'?` }) },
  );
}
