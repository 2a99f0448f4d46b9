/** Rows in parts: those of a group are one part, in their order, and are written and read in few pieces. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { memoryHost } from "../../host/memory_host.ts";
import { SpillFile } from "../../host/spill_file.ts";
import type { ExecutionState } from "./execution_state.ts";
import { groupParts, joinParts, PART_COUNT, PartitionedRows } from "./partitioned_rows.ts";
import { RowBuffer } from "./row_buffer.ts";
import type { SpilledColumn } from "./row_codec.ts";

const layout: readonly SpilledColumn[] = [
  { storage: "number_or_bigint", nullable: true, type: { kind: "i64" } },
  { storage: "ref", nullable: true, type: { kind: "text" } },
  { storage: "i32", nullable: false, type: { kind: "i32" } },
];
const ROWS = 6000;
const FLUSHES = 4;

const hashOf = (number: number) => Math.imul(number, 0x9e3779b1) >>> 7;

/** NULLs, integers that are not safe, and texts of any length. */
const rowOf = (number: number) => [
  number % 7 === 0 ? null : number % 5 === 0 ? 2n ** 60n + BigInt(number) : number,
  number % 11 === 0 ? null : "é".repeat(number % 13),
  hashOf(number),
];

function partitioned() {
  const { disk } = memoryHost();
  disk.createDirectory("d");
  const calls = { writes: 0, reads: 0 };
  const { openFile } = disk;
  disk.openFile = (path, options) => {
    const file = openFile.call(disk, path, options);
    const { writeAt, readAt } = file;
    file.writeAt = (...given) => (calls.writes++, writeAt.apply(file, given));
    file.readAt = (...given) => (calls.reads++, readAt.apply(file, given));
    return file;
  };
  const state = {
    ...{ charge: () => {}, wrote: () => {}, beganRun: () => {}, beganPass: () => {}, isHalfFull: false },
    context: { memoryLimitBytes: 1 << 22, spillFile: () => new SpillFile(disk, "d") },
  } as unknown as ExecutionState;
  return { calls, state, rows: new PartitionedRows(state, layout) };
}

Deno.test("PartitionedRows.group() makes one part of several, before and after rows are written", () => {
  const bytes = Array.from({ length: PART_COUNT }, () => 10);
  const chosen = new Uint8Array(PART_COUNT).fill(1, 0, 3);
  const groups = groupParts(bytes, 200, chosen);
  deepStrictEqual([...new Set(groups)], [0, 3, 23, 43, 63]);
  for (const isBefore of [true, false]) {
    const { calls, state, rows } = partitioned();
    const buffer = new RowBuffer(state, layout);
    if (isBefore) rows.group(groups);
    for (let number = 0; number < ROWS; number++) {
      buffer.append(rowOf(number));
      if (number % (ROWS / FLUSHES) !== 0) continue;
      for (const work = rows.writeAll(buffer); !work.advance(););
    }
    for (const work = rows.writeRest(buffer); !work.advance(););
    if (!isBefore) rows.group(groups);
    ok(calls.writes <= 4 * (FLUSHES + 1), `${calls.writes} writes`);
    const some = joinParts([0, 43].map((part) => rows.parts[part] ?? joinParts([])));
    for (const [index, part] of [...rows.parts, some].entries()) {
      const isHere = (group: number) => index === PART_COUNT ? group === 0 || group === 43 : group === index;
      const expected = Array.from({ length: ROWS }, (_, number) => number)
        .filter((number) => isHere(groups[hashOf(number) & PART_COUNT - 1] as number));
      const reader = rows.open(buffer, part);
      const found: unknown[] = [];
      while (reader.more()) {
        for (const row of reader.order) found.push(buffer.columns.map((column) => column.get(row)));
      }
      strictEqual(part.rows, expected.length);
      const inOrder = (some: readonly unknown[]) =>
        index < PART_COUNT && isBefore ? some : some.map(String).sort();
      deepStrictEqual(inOrder(found), inOrder(expected.map(rowOf)));
    }
    ok(calls.reads <= 20 * (FLUSHES + 1), `${calls.reads} reads`);
    rows.release();
  }
});
