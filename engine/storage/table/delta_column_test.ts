/** The bounds that a column in memory promises to generated code. */
import { equal, ok } from "node:assert/strict";
import { SeededRandom } from "../../base/random.ts";
import { assertBlock, blockShapeOf } from "../access/vector_shape.ts";
import { createDeltaColumn, type NumberColumn } from "./delta_column.ts";

const ROWS = 64;

function columnOf(storageClass: "int" | "float"): NumberColumn {
  const column = createDeltaColumn(1, storageClass, ROWS);
  if (column.kind !== "number") throw new Error("a column of numbers");
  return column;
}

/** Asserts that every value lies within the span. */
function check(column: NumberColumn): void {
  const block = {
    rowCount: ROWS,
    firstLocation: 0,
    ids: null,
    columns: [column.vector(0, ROWS)],
    hidden: null,
  };
  assertBlock(block, blockShapeOf(block), [{ kind: "i64" }]);
}

function spanOfColumn(column: NumberColumn): string | undefined {
  const vector = column.vector(0, ROWS);
  return vector.kind === "number" ? vector.span?.name : undefined;
}

Deno.test("NumberColumn.vector() has bounds that hold whatever was written, and that only widen", () => {
  const random = new SeededRandom(3);
  const column = columnOf("int");
  equal(spanOfColumn(column), "[0..0]");
  for (let round = 0; round < 400; round++) {
    const size = 2 ** random.below(48);
    const near = random.below(3) - 1;
    column.set(
      random.below(ROWS),
      random.below(4) === 0 ? null : (random.below(2) === 0 ? size : -size) + near,
    );
    check(column);
  }
  const before = spanOfColumn(column);
  for (let slot = 0; slot < ROWS; slot++) column.set(slot, 0);
  equal(spanOfColumn(column), before);
});

Deno.test("NumberColumn.vector() has no bounds for bigints, infinities and large numbers", () => {
  for (const value of [2n ** 60n, Infinity, -Infinity, 2 ** 48, Number.MIN_SAFE_INTEGER]) {
    const column = columnOf("int");
    column.set(3, 7);
    equal(spanOfColumn(column), "[0..15]");
    column.set(4, value);
    equal(spanOfColumn(column), undefined, `${value}`);
    column.set(4, 0);
    equal(spanOfColumn(column), undefined);
  }
  const floats = columnOf("float");
  floats.set(0, 1);
  equal(spanOfColumn(floats), undefined, "a float is no integer");
});

Deno.test("NumberColumn.append() and fill() widen the bounds", () => {
  const column = columnOf("int");
  const data = Float64Array.from({ length: 8 }, (_, index) => index === 5 ? -70_000 : index);
  column.append(0, { storageClass: "int", data, nulls: null, big: null }, 8);
  equal(spanOfColumn(column), "[-1048576..15]");
  column.fill(ROWS, 300);
  check(column);
  ok(spanOfColumn(column)?.endsWith("..4095]"));
});
