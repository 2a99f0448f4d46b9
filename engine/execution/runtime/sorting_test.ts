/** Sorting of row numbers, and the hash table of joins. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { encodeUtf8 } from "../../base/bytes.ts";
import type { BytesSink } from "../../storage/access/readable_table.ts";
import { trimTrailingSpaces } from "../../types/text.ts";
import { SeededRandom } from "../testing/seeded_random.ts";
import type { ExecutionState } from "./execution_state.ts";
import { HashIndex } from "./hash_index.ts";
import { nearHash, NULL_CODE } from "./hashing.ts";
import { RowBuffer } from "./row_buffer.ts";
import { RowSort, sortRows, UniqueRows } from "./sorting.ts";

const state = { charge: () => {}, context: {} } as unknown as ExecutionState;

Deno.test("sortRows() sorts a packed integer key as the comparison does, stably", () => {
  const random = new SeededRandom(9);
  for (
    const [range, count] of [[3, 500], [1000, 500], [2 ** 52, 500], [1000, 40_000], [2 ** 52, 5000]] as const
  ) {
    for (const [descending, nullsFirst] of [[false, false], [true, false], [false, true], [true, true]]) {
      const buffer = new RowBuffer(state, [{ storage: "number_or_bigint", nullable: true }]);
      const [column] = buffer.columns;
      assert.ok(column !== undefined);
      while (buffer.capacity < count) buffer.grow(0);
      for (let row = 0; row < count; row++) {
        column.data[row] = Math.floor((random.next() - 0.5) * range);
        if (column.nulls !== null) column.nulls[row] = random.chance(0.1) ? 1 : 0;
      }
      const compare = (a: number, b: number) => {
        const [x, y] = [column.nulls?.[a], column.nulls?.[b]];
        if (x === 1 || y === 1) return x === y ? 0 : (x === 1) === nullsFirst ? -1 : 1;
        const order = Math.sign((column.data[a] as number) - (column.data[b] as number));
        return descending ? -order : order;
      };
      const single = { column, text: null, descending: descending === true, nullsFirst: nullsFirst === true };
      const expected = Int32Array.from({ length: count }, (_, row) => row).sort((a, b) =>
        compare(a, b) || a - b
      );
      const title = `range ${range}, ${count} rows`;
      assert.ok(sameNumbers(sortRows(count, compare, single), expected), `packed, ${title}`);
      assert.ok(sameNumbers(sortRows(count, compare, null), expected), `compared, ${title}`);
    }
  }
});

/** Texts that are alike in all ways that sorting looks at. */
function randomText(random: SeededRandom, beginning: string): string {
  const length = random.below(5) === 0 ? 0 : random.below(9);
  const end = Array.from({ length }, () => random.pick(["a", "b", "0", " ", "\x7f", "é", "\uFFFD", "😀"]));
  return random.chance(0.05) ? end.join("") : beginning + end.join("");
}

/** Stored rows that have texts in the places of chance, as bytes or not. */
function storedTexts(random: SeededRandom, texts: readonly (string | null)[]) {
  return {
    textBytesAt(row: number, _: number, place: BytesSink): boolean {
      const text = texts[row] ?? null;
      if (text === null || random.chance(0.3)) return false;
      place.bytes = encodeUtf8(`-${text}-`);
      place.start = 1;
      place.end = place.bytes.length - 1;
      return true;
    },
    valueAt: (row: number) => texts[row] ?? null,
  };
}

Deno.test("sortRows() sorts texts by their bytes, kept so or not, stably; UniqueRows has the first of equal ones", () => {
  const random = new SeededRandom(11);
  const beginnings = ["", "a", "the same as all others ".repeat(4), "é"];
  for (const [round, count] of [70, 1024, 3000].entries()) {
    for (const beginning of beginnings) {
      for (const kind of ["text", "char"] as const) {
        const [descending, nullsFirst] = [random.chance(0.5), random.chance(0.5)];
        const texts = Array.from({ length: count }, () => {
          const text = random.chance(0.05) ? null : randomText(random, beginning);
          return kind === "char" && text !== null ? trimTrailingSpaces(text) : text;
        });
        const buffer = new RowBuffer(state, [{ storage: "ref", nullable: true, texts: kind }]);
        const [column] = buffer.columns;
        assert.ok(column !== undefined && column.texts !== null && Array.isArray(column.data));
        const stored = storedTexts(random, texts);
        for (let row = 0; row < count; row++) {
          if (row === buffer.capacity) buffer.grow(row);
          column.data[row] = column.texts.keep(stored, row, 0);
        }
        buffer.count = count;
        assert.deepEqual(texts.map((_, row) => column.get(row)), texts, "what was kept is there");
        const encoded = texts.map((text) => text === null ? null : encodeUtf8(text));
        const compare = (a: number, b: number) => {
          const [x, y] = [encoded[a] ?? null, encoded[b] ?? null];
          if (x === null || y === null) return x === y ? 0 : (x === null) === nullsFirst ? -1 : 1;
          return Buffer.compare(x, y) * (descending ? -1 : 1);
        };
        for (let row = 1; row < count; row += 7) {
          const [x, y] = [column.data[row - 1], column.data[row]] as (string | null)[];
          if (x === null || y === null || x === undefined || y === undefined) continue;
          const own: number = Math.sign(column.texts.compare(x, y)) * (descending ? -1 : 1);
          assert.equal(own, compare(row - 1, row), `${texts[row - 1]} and ${texts[row]}`);
        }
        const expected = Int32Array.from(texts.keys()).sort((a, b) => compare(a, b) || a - b);
        const first = { column, text: kind, descending, nullsFirst };
        const order = sortRows(count, compare, first);
        assert.ok(sameNumbers(order, expected), `round ${round}, ${beginning}, ${kind}`);
        const unique = new UniqueRows(order, compare);
        while (!unique.advance());
        const seen = new Set<string | null>();
        const firsts = expected.filter((row) => seen.size < seen.add(texts[row] ?? null).size);
        assert.ok(sameNumbers(unique.order, firsts), `the first of each, round ${round}, ${beginning}`);
        buffer.decodeTexts();
        assert.deepEqual(column.data.slice(0, count), texts, "decoded");
        buffer.release();
      }
    }
  }
});

function sameNumbers(left: Int32Array, right: Int32Array): boolean {
  return left.length === right.length && left.every((value, index) => value === right[index]);
}

Deno.test("what is in order by stretches is merged, stably, without being sorted again", () => {
  for (const lengths of [[5000, 3, 7000, 1024, 2500], [9000, 9000], [40_000], [1, 1, 1500, 0, 2000]]) {
    const keys = lengths.flatMap((length) => Array.from({ length }, (_, index) => index >> 2));
    let compared = 0;
    const sort = new RowSort(keys.length, (a, b) => {
      compared++;
      return (keys[a] as number) - (keys[b] as number);
    }, null);
    let most = 0;
    for (let before = 0; !sort.advance(); before = compared) most = Math.max(most, compared - before);
    const expected = Int32Array.from(keys.keys()).sort((a, b) =>
      (keys[a] as number) - (keys[b] as number) || a - b
    );
    assert.ok(sameNumbers(sort.order, expected), `${lengths}`);
    const passes = Math.ceil(Math.log2(lengths.length)) + 1;
    assert.ok(compared < keys.length * passes + 25_000, `${compared} comparisons of ${lengths}`);
    assert.ok(most < 15_000, `${most} comparisons in a morsel`);
  }
});

Deno.test("RowSort.advance() works in short morsels", () => {
  const count = 100_000;
  let compared = 0;
  const sort = new RowSort(count, (a, b) => {
    compared++;
    return (a * 7919) % count - (b * 7919) % count;
  }, null);
  let morsels = 1, most = 0;
  for (let before = 0; !sort.advance(); before = compared, morsels++) {
    most = Math.max(most, compared - before);
  }
  assert.ok(morsels > 300, `${morsels} morsels`);
  assert.ok(most < 15_000, `${most} comparisons in a morsel`);
});

Deno.test("HashIndex chains all rows of a key in order and leaves out NULLs", () => {
  const random = new SeededRandom(4);
  for (const range of [20, 1_000_000_000]) {
    const buffer = new RowBuffer(state, [{ storage: "code", nullable: true }]);
    const [column] = buffer.columns;
    assert.ok(column !== undefined);
    const keys = Array.from(
      { length: 300 },
      () => random.chance(0.1) ? NULL_CODE : random.below(20) * (range / 20) - 5,
    );
    while (buffer.capacity < keys.length) buffer.grow(0);
    keys.forEach((key, row) => column.data[row] = key);
    buffer.count = keys.length;
    const index = new HashIndex(state, buffer, [0]);
    while (!index.advance());
    assert.equal(index.direct, range === 20);
    assert.equal(index.hasNull, true);
    for (const key of new Set([...keys, 999, -999])) {
      if (key === NULL_CODE) continue;
      const found: number[] = [];
      const [filter] = index.filters;
      const first = filter?.mayContain(key) !== true
        ? -1
        : index.direct
        ? (index.heads[key - index.minimum] as number) - 1
        : index.firstByHash(nearHash(key));
      for (let row = first; row >= 0; row = index.next[row] as number) {
        if (column.data[row] === key) found.push(row);
      }
      assert.deepEqual(found, keys.flatMap((other, row) => other === key ? [row] : []));
    }
  }
});
