/** The shapes that generated code is made from, and what the asserting builds find. */
import { equal, ok, throws } from "node:assert/strict";
import type { SqlType } from "../../types/sql_type.ts";
import type { Block } from "./block.ts";
import { spanOf, type Vector } from "./vector.ts";
import { assertBlock, blockShapeOf, hasShape, integerBoundsOf, shapeName, shapeOf } from "./vector_shape.ts";

function numbers(
  data: Float64Array | Int8Array,
  rest: Partial<Extract<Vector, { kind: "number" }>> = {},
): Vector {
  return { kind: "number", data, nulls: null, big: null, ...rest };
}

function blockOf(column: Vector, rowCount: number): Block {
  return { rowCount, firstLocation: 0, ids: null, columns: [column], hidden: null };
}

Deno.test("spanOf() holds both ends, next to every power of two", () => {
  for (let exponent = 0; exponent <= 53; exponent++) {
    for (const near of [-1, 0, 1]) {
      const value = Math.min(2 ** exponent + near, Number.MAX_SAFE_INTEGER);
      const { low, high } = spanOf(-value, value);
      ok(low <= -value && high >= value, `±${value} in [${low}..${high}]`);
      ok(low >= -2 * value || value === 0, `${low} is near ${-value}`);
    }
  }
});

Deno.test("integerBoundsOf() has the bounds of the data itself, not of any other array", () => {
  equal(integerBoundsOf(shapeOf(numbers(new Float64Array([2147483647])))), null);
  equal(integerBoundsOf(shapeOf(numbers(new Int8Array([1]))))?.high, 127);
  const span = spanOf(0, 1000);
  equal(integerBoundsOf(shapeOf(numbers(new Float64Array([1000]), { span })))?.high, 1023);
  equal(integerBoundsOf(shapeOf(numbers(new Float64Array([NaN]), { big: new Map([[0, 2n ** 60n]]) }))), null);
});

Deno.test("shapeName() and hasShape() tell apart what code must tell apart", () => {
  const nulls = new Uint8Array(1);
  const shapes = [
    numbers(new Float64Array(1)),
    numbers(new Float64Array(1), { nulls }),
    numbers(new Float64Array(1), { big: new Map() }),
    numbers(new Float64Array(1), { span: spanOf(0, 1) }),
    numbers(new Float64Array(1), { span: spanOf(-1, 1) }),
    numbers(new Int8Array(1)),
    numbers(new Float64Array(1), { span: spanOf(0, 7) }),
    { kind: "constant", value: 1 },
    { kind: "constant", value: null },
    { kind: "bytes", bytes: nulls, starts: new Uint32Array(1), ends: new Uint32Array(1), nulls: null },
    { kind: "bytes", bytes: nulls, starts: new Uint32Array(1), ends: new Uint32Array(1), nulls },
    { kind: "dictionary", codes: nulls, dictionary: ["a"], nulls: null },
    { kind: "dictionary", codes: nulls, dictionary: ["a"], nulls },
    { kind: "dictionary", codes: new Uint16Array(1), dictionary: ["a"], nulls },
  ] as const;
  const names = shapes.map((vector) => shapeName(shapeOf(vector)));
  equal(new Set(names).size, names.length, names.join(" "));
  const blocks: Block[] = shapes.flatMap((vector) => [
    blockOf(vector, 1),
    { ...blockOf(vector, 1), ids: numbers(new Float64Array(1)) },
    { ...blockOf(vector, 1), ids: vector },
    { ...blockOf(vector, 1), hidden: new Uint8Array(1) },
    { ...blockOf(vector, 1), columns: [vector, vector] },
  ]);
  for (const block of blocks) {
    const own = blockShapeOf(block);
    for (const other of blocks) equal(hasShape(other, own), blockShapeOf(other).name === own.name, own.name);
  }
});

Deno.test("assertBlock() finds values that the shape or the type does not allow", () => {
  const check = (vector: Vector, type: SqlType, like: Vector = vector) => {
    assertBlock(blockOf(vector, 1), blockShapeOf(blockOf(like, 1)), [type]);
  };
  check(numbers(new Float64Array([5])), { kind: "i32" });
  check(numbers(new Float64Array([0.5]), { span: spanOf(0, 1) }), { kind: "f64" });
  throws(() => check(numbers(new Float64Array([4294967294])), { kind: "i32" }), /4294967294 in row 0/);
  throws(() => check(numbers(new Float64Array([-0])), { kind: "i32" }), /holds -0/);
  throws(() => check(numbers(new Float64Array([NaN])), { kind: "i64" }), /NaN in row 0/);
  throws(
    () => check(numbers(new Float64Array([9]), { span: spanOf(0, 7) }), { kind: "i32" }),
    /within \[0\.\.7\]/,
  );
  throws(
    () => check(numbers(new Float64Array(1)), { kind: "i32" }, numbers(new Int8Array(1))),
    /f64 is read as i8/,
  );
  const dictionary: Vector = {
    kind: "dictionary",
    codes: new Uint8Array([3]),
    dictionary: ["a"],
    nulls: null,
  };
  throws(() => check(dictionary, { kind: "text" }), /has a code of its dictionary/);
  check({ ...dictionary, codes: new Uint8Array([0]) }, { kind: "text" });
  // What is stored under a NULL does not count.
  const nulls = new Uint8Array([1]);
  check({ ...dictionary, nulls }, { kind: "text" });
  check(numbers(new Float64Array([4294967294]), { nulls }), { kind: "i32" });
  throws(() => check({ ...dictionary, nulls: new Uint8Array(1) }, { kind: "text" }), /has a code/);
  throws(
    () => check(numbers(new Float64Array([0.5]), { nulls: new Uint8Array(1) }), { kind: "i32" }),
    /row 0/,
  );
  throws(() => check({ kind: "constant", value: 0.5 }, { kind: "i32" }), /0.5 is a value of i32/);
});

Deno.test("shapeOf() names every kind of array, with the bounds of its integers", () => {
  const arrays = [
    [new Int8Array(1), "i8", [-128, 127]],
    [new Int16Array(1), "i16", [-32768, 32767]],
    [new Int32Array(1), "i32", [-2147483648, 2147483647]],
    [new Uint8Array(1), "u8", [0, 255]],
    [new Uint16Array(1), "u16", [0, 65535]],
    [new Uint32Array(1), "u32", [0, 4294967295]],
    [new Float32Array(1), "f32", null],
    [new Float64Array(1), "f64", null],
  ] as const;
  for (const [data, name, bounds] of arrays) {
    const shape = shapeOf({ kind: "number", data, nulls: null, big: null });
    equal(shapeName(shape), name);
    const known = integerBoundsOf(shape);
    equal(known?.low, bounds?.[0], name);
    equal(known?.high, bounds?.[1], name);
  }
});
