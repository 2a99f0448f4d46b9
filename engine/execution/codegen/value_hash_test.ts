/** Values that a join takes for equal go to one place. */
import { strictEqual } from "node:assert/strict";
import { Decimal } from "../../types/decimal.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import { combine, valueHash } from "./value_hash.ts";

const i32: SqlType = { kind: "i32" };
const i64: SqlType = { kind: "i64" };
const f32: SqlType = { kind: "f32" };
const f64: SqlType = { kind: "f64" };
const numeric: SqlType = { kind: "numeric" };
const char: SqlType = { kind: "char", length: 5 };
const text: SqlType = { kind: "text" };
const jsonb: SqlType = { kind: "jsonb" };

type Side = readonly [type: SqlType, value: SqlValue];

const decimal = (text: string): SqlValue => Decimal.fromString(text);

const EQUAL: readonly (readonly [Side, Side])[] = [
  [[i32, 7], [i64, 7]],
  [[i64, -1], [i32, -1]],
  [[i64, 9007199254740993n], [i64, 9007199254740993n]],
  [[numeric, decimal("7")], [numeric, decimal("7.00")]],
  [[numeric, decimal("7.50")], [f64, 7.5]],
  [[numeric, decimal("7.0")], [i32, 7]],
  [[numeric, decimal("NaN")], [f64, NaN]],
  [[f64, 0], [f64, -0]],
  [[f32, 0.5], [f64, 0.5]],
  [[f64, NaN], [f64, -NaN]],
  [[char, "a"], [char, "a    "]],
  [[text, "é"], [text, "é"]],
  [[jsonb, '{"a": 1, "b": 2}'], [jsonb, '{"b": 2, "a": 1.0}']],
];

Deno.test("equal values of two types have the same hash", () => {
  for (const [[type, value], [other, equal]] of EQUAL) {
    strictEqual(
      valueHash(type, other)(value),
      valueHash(other, type)(equal),
      `${String(value)} ${String(equal)}`,
    );
  }
});

Deno.test("values are spread over all parts by each part of their hash", () => {
  const hash = valueHash(i32, i64);
  const counts = new Map<string, number>();
  for (let value = 0; value < 16_000; value++) {
    const all = combine(0, hash(value));
    const name = `${all & 3}/${(all >>> 16) & 3}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  strictEqual(counts.size, 16);
  for (const count of counts.values()) strictEqual(count > 800 && count < 1200, true, `${count} of 1000`);
});
