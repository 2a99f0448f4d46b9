/**
 * Damaged JSON, NDJSON and CSV through the readers of external sources.
 *
 * Each input is read twice, cut into pieces at other places, and must come to the same rows or the same error. JSON is
 * compared with `JSON.parse`: what that refuses is refused, and what it accepts has the same rows, texts and numbers,
 * unless a value does not fit its column. Nothing may crash, hang or take memory out of proportion.
 */
import { deepStrictEqual, ok } from "node:assert/strict";
import { DatabaseError } from "../../../engine/base/errors.ts";
import { encodeUtf8 } from "../../../engine/base/bytes.ts";
import { SeededRandom } from "../../../engine/base/random.ts";
import type { TableDefinition } from "../../../engine/catalog/definitions.ts";
import { csvReader } from "../../../engine/external/csv_reader.ts";
import { jsonReader } from "../../../engine/external/json_reader.ts";
import { ndjsonReader } from "../../../engine/external/ndjson_reader.ts";
import type { FormatReader, SourceBytes } from "../../../engine/external/source_reader.ts";
import { SourceFixture } from "../../../engine/external/testing/source_fixture.ts";
import { RowTarget } from "../../../engine/statements/refresh/row_target.ts";
import { batchRow } from "../../../engine/transactions/batch_values.ts";
import { DEFAULT_TEXT_OPTIONS } from "../../../engine/types/text_io.ts";
import type { StoredValue } from "../../../engine/types/stored_value.ts";

/** What came of the inputs so far. */
export interface Tally {
  inputs: number;
  /** Inputs that were read to their end. */
  read: number;
  rows: number;
  readonly errors: Map<string, number>;
  longestMilliseconds: number;
}

const COLUMNS = "id TEXT, t TEXT FROM 'a.t', n NUMERIC, i BIGINT, j JSONB, f F64, s TEXT[], d TIMESTAMPTZ";
const CSV_COLUMNS = "id TEXT, t TEXT, n NUMERIC, i BIGINT, d TIMESTAMPTZ";
const READERS: Readonly<Record<string, FormatReader>> = {
  json: jsonReader,
  ndjson: ndjsonReader,
  csv: csvReader,
};

/** Bytes that mean something to one of the formats. */
const MARKS = [
  "{",
  "}",
  "[",
  "]",
  '"',
  ",",
  ":",
  "\\",
  "\\u",
  "\\ud83d\\ude00",
  "\\ud800",
  "\n",
  "\r\n",
  "\r",
  "\t",
  "\u0000",
  "\ufeff",
  '""',
  "null",
  "true",
  "NaN",
  "1e5",
  "1e999999999",
  "-0",
  "-",
  ".",
  "01",
  "9007199254740993",
  '"id":"x"',
  '"a":{"t":"é"}',
  '"j":',
  '"s":[["x"],["y"]]',
  "[".repeat(300),
  '{"k":'.repeat(300),
];

/** Reads so many damaged inputs. Raises at the first that is read wrongly, with its seed in the message. */
export async function readMutatedInputs(
  options: { readonly seed: number; readonly inputs: number; readonly tell?: (tally: Tally) => void },
): Promise<Tally> {
  const tables = await definitions();
  const tally: Tally = { inputs: 0, read: 0, rows: 0, errors: new Map(), longestMilliseconds: 0 };
  for (let number = 0; number < options.inputs; number++) {
    const seed = options.seed * 1_000_003 + number;
    try {
      await readOne(new SeededRandom(seed), tables, tally);
    } catch (thrown) {
      throw new Error(`input of seed ${seed}: ${thrown instanceof Error ? thrown.message : thrown}`, {
        cause: thrown,
      });
    }
    options.tell?.(tally);
  }
  return tally;
}

/** The definitions of sources, by format. */
async function definitions(): Promise<ReadonlyMap<string, TableDefinition>> {
  await using fixture = await SourceFixture.open();
  for (const format of Object.keys(READERS)) {
    const columns = format === "csv" ? CSV_COLUMNS : COLUMNS;
    await fixture.run(
      `CREATE EXTERNAL SOURCE ${format} (${columns}) FROM 'http://h/x' FORMAT ${format.toUpperCase()} KEY id`,
    );
  }
  return new Map(fixture.engine.machine.catalog.tables.map((table) => [table.name, table]));
}

interface Reading {
  readonly rows: readonly (readonly StoredValue[])[];
  readonly error: string | null;
  readonly code: string;
}

async function readOne(
  random: SeededRandom,
  tables: ReadonlyMap<string, TableDefinition>,
  tally: Tally,
): Promise<void> {
  const format = ["json", "json", "ndjson", "csv"][random.below(4)] as string;
  const bytes = mutated(random, encodeUtf8(sound(random, format)));
  const table = tables.get(format) as TableDefinition;
  const began = performance.now();
  const first = await readInto(table, format, bytes, pieces(random, bytes));
  tally.longestMilliseconds = Math.max(tally.longestMilliseconds, performance.now() - began);
  const second = await readInto(table, format, bytes, [bytes]);
  deepStrictEqual(first, second, "it depends on the pieces");
  tally.inputs++;
  if (first.error === null) {
    tally.read++;
    tally.rows += first.rows.length;
  } else tally.errors.set(first.code, (tally.errors.get(first.code) ?? 0) + 1);
  if (format === "json") compareWithPlatform(bytes, first);
}

async function readInto(
  table: TableDefinition,
  format: string,
  bytes: Uint8Array,
  cut: readonly Uint8Array[],
): Promise<Reading> {
  const target = new RowTarget(table, {
    textOptions: DEFAULT_TEXT_OPTIONS,
    environment: { monotonic: () => 0, yieldToLoop: () => Promise.resolve(), checkCanceled: () => undefined },
  });
  const source: SourceBytes = {
    name: "x",
    size: null,
    range: null,
    nextLink: null,
    close: () => undefined,
    async *chunks() {
      // As a socket has them: in one buffer, which is used again.
      const buffer = new Uint8Array(Math.max(1, ...cut.map((piece) => piece.length)));
      for (const piece of cut) {
        buffer.fill(0);
        buffer.set(piece);
        yield buffer.subarray(0, piece.length);
      }
      await Promise.resolve();
    },
  };
  target.beginPage();
  const external = table.external;
  ok(external !== undefined);
  try {
    await (READERS[format] as FormatReader).read(source, target, external);
    target.finish();
  } catch (thrown) {
    if (!(thrown instanceof DatabaseError)) throw thrown;
    ok(thrown.code !== "XX000", thrown.message);
    // How much of a line is shown depends on how much of it has come.
    const place = thrown.where?.replace(/: "[^]*$/, "") ?? "";
    return { rows: [], error: `${thrown.code} ${thrown.message} ${place}`, code: thrown.code };
  }
  const rows = target.batches.flatMap((batch) =>
    Array.from({ length: batch.rowCount }, (_, row) => batchRow(batch, row))
  );
  // No row takes more than what it was made of, but for the form of numbers and arrays.
  ok(rows.length <= bytes.length, "more rows than bytes");
  return { rows, error: null, code: "" };
}

/** What the platform's parser says of the same bytes. */
function compareWithPlatform(bytes: Uint8Array, reading: Reading): void {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    // Texts that fill no column need not be UTF-8.
    const text = new TextDecoder().decode(bytes);
    ok(parses(text) || reading.error !== null, "what is no JSON is accepted");
    return;
  }
  if (reading.error !== null) {
    ok(
      !/^22P02 invalid JSON: (unexpected|the data ends)/.test(reading.error),
      `what is JSON is refused: ${reading.error}`,
    );
    return;
  }
  ok(Array.isArray(value));
  for (const [index, row] of value.entries()) {
    const [id, text] = reading.rows[index] as readonly StoredValue[];
    compareText(id ?? null, row?.id);
    compareText(text ?? null, row?.a?.t);
  }
  ok(reading.rows.length === value.length, "the number of rows");
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A value in a column of texts; the form of numbers, objects and arrays in them is tested elsewhere. */
function compareText(stored: StoredValue, value: unknown): void {
  if (typeof value === "string" || value === null || value === undefined) {
    deepStrictEqual(stored, value ?? null);
  } else ok(stored !== null);
}

function pieces(random: SeededRandom, bytes: Uint8Array): Uint8Array[] {
  const result: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    const size = 1 + random.below(random.chance(0.5) ? 8 : 200);
    result.push(bytes.subarray(at, at + size));
    at += size;
  }
  return result;
}

function sound(random: SeededRandom, format: string): string {
  const rows = Array.from({ length: random.below(6) }, (_, index) => index);
  if (format === "csv") {
    const line = (index: number) =>
      `${index},${random.chance(0.5) ? `"x ""${index}"" y,\nz"` : "plain é"},${index}.50,${
        index * 7
      },2026-01-0${index + 1}`;
    const end = random.chance(0.3) ? "\r\n" : "\n";
    return ["id,t,n,i,d", ...rows.map(line)].join(end) + (random.chance(0.5) ? end : "");
  }
  const row = (index: number) =>
    `{"id":"${index}","a":{"t":"text \\u00e9 ${index}","x":[1,{"y":null}]},"n":${index}.25,"i":${index},"j":{"k":[true,"é"]},"f":1e${index},"s":["a","b"],"d":"2026-01-01T00:00:0${index}Z","other":[[],{},"\\n"]}`;
  return format === "json"
    ? `[${rows.map(row).join(random.chance(0.3) ? " ,\n" : ",")}]`
    : rows.map(row).join("\n");
}

function mutated(random: SeededRandom, original: Uint8Array): Uint8Array {
  let bytes = original;
  for (let count = random.below(4); count > 0; count--) {
    const at = random.below(bytes.length + 1);
    const length = random.below(12);
    const insert = (middle: Uint8Array, end: number): Uint8Array => {
      const joined = new Uint8Array(at + middle.length + Math.max(0, bytes.length - end));
      joined.set(bytes.subarray(0, at));
      joined.set(middle, at);
      joined.set(bytes.subarray(end), at + middle.length);
      return joined;
    };
    switch (random.below(6)) {
      case 0:
        bytes = insert(new Uint8Array(0), at + length);
        break;
      case 1:
        bytes = insert(encodeUtf8(MARKS[random.below(MARKS.length)] as string), at);
        break;
      case 2:
        bytes = insert(encodeUtf8(MARKS[random.below(MARKS.length)] as string), at + 1);
        break;
      case 3:
        bytes = insert(bytes.slice(at, at + length * 8), at);
        break;
      case 4:
        bytes = insert(Uint8Array.of(random.below(256)), at + random.below(2));
        break;
      default:
        if (random.chance(0.3)) bytes = bytes.slice(0, at);
    }
  }
  return bytes;
}
