/** Values that are read page by page, without their block: the same values, and damage is found and named. */
import assertStrict from "node:assert/strict";
import { DatabaseError } from "../../base/errors.ts";
import { MemoryDisk } from "../../host/memory_host.ts";
import type { StoredValue } from "../../operations/effect.ts";
import { BLOCK_ROWS } from "../access/block.ts";
import { BlockCache } from "./block_cache.ts";
import { segmentFilesIn } from "./segment_files.ts";
import { compareStored, op, seededRandom, testColumn, testTable } from "./table_model_test.ts";
import { TableStore } from "./table_store.ts";

const never = { oldestSnapshot: () => Infinity };
const COUNT = BLOCK_ROWS * 4 + 100;

/**
 * Numbers as they are, numbers with NULLs, texts, bytes of which some are longer than a page, floats, a sequence, and
 * one value a block.
 */
const VALUES: readonly ((id: number) => StoredValue)[] = [
  (id) => Math.imul(id + 1, 0x9e3779b1),
  (id) => id % 3 === 0 ? null : Math.imul(id + 1, 0x85ebca6b),
  (id) => `text ${id} ${"ü".repeat(id % 7)}`,
  (id) => id % 5 === 0 ? null : new Uint8Array(id % 1000 === 1 ? 9_000 : id % 11).fill(id),
  (id) => id / 7,
  (id) => 3 * 2 ** 40 + id,
  (id) => -Math.floor(id / BLOCK_ROWS),
];

function build(
  disk: MemoryDisk,
  cacheBytes: number,
): { readonly table: TableStore; readonly cache: BlockCache } {
  const kinds = ["i64", "i64", "text", "bytea", "f64", "i64", "i32"] as const;
  const cache = new BlockCache(cacheBytes);
  const table = new TableStore({
    definition: testTable(kinds.map((kind, index) => testColumn(index + 1, { kind }))),
    horizon: never,
    files: segmentFilesIn(disk, "t"),
    cache,
  });
  for (let id = 0; id < COUNT; id++) table.create(op(id + 1), id, VALUES.map((valueOf) => valueOf(id)));
  table.freeze(op(COUNT + 1));
  while (!table.buildStep(1 << 16));
  table.releaseOldVersions();
  return { table, cache };
}

Deno.test("Segment reads a value of a block that is not cached without its block, and the same value", () => {
  const { table, cache } = build(new MemoryDisk(), 1 << 30);
  const random = seededRandom(4);
  const sink = { bytes: new Uint8Array(0), start: 0, end: 0 };
  const check = (id: number, column: number): void => {
    const location = table.find(id, COUNT + 1);
    const expected = VALUES[column]?.(id) ?? null;
    assertStrict.equal(compareStored(table.valueAt(location, column + 1), expected), 0, `${column} of ${id}`);
    if (column !== 2 && column !== 3) return;
    assertStrict.equal(table.textBytesAt(location, column + 1, sink), expected !== null);
    if (expected === null) return;
    const bytes = sink.bytes.slice(sink.start, sink.end);
    assertStrict.deepEqual(
      bytes,
      typeof expected === "string" ? new TextEncoder().encode(expected) : expected,
    );
  };
  // Alternately from two blocks, so that none is read twice in a row.
  check(17, 0);
  check(BLOCK_ROWS + 17, 0);
  // Sequences and blocks of one value are computed, however often they are asked for.
  for (let id = 0; id < COUNT; id += 7) {
    check(id, 5);
    check(id, 6);
  }
  assertStrict.equal(cache.bytes, 0, "nothing was taken into the cache");
  for (let round = 0; round < 2_000; round++) {
    check(Math.floor(random() * COUNT), Math.floor(random() * VALUES.length));
  }
  assertStrict.ok(cache.bytes > 0, "what is asked for often is cached");
  check(1_001, 3);
  table.close();
});

Deno.test("Segment never answers from a damaged page, and names its offset", () => {
  const disk = new MemoryDisk();
  const { table } = build(disk, 0);
  const [name] = disk.list("t").filter((each) => each.endsWith(".segment"));
  assertStrict.ok(name !== undefined);
  const file = disk.openFile(`t/${name}`, { create: false, write: true });
  const random = seededRandom(8);
  let found = 0;
  for (let attempt = 0; attempt < 15; attempt++) {
    const position = Math.floor(random() * file.size);
    const byte = new Uint8Array(1);
    file.readAt(position, byte);
    file.writeAt(position, Uint8Array.of((byte[0] ?? 0) ^ (1 << Math.floor(random() * 8))));
    for (let id = attempt; id < COUNT; id += 499) {
      const location = table.find(id, COUNT + 1);
      for (const [column, valueOf] of VALUES.entries()) {
        try {
          assertStrict.equal(compareStored(table.valueAt(location, column + 1), valueOf(id)), 0);
        } catch (error) {
          if (!(error instanceof DatabaseError)) throw error;
          assertStrict.equal(error.code, "XX001");
          const offset = Number(/is damaged at byte offset (\d+): the checksum of/.exec(error.message)?.[1]);
          assertStrict.ok(offset <= position && position < offset + 600_000, `${position}: ${error.message}`);
          found++;
        }
      }
    }
    file.writeAt(position, byte);
  }
  assertStrict.ok(found > 5, `${found} damaged values found`);
  table.close();
});
