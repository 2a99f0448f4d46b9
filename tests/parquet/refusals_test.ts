/** What the Parquet reader refuses, and how it says so; conversions into columns of other types. */
import { strict as assert } from "node:assert";
import { DatabaseError } from "../../engine/base/errors.ts";
import { rangesOf, type ReadOptions, readTexts } from "./read_all.ts";
import { smallFile, type SmallPage, type ThriftStruct } from "./small_file.ts";

const folder = new URL("fixtures/", import.meta.url);

async function fixture(name: string): Promise<Uint8Array> {
  return await Deno.readFile(new URL(name, folder));
}

async function read(bytes: Uint8Array, from: string, type: string, options?: ReadOptions) {
  return (await readTexts(rangesOf(bytes), [{ name: "x", type, from }], options)).map(([text]) => text);
}

async function failure(bytes: Uint8Array, from: string, type: string, options?: ReadOptions) {
  try {
    await read(bytes, from, type, options);
  } catch (error) {
    if (error instanceof DatabaseError) return error;
    throw error;
  }
  throw new Error(`${from} as ${type} should be refused`);
}

Deno.test("ParquetFile refuses with 0A000 what it does not support, and says why and where", async () => {
  const cases: [string, string, string, RegExp, string?][] = [
    [
      "arrow_rs_lz4_legacy.parquet",
      "id",
      "integer",
      /compression LZ4 in its old framing \(codec 5\)$/,
      "row group 1, column id",
    ],
    ["refused_deep.parquet", "deep", "jsonb", /nesting of 4 levels; at most 3 can be read$/],
    ["refused_deep.parquet", "path.a.b.c.d", "integer", /nesting of 4 levels/],
    [
      "refused_types.parquet",
      "wide",
      "numeric",
      /DECIMAL of 39 digits; at most 38 can be read$/,
      "column wide",
    ],
    ["refused_types.parquet", "shape", "bytea", /values of type GEOMETRY$/],
    ["refused_encrypted.parquet", "id", "integer", /its footer is encrypted$/],
    ["parquetjs_v1.parquet", "binary", "bytea", /values of type BSON$/],
    ["duckdb_shapes_v1.parquet", "records.n", "jsonb", /the path leads into the list "records"$/],
    ["duckdb_shapes_v1.parquet", "numbers[0]", "integer", /the path leads into the list "numbers"$/],
  ];
  for (const [file, from, type, message, where] of cases) {
    const error = await failure(await fixture(file), from, type);
    assert.equal(error.code, "0A000", `${file} ${from}: ${error.message}`);
    assert.match(error.message, message);
    if (where !== undefined) assert.equal(error.where, `Parquet file test.parquet, ${where}`);
  }
  // Columns that nobody asks for are not looked at.
  assert.deepEqual(await read(await fixture("refused_types.parquet"), "id", "integer"), ["1"]);
  const large = await failure(await fixture("duckdb_gzip_v1.parquet"), "distinct_text", "text", {
    maximumPageBytes: 1024,
  });
  assert.equal(large.code, "0A000");
  assert.match(large.message, /a page of \d+ bytes; at most 1024 can be read$/);
  assert.equal(large.where, "Parquet file test.parquet, row group 1, column distinct_text, page 1");
});

Deno.test("ParquetFile refuses with 22P04 what is no Parquet file", async () => {
  const whole = await fixture("duckdb_snappy_v1.parquet");
  const text = new TextEncoder().encode("PAR1 this is not a file of columns at all");
  for (
    const bytes of [
      new Uint8Array(0),
      new Uint8Array(12),
      text,
      whole.subarray(0, 5000),
      whole.subarray(4000),
    ]
  ) {
    assert.equal((await failure(bytes, "id", "integer")).code, "22P04");
  }
  const reader = {
    size: whole.length,
    read: (start: number) => Promise.resolve(whole.slice(start, start + 3)),
  };
  await assert.rejects(
    readTexts(reader, [{ name: "x", type: "integer", from: "id" }]),
    /it ended while it was read/,
  );
});

Deno.test("ParquetFile names the column that is missing, or of another type", async () => {
  const file = await fixture("duckdb_shapes_v1.parquet");
  const missing = await failure(file, "pair.aa", "integer");
  assert.deepEqual([missing.code, missing.message, missing.hint], [
    "42703",
    'Parquet file "test.parquet" has no column "pair.aa"',
    'Did you mean "a"?',
  ]);
  const types = await fixture("duckdb_snappy_v1.parquet");
  const other = await failure(types, "day", "integer");
  assert.deepEqual([other.code, other.message, other.hint], [
    "42804",
    'column "x" is of type integer but the file has type date',
    "Declare the column as DATE, or as TEXT.",
  ]);
  assert.equal((await failure(file, "numbers", "integer")).code, "42804");
  assert.equal((await failure(file, "dictionary", "integer[]")).code, "42804");
  assert.equal((await failure(file, "numbers", "date[]")).code, "42804");
});

Deno.test("ParquetFile converts values as an assignment does", async () => {
  const types = await fixture("duckdb_zstd_v2.parquet");
  const cases: [string, string, number, string | null][] = [
    ["number", "bigint", 1, "2147483647"],
    ["number", "numeric(12,2)", 1, "2147483647.00"],
    ["number", "text", 3, "3000009"],
    ["number", "double precision", 3, "3000009"],
    ["big", "numeric", 1, "9223372036854775807"],
    ["big", "numeric(20,1)", 2, "-9223372036854775808.0"],
    ["decimal4", "numeric(10,4)", 1, "-18.7500"],
    ["decimal4", "numeric(4,1)", 1, "-18.8"],
    ["decimal4", "integer", 1, "-19"],
    ["decimal38", "text", 1, "99999999999999999999999999999999999.999"],
    ["single", "double precision", 1, "1.5"],
    ["day", "timestamp", 0, "1969-12-25 00:00:00"],
    ["moment", "date", 0, "1960-01-01"],
    ["moment", "timestamptz", 0, "1960-01-01 00:00:00.123456+00"],
    ["moment", "timestamp(3)", 0, "1960-01-01 00:00:00.123"],
    ["instant", "timestamp", 0, "2024-02-29 12:00:00.5"],
    ["identifier", "text", 0, "00112233-4455-6677-8899-aabbccddee00"],
    ["document", "jsonb", 0, '{"n": 0, "t": [true, null]}'],
    ["truth", "text", 0, "true"],
    ["word", "char(3)", 1, null],
  ];
  for (const [from, type, row, expected] of cases) {
    assert.equal(
      (await read(types, from, type).catch((error) => [error.message]))[row] ?? null,
      expected,
      `${from} as ${type}`,
    );
  }
  const wrong: [string, string, string][] = [
    ["number", "smallint", "22003"],
    ["number", "numeric(5,2)", "22003"],
    ["unsigned64", "bigint", "22003"],
    ["decimal18", "integer", "22003"],
    ["single", "integer", "22003"],
    ["distinct_text", "varchar(20)", "22001"],
    ["distinct_text", "integer", "22P02"],
    ["raw", "text", "22021"],
  ];
  for (const [from, type, code] of wrong) {
    const error = await failure(types, from, type);
    assert.equal(error.code, code, `${from} as ${type}: ${error.message}`);
    assert.match(error.where ?? "", new RegExp(`row group 1, column ${from}, page \\d+$`));
  }
});

const INTEGER: ThriftStruct = { 1: 1, 3: 0, 4: "c" };
const OPTIONAL: ThriftStruct = { 1: 1, 3: 1, 4: "c" };
const one = [1, 0, 0, 0], two = [2, 0, 0, 0];

/** A data page of version 1. */
function page(
  values: number,
  encoding: number,
  body: readonly number[],
  more: Partial<SmallPage> = {},
): SmallPage {
  return { header: { 1: 0, 5: { 1: values, 2: encoding, 3: 3, 4: 3 } }, body, ...more };
}

const dictionary: SmallPage = { header: { 1: 2, 7: { 1: 2, 2: 2 } }, body: [...one, ...two] };

Deno.test("ParquetFile compares checksums, and reads levels in the old encoding", async () => {
  const plain = { element: INTEGER, rows: 2, physical: 1 };
  const body = [...one, ...two];
  assert.deepEqual(
    await read(smallFile({ ...plain, pages: [page(2, 0, body, { crcError: 0 })] }), "c", "integer"),
    ["1", "2"],
  );
  const error = await failure(
    smallFile({ ...plain, pages: [page(2, 0, body, { crcError: 1 })] }),
    "c",
    "integer",
  );
  assert.match(error.message, /a page does not match its checksum$/);
  // BIT_PACKED: most significant bit first.
  const packed: SmallPage = { header: { 1: 0, 5: { 1: 3, 2: 0, 3: 4, 4: 4 } }, body: [0b10100000, ...body] };
  const old = smallFile({ element: OPTIONAL, rows: 3, physical: 1, pages: [packed] });
  assert.deepEqual(await read(old, "c", "integer"), ["1", null, "2"]);
  assert.deepEqual(
    await read(smallFile({ ...plain, rows: 4, pages: [dictionary, page(4, 8, [1, 8, 1])] }), "c", "integer"),
    ["2", "2", "2", "2"],
  );
});

Deno.test("ParquetFile holds every number of a page to what can be", async () => {
  const plain = { element: INTEGER, rows: 2, physical: 1 };
  const optional = { ...plain, element: OPTIONAL };
  const int96 = { ...plain, rows: 1, physical: 3, element: { 1: 3, 3: 0, 4: "c" } };
  const day = (days: number) => [0, 0, 0, 0, 0, 0, 0, 0, days & 255, days >> 8 & 255, days >> 16 & 255, 0];
  assert.deepEqual(
    await read(smallFile({ ...int96, pages: [page(1, 0, day(2_459_367))] }), "c", "timestamp"),
    [
      "2021-06-01 00:00:00",
    ],
  );
  const cases: [Uint8Array, RegExp][] = [
    [smallFile({ ...plain, pages: [page(2, 0, one)] }), /fewer values than the page's header says$/],
    [
      smallFile({ ...plain, pages: [page(3, 0, [...one, ...two, ...one])] }),
      /more values than the footer says$/,
    ],
    [smallFile({ ...plain, pages: [page(1, 0, one)] }), /fewer values than the footer says$/],
    [
      smallFile({ ...plain, values: 3, pages: [page(2, 0, [...one, ...two])] }),
      /not as many values as its row group/,
    ],
    [smallFile({ ...plain, pages: [page(2, 8, [1, 4, 1])] }), /has no dictionary$/],
    [smallFile({ ...plain, pages: [dictionary, page(2, 8, [2, 4, 3])] }), /index is beyond the dictionary$/],
    [smallFile({ ...plain, pages: [dictionary, page(2, 8, [33, 4, 3])] }), /more than 32 bits$/],
    [smallFile({ ...plain, pages: [dictionary, dictionary, page(2, 8, [1, 4, 1])] }), /two dictionaries$/],
    [smallFile({ ...optional, pages: [page(2, 0, [2, 0, 0, 0, 4, 3, ...one, ...two])] }), /too many bits$/],
    [
      smallFile({ ...optional, pages: [page(2, 0, [9, 0, 0, 0, 4, 1, ...one])] }),
      /levels are longer than their page$/,
    ],
    [
      smallFile({ ...plain, pages: [{ header: { 1: 0, 2: 9, 5: { 1: 2, 2: 0, 3: 3, 4: 3 } }, body: one }] }),
      /two different sizes$/,
    ],
    [
      smallFile({ ...plain, pages: [{ header: { 1: 0, 3: 900, 5: { 1: 2, 2: 0 } }, body: one }] }),
      /not within its column chunk$/,
    ],
    [smallFile({ ...plain, physical: 2, pages: [page(2, 0, one)] }), /two different types$/],
    [
      smallFile({ ...plain, codec: 1, pages: [page(2, 0, [255, 255, 255, 255, 15, 1, 2, 3])] }),
      /\(SNAPPY\): its length/,
    ],
    [
      smallFile({ ...plain, codec: 7, pages: [page(2, 0, [255, 255, 255, 255])] }),
      /\(LZ4_RAW\): a length is too long$/,
    ],
    [
      smallFile({ ...plain, pages: [page(2, 5, [128, 1, 4, 255, 255, 255, 255, 127, 0])] }),
      /fewer values|a size is too long/,
    ],
  ];
  for (const [bytes, message] of cases) {
    const error = await failure(bytes, "c", "integer");
    assert.deepEqual([error.code, message.test(error.message)], ["22P04", true], error.message);
  }
  const unknown = smallFile({ ...plain, pages: [page(2, 4, one)] });
  assert.match((await failure(unknown, "c", "integer")).message, /the encoding BIT_PACKED of INT32$/);
  const elsewhere = smallFile({ ...plain, pages: [page(2, 0, one)], chunk: { 1: "other.parquet" } });
  assert.match((await failure(elsewhere, "c", "integer")).message, /the column is in another file$/);
});
