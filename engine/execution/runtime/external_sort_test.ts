/** Sorting by runs in a file: order, ties, limits, and more runs than are merged at a time. */
import assert from "node:assert/strict";
import { memoryHost } from "../../host/memory_host.ts";
import { SpillFile } from "../../host/spill_file.ts";
import { SeededRandom } from "../testing/seeded_random.ts";
import type { ExecutionState } from "./execution_state.ts";
import { ExternalSort } from "./external_sort.ts";
import { RowBuffer } from "./row_buffer.ts";
import type { SpilledColumn } from "./row_codec.ts";
import { sortRows } from "./sorting.ts";

const layout: readonly SpilledColumn[] = [
  { storage: "i32", nullable: false, type: { kind: "i32" } },
  { storage: "ref", nullable: true, type: { kind: "text" } },
  { storage: "number_or_bigint", nullable: true, type: { kind: "i64" } },
];

interface Row {
  readonly number: number;
  readonly text: string | null;
  readonly big: number | bigint | null;
}

function columnsOf({ columns: [numbers, texts, integers] }: RowBuffer) {
  const nulls = integers?.nulls ?? null;
  assert.ok(numbers !== undefined && texts !== undefined && integers !== undefined && nulls !== null);
  return { numbers, texts, integers, nulls };
}

function append(buffer: RowBuffer, { number, text, big }: Row): void {
  const row = buffer.count;
  if (row === buffer.capacity) buffer.grow(row);
  buffer.count = row + 1;
  const { numbers, texts, integers, nulls } = columnsOf(buffer);
  numbers.data[row] = number;
  texts.data[row] = text;
  nulls[row] = big === null ? 1 : 0;
  integers.data[row] = typeof big === "number" ? big : big === null ? 0 : NaN;
  if (typeof big === "bigint") integers.putBig(row, big);
}

function rowAt(buffer: RowBuffer, row: number): Row {
  const { numbers, texts, integers, nulls } = columnsOf(buffer);
  const big = integers.data[row] as number;
  return {
    number: numbers.data[row] as number,
    text: texts.data[row] as string | null,
    big: nulls[row] === 1 ? null : Number.isNaN(big) ? integers.getBig(row) : big,
  };
}

const compareIn = (buffer: RowBuffer) => (left: number, right: number): number =>
  Math.sign((buffer.columns[0]?.data[left] as number) - (buffer.columns[0]?.data[right] as number));

interface Sorted {
  readonly sorted: readonly Row[];
  readonly runs: number;
  /** Bytes of the file before it was removed. */
  readonly fileBytes: number;
  /** Bytes of the texts that the buffer has held at a time. */
  readonly textBytes: number;
}

/** Sorts by the number; ties are by the order in which the rows come. */
function sort(rows: readonly Row[], limit: number): Sorted {
  const { disk } = memoryHost();
  disk.createDirectory("d");
  let file: SpillFile | null = null as SpillFile | null;
  let held = 0, peak = 0, runs = 0;
  const memoryLimitBytes = 1 << 17;
  const state = {
    charge: (bytes: number) => void (peak = Math.max(peak, held += bytes)),
    isHalfFull: false,
    ...{ wrote: () => {}, beganRun: () => {}, beganPass: () => {} },
    context: { memoryLimitBytes, spillFile: () => file = new SpillFile(disk, "d") },
  } as unknown as ExecutionState;
  const buffer = new RowBuffer(state, layout);
  const external = new ExternalSort(state, layout);
  const write = (): void => {
    const compare = compareIn(buffer);
    const work = external.writeRun(buffer, sortRows(buffer.count, compare, null), limit);
    while (!work.advance());
    runs++;
  };
  for (const row of rows) {
    append(buffer, row);
    if (buffer.count - 1 >= external.full && external.isDue(buffer)) write();
  }
  write();
  external.open(buffer);
  const merge = external.merge(buffer, compareIn(buffer), limit);
  while (!merge.advance());
  const merged = merge.result;
  const sorted: Row[] = [];
  let textBytes = 0;
  do {
    assert.equal(merged.base, sorted.length);
    for (const row of merged.order) sorted.push(rowAt(buffer, row));
    const texts = columnsOf(buffer).texts.data as (string | null)[];
    textBytes = Math.max(textBytes, texts.reduce((sum, text) => sum + (text?.length ?? 0), 0));
  } while (merged.more());
  const fileBytes = file?.size ?? 0;
  assert.ok(peak < memoryLimitBytes, `${peak} bytes were held`);
  external.release();
  assert.deepEqual(disk.list("d"), []);
  return { sorted, runs, fileBytes, textBytes };
}

Deno.test("ExternalSort gives the rows of all runs in their order, ties as they came", () => {
  for (
    const [seed, count, distinct] of [[1, 100, 5], [2, 5000, 3], [3, 30_000, 1000], [
      4,
      30_000,
      2 ** 31,
    ]] as const
  ) {
    const random = new SeededRandom(seed);
    const rows = Array.from({ length: count }, (_, index): Row => ({
      number: Math.floor((random.next() - 0.5) * distinct),
      text: random.chance(0.1) ? null : "x".repeat(Math.floor(random.next() * 40)) + index,
      big: random.chance(0.1) ? null : random.chance(0.3) ? 9007199254740993n + BigInt(index) : index,
    }));
    const expected = rows.toSorted((left, right) => Math.sign(left.number - right.number));
    const { sorted, runs } = sort(rows, Infinity);
    assert.deepEqual(sorted, expected);
    // Eight are merged at a time.
    if (count > 20_000) assert.ok(runs > 16, `${runs} runs`);
    for (const limit of [1, 77, count - 1]) {
      assert.deepEqual(sort(rows, limit).sorted, expected.slice(0, limit));
    }
  }
});

Deno.test("ExternalSort takes rows that are larger than a block", () => {
  const rows = Array.from({ length: 40 }, (_, index): Row => ({
    number: index * 7 % 40,
    text: String(index).repeat(8000),
    big: null,
  }));
  assert.deepEqual(sort(rows, Infinity).sorted, rows.toSorted((left, right) => left.number - right.number));
});

Deno.test("ExternalSort writes each row once in a run, and once in each pass over all runs", () => {
  const random = new SeededRandom(5);
  const rows = Array.from({ length: 60_000 }, (_, index): Row => ({
    number: Math.floor(random.next() * 2 ** 31),
    text: `${index}`,
    big: null,
  }));
  const { sorted, runs, fileBytes } = sort(rows, Infinity);
  assert.deepEqual(sorted, rows.toSorted((left, right) => left.number - right.number));
  const rowBytes = 4 + 1 + 1 + 5 + 1 + 8;
  const passes = Math.ceil(Math.log(runs) / Math.log(4));
  assert.ok(
    runs > 16 && fileBytes <= rows.length * rowBytes * passes * 1.1,
    `${runs} runs, ${fileBytes} bytes`,
  );
});

Deno.test("ExternalSort holds no more than its memory of texts when the large ones of all runs come together", () => {
  const rows = Array.from({ length: 4000 }, (_, index): Row => ({
    number: index % 100 === 99 ? 2 : 1,
    text: "x".repeat(index % 100 === 99 ? 3000 : 1),
    big: null,
  }));
  const { sorted, textBytes } = sort(rows, Infinity);
  assert.deepEqual(sorted, rows.toSorted((left, right) => left.number - right.number));
  assert.ok(textBytes < 1 << 17, `${textBytes} bytes of texts`);
});
