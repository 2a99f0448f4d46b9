/** Edges of what each type's columns may hold. */
import { equal, ok } from "node:assert/strict";
import type { SqlType } from "./sql_type.ts";
import type { StoredValue } from "./stored_value.ts";
import { isStorable, storedRangeOf } from "./stored_range.ts";

function check(type: SqlType, storable: readonly StoredValue[], refused: readonly StoredValue[]): void {
  for (const value of [null, ...storable]) ok(isStorable(type, value), `${value} in ${type.kind}`);
  for (const value of refused) ok(!isStorable(type, value), `${value} not in ${type.kind}`);
}

Deno.test("isStorable() knows the ends of each type", () => {
  check({ kind: "bool" }, [0, 1], [-1, 2, 0.5]);
  check({ kind: "i16" }, [-32768, 32767], [-32769, 32768, 1.5, NaN, Infinity, "1"]);
  check({ kind: "i32" }, [-2147483648, 2147483647, -0], [-2147483649, 2147483648, 4294967294, 5n]);
  const safe = Number.MAX_SAFE_INTEGER;
  check({ kind: "i64" }, [safe, -safe, 2n ** 53n, -(2n ** 63n), 2n ** 63n - 1n], [2 ** 53, 2n ** 63n, 7n]);
  check({ kind: "i8" }, [-128, 127], [-129, 128]);
  check({ kind: "u8" }, [0, 255], [-1, 256]);
  check({ kind: "u16" }, [0, 65535], [-1, 65536]);
  for (const kind of ["u32", "oid", "regclass", "regtype", "regproc", "regnamespace"] as const) {
    check({ kind }, [0, 4294967295], [-1, 4294967296]);
  }
  check({ kind: "u64" }, [0, safe, 2n ** 64n - 1n], [-1, -(2n ** 53n), 2n ** 64n]);
  check({ kind: "numeric", precision: 4, scale: 2 }, [9999, -9999], [10000, -10000, 0.5, Infinity]);
  check({ kind: "numeric", precision: 20, scale: 0 }, [10n ** 20n - 1n], [10n ** 20n]);
  check({ kind: "date" }, [-2451545, 2145031948, Infinity, -Infinity], [-2451546, 2145031949, NaN]);
  check({ kind: "time" }, [0, 86_400_000_000], [-1, 86_400_000_001]);
  for (const kind of ["timestamp", "timestamptz"] as const) {
    check({ kind }, [Infinity, -Infinity, -211813488000000000n, 9223371331199999999n], [
      9223371331200000000n,
      -211813488000000001n,
    ]);
  }
  check({ kind: "f32" }, [1.5, NaN, Infinity, Math.fround(0.1)], [0.1, 16777217]);
  check({ kind: "f64" }, [0.1, NaN, -0], [1n, "x"]);
  check({ kind: "text" }, [""], [1, new Uint8Array()]);
  check({ kind: "bytea" }, [new Uint8Array()], ["", 1]);
});

Deno.test("storedRangeOf() has bounds for every type that is kept as an integer, but numerics without digits", () => {
  equal(storedRangeOf({ kind: "text" }), undefined);
  equal(storedRangeOf({ kind: "numeric" }), undefined);
  equal(storedRangeOf({ kind: "numeric", precision: 3, scale: 1 })?.high, 999);
});
