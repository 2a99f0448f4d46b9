/**
 * What generated code may assume of a vector, all of it: code is made from the shape alone, is kept with the shape,
 * and reads only vectors of that shape. Nothing that the code relies on may come from elsewhere.
 */
import { assert, assertDefined } from "../../base/assert.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { storageClassOf } from "../../types/physical_type.ts";
import { isStorable } from "../../types/stored_range.ts";
import type { Block } from "./block.ts";
import { type ElementName, elementName, type Span, type Vector } from "./vector.ts";

/** The shape of a vector; see `Vector` for the kinds. */
export type VectorShape =
  | {
    readonly kind: "number";
    readonly element: ElementName;
    readonly hasNulls: boolean;
    readonly hasBig: boolean;
    /** Bounds of all values that are not NULL, if the storage knows any. */
    readonly span: Span | null;
  }
  | { readonly kind: "bytes"; readonly hasNulls: boolean }
  | { readonly kind: "dictionary"; readonly bits: number; readonly hasNulls: boolean }
  | { readonly kind: "constant"; readonly isNull: boolean };

/** The shape of a block; `ids` null: the scan asked for none. */
export interface BlockShape {
  readonly columns: readonly VectorShape[];
  readonly ids: VectorShape | null;
  readonly hidesRows: boolean;
  /** The shapes' names in one text, for EXPLAIN (CODE). */
  readonly name: string;
}

/** The shape of a vector. */
export function shapeOf(vector: Vector): VectorShape {
  switch (vector.kind) {
    case "number":
      return {
        kind: "number",
        element: elementName(vector.data),
        hasNulls: vector.nulls !== null,
        hasBig: vector.big !== null,
        span: vector.span ?? null,
      };
    case "bytes":
      return { kind: "bytes", hasNulls: vector.nulls !== null };
    case "dictionary":
      return {
        kind: "dictionary",
        bits: vector.codes.BYTES_PER_ELEMENT * 8,
        hasNulls: vector.nulls !== null,
      };
    case "constant":
      return { kind: "constant", isNull: vector.value === null };
  }
}

/**
 * Tells shapes apart, e.g. `i32`, `f64n` (with NULLs), `f64b` (with bigints), `u8[0..255]`, `bytes`, `dict8n`,
 * `constn`.
 */
export function shapeName(shape: VectorShape): string {
  switch (shape.kind) {
    case "number":
      return `${shape.element}${shape.hasNulls ? "n" : ""}${shape.hasBig ? "b" : ""}${
        shape.span?.name ?? ""
      }`;
    case "bytes":
      return shape.hasNulls ? "bytesn" : "bytes";
    case "dictionary":
      return `dict${shape.bits}${shape.hasNulls ? "n" : ""}`;
    case "constant":
      return shape.isNull ? "constn" : "const";
  }
}

/** The shape of a block. */
export function blockShapeOf(block: Block): BlockShape {
  const columns = block.columns.map(shapeOf);
  const ids = block.ids === null ? null : shapeOf(block.ids);
  const hidesRows = block.hidden !== null;
  const names = columns.map(shapeName);
  if (ids !== null) names.push(`ids ${shapeName(ids)}`);
  if (hidesRows) names.push("hidden");
  return { columns, ids, hidesRows, name: names.join(" ") };
}

/** Whether a block has this shape. Makes no object and no text: scans ask for every block that they read. */
export function hasShape(block: Block, shape: BlockShape): boolean {
  if (block.hidden !== null !== shape.hidesRows || block.columns.length !== shape.columns.length) {
    return false;
  }
  for (let index = 0; index < shape.columns.length; index++) {
    if (!vectorHasShape(block.columns[index] as Vector, shape.columns[index] as VectorShape)) return false;
  }
  const { ids } = block;
  return ids === null || shape.ids === null ? ids === shape.ids : vectorHasShape(ids, shape.ids);
}

function vectorHasShape(vector: Vector, shape: VectorShape): boolean {
  switch (vector.kind) {
    case "number":
      return shape.kind === "number" && elementName(vector.data) === shape.element &&
        vector.nulls !== null === shape.hasNulls && vector.big !== null === shape.hasBig &&
        vector.span?.low === shape.span?.low && vector.span?.high === shape.span?.high;
    case "bytes":
      return shape.kind === "bytes" && vector.nulls !== null === shape.hasNulls;
    case "dictionary":
      return shape.kind === "dictionary" && vector.codes.BYTES_PER_ELEMENT * 8 === shape.bits &&
        vector.nulls !== null === shape.hasNulls;
    case "constant":
      return shape.kind === "constant" && vector.value === null === shape.isNull;
  }
}

/** Bounds of the integers in a vector of this shape that follow from the shape; null: none. */
export function integerBoundsOf(shape: VectorShape): { readonly low: number; readonly high: number } | null {
  if (shape.kind !== "number" || shape.hasBig) return null;
  return shape.span ?? ELEMENT_BOUNDS[shape.element];
}

const ELEMENT_BOUNDS: Readonly<Record<ElementName, { readonly low: number; readonly high: number } | null>> =
  {
    i8: { low: -(2 ** 7), high: 2 ** 7 - 1 },
    i16: { low: -(2 ** 15), high: 2 ** 15 - 1 },
    i32: { low: -(2 ** 31), high: 2 ** 31 - 1 },
    u8: { low: 0, high: 2 ** 8 - 1 },
    u16: { low: 0, high: 2 ** 16 - 1 },
    u32: { low: 0, high: 2 ** 32 - 1 },
    f32: null,
    f64: null,
  };

/**
 * Asserts that a block keeps what its shape promises and that every value is one that its column may hold. Reads
 * every value: for builds that check their input, see `checksInput`.
 */
export function assertBlock(block: Block, shape: BlockShape, types: readonly SqlType[]): void {
  assert(block.hidden !== null === shape.hidesRows, "hidden rows as the shape says");
  const pairs = shape.columns.map((each, index) => [block.columns[index], each, types[index]] as const);
  for (const [vector, expected, type] of [...pairs, [block.ids, shape.ids, { kind: "i64" }] as const]) {
    if (vector === null || vector === undefined || expected === null) continue;
    assertVector(vector, {
      shape: expected,
      type: assertDefined(type, "a column's type"),
      rowCount: block.rowCount,
    });
  }
}

function assertVector(
  vector: Vector,
  expected: { readonly shape: VectorShape; readonly type: SqlType; readonly rowCount: number },
): void {
  const { shape, type, rowCount } = expected;
  assert(
    vectorHasShape(vector, shape),
    `a vector ${shapeName(shapeOf(vector))} is read as ${shapeName(shape)}`,
  );
  switch (vector.kind) {
    case "number":
      return assertNumbers(vector, type, rowCount);
    case "bytes":
      for (let row = 0; row < rowCount; row++) {
        const start = vector.starts[row] as number, end = vector.ends[row] as number;
        assert(start <= end && end <= vector.bytes.length, `row ${row} lies within its bytes`);
      }
      return;
    case "dictionary":
      for (let row = 0; row < rowCount; row++) {
        if (vector.nulls?.[row] === 1) continue;
        assert(
          (vector.codes[row] as number) < vector.dictionary.length,
          `row ${row} has a code of its dictionary`,
        );
      }
      return;
    case "constant":
      assert(isStorable(type, vector.value), `${vector.value} is a value of ${type.kind}`);
  }
}

function assertNumbers(vector: Extract<Vector, { kind: "number" }>, type: SqlType, rowCount: number): void {
  const { data, nulls, big, span } = vector;
  const isInteger = storageClassOf(type) === "int";
  const bounds = isInteger ? integerBoundsOf(shapeOf(vector)) : null;
  assert(data.length >= rowCount && (nulls === null || nulls.length >= rowCount), "a value for each row");
  for (let row = 0; row < rowCount; row++) {
    if (nulls?.[row] === 1) continue;
    const number = data[row] as number;
    const value = isInteger && number !== number ? big?.get(row) ?? number : number;
    assert(isStorable(type, value), `${value} in row ${row} is a value of ${type.kind}`);
    assert(!isInteger || !Object.is(value, -0), `row ${row} holds -0`);
    if (bounds === null) continue;
    assert(number >= bounds.low && number <= bounds.high, `${number} in row ${row} is within ${span?.name}`);
  }
}
