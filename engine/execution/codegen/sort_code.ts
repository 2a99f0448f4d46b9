/**
 * Generated code that sorts the rows of a buffer: a comparison function over the buffer's columns.
 */
import type { SqlType } from "../../types/sql_type.ts";
import { compareFloats } from "../../types/compare.ts";
import { compareCharacters, compareText } from "../../types/text.ts";
import { type FirstKey, type RowComparison, RowSort, UniqueRows } from "../runtime/sorting.ts";
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
export function rowSort(count: number, compare: RowComparison, first: FirstKey | null): RowSort {
  return new RowSort(count, compare, first);
}

/** The first of equal rows, which is work to be done. */
export function uniqueRows(order: Int32Array, compare: RowComparison): UniqueRows {
  return new UniqueRows(order, compare);
}

/**
 * Emits a sort; the answer is the name of an Int32Array of row numbers in order. Equal rows keep their order.
 * `atMost` as of {@link Emitter.work}; `isDistinct`: the order has only the first of equal rows.
 */
export function emitSort(
  code: Emitter,
  buffer: BufferCode,
  names: ReadNames,
  keys: readonly SortColumn[],
  { atMost = null, isDistinct = false }: {
    readonly atMost?: RoundLimit | null;
    readonly isDistinct?: boolean;
  } = {},
): string {
  const compare = emitComparison(code, buffer, names, keys);
  const first = firstKey(buffer, names, keys);
  const sort = `${code.use("rowSort", rowSort)}(${names.buffer}.count, ${compare}, ${first})`;
  const order = code.define("order", `${code.work(sort, atMost)}.order`);
  if (!isDistinct) return order;
  const unique = `${code.use("uniqueRows", uniqueRows)}(${order}, ${compare})`;
  return code.define("order", `${code.work(unique, atMost)}.order`);
}

/** Whether the values are ordered as texts. */
export function isText(type: SqlType): boolean {
  return formOf(type) === "string" && type.kind !== "json" && type.kind !== "jsonb";
}

/** The {@link FirstKey} by which rows may be sorted before they are compared; null: there is none. */
function firstKey(buffer: BufferCode, names: ReadNames, keys: readonly SortColumn[]): string {
  const [key, ...more] = keys;
  const column = key === undefined ? undefined : names.columns[key.position];
  const type = key === undefined ? undefined : buffer.columns[key.position]?.type;
  if (key === undefined || column === undefined || type === undefined) return "null";
  if (!isText(type) && more.length > 0) return "null";
  const text = isText(type) ? type.kind === "char" ? `"char"` : `"text"` : "null";
  const { descending, nullsFirst } = key;
  return `{ column: ${column.column}, text: ${text}, descending: ${descending}, nullsFirst: ${nullsFirst} }`;
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
    const hasTexts = column.texts !== undefined;
    const order = () => emitOrder(code, column.type, { left, right, holder: place.column, hasTexts, before });
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
  /** They may be numbers of texts. */
  readonly hasTexts: boolean;
  readonly before: number;
}

function emitOrder(code: Emitter, type: SqlType, { left, right, holder, hasTexts, before }: Pair): void {
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
      if (isText(type)) {
        const compare = hasTexts
          ? `${holder}.texts.compare`
          : type.kind === "char"
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
