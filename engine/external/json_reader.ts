/**
 * FORMAT JSON: a page is one JSON value, and the rows are the elements of an array in it.
 *
 * The page is collected before it is read, for the address of the next page may stand in front of the rows or behind
 * them; no value of it is built. Rows are read as they come, with pauses between them.
 */
import { parseSourcePath } from "../catalog/source_path.ts";
import type { ExternalSourceDefinition } from "../catalog/external_source.ts";
import type { RowTarget } from "../statements/refresh/row_target.ts";
import type { FormatReader, SourceBytes } from "./source_reader.ts";
import { JsonField } from "./json_fields.ts";
import { JsonScanner } from "./json_scanner.ts";
import { withoutMark } from "./text_mark.ts";

const OPEN_OBJECT = 123, CLOSE_OBJECT = 125, OPEN_ARRAY = 91, CLOSE_ARRAY = 93;
/** Rows between looks at the clock. */
const PIECE = 32;
/** Arrays named in a hint. */
const NAMED_ARRAYS = 5;

/** The wanted fields of a row. */
export function rowFields(target: RowTarget): JsonField {
  const fields = new JsonField();
  for (const [index, column] of target.columns.entries()) {
    fields.at(parseSourcePath(column.from)).columns.push(index);
  }
  return fields;
}

/** See the file's head. */
export const jsonReader: FormatReader = {
  format: "json",
  async read(
    bytes: SourceBytes,
    target: RowTarget,
    source: ExternalSourceDefinition,
  ): Promise<string | null> {
    const page = withoutMark(await collected(bytes));
    const document = new JsonField();
    document.at(source.rows === null ? [] : parseSourcePath(source.rows)).isRows = true;
    const rows = rowFields(target);
    const { page: paging } = source;
    if (paging !== null && paging.kind !== "next_link") {
      // A page that is nothing but rows has its place in the last of them.
      (source.rows === null ? rows : document).at(parseSourcePath(paging.path)).isPaging = true;
    }
    const reading = new PageReading(page, target, { source, rows });
    for (const _ of reading.run(document)) {
      const pause = target.pause();
      if (pause !== undefined) await pause;
    }
    return reading.paging;
  },
};

async function collected(bytes: SourceBytes): Promise<Uint8Array> {
  let all = new Uint8Array(Math.min(bytes.size ?? 65_536, 1 << 26));
  let length = 0;
  for await (const piece of bytes.chunks()) {
    if (length + piece.length > all.length) {
      const larger = new Uint8Array(Math.max(all.length * 2, length + piece.length));
      larger.set(all.subarray(0, length));
      all = larger;
    }
    all.set(piece, length);
    length += piece.length;
  }
  return all.subarray(0, length);
}

class PageReading {
  readonly #scanner: JsonScanner;
  readonly #rows: JsonField;
  readonly #source: ExternalSourceDefinition;
  readonly #bytes: Uint8Array;
  #hasRows = false;
  /** Keys of the outermost object that hold arrays. */
  readonly #arrays: string[] = [];

  constructor(
    bytes: Uint8Array,
    target: RowTarget,
    wanted: { readonly source: ExternalSourceDefinition; readonly rows: JsonField },
  ) {
    this.#bytes = bytes;
    this.#source = wanted.source;
    this.#rows = wanted.rows;
    this.#scanner = new JsonScanner(target);
    this.#scanner.begin(bytes, 0, bytes.length);
  }

  get paging(): string | null {
    return this.#scanner.paging;
  }

  *run(document: JsonField): Generator<void, void> {
    yield* this.#value(document, 0);
    this.#scanner.requireEnd();
    if (this.#hasRows) return;
    const { rows } = this.#source;
    throw this.#scanner.failure(
      rows === null ? "the page is not an array of rows" : `the page has no rows at "${rows}"`,
      this.#hint(),
    );
  }

  #hint(): string | undefined {
    const [first] = this.#arrays;
    if (first === undefined) return undefined;
    const shown = this.#arrays.slice(0, NAMED_ARRAYS).map((key) => `"${key}"`).join(", ");
    return `It has an array at ${shown}: try ROWS '${first}'.`;
  }

  /** Reads a value around the rows. */
  *#value(field: JsonField | null, depth: number): Generator<void, void> {
    const scanner = this.#scanner;
    const code = scanner.peek();
    if (field === null) return scanner.value(null);
    if (field.isRows) return yield* this.#rowsHere(code);
    if (code === OPEN_OBJECT) {
      scanner.enter();
      if (scanner.isEmpty(CLOSE_OBJECT)) return;
      do {
        scanner.peek();
        const start = scanner.position;
        const member = scanner.key(field);
        if (depth === 0 && scanner.peek() === OPEN_ARRAY) this.#noteArray(start);
        yield* this.#value(member, depth + 1);
      } while (scanner.another(CLOSE_OBJECT));
    } else if (code === OPEN_ARRAY) {
      scanner.enter();
      if (scanner.isEmpty(CLOSE_ARRAY)) return;
      let index = 0;
      do yield* this.#value(field.element(index++), depth + 1); while (scanner.another(CLOSE_ARRAY));
    } else scanner.value(field);
  }

  #noteArray(start: number): void {
    if (this.#arrays.length === NAMED_ARRAYS) return;
    const end = this.#bytes.indexOf(34, start + 1);
    const key = new TextDecoder().decode(this.#bytes.subarray(start + 1, end));
    if (key.length <= 60 && !key.includes("\\")) this.#arrays.push(key);
  }

  *#rowsHere(code: number): Generator<void, void> {
    const scanner = this.#scanner;
    if (this.#hasRows) throw scanner.failure(`the page has rows at "${this.#source.rows}" twice`);
    if (code !== OPEN_ARRAY) {
      // An empty page may say null.
      if (code === 110 && this.#source.rows !== null) this.#hasRows = true;
      if (code === OPEN_OBJECT && this.#source.rows === null) {
        return yield* this.#value(new JsonField(), 0);
      }
      return scanner.value(null);
    }
    this.#hasRows = true;
    scanner.enter();
    if (scanner.isEmpty(CLOSE_ARRAY)) return;
    let count = 0;
    do {
      if (this.#source.rows === null) scanner.paging = null;
      scanner.row(this.#rows);
      if (++count % PIECE === 0) yield;
    } while (scanner.another(CLOSE_ARRAY));
  }
}
