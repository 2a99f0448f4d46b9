/** Arithmetic on mixed integers, compared with bigint arithmetic. */
import assert from "node:assert/strict";
import { DatabaseError } from "../base/errors.ts";
import * as mixed from "./number_or_bigint.ts";
import type { NumberOrBigint } from "./value.ts";

const MAX = 2n ** 63n - 1n;
const EDGES: readonly bigint[] = [
  0n,
  1n,
  -1n,
  2n,
  10n,
  -7n,
  94906267n,
  2n ** 31n,
  2n ** 53n - 1n,
  2n ** 53n,
  -(2n ** 53n),
  2n ** 53n + 1n,
  2n ** 62n,
  MAX,
  -MAX,
  -MAX - 1n,
];

function check(run: () => NumberOrBigint, exact: bigint, inRange: boolean): void {
  if (!inRange) {
    assert.throws(run, (error) => error instanceof DatabaseError && error.message === "bigint out of range");
    return;
  }
  const result = run();
  assert.equal(BigInt(result), exact);
  assert.equal(typeof result === "number", exact <= 2n ** 53n - 1n && exact >= -(2n ** 53n - 1n));
  assert.ok(!Object.is(result, -0));
}

Deno.test("I64 arithmetic is exact and raises on overflow", () => {
  const fits = (value: bigint): boolean => value <= MAX && value >= -MAX - 1n;
  for (const a of EDGES) {
    for (const b of EDGES) {
      const [left, right] = [mixed.normalize(a), mixed.normalize(b)];
      check(() => mixed.addI64(left, right), a + b, fits(a + b));
      check(() => mixed.subtractI64(left, right), a - b, fits(a - b));
      check(() => mixed.multiplyI64(left, right), a * b, fits(a * b));
      if (b === 0n) continue;
      check(() => mixed.divideI64(left, right), a / b, fits(a / b));
      check(() => mixed.moduloI64(left, right), a % b, true);
      assert.equal(mixed.compareNumbersOrBigints(left, right), a < b ? -1 : a > b ? 1 : 0);
    }
    check(() => mixed.negateI64(mixed.normalize(a)), -a, fits(-a));
  }
  assert.throws(() => mixed.divideI64(1, 0), /division by zero/);
  assert.throws(() => mixed.moduloI64(1, 0), /division by zero/);
});

Deno.test("narrow arithmetic names its type when it overflows", () => {
  assert.throws(() => mixed.addI32(2147483647, 1), /^DatabaseError: integer out of range$/);
  assert.throws(() => mixed.multiplyI32(65536, 32768), /integer out of range/);
  assert.throws(() => mixed.divideI32(-2147483648, -1), /integer out of range/);
  assert.equal(mixed.divideI32(-7, 2), -3);
  assert.throws(() => mixed.addI16(32767, 1), /smallint out of range/);
  assert.throws(() => mixed.subtractInteger("u32", 1, 2), /u32 out of range/);
  assert.throws(() => mixed.checkInteger("u64", 2n ** 64n), /u64 out of range/);
  assert.equal(mixed.checkInteger("u64", 2n ** 64n - 1n), 2n ** 64n - 1n);
});

Deno.test("integerFromFloat() rounds half to even", () => {
  assert.equal(mixed.integerFromFloat("i32", 2.5), 2);
  assert.equal(mixed.integerFromFloat("i32", -3.5), -4);
  assert.ok(!Object.is(mixed.integerFromFloat("i32", -0.4), -0));
  assert.equal(mixed.integerFromFloat("i64", 2 ** 62), 2n ** 62n);
  assert.throws(() => mixed.integerFromFloat("i64", 2 ** 63), /bigint out of range/);
  assert.throws(() => mixed.integerFromFloat("i32", NaN), /integer out of range/);
});

Deno.test("rescale() rounds half away from zero", () => {
  assert.equal(mixed.rescale(125, 2, 1), 13);
  assert.equal(mixed.rescale(-125, 2, 1), -13);
  assert.equal(mixed.rescale(124, 2, 1), 12);
  assert.equal(mixed.rescale(5, 0, 20), 5n * 10n ** 20n);
  assert.equal(mixed.rescale(5n * 10n ** 20n + 5n * 10n ** 19n, 20, 0), 6);
  assert.equal(mixed.addScaled(150, 2, 25, 1), 400);
  assert.equal(mixed.compareScaled(150, 2, 15, 1), 0);
});

Deno.test("checkNumericRange() words the overflow as PostgreSQL", () => {
  assert.equal(mixed.checkNumericRange(999, 3, 2), 999);
  assert.throws(() => mixed.checkNumericRange(-1000, 3, 2), (error) => {
    assert.ok(error instanceof DatabaseError);
    assert.equal(error.message, "numeric field overflow");
    assert.equal(
      error.detail,
      "A field with precision 3, scale 2 must round to an absolute value less than 10^1.",
    );
    return true;
  });
});

Deno.test("formatScaled() and scaledToNumber() place the point", () => {
  assert.equal(mixed.formatScaled(-5, 2), "-0.05");
  assert.equal(mixed.formatScaled(12345, 2), "123.45");
  assert.equal(mixed.formatScaled(10n ** 20n, 18), "100.000000000000000000");
  assert.equal(mixed.scaledToNumber(12345, 2), 123.45);
  assert.equal(mixed.scaledToNumber(10n ** 20n, 18), 100);
});
