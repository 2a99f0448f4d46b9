/**
 * Bounds of indexes: over every pair of bounds exactly the keys of the values between them, as numbers and as texts.
 */
import { deepEqual, equal } from "node:assert/strict";
import type { TableDefinition } from "../../catalog/definitions.ts";
import type { StoredValue } from "../../operations/effect.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { compareText } from "../../types/text.ts";
import { compareNumberKeys, IndexKeyEncoder, type KeyBounds } from "./index_key.ts";

interface Order {
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

const ORDERS: readonly Order[] = [
  { descending: false, nullsFirst: false },
  { descending: false, nullsFirst: true },
  { descending: true, nullsFirst: false },
  { descending: true, nullsFirst: true },
];

function encoderOf(type: SqlType, order: Order): IndexKeyEncoder {
  const table = { name: "t", columns: [{ id: 1, name: "v", type }] };
  return new IndexKeyEncoder(table as unknown as TableDefinition, [{ columnId: 1, ...order }]);
}

function compare(left: Exclude<StoredValue, null>, right: Exclude<StoredValue, null>): number {
  if (typeof left === "string" && typeof right === "string") return compareText(left, right);
  // NaN is greater than every number.
  const isNaNLeft = left !== left, isNaNRight = right !== right;
  if (isNaNLeft || isNaNRight) return Number(isNaNLeft) - Number(isNaNRight);
  return left < right ? -1 : left > right ? 1 : 0;
}

interface Bound {
  readonly value: StoredValue;
  readonly inclusive: boolean;
}

function isBetween(value: StoredValue, low: Bound | null, high: Bound | null): boolean {
  if (low === null && high === null) return true;
  if (value === null || low !== null && low.value === null || high !== null && high.value === null) {
    return false;
  }
  const passes = (bound: Bound | null, sign: number) => {
    if (bound === null || bound.value === null) return true;
    const order = compare(value, bound.value) * sign;
    return bound.inclusive ? order >= 0 : order > 0;
  };
  return passes(low, 1) && passes(high, -1);
}

function holdsNumber(bounds: KeyBounds, key: number, { nullsFirst }: Order): boolean {
  const low = compareNumberKeys(key, bounds.lowNumber, nullsFirst);
  const high = compareNumberKeys(key, bounds.highNumber, nullsFirst);
  return (bounds.lowAfter ? low > 0 : low >= 0) && (bounds.highAfter ? high <= 0 : high < 0);
}

function same(found: readonly StoredValue[], expected: readonly StoredValue[], where: object): void {
  if (found.length === expected.length && found.every((value, index) => Object.is(value, expected[index]))) {
    return;
  }
  deepEqual(found, expected, Deno.inspect(where));
}

function check(
  type: SqlType,
  values: readonly Exclude<StoredValue, null>[],
  between: readonly StoredValue[],
) {
  const bounds = [
    null,
    ...[...values, ...between, null].flatMap((value): Bound[] => [{ value, inclusive: true }, {
      value,
      inclusive: false,
    }]),
  ];
  for (const order of ORDERS) {
    const encoder = encoderOf(type, order);
    const entries = [...values, null];
    for (const low of bounds) {
      for (const high of bounds) {
        const expected = entries.filter((value) => isBetween(value, low, high));
        const found = encoder.bounds({ prefix: [], low, high, backward: false });
        const texts = entries.filter((value) => {
          const key = encoder.textKey([value]);
          return key >= found.lowText && key < found.highText;
        });
        same(texts, expected, { ...order, low, high });
        equal(found.isEverything, low === null && high === null);
        equal(found.isEquality, false);
        if (!encoder.numeric) continue;
        const numbers = entries.filter((value) => {
          const key = encoder.numberKey(value);
          return key === undefined ? expected.includes(value) : holdsNumber(found, key, order);
        });
        same(numbers, expected, { ...order, low, high });
      }
    }
    for (const prefix of [...values, ...between, null]) {
      const found = encoder.bounds({ prefix: [prefix], low: null, high: null, backward: false });
      equal(found.isEverything, false);
      equal(found.isEquality, true);
      const isSame = (value: StoredValue) =>
        value === null || prefix === null ? value === prefix : compare(value, prefix) === 0;
      const isFound = (value: StoredValue) => {
        const key = encoder.textKey([value]);
        return key >= found.lowText && key < found.highText;
      };
      deepEqual(entries.filter(isFound), entries.filter(isSame));
      if (!encoder.numeric) continue;
      const numbers = entries.filter((value) => {
        const key = encoder.numberKey(value);
        return key === undefined ? isSame(value) : holdsNumber(found, key, order);
      });
      deepEqual(numbers, entries.filter(isSame));
    }
  }
}

Deno.test("KeyBounds hold the integers between two bounds, in every order", () => {
  check({ kind: "i64" }, [-9007199254740991, -268435456, -1, 0, 1, 268435455, 268435456, 9007199254740991], [
    -2,
    9007199254740993n,
    -9007199254740993n,
  ]);
  check({ kind: "i64" }, [
    -9223372036854775808n,
    -9007199254740993n,
    5,
    9007199254740993n,
    9223372036854775807n,
  ], [
    9007199254740992n,
    -(2n ** 60n),
    6,
  ]);
});

Deno.test("KeyBounds hold the floats between two bounds, NaN above all others", () => {
  check({ kind: "f64" }, [-Infinity, -1.5, 0, 5e-324, 1.5, 1e300, Infinity, NaN], [-2, 1, 2 ** 60]);
});

Deno.test("KeyBounds hold the texts between two bounds, by code point", () => {
  check(
    { kind: "text" },
    ["", "\u0000", "\u0001", "a", "a\u0000", "ab", "b", "\ud7ff", "\ue000", "\u{1f600}"],
    ["aa", "\uffff"],
  );
});

function unitsOf(key: string): Uint16Array {
  return Uint16Array.from({ length: key.length }, (_, at) => key.charCodeAt(at));
}

Deno.test("values are read out of text keys as they were put in", () => {
  const integers = [
    0,
    1,
    -1,
    255,
    -268435456,
    268435455,
    Number.MAX_SAFE_INTEGER,
    Number.MIN_SAFE_INTEGER,
    null,
  ];
  const texts = ["", "a", "\u0001", "b\u0001\u0002c", "\ud83d\ude00", "\ue000\uffff", "\ud7ff", null];
  for (const { descending, nullsFirst } of ORDERS) {
    const order = { descending, nullsFirst };
    const columns = [["i64", 1], ["text", 2], ["i32", 3], ["text", 4]] as const;
    const table = { name: "t", columns: columns.map(([kind, id]) => ({ id, name: "v", type: { kind } })) };
    const encoder = new IndexKeyEncoder(
      table as unknown as TableDefinition,
      columns.map(([_, columnId]) => ({ columnId, ...order })),
    );
    for (const integer of integers) {
      for (const text of texts) {
        const values = [integer, text, integer, text];
        const key = `?${encoder.textKey(values)}`;
        const found = values.map((_, column) => encoder.valueIn(unitsOf(key), 1, column));
        deepEqual(found, values);
      }
    }
    // What is no safe integer is not told, nor what is behind it.
    const units = unitsOf(encoder.textKey([2n ** 62n, "x", 1, "y"]));
    deepEqual([0, 1, 2].map((column) => encoder.valueIn(units, 0, column)), [
      undefined,
      undefined,
      undefined,
    ]);
  }
});
