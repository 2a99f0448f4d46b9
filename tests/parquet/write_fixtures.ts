/**
 * Writes the Parquet files that the reader's tests read, by four writers of others, and what DuckDB reads in them:
 *
 *     deno run -A --config tests/parquet/writers.json --lock tests/parquet/writers.lock tests/parquet/write_fixtures.ts
 *
 * The names of packages are variables, so that the type check of the project does not need them.
 */
import { gzipSync } from "node:zlib";

const folder = new URL("fixtures/", import.meta.url).pathname;
const packages = {
  duckdb: "@duckdb/node-api",
  hyparquet: "hyparquet-writer",
  arrow: "apache-arrow",
  wasm: "parquet-wasm",
  parquetjs: "@dsnp/parquetjs",
};

const { DuckDBInstance } = await import(packages.duckdb);
const database = await DuckDBInstance.create(":memory:", { threads: "1" });
const duckdb = await database.connect();

async function run(sql: string): Promise<unknown[][]> {
  return (await duckdb.runAndReadAll(sql)).getRowsJson();
}

/** What a column of ours is declared as, and DuckDB's expression for its text. */
interface Expected {
  readonly name: string;
  readonly type: string;
  readonly from?: string;
  readonly as?: string;
}

interface Fixture {
  /** All with the same values. */
  readonly files: string[];
  readonly writer: string;
  readonly about: string;
  readonly columns: readonly { readonly name: string; readonly type: string; readonly from: string }[];
  /** Each row, or every so many of them. */
  readonly every: number;
  readonly rows: readonly unknown[][];
}

const fixtures: Fixture[] = [];

/** Records what DuckDB reads in a file; `rows` are given for what it does not read or reads in another way. */
async function record(
  file: string,
  writer: string,
  about: string,
  columns: readonly Expected[],
  given: { readonly rows?: readonly unknown[][]; readonly every?: number } = {},
): Promise<void> {
  const list = columns.map(({ name, from, as }) => as ?? `CAST(${from ?? `"${name}"`} AS VARCHAR)`).join(
    ", ",
  );
  const every = given.every ?? 1;
  const rows = (given.rows ?? await run(`SELECT ${list} FROM read_parquet('${folder}${file}')`))
    .filter((_, index) => index % every === 0);
  const same = fixtures.find((each) => JSON.stringify(each.rows) === JSON.stringify(rows));
  if (same !== undefined) {
    same.files.push(file);
    return;
  }
  fixtures.push({
    files: [file],
    writer,
    about,
    columns: columns.map(({ name, type, from }) => ({ name, type, from: from ?? name })),
    every,
    rows,
  });
}

// DuckDB: all types in all codecs and both versions of pages.

await run(`CREATE TABLE types AS
  SELECT i AS id,
    CASE WHEN i % 5 <> 4 THEN i % 2 = 0 END AS truth,
    CASE WHEN i % 5 <> 3 THEN CAST((i - 20) * 6 AS TINYINT) END AS tiny,
    CASE WHEN i % 7 <> 3 THEN CAST((i - 20) * 1600 AS SMALLINT) END AS small,
    CASE WHEN i = 1 THEN 2147483647 WHEN i = 2 THEN -2147483648 WHEN i % 3 = 0 THEN i * 1000003 END AS number,
    CASE WHEN i = 1 THEN 9223372036854775807 WHEN i = 2 THEN -9223372036854775808
      WHEN i % 4 < 3 THEN CAST(i AS BIGINT) * 900719925474099 END AS big,
    CAST(i * 6 AS UTINYINT) AS unsigned8, CAST(i * 1600 AS USMALLINT) AS unsigned16,
    CAST(4294967295 - i AS UINTEGER) AS unsigned32,
    CASE WHEN i % 3 > 0 THEN CAST(18446744073709551615 - i AS UBIGINT) END AS unsigned64,
    CASE i WHEN 3 THEN 'NaN'::FLOAT WHEN 4 THEN 'Infinity'::FLOAT ELSE CAST(i * 1.5 AS FLOAT) END AS single,
    CASE i WHEN 3 THEN 'NaN'::DOUBLE WHEN 4 THEN '-Infinity'::DOUBLE ELSE i / 7.0::DOUBLE END AS double,
    CASE WHEN i % 6 <> 2 THEN CAST(i * 1.25 - 20 AS DECIMAL(4, 2)) END AS decimal4,
    CAST(i * 12345.678 - 20 AS DECIMAL(9, 3)) AS decimal9,
    CASE i WHEN 1 THEN 9999999999999999.99::DECIMAL(18, 2) ELSE CAST(-i * 99999999.25 AS DECIMAL(18, 2)) END AS decimal18,
    CASE i WHEN 1 THEN 99999999999999999999999999999999999.999::DECIMAL(38, 3)
      WHEN 2 THEN -99999999999999999999999999999999999.999::DECIMAL(38, 3)
      WHEN 3 THEN NULL ELSE CAST(i AS DECIMAL(38, 3)) END AS decimal38,
    CASE WHEN i % 4 <> 1 THEN DATE '1969-12-25' + i * 500 END AS day,
    TIME '00:00:00' + to_microseconds(i * 2100000001::BIGINT) AS clock,
    CASE WHEN i % 5 <> 1 THEN TIMESTAMP '1960-01-01 00:00:00.123456' + to_hours(i * 20000) END AS moment,
    TIMESTAMPTZ '2024-02-29 12:00:00.5+00' - to_days(i * 400) AS instant,
    CAST(TIMESTAMP '2001-02-03 04:05:06.789' + to_days(i) AS TIMESTAMP_MS) AS milliseconds,
    CAST(TIMESTAMP '2001-02-03 04:05:06.789' + to_days(i) AS TIMESTAMP_NS) AS nanoseconds,
    CASE WHEN i % 3 <> 1 THEN ['', 'a', 'äöü', '日本語', '😀 emoji', repeat('long ', 20)][i % 6 + 1] END AS word,
    'text number ' || i || repeat('.', i) AS distinct_text,
    CASE WHEN i % 6 <> 3 THEN encode('bytes ' || i) || '\\x00\\xFF'::BLOB END AS raw,
    CAST('00112233-4455-6677-8899-aabbccddee' || lpad(CAST(i AS VARCHAR), 2, '0') AS UUID) AS identifier,
    CASE WHEN i % 2 = 0 THEN CAST('{"n": ' || i || ', "t": [true, null]}' AS JSON) END AS document,
    to_months(i) + to_days(i * 2) + to_milliseconds(i * 1001) AS span
  FROM (SELECT CAST(range AS INTEGER) AS i FROM range(40))`);

const typeColumns: Expected[] = [
  { name: "id", type: "i32" },
  { name: "truth", type: "bool" },
  { name: "tiny", type: "i8" },
  { name: "small", type: "smallint" },
  { name: "number", type: "integer" },
  { name: "big", type: "bigint" },
  { name: "unsigned8", type: "u8" },
  { name: "unsigned16", type: "u16" },
  { name: "unsigned32", type: "u32" },
  { name: "unsigned64", type: "u64" },
  { name: "single", type: "real" },
  { name: "double", type: "double precision" },
  { name: "decimal4", type: "numeric(4,2)" },
  { name: "decimal9", type: "numeric(9,3)" },
  { name: "decimal18", type: "numeric(18,2)" },
  { name: "decimal38", type: "numeric(38,3)" },
  { name: "day", type: "date" },
  { name: "clock", type: "time" },
  { name: "moment", type: "timestamp" },
  { name: "instant", type: "timestamptz" },
  { name: "milliseconds", type: "timestamp" },
  { name: "nanoseconds", type: "timestamp" },
  { name: "word", type: "text" },
  { name: "distinct_text", type: "varchar" },
  { name: "raw", type: "bytea", as: "'\\x' || lower(hex(raw))" },
  { name: "identifier", type: "uuid" },
  { name: "document", type: "json" },
  {
    name: "span",
    type: "interval",
    as:
      "date_part('year', span) * 12 + date_part('month', span) || ' ' || date_part('day', span) || ' ' || " +
      "date_part('hour', span) * 3600000 + date_part('minute', span) * 60000 + date_part('millisecond', span)",
  },
];

for (const codec of ["uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4_raw"]) {
  for (const version of ["V1", "V2"]) {
    const file = `duckdb_${codec}_${version.toLowerCase()}.parquet`;
    await run(
      `COPY types TO '${folder}${file}' (FORMAT PARQUET, COMPRESSION ${codec}, PARQUET_VERSION ${version})`,
    );
    await record(file, "DuckDB", `all types, ${codec}, pages ${version}`, typeColumns);
  }
}

// DuckDB: shapes.

await run(`CREATE TABLE shapes AS
  SELECT i AS id,
    CASE i % 4 WHEN 0 THEN NULL WHEN 1 THEN [] WHEN 2 THEN [i] ELSE [i, NULL, i + 1] END AS numbers,
    CASE WHEN i % 5 <> 2 THEN ['a' || i, NULL, 'ü'] END AS words,
    CASE i % 3 WHEN 0 THEN [[i], [], [NULL, 2]] WHEN 1 THEN [NULL, [i]] END AS lists,
    CASE i % 3 WHEN 0 THEN [[[i, 2], []], [], NULL] WHEN 1 THEN [[NULL, [i]]] ELSE [] END AS cube,
    [[i, i + 1], [i + 2, i + 3]] AS grid,
    CASE WHEN i % 4 <> 3 THEN {'a': i, 'b': CASE WHEN i % 2 = 0 THEN 'text ' || i END} END AS pair,
    CASE i % 3 WHEN 0 THEN NULL WHEN 1 THEN MAP {} ELSE MAP {'k' || i: i, 'x': NULL} END AS dictionary,
    MAP {i: [1.5, NULL, i]} AS numbered,
    CASE i % 3 WHEN 0 THEN [] WHEN 1 THEN [{'n': i, 'tags': ['p', NULL]}, NULL] ELSE [{'n': NULL, 'tags': NULL}] END
      AS records,
    {'deep': {'er': {'value': CASE WHEN i % 2 = 1 THEN i END}}} AS path
  FROM (SELECT CAST(range AS INTEGER) AS i FROM range(60))`);

const json = (name: string) => `CAST(to_json("${name}") AS VARCHAR)`;
const shapeColumns: Expected[] = [
  { name: "id", type: "bigint" },
  { name: "numbers", type: "integer[]", as: json("numbers") },
  { name: "words", type: "jsonb", as: json("words") },
  { name: "words_array", type: "text[]", from: "words", as: json("words") },
  { name: "lists", type: "jsonb", as: json("lists") },
  { name: "cube", type: "jsonb", as: json("cube") },
  { name: "grid", type: "bigint[]", as: json("grid") },
  { name: "pair", type: "jsonb", as: json("pair") },
  { name: "pair_a", type: "integer", from: "pair.a", as: "CAST(pair.a AS VARCHAR)" },
  { name: "pair_b", type: "text", from: "pair.b", as: "pair.b" },
  { name: "dictionary", type: "jsonb", as: json("dictionary") },
  { name: "numbered", type: "jsonb", as: json("numbered") },
  { name: "records", type: "jsonb", as: json("records") },
  { name: "deep", type: "integer", from: "path.deep.er.value", as: "CAST(path.deep.er.value AS VARCHAR)" },
  { name: "inner_path", type: "jsonb", from: "path.deep", as: `CAST(to_json(path.deep) AS VARCHAR)` },
];
for (const version of ["V1", "V2"]) {
  const file = `duckdb_shapes_${version.toLowerCase()}.parquet`;
  await run(
    `COPY shapes TO '${folder}${file}' (FORMAT PARQUET, COMPRESSION zstd, PARQUET_VERSION ${version})`,
  );
  await record(file, "DuckDB", `lists, maps and structs, pages ${version}`, shapeColumns);
}

// DuckDB: row groups, dictionaries that are given up, and long runs.

await run(`CREATE TABLE rows AS
  SELECT i AS id, i % 10 AS digit, CASE WHEN i % 1000 < 500 THEN NULL ELSE 'group ' || i // 100 END AS run,
    md5(CAST(i AS VARCHAR))[:4] AS code
  FROM (SELECT range AS i FROM range(5000))`);
await run(
  `COPY rows TO '${folder}duckdb_row_groups.parquet' (FORMAT PARQUET, COMPRESSION zstd, ROW_GROUP_SIZE 2048)`,
);
await record("duckdb_row_groups.parquet", "DuckDB", "three row groups, runs of NULL, a dictionary", [
  { name: "id", type: "bigint" },
  { name: "digit", type: "smallint" },
  { name: "run", type: "text" },
  { name: "code", type: "char(6)", as: "code" },
], { every: 37 });

// hyparquet-writer: encodings, small pages, decimals in bytes, half floats.

const { parquetWriteBuffer } = await import(packages.hyparquet);
const count = 200;
const numbers = Array.from({ length: count }, (_, index) => index);
const words = numbers.map((index) => index % 7 === 3 ? null : `w${index % 20}`);
const hyparquetData = {
  columnData: [
    { name: "id", data: Int32Array.from(numbers), encoding: "DELTA_BINARY_PACKED", nullable: false },
    {
      name: "big",
      data: numbers.map((index) => BigInt(index) ** 8n - 5n),
      type: "INT64",
      encoding: "DELTA_BINARY_PACKED",
    },
    {
      name: "lengths",
      data: numbers.map((index) => `text ${index}`),
      type: "STRING",
      encoding: "DELTA_LENGTH_BYTE_ARRAY",
    },
    {
      name: "prefixes",
      data: numbers.map((index) => `prefix ${1000 + index}`),
      type: "STRING",
      encoding: "DELTA_BYTE_ARRAY",
    },
    { name: "split", data: numbers.map((index) => index / 3), type: "DOUBLE", encoding: "BYTE_STREAM_SPLIT" },
    {
      name: "split32",
      data: numbers.map((index) => index / 4),
      type: "FLOAT",
      encoding: "BYTE_STREAM_SPLIT",
    },
    {
      name: "truth",
      data: numbers.map((index) => index % 11 === 1 ? null : index % 3 === 0),
      type: "BOOLEAN",
      encoding: "RLE",
    },
    { name: "plain", data: words, type: "STRING", encoding: "PLAIN" },
    { name: "dictionary", data: words, type: "STRING" },
    { name: "half", data: numbers.map((index) => index / 2 - 30), type: "FLOAT16" },
    { name: "list", data: numbers.map((index) => index % 5 === 0 ? [] : [index, index + 1]) },
  ],
  pageSize: 400,
  rowGroupSize: 150,
  codec: "SNAPPY",
};
await Deno.writeFile(
  `${folder}hyparquet_encodings.parquet`,
  new Uint8Array(parquetWriteBuffer(hyparquetData)),
);
await record("hyparquet_encodings.parquet", "hyparquet-writer", "encodings in small pages", [
  { name: "id", type: "integer" },
  { name: "big", type: "bigint" },
  { name: "lengths", type: "text" },
  { name: "prefixes", type: "text" },
  { name: "split", type: "double precision" },
  { name: "split32", type: "real" },
  { name: "truth", type: "bool" },
  { name: "plain", type: "text" },
  { name: "dictionary", type: "varchar(10)" },
  { name: "half", type: "real" },
  { name: "list", type: "jsonb", as: json("list") },
]);
const decimals = numbers.map((index) => index % 9 === 4 ? null : (index - 100) * 1.25);
await Deno.writeFile(
  `${folder}hyparquet_decimals.parquet`,
  new Uint8Array(parquetWriteBuffer({
    columnData: [
      { name: "fixed", data: decimals },
      { name: "short", data: decimals },
      { name: "long", data: decimals },
      { name: "milliseconds", data: numbers.map((index) => index * 1001) },
    ],
    schema: [
      { name: "root", num_children: 4 },
      {
        name: "fixed",
        type: "FIXED_LEN_BYTE_ARRAY",
        type_length: 5,
        converted_type: "DECIMAL",
        scale: 2,
        precision: 9,
        repetition_type: "OPTIONAL",
      },
      {
        name: "short",
        type: "INT32",
        converted_type: "DECIMAL",
        scale: 2,
        precision: 9,
        repetition_type: "OPTIONAL",
      },
      {
        name: "long",
        type: "INT64",
        converted_type: "DECIMAL",
        scale: 2,
        precision: 18,
        repetition_type: "OPTIONAL",
      },
      { name: "milliseconds", type: "INT32", converted_type: "TIME_MILLIS", repetition_type: "REQUIRED" },
    ],
    codec: "GZIP",
    compressors: { GZIP: (bytes: Uint8Array) => new Uint8Array(gzipSync(bytes)) },
  })),
);
await record("hyparquet_decimals.parquet", "hyparquet-writer", "decimals, required columns, gzip", [
  { name: "fixed", type: "numeric(9,2)" },
  { name: "short", type: "numeric(9,2)" },
  { name: "long", type: "numeric(18,2)" },
  { name: "milliseconds", type: "time" },
]);

// arrow-rs, by parquet-wasm.

const arrow = await import(packages.arrow);
const wasm = await import(packages.wasm);
const arrowTable = () =>
  arrow.tableFromArrays({
    id: Int32Array.from(numbers),
    big: BigInt64Array.from(numbers.map((index) => BigInt(index - 100) * 123_456_789_012n)),
    double: Float64Array.from(numbers.map((index) => index * 0.1)),
    word: words,
    prefixed: numbers.map((index) => `common start ${index >> 3}`),
    truth: numbers.map((index) => index % 4 === 1 ? null : index % 2 === 0),
  });
const { Compression, Encoding, WriterVersion } = wasm;
const arrowVariants: [string, (builder: ReturnType<typeof newBuilder>) => ReturnType<typeof newBuilder>][] = [
  ["v1_snappy", (builder) => builder.setCompression(Compression.SNAPPY)],
  ["v2_brotli", (builder) => builder.setCompression(Compression.BROTLI).setWriterVersion(WriterVersion.V2)],
  [
    "v2_lz4_delta",
    (builder) =>
      builder.setCompression(Compression.LZ4_RAW).setWriterVersion(WriterVersion.V2).setDictionaryEnabled(
        false,
      )
        .setColumnEncoding("double", Encoding.BYTE_STREAM_SPLIT).setColumnEncoding(
          "prefixed",
          Encoding.DELTA_BYTE_ARRAY,
        )
        .setColumnEncoding("word", Encoding.DELTA_LENGTH_BYTE_ARRAY).setColumnEncoding("truth", Encoding.RLE),
  ],
  [
    "v1_pages",
    (builder) =>
      builder.setCompression(Compression.ZSTD).setDataPageSizeLimit(200).setWriteBatchSize(16)
        .setMaxRowGroupSize(120)
        .setDictionaryPageSizeLimit(40),
  ],
];
function newBuilder() {
  return new wasm.WriterPropertiesBuilder();
}
for (const [name, configure] of arrowVariants) {
  const table = wasm.Table.fromIPCStream(arrow.tableToIPC(arrowTable(), "stream"));
  const file = `arrow_rs_${name}.parquet`;
  await Deno.writeFile(folder + file, wasm.writeParquet(table, configure(newBuilder()).build()));
  await record(file, "arrow-rs", name.replaceAll("_", " "), [
    { name: "id", type: "integer" },
    { name: "big", type: "bigint" },
    { name: "double", type: "double precision" },
    { name: "word", type: "text" },
    { name: "prefixed", type: "text" },
    { name: "truth", type: "bool" },
  ]);
}
{
  const table = wasm.Table.fromIPCStream(arrow.tableToIPC(arrowTable(), "stream"));
  await Deno.writeFile(
    `${folder}arrow_rs_lz4_legacy.parquet`,
    wasm.writeParquet(table, newBuilder().setCompression(Compression.LZ4).build()),
  );
}

// parquetjs: INT96, intervals, BSON, old annotations, repeated fields without lists.

const { ParquetSchema, ParquetWriter } = await import(packages.parquetjs);
for (const useDataPageV2 of [false, true]) {
  const schema = new ParquetSchema({
    id: { type: "INT32" },
    old_time: { type: "INT96", optional: true },
    name: { type: "UTF8", compression: "SNAPPY", optional: true },
    price: { type: "DECIMAL", precision: 10, scale: 2, compression: "GZIP" },
    wide: { type: "DECIMAL", precision: 18, scale: 3 },
    day: { type: "DATE" },
    moment: { type: "TIMESTAMP_MICROS" },
    clock: { type: "TIME_MILLIS" },
    span: { type: "INTERVAL" },
    document: { type: "JSON" },
    binary: { type: "BSON", optional: true },
    tags: { type: "UTF8", repeated: true },
    stock: {
      repeated: true,
      fields: { price: { type: "DOUBLE" }, quantity: { type: "INT64", repeated: true } },
    },
    truth: { type: "BOOLEAN", optional: true },
  });
  const file = `parquetjs_${useDataPageV2 ? "v2" : "v1"}.parquet`;
  const writer = await ParquetWriter.openFile(schema, folder + file, { useDataPageV2, rowGroupSize: 20 });
  const rows: unknown[][] = [];
  for (let index = 0; index < 30; index++) {
    const tags = Array.from({ length: index % 4 }, (_, number) => `t${number}`);
    const stock = Array.from({ length: index % 3 }, (_, number) => ({
      price: number + 0.5,
      quantity: Array.from({ length: number }, (_, each) => each + index),
    }));
    const day = new Date(Date.UTC(2020, 0, 1 + index));
    const hasTime = index % 3 !== 1;
    const hasName = index % 4 !== 2;
    await writer.appendRow({
      id: index,
      ...(hasTime ? { old_time: index * 1_000_000_000 + 123_456_789 } : {}),
      ...(hasName ? { name: `name ${index % 5}` } : {}),
      price: index * 1.25,
      wide: index * 1000.125,
      day,
      moment: day,
      clock: index * 60_001,
      span: { months: index + 1, days: index * 2 + 1, milliseconds: index * 3 + 1 },
      document: { index },
      tags,
      stock,
      ...(index % 2 === 0 ? { truth: index % 4 === 0 } : {}),
    });
    rows.push([
      String(index),
      hasTime ? `4714-11-24 00:00:${String(index).padStart(2, "0")}.123457 BC` : null,
      hasName ? `name ${index % 5}` : null,
      (index * 1.25).toFixed(2),
      (index * 1000.125).toFixed(3),
      day.toISOString().slice(0, 10),
      `${day.toISOString().slice(0, 10)} 00:00:00+00`,
      clockText(index * 60_001),
      `${index + 1} ${index * 2 + 1} ${index * 3 + 1}`,
      JSON.stringify({ index }),
      JSON.stringify(tags),
      JSON.stringify(tags),
      JSON.stringify(stock),
      index % 2 === 0 ? String(index % 4 === 0) : null,
    ]);
  }
  await writer.close();
  // The writer knows no days in INT96, which begin in the year 4714 BC then.
  // DuckDB reads INT96 as nanoseconds and these repeated groups not at all, so the rows are those that were written.
  await record(file, "parquetjs", "INT96, INTERVAL, repeated fields, old annotations", [
    { name: "id", type: "integer" },
    { name: "old_time", type: "timestamp" },
    { name: "name", type: "text" },
    { name: "price", type: "numeric(10,2)" },
    { name: "wide", type: "numeric(18,3)" },
    { name: "day", type: "date" },
    { name: "moment", type: "timestamptz" },
    { name: "clock", type: "time" },
    { name: "span", type: "interval" },
    { name: "document", type: "jsonb" },
    { name: "tags", type: "text[]" },
    { name: "tags_json", type: "jsonb", from: "tags" },
    { name: "stock", type: "jsonb" },
    { name: "truth", type: "bool" },
  ], { rows });
}

function clockText(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(11, 23).replace(/\.?0+$/, "");
}

// What the reader refuses.

await run(`COPY (SELECT 1 AS id, [[[[1]]]] AS deep, {'a': {'b': {'c': {'d': 2}}}} AS path)
  TO '${folder}refused_deep.parquet' (FORMAT PARQUET)`);
await run("SET force_mbedtls_unsafe = 'true'");
await run("PRAGMA add_parquet_key('key', '0123456789112345')");
await run(`COPY (SELECT 1 AS id) TO '${folder}refused_encrypted.parquet'
  (FORMAT PARQUET, ENCRYPTION_CONFIG {footer_key: 'key'})`);
await Deno.writeFile(
  `${folder}refused_types.parquet`,
  new Uint8Array(parquetWriteBuffer({
    columnData: [
      { name: "id", data: [1] },
      { name: "wide", data: [1.5] },
      { name: "shape", data: [{ type: "Point", coordinates: [1, 2] }] },
    ],
    schema: [
      { name: "root", num_children: 3 },
      { name: "id", type: "INT32", repetition_type: "REQUIRED" },
      {
        name: "wide",
        type: "FIXED_LEN_BYTE_ARRAY",
        type_length: 17,
        converted_type: "DECIMAL",
        scale: 2,
        precision: 39,
        repetition_type: "REQUIRED",
      },
      { name: "shape", type: "BYTE_ARRAY", logical_type: { type: "GEOMETRY" }, repetition_type: "REQUIRED" },
    ],
  })),
);

await Deno.writeTextFile(
  `${folder}expected.json`,
  `[\n${fixtures.map((fixture) => JSON.stringify(fixture)).join(",\n")}\n]\n`,
);
const sizes = [...Deno.readDirSync(folder)].map(({ name }) => Deno.statSync(folder + name).size);
console.log(`${sizes.length} files, ${sizes.reduce((sum, size) => sum + size, 0)} bytes`);
