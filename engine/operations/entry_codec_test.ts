/** Round trips, canonical form, refusal of damage, and the speed that a commit relies on. */
import { deepStrictEqual as equal, ok, strictEqual, throws } from "node:assert/strict";
import { DatabaseError } from "../base/errors.ts";
import { SeededRandom } from "../base/random.ts";
import type { CatalogChange } from "../catalog/catalog_change.ts";
import { decodeCanonicalJson, encodeCanonicalJson } from "./canonical_json.ts";
import { type BatchColumn, type Effect, type Entry, opNumber, type StoredValue } from "./effect.ts";
import { decodeEntry, decodeInSteps, entryBytes, SOURCE_BYTES } from "./entry_codec.ts";

const VALUES: StoredValue[] = [
  null,
  0,
  1,
  111,
  112,
  -1,
  -112,
  1.5,
  -0,
  NaN,
  Infinity,
  -Infinity,
  2 ** 53 - 1,
  -(2 ** 53 - 1),
  2 ** 53,
  1e300,
  2 ** 31,
  2n ** 53n,
  -(2n ** 53n),
  2n ** 63n - 1n,
  2n ** 64n - 1n,
  -(10n ** 38n),
  "",
  "a",
  "ä€😀",
  "x".repeat(127),
  "x".repeat(128),
  "é".repeat(63),
  "é".repeat(64),
  "€".repeat(50),
  new Uint8Array(0),
  new Uint8Array([0, 255, 1]),
];

const TABLE: CatalogChange = {
  kind: "put_table",
  table: {
    id: 16384,
    schema: "public",
    name: "t",
    columns: [{
      id: 1,
      name: "$a",
      type: { kind: "i64" },
      notNull: true,
      defaultText: null,
      identity: null,
      generatedText: null,
      sequenceId: null,
      missingValue: 2n ** 60n,
      hidden: false,
      comment: "ä",
    }, {
      id: 2,
      name: "b",
      type: { kind: "bytea" },
      notNull: false,
      defaultText: null,
      identity: null,
      generatedText: null,
      sequenceId: null,
      missingValue: new Uint8Array([1, 2]),
      hidden: false,
      comment: null,
    }],
    nextColumnId: 3,
    rowIdColumn: 1,
    constraints: [],
    indexes: [],
    triggers: [],
    options: { fillfactor: "90" },
    comment: null,
  },
};

function entry(effects: Effect[], client: Entry["client"] = null): Entry {
  return { op: opNumber(7), timestamp: -5_000_000_000_000_000, client, effects };
}

function check(value: Entry): void {
  equal(decodeEntry(entryBytes(value)), value);
}

function randomBatch(random: SeededRandom, kind: "create_batch" | "update_batch" = "create_batch"): Effect {
  const rowCount = random.below(40);
  const ids = Float64Array.from({ length: rowCount }, (_, row) => (row - 20) * 3 + random.below(2));
  const nulls = () =>
    random.chance(0.5) ? null : Uint8Array.from({ length: rowCount }, () => random.below(2));
  const columns: BatchColumn[] = [];
  for (const range of [100, 30000, 2 ** 31, 2 ** 50]) {
    const data = Float64Array.from({ length: rowCount }, () => random.between(-range, range - 1));
    const big = new Map<number, bigint>();
    if (random.chance(0.5) && rowCount > 0) {
      const row = random.below(rowCount);
      data[row] = NaN;
      big.set(row, 2n ** 60n + BigInt(random.below(1000)));
    }
    columns.push({ storageClass: "int", data, nulls: nulls(), big: big.size > 0 ? big : null });
  }
  columns.push({
    storageClass: "float",
    data: Float64Array.from({ length: rowCount }, () => random.pick([random.float(), NaN, -0, Infinity, 3])),
    nulls: nulls(),
  });
  for (const storageClass of ["text", "bytes"] as const) {
    const offsets = new Uint32Array(rowCount + 1);
    for (let row = 0; row < rowCount; row++) offsets[row + 1] = (offsets[row] ?? 0) + random.below(9);
    const bytes = new Uint8Array(offsets[rowCount] ?? 0);
    for (let index = 0; index < bytes.length; index++) bytes[index] = random.between(32, 126);
    columns.push({ storageClass, offsets, bytes, nulls: nulls() });
  }
  return { kind, tableId: 16384, batch: { rowCount, ids, columns } };
}

function randomIds(random: SeededRandom): Float64Array {
  const range = random.pick([1, 100, 30_000, 2 ** 31, 2 ** 52]);
  return Float64Array.from({ length: random.below(40) }, (_, at) => range === 1 ? at : random.below(range));
}

function sampleEntry(random: SeededRandom): Entry {
  const effects: Effect[] = [
    { kind: "create", tableId: 16384, id: random.below(1e6), values: VALUES },
    { kind: "update", tableId: 16385, id: -(2n ** 63n), values: [random.below(1e9), "text"] },
    { kind: "delete", tableId: 16384, id: Number.MAX_SAFE_INTEGER },
    { kind: "delete_batch", tableId: 16384, ids: randomIds(random) },
    randomBatch(random),
    randomBatch(random, "update_batch"),
    { kind: "truncate", tableId: 9 },
    { kind: "ddl", change: TABLE },
    { kind: "ddl", change: { kind: "set_setting", name: "a", value: null } },
    { kind: "sequence", sequenceId: 20000, value: -(2n ** 62n), called: true },
    { kind: "sequence", sequenceId: 20000, value: 17, called: false },
    { kind: "checkpoint" },
    { kind: "stage", at: random.below(1e9), bytes: new Uint8Array(random.below(9)).fill(7) },
    { kind: "staged", byteCount: 2 ** 40 + random.below(1e9) },
    { kind: "unstage" },
  ];
  return entry(effects, {
    clientId: "00112233445566778899aabbccddeeff",
    sequence: 2n ** 64n - 1n,
    requestDigest: new Uint8Array(32).fill(9),
    reply: new Uint8Array([1, 2, 3]),
  });
}

Deno.test("decodeEntry() gives back what encodeEntry() wrote", () => {
  check(entry([]));
  for (const value of VALUES) check(entry([{ kind: "create", tableId: 1, id: 1, values: [value] }]));
  const ids = [0, 63, 64, 2 ** 48 - 1, 2 ** 48, 2 ** 52, 2 ** 53 - 1, 2n ** 53n, 2n ** 56n, 2n ** 63n - 1n];
  for (const id of ids) {
    const negative = typeof id === "number" ? 0 - id : -id - 1n;
    for (const each of [id, negative]) check(entry([{ kind: "delete", tableId: 1, id: each }]));
  }
  const random = new SeededRandom(1);
  for (let round = 0; round < 50; round++) check(sampleEntry(random));
});

Deno.test("encodeEntry() writes equal bytes for equal entries whatever the order of members", () => {
  const one = encodeCanonicalJson({ b: 1, a: [{ d: 2n, c: NaN }] });
  strictEqual(one, encodeCanonicalJson({ a: [{ c: NaN, d: 2n }], b: 1, e: undefined }));
  strictEqual(one, '{"a":[{"c":{"$f":"NaN"},"d":{"$n":"2"}}],"b":1}');
  equal(decodeCanonicalJson(encodeCanonicalJson({ $n: "1", x: -0, $: { $$: 1 } })), {
    $n: "1",
    x: -0,
    $: { $$: 1 },
  });
});

Deno.test("encodeEntry() shrinks batches of small and consecutive integers", () => {
  const rowCount = 1000;
  const ids = Float64Array.from({ length: rowCount }, (_, row) => 5e12 + row);
  const data = Float64Array.from({ length: rowCount }, (_, row) => row % 100);
  const columns: BatchColumn[] = [{ storageClass: "int", data, nulls: null, big: null }];
  const bytes = entryBytes(entry([{ kind: "create_batch", tableId: 1, batch: { rowCount, ids, columns } }]));
  ok(bytes.length < 1100, `${bytes.length} bytes`);
});

Deno.test("encodeEntry() keeps the signs of a batch: consecutive ids across 0, and -0 among floats", () => {
  const columns: BatchColumn[] = [
    { storageClass: "float", data: Float64Array.of(-1, -0, 1), nulls: null },
    { storageClass: "int", data: Float64Array.of(-1, 0, 1), nulls: null, big: null },
  ];
  check(entry([{
    kind: "create_batch",
    tableId: 1,
    batch: { rowCount: 3, ids: Float64Array.of(-1, 0, 1), columns },
  }]));
});

Deno.test("decodeEntry() refuses row ids beyond 64 bits", () => {
  const bytes = entryBytes(entry([{ kind: "delete", tableId: 1, id: -(2n ** 63n) }]));
  bytes[bytes.length - 1] = 3;
  throws(() => decodeEntry(bytes), { code: "XX001" });
});

Deno.test("decodeEntry() raises dataCorrupted for damaged bytes and nothing else", () => {
  const random = new SeededRandom(2);
  const whole = entryBytes(sampleEntry(random));
  for (let length = 0; length < whole.length; length += 7) {
    throws(() => decodeEntry(whole.subarray(0, length)), DatabaseError);
  }
  for (let round = 0; round < 3000; round++) {
    const damaged = whole.slice();
    for (let count = random.between(1, 4); count > 0; count--) {
      damaged[random.below(random.chance(0.5) ? 60 : damaged.length)] = random.u32();
    }
    try {
      decodeEntry(damaged);
    } catch (error) {
      ok(error instanceof DatabaseError && error.code === "XX001", String(error));
    }
  }
});

Deno.test("decodeInSteps() reads an entry that is not in memory in parts, whatever their ends cut", () => {
  const text = (count: number, fill: string): Effect => ({
    kind: "create",
    tableId: 1,
    id: count,
    values: [fill.repeat(count), count],
  });
  const whole = entry([
    ...Array.from({ length: 3000 }, (_, index) => text(index % 700, "x")),
    // Longer than all parts before it.
    text(3 * SOURCE_BYTES, "long"),
    ...Array.from({ length: 20 }, (_, index) => text(index * 9000, "\u00e4")),
  ]);
  const bytes = entryBytes(whole);
  let most = 0, next = 0;
  const source = {
    length: bytes.length,
    readInto: (offset: number, target: Uint8Array) => {
      strictEqual(offset % SOURCE_BYTES, 0);
      if (offset === 0) next = 0;
      strictEqual(offset, next, "no part is read twice");
      next = offset + target.length;
      most = Math.max(most, target.length);
      target.set(bytes.subarray(offset, next));
    },
  };
  const { effects, ...head } = decodeInSteps(source);
  equal({ ...head, effects: [...effects.each()] }, whole);
  equal([...effects.each()].length, whole.effects.length, "again");
  ok(most <= SOURCE_BYTES);
  for (const length of [bytes.length - 1, bytes.length - SOURCE_BYTES, 10]) {
    const readInto = (offset: number, target: Uint8Array) =>
      target.set(bytes.subarray(offset, offset + target.length));
    const short = { length, readInto };
    throws(() => [...decodeInSteps(short).effects.each()], { code: "XX001" });
  }
  const long = {
    length: bytes.length + 5,
    readInto: (offset: number, target: Uint8Array) =>
      target.set(bytes.subarray(offset, offset + target.length)),
  };
  throws(() => [...decodeInSteps(long).effects.each()], { code: "XX001" });
});

Deno.test("decodeInSteps() reads one part into the array of the part before, and values stay what they were", () => {
  const whole = entry(Array.from({ length: 6000 }, (_, id): Effect => ({
    kind: "create",
    tableId: 1,
    id,
    values: [Uint8Array.of(id & 255, id >> 8), "x".repeat(500)],
  })));
  const bytes = entryBytes(whole);
  const arrays: ArrayBufferLike[] = [];
  const { effects } = decodeInSteps({
    length: bytes.length,
    readInto: (offset, target) => {
      arrays.push(target.buffer);
      target.set(bytes.subarray(offset, offset + target.length));
    },
  });
  equal([...effects.each()], whole.effects);
  ok(
    arrays.length > 10 && new Set(arrays.slice(-10)).size === 1,
    `${arrays.length}, ${new Set(arrays).size}`,
  );
});
