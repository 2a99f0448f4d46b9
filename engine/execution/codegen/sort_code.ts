/**
 * Generated code that sorts the rows of a buffer: a comparison function over the buffer's columns.
 */
import type { SqlType } from "../../types/sql_type.ts";
import { compareFloats } from "../../types/compare.ts";
import { compareCharacters, compareText } from "../../types/text.ts";
import { type RowComparison, RowSort, type SingleKey } from "../runtime/sorting.ts";
import type { BufferCode, ReadNames } from "./buffer_code.ts";
import type { Emitter, RoundLimit } from "./emitter.ts";
import { orderCode } from "./expression.ts";
import { formOf, isFloat } from "./value_form.ts";

/** A buffer column that decides the order. */
export interface SortColumn {
  readonly position: number;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/** Emits the comparison of two rows by some columns; the answer is the function's name. 0 for equal rows. */
export function emitComparison(
  code: Emitter,
  buffer: BufferCode,
  names: ReadNames,
  keys: readonly SortColumn[],
): string {
  const name = code.name("compare");
  code.block(`const ${name} = (a, b) => `, "row", () => {
    for (const key of keys) emitKey(code, buffer, names, key);
    code.emit("return 0;");
  });
  return name;
}

/** A sort, which is work to be done. */
export function rowSort(count: number, compare: RowComparison, single: SingleKey | null): RowSort {
  return new RowSort(count, compare, single);
}

/**
 * Emits a sort; the answer is the name of an Int32Array of row numbers in order. Equal rows keep their order.
 * `atMost` as of {@link Emitter.work}.
 */
export function emitSort(
  code: Emitter,
  buffer: BufferCode,
  names: ReadNames,
  keys: readonly SortColumn[],
  atMost: RoundLimit | null = null,
): string {
  const compare = emitComparison(code, buffer, names, keys);
  const only = keys.length === 1 ? keys[0] : undefined;
  const column = only === undefined ? undefined : names.columns[only.position];
  const number = only === undefined || column === undefined
    ? "null"
    : `{ column: ${column.column}, descending: ${only.descending}, nullsFirst: ${only.nullsFirst} }`;
  const sort = `${code.use("rowSort", rowSort)}(${names.buffer}.count, ${compare}, ${number})`;
  return code.define("order", `${code.work(sort, atMost)}.order`);
}

function emitKey(code: Emitter, buffer: BufferCode, names: ReadNames, key: SortColumn): void {
  const column = buffer.columns[key.position];
  const place = names.columns[key.position];
  if (column === undefined || place === undefined) return;
  const before = key.descending ? 1 : -1;
  const nullOrder = (first: string) =>
    `return ${first} ? ${key.nullsFirst ? -1 : 1} : ${key.nullsFirst ? 1 : -1};`;
  code.block("", "conditional", () => {
    const left = code.define("p", `${place.data}[a]`);
    const right = code.define("q", `${place.data}[b]`);
    const order = () => emitOrder(code, column.type, { left, right, holder: place.column, before });
    if (column.storage === "ref") {
      if (!column.nullable) return order();
      code.block(`if (${left} === null || ${right} === null) `, "conditional", () => {
        code.emit(`if (${left} !== ${right}) ${nullOrder(`${left} === null`)}`);
      });
      code.block("else ", "conditional", order);
      return;
    }
    if (place.nulls === "") return order();
    code.block(`if (${place.nulls}[a] !== 0 || ${place.nulls}[b] !== 0) `, "conditional", () => {
      code.emit(`if (${place.nulls}[a] !== ${place.nulls}[b]) ${nullOrder(`${place.nulls}[a] !== 0`)}`);
    });
    code.block("else ", "conditional", order);
  });
}

interface Pair {
  readonly left: string;
  readonly right: string;
  readonly holder: string;
  readonly before: number;
}

function emitOrder(code: Emitter, type: SqlType, { left, right, holder, before }: Pair): void {
  const byOrder = (expression: string) => {
    const order = code.define("o", expression);
    code.emit(`if (${order} !== 0) return ${before === -1 ? order : `-${order}`};`);
  };
  if (isFloat(type)) {
    code.emit(`if (${left} < ${right}) return ${before};`);
    code.emit(`if (${left} > ${right}) return ${-before};`);
    code.block(`if (${left} !== ${right}) `, "conditional", () => {
      byOrder(`${code.use("compareFloats", compareFloats)}(${left}, ${right})`);
    });
    return;
  }
  switch (formOf(type)) {
    case "number":
    case "boolean":
      code.emit(`if (${left} !== ${right}) return ${left} < ${right} ? ${before} : ${-before};`);
      return;
    case "number_or_bigint": {
      code.emit(`if (${left} < ${right}) return ${before};`);
      code.emit(`if (${left} > ${right}) return ${-before};`);
      code.block(`if (${left} !== ${right}) `, "conditional", () => {
        const first = code.define("p", `${left} === ${left} ? ${left} : ${holder}.getBig(a)`);
        const second = code.define("q", `${right} === ${right} ? ${right} : ${holder}.getBig(b)`);
        code.emit(`if (${first} !== ${second}) return ${first} < ${second} ? ${before} : ${-before};`);
      });
      return;
    }
    case "string":
      if (type.kind !== "json" && type.kind !== "jsonb") {
        const compare = type.kind === "char"
          ? code.use("compareCharacters", compareCharacters)
          : code.use("compareText", compareText);
        code.block(`if (${left} !== ${right}) `, "conditional", () => {
          byOrder(`${compare}(${left}, ${right})`);
        });
        return;
      }
      byOrder(orderCode(code, type, left, right));
      return;
    default:
      byOrder(orderCode(code, type, left, right));
  }
}
