/**
 * count, sum, avg, min, max, and the boolean and bit aggregates.
 *
 * Sums of integers and scaled numerics are exact: a number takes the values as long as it stays within ±2^52, where
 * adding another value of at most 2^51 is exact; then it is moved to a bigint next to it. -0 as the number means that
 * no row has been seen. So the common case runs on plain numbers without allocation. Where the bounds of the values are
 * known, whoever folds them moves the number instead, between many rows; until then they may add up to 2^51 at most
 * (see `AggregateComponent.flush`). The three together are no more than 2^53.
 */
import { Decimal } from "../../types/decimal.ts";
import { checkInteger, normalize } from "../../types/number_or_bigint.ts";
import { compareValues } from "../../types/compare.ts";
import type { Interval } from "../../types/interval.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { compareText } from "../../types/text.ts";
import type { NumberOrBigint, SqlValue } from "../../types/value.ts";
import { addF64, bitOperation, floatOverflow } from "./arithmetic_operators.ts";
import type {
  AggregateComponent,
  AggregateDefinition,
  AggregateMerge,
  AggregateSlot,
  StepFacts,
  UseRuntime,
} from "./definition.ts";
import { magnitudeOf } from "./integer_range.ts";
import { type AggregateOverload, type AggregateParts, defineAggregate, ofPieces } from "./overload.ts";

const exactLimit = 2 ** 52;
const largestPlainValue = 2 ** 51;

const floatZero: AggregateSlot = { kind: "float", initial: "0" };
const sumNone: AggregateSlot = { kind: "float", initial: "-0" };
const floatNone: AggregateSlot = { kind: "float", initial: "NaN" };
const bigZero: AggregateSlot = { kind: "object", initial: "0n" };
const nothing: AggregateSlot = { kind: "object", initial: "null" };

/** True when every value of the type is a plain number within ±2^52. */
function isNarrow(type: SqlType): boolean {
  switch (type.kind) {
    case "i8":
    case "i16":
    case "i32":
    case "u8":
    case "u16":
    case "u32":
      return true;
    case "numeric":
      return type.scale !== undefined && type.precision !== undefined && type.precision <= 15;
    default:
      return false;
  }
}

/** Source of an exact sum's step over the slots `low` (float) and `big` (object); slots are read and written once. */
function exactStep(
  [low = "", big = ""]: readonly string[],
  x: string,
  narrow: boolean,
  facts: StepFacts | undefined,
): string {
  const range = facts?.ranges[0];
  // Whatever comes first makes 0 of -0.
  const sum = `${low} + (${x} + 0)`;
  if (facts?.flushed !== undefined) return `const ${facts.flushed} = ${sum}; ${low} = ${facts.flushed};`;
  const tests = [
    ...(range === undefined || range.high > 0 ? [`after$ > ${exactLimit}`] : []),
    ...(range === undefined || range.low < 0 ? [`after$ < -${exactLimit}`] : []),
  ].join(" || ");
  const plain = `{ const after$ = ${sum}; ` +
    `if (${tests === "" ? "false" : tests}) { ${big} += BigInt(after$); ${low} = 0; } ` +
    `else ${low} = after$; }`;
  if (narrow || range !== undefined && magnitudeOf(range) <= largestPlainValue) return plain;
  return `if (typeof ${x} === "number" && ${x} <= ${largestPlainValue} && ${x} >= -${largestPlainValue}) ${plain} ` +
    `else { ${big} += BigInt(${x}); ${low} += 0; }`;
}

/** The exact sum of the two slots; NULL when no row was seen. */
function exactSum(low: number, big: bigint): NumberOrBigint | null {
  if (Object.is(low, -0)) return null;
  return big === 0n ? low : normalize(big + BigInt(low));
}

function checkedSum(low: number, big: bigint): NumberOrBigint | null {
  const sum = exactSum(low, big);
  return sum === null ? null : checkInteger("i64", sum);
}

function exactParts(
  type: SqlType,
  finish: (low: string, big: string, use: UseRuntime) => string,
): Pick<AggregateParts, "components" | "slots" | "step" | "finish" | "parts"> {
  return {
    ...ofPieces([exactSumComponent(type)]),
    finish: ([low = "", big = ""], use) => finish(low, big, use),
    parts: { results: [exactSumOfPart(type)], merge: mergeExact },
  };
}

/** The exact sum over a part of the rows, whatever the range of the whole sum. */
function exactSumOfPart(type: SqlType): AggregateMerge["results"][number] {
  const scale = type.kind === "numeric" && type.scale !== undefined ? type.scale : 0;
  return {
    type: { kind: "numeric", scale },
    finish: ([low, big], use) => `${use("exactSum", exactSum)}(${low}, ${big})`,
  };
}

const mergeExact: AggregateMerge["merge"] = (slots, [x = ""]) => exactStep(slots, x, false, undefined);

/** The number of rows that a slot counts. */
function countOfPart(slot: number): AggregateMerge["results"][number] {
  return { type: { kind: "i64" }, finish: (slots) => `${slots[slot]}` };
}

/** The exact sum; without a row its number is -0. */
function exactSumComponent(type: SqlType): AggregateComponent {
  const narrow = isNarrow(type);
  return {
    key: "sum",
    slots: [sumNone, bigZero],
    step: (slots, [x = ""], _use, facts) => exactStep(slots, x, narrow, facts),
    flush: true,
  };
}

const countComponent: AggregateComponent = {
  key: "count",
  countsRows: true,
  slots: [floatZero],
  step: ([count]) => `${count} += 1;`,
};

function addDecimals(sum: Decimal | null, value: Decimal): Decimal {
  return sum === null ? value : sum.add(value);
}

function addIntervals(sum: Interval | null, value: Interval): Interval {
  return sum === null ? value : sum.add(value);
}

function addSingles(left: number, right: number): number {
  const sum = Math.fround(left + right);
  if (!Number.isFinite(sum) && Number.isFinite(left) && Number.isFinite(right)) throw floatOverflow();
  return sum;
}

/** Folds with a run-time function over one object slot that starts as NULL. */
function foldParts(
  name: string,
  // deno-lint-ignore no-explicit-any -- the value's form follows from the argument type
  fold: (state: any, value: any) => SqlValue,
): Pick<AggregateParts, "slots" | "step" | "finish" | "parts"> {
  return {
    slots: [nothing],
    step: ([state], [x], use) => `${state} = ${use(name, fold)}(${state}, ${x});`,
    finish: ([state]) => `${state}`,
    parts: "itself",
  };
}

function floatSum(add: (left: number, right: number) => number): AggregateParts {
  return {
    slots: [{ kind: "float", initial: "-0" }, floatZero],
    step: ([sum, seen], [x], use) => `${sum} = ${use("addFloat", add)}(${sum}, ${x}); ${seen} = 1;`,
    finish: ([sum, seen]) => `(${seen} === 0 ? null : ${sum})`,
    parts: "itself",
  };
}

function withoutPrecision(type: SqlType): SqlType {
  return type.kind === "numeric" && type.scale !== undefined ? { kind: "numeric", scale: type.scale } : type;
}

const sumSummary = "Sum; exact for integers and numerics, NULL over no rows.";

const sums: readonly AggregateOverload[] = [
  ...["i16", "i32"].map((takes): AggregateOverload => ({
    name: "sum",
    takes,
    returns: "i64",
    summary: sumSummary,
    parts: ([type = { kind: "i32" }]) =>
      exactParts(type, (low, big, use) => `${use("checkedSum", checkedSum)}(${low}, ${big})`),
  })),
  {
    name: "sum",
    takes: "i64",
    returns: "numeric",
    summary: sumSummary,
    parts: ([type = { kind: "i64" }]) => ({
      ...exactParts(type, (low, big, use) => `${use("exactSum", exactSum)}(${low}, ${big})`),
      returnType: { kind: "numeric", scale: 0 },
    }),
  },
  {
    name: "sum",
    takes: "numeric",
    returns: "numeric",
    summary: sumSummary,
    parts: ([type = { kind: "numeric" }]) =>
      type.kind === "numeric" && type.scale !== undefined
        ? {
          ...exactParts(type, (low, big, use) => `${use("exactSum", exactSum)}(${low}, ${big})`),
          argumentTypes: [type],
          returnType: withoutPrecision(type),
        }
        : foldParts("addDecimals", addDecimals),
  },
  { name: "sum", takes: "f32", returns: "f32", summary: sumSummary, parts: () => floatSum(addSingles) },
  { name: "sum", takes: "f64", returns: "f64", summary: sumSummary, parts: () => floatSum(addF64) },
  {
    name: "sum",
    takes: "interval",
    returns: "interval",
    summary: sumSummary,
    parts: () => foldParts("addIntervals", addIntervals),
  },
];

/** Exact average with PostgreSQL's scale for the quotient. */
function exactAverage(low: number, big: bigint, count: number, scale: number): Decimal | null {
  const sum = exactSum(low, big);
  return sum === null ? null : Decimal.of(sum, scale).divide(Decimal.fromInteger(count));
}

function decimalAverage(sum: Decimal | null, count: number): Decimal | null {
  return sum === null ? null : sum.divide(Decimal.fromInteger(count));
}

function intervalAverage(sum: Interval | null, count: number): Interval | null {
  return sum === null ? null : sum.divide(count);
}

const averageSummary = "Average; exact for integers and numerics, NULL over no rows.";

function scaledAverage(type: SqlType, scale: number): AggregateParts {
  return {
    argumentTypes: [type],
    ...ofPieces([exactSumComponent(type), countComponent]),
    finish: ([low, big, count], use) =>
      `${use("exactAverage", exactAverage)}(${low}, ${big}, ${count}, ${scale})`,
    parts: {
      results: [exactSumOfPart(type), countOfPart(2)],
      merge: (slots, [sum = "", rows], use) => `${mergeExact(slots, [sum], use)} ${slots[2]} += ${rows};`,
    },
  };
}

/** Sum and count of each part, in the two slots of the average. */
function averageOfParts(
  type: SqlType,
  name: string,
  // deno-lint-ignore no-explicit-any -- the sum's form follows from the type
  add: (sum: any, value: any) => SqlValue,
): AggregateMerge {
  return {
    results: [{ type, finish: ([sum]) => `${sum}` }, countOfPart(1)],
    merge: ([sum, count], [x, rows], use) => `${sum} = ${use(name, add)}(${sum}, ${x}); ${count} += ${rows};`,
  };
}

const averages: readonly AggregateOverload[] = [
  ...["i16", "i32", "i64"].map((takes): AggregateOverload => ({
    name: "avg",
    takes,
    returns: "numeric",
    summary: averageSummary,
    parts: ([type = { kind: "i64" }]) => scaledAverage(type, 0),
  })),
  {
    name: "avg",
    takes: "numeric",
    returns: "numeric",
    summary: averageSummary,
    parts: ([type = { kind: "numeric" }]) =>
      type.kind === "numeric" && type.scale !== undefined ? scaledAverage(type, type.scale) : {
        slots: [nothing, floatZero],
        step: ([sum, count], [x], use) =>
          `${sum} = ${use("addDecimals", addDecimals)}(${sum}, ${x}); ${count} += 1;`,
        finish: ([sum, count], use) => `${use("decimalAverage", decimalAverage)}(${sum}, ${count})`,
        parts: averageOfParts({ kind: "numeric" }, "addDecimals", addDecimals),
      },
  },
  ...["f32", "f64"].map((takes): AggregateOverload => ({
    name: "avg",
    takes,
    returns: "f64",
    summary: averageSummary,
    parts: () => ({
      slots: [floatZero, floatZero],
      step: ([sum, count], [x], use) => `${sum} = ${use("addFloat", addF64)}(${sum}, ${x}); ${count} += 1;`,
      finish: ([sum, count]) => `(${count} === 0 ? null : ${sum} / ${count})`,
      parts: averageOfParts({ kind: "f64" }, "addFloat", addF64),
    }),
  })),
  {
    name: "avg",
    takes: "interval",
    returns: "interval",
    summary: averageSummary,
    parts: () => ({
      slots: [nothing, floatZero],
      step: ([sum, count], [x], use) =>
        `${sum} = ${use("addIntervals", addIntervals)}(${sum}, ${x}); ${count} += 1;`,
      finish: ([sum, count], use) => `${use("intervalAverage", intervalAverage)}(${sum}, ${count})`,
      parts: averageOfParts({ kind: "interval" }, "addIntervals", addIntervals),
    }),
  },
];

const counts: readonly AggregateOverload[] = [
  {
    name: "count",
    takes: "",
    returns: "i64",
    summary: "Number of rows, written count(*).",
    parts: () => countParts(),
  },
  {
    name: "count",
    takes: "any",
    returns: "i64",
    summary: "Number of rows in which the argument is not NULL.",
    parts: () => countParts(),
  },
];

function countParts(): AggregateParts {
  return {
    ...ofPieces([countComponent]),
    finish: ([count]) => `${count}`,
    parts: { results: [countOfPart(0)], merge: ([count], [rows]) => `${count} += ${rows};` },
  };
}

/** min and max. `sign` 1 keeps the least, -1 the greatest. */
function extremeParts(type: SqlType, least: boolean): AggregateParts {
  const keeps = least ? "<=" : ">=";
  switch (type.kind) {
    case "i8":
    case "i16":
    case "i32":
    case "u8":
    case "u16":
    case "u32":
    case "oid":
    case "date":
      // Comparisons with NaN, the state before the first row, are false.
      return {
        slots: [floatNone],
        step: ([state], [x]) => `if (!(${state} ${keeps} ${x})) ${state} = ${x};`,
        finish: ([state]) => `(${state} === ${state} ? ${state} : null)`,
        parts: "itself",
      };
    case "i64":
    case "u64":
    case "time":
    case "timestamp":
    case "timestamptz":
      return mixedExtreme(keeps);
    case "numeric":
      if (type.scale !== undefined) {
        const narrow = isNarrow(type);
        return {
          ...(narrow ? extremeParts({ kind: "i32" }, least) : mixedExtreme(keeps)),
          argumentTypes: [type],
          returnType: withoutPrecision(type),
        };
      }
      return generalExtreme(type, least);
    case "f32":
    case "f64": {
      // Of equal values the last one is kept: 0 and -0 print differently.
      const better = least
        ? (x: number, state: number) => x <= state || state !== state
        : (x: number, state: number) => x >= state || x !== x;
      return {
        slots: [floatZero, floatZero],
        step: ([state, seen], [x], use) =>
          `if (${seen} === 0 || ${use("better", better)}(${x}, ${state})) ${state} = ${x}; ${seen} = 1;`,
        finish: ([state, seen]) => `(${seen} === 0 ? null : ${state})`,
        parts: "itself",
      };
    }
    case "text":
    case "varchar":
    case "char":
    case "name":
      return {
        returnType: type,
        slots: [nothing],
        step: ([state], [x], use) =>
          `if (${state} === null || ${use("compareText", compareText)}(${x}, ${state}) ${
            least ? "<" : ">"
          } 0) ${state} = ${x};`,
        finish: ([state]) => `${state}`,
        parts: "itself",
      };
    default:
      return generalExtreme(type, least);
  }
}

function mixedExtreme(keeps: string): AggregateParts {
  return {
    slots: [{ kind: "object", initial: "NaN" }],
    step: ([state], [x]) => `if (!(${state} ${keeps} ${x})) ${state} = ${x};`,
    finish: ([state]) => `(${state} === ${state} ? ${state} : null)`,
    parts: "itself",
  };
}

function generalExtreme(type: SqlType, least: boolean): AggregateParts {
  const choose = (state: SqlValue, value: SqlValue) => {
    if (state === null || value === null) return value;
    const order = compareValues(type, value, state);
    // Of equal values the last one is kept: 1.0 and 1.00 print differently.
    return (least ? order <= 0 : order >= 0) ? value : state;
  };
  return foldParts("extreme", choose);
}

const extremeKeys = [
  "i8",
  "i16",
  "i32",
  "i64",
  "u8",
  "u16",
  "u32",
  "u64",
  "numeric",
  "f32",
  "f64",
  "text",
  "char",
  "oid",
  "date",
  "time",
  "timestamp",
  "timestamptz",
  "interval",
  "anyenum",
  "anyarray",
];

const extremes: readonly AggregateOverload[] = ["min", "max"].flatMap((name) =>
  extremeKeys.map((takes): AggregateOverload => ({
    name,
    takes,
    returns: takes,
    summary: name === "min" ? "The least value." : "The greatest value.",
    parts: ([type]) => type === undefined ? undefined : extremeParts(type, name === "min"),
  }))
);

const truths: readonly AggregateOverload[] = (["bool_and", "every", "bool_or"] as const).map((name) => {
  const decided = name === "bool_or" ? 1 : 0;
  return {
    name,
    takes: "bool",
    returns: "bool",
    summary: name === "bool_or" ? "Whether one value is true." : "Whether all values are true.",
    parts: () => ({
      slots: [{ kind: "float", initial: "-1" }],
      step: ([state], [x]) => `if (${state} !== ${decided}) ${state} = ${x} ? 1 : 0;`,
      finish: ([state]) => `(${state} === -1 ? null : ${state} === 1)`,
      parts: "itself",
    }),
  };
});

const bits: readonly AggregateOverload[] = ([["bit_and", "&"], ["bit_or", "|"], ["bit_xor", "#"]] as const)
  .flatMap(([name, symbol]) =>
    ["i16", "i32", "i64"].map((takes): AggregateOverload => {
      const operation = bitOperation(symbol);
      const fold = (state: NumberOrBigint | null, value: NumberOrBigint) =>
        state === null ? value : operation(state, value);
      return {
        name,
        takes,
        returns: takes,
        summary: `Bitwise ${symbol} of all values.`,
        parts: () => foldParts(name, fold),
      };
    })
  );

/** count, sum, avg, min, max and the boolean and bit aggregates. */
export const basicAggregates: readonly AggregateDefinition[] = [
  ...counts,
  ...sums,
  ...averages,
  ...extremes,
  ...truths,
  ...bits,
].map(defineAggregate);
