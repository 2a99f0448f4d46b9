/** Values to their stored form and back. */
import assert from "node:assert/strict";
import { Decimal } from "./decimal.ts";
import { Interval } from "./interval.ts";
import { SqlArray } from "./sql_array.ts";
import type { SqlType } from "./sql_type.ts";
import { fromStored, isEncoded, toStored } from "./stored_value.ts";
import type { SqlValue } from "./value.ts";

Deno.test("toStored() and fromStored() are inverse and keep to the storage classes", () => {
  const cases: readonly (readonly [SqlType, SqlValue, string])[] = [
    [{ kind: "bool" }, true, "number"],
    [{ kind: "bool" }, false, "number"],
    [{ kind: "i64" }, 9007199254740993n, "bigint"],
    [{ kind: "f64" }, NaN, "number"],
    [{ kind: "date" }, Infinity, "number"],
    [{ kind: "numeric", precision: 10, scale: 2 }, 1234, "number"],
    [{ kind: "numeric" }, Decimal.of(1234, 2), "object"],
    [{ kind: "interval" }, new Interval(1, 2, 3), "object"],
    [{ kind: "array", element: { kind: "text" } }, SqlArray.of(["a", null]), "object"],
    [{ kind: "bytea" }, Uint8Array.of(1, 2), "object"],
    [{ kind: "text" }, "text", "string"],
  ];
  for (const [type, value, form] of cases) {
    const stored = toStored(type, value);
    assert.equal(typeof stored, form, type.kind);
    if (form === "object") assert.ok(stored instanceof Uint8Array);
    assert.deepEqual(fromStored(type, stored), value);
    assert.equal(toStored(type, null), null);
    assert.equal(fromStored(type, null), null);
  }
});

Deno.test("isEncoded() is true for what has no storage class of its own", () => {
  assert.equal(isEncoded({ kind: "numeric" }), true);
  assert.equal(isEncoded({ kind: "numeric", precision: 5, scale: 1 }), false);
  assert.equal(isEncoded({ kind: "bytea" }), false);
});
