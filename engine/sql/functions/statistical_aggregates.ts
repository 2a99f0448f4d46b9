/**
 * The variance and regression aggregates, and the ordered-set aggregates.
 *
 * Over integers and numerics, variances are calculated exactly from count, sum and sum of squares, and rounded as
 * PostgreSQL rounds. Over floats they use the updating formulas of Youngs and Cramer, "Some results relevant to
 * choice of sum and sum-of-product algorithms" (Technometrics 13, 1971), as PostgreSQL does.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { Decimal } from "../../types/decimal.ts";
import { compareValues } from "../../types/compare.ts";
import { SqlArray } from "../../types/sql_array.ts";
import { add, multiply, normalize } from "../../types/number_or_bigint.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { NumberOrBigint, SqlValue } from "../../types/value.ts";
import { floatOverflow } from "./arithmetic_operators.ts";
import type { AggregateDefinition, AggregateSlot } from "./definition.ts";
import { type AggregateOverload, type AggregateParts, defineAggregate } from "./overload.ts";

const zero: AggregateSlot = { kind: "float", initial: "0" };
const objectZero: AggregateSlot = { kind: "object", initial: "0" };
const nothing: AggregateSlot = { kind: "object", initial: "null" };

interface VarianceKind {
  readonly names: readonly string[];
  readonly summary: string;
  readonly sample: boolean;
  readonly root: boolean;
}

const varianceKinds: readonly VarianceKind[] = [
  { names: ["stddev_pop"], summary: "Population standard deviation.", sample: false, root: true },
  { names: ["stddev_samp", "stddev"], summary: "Sample standard deviation.", sample: true, root: true },
  { names: ["var_pop"], summary: "Population variance.", sample: false, root: false },
  { names: ["var_samp", "variance"], summary: "Sample variance.", sample: true, root: false },
];

/** √value rounded half up to a scale. */
function squareRootToScale(value: Decimal, scale: number): Decimal {
  // Two more digits than wanted, then one rounding of the integer root.
  const shifted = BigInt(value.toScaled(Math.max(value.scale, 2 * scale + 2)));
  const excess = Math.max(value.scale, 2 * scale + 2) - (2 * scale + 2);
  const root = integerSquareRoot(shifted / 10n ** BigInt(excess));
  return Decimal.of(normalize(root), scale + 1).round(scale);
}

function integerSquareRoot(value: bigint): bigint {
  if (value < 2n) return value;
  let root = 1n << BigInt((value.toString(2).length + 1) >> 1);
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/** From count, Σx and Σx², exactly; NULL when there are too few rows. */
function exactVariance(
  count: number,
  sum: Decimal,
  squares: Decimal,
  sample: boolean,
  root: boolean,
): Decimal | null {
  if (count === 0 || (sample && count === 1)) return null;
  if (!sum.isFinite || !squares.isFinite) return Decimal.NAN;
  const rows = Decimal.fromInteger(count);
  const numerator = rows.multiply(squares).subtract(sum.multiply(sum));
  if (numerator.sign <= 0) return Decimal.ZERO;
  const denominator = rows.multiply(Decimal.fromInteger(sample ? count - 1 : count));
  const variance = numerator.divide(denominator);
  return root ? squareRootToScale(variance, variance.scale) : variance;
}

function scaledVariance(kind: VarianceKind, type: SqlType, scale: number): AggregateParts {
  const finish = (count: number, sum: NumberOrBigint, squares: NumberOrBigint) =>
    exactVariance(count, Decimal.of(sum, scale), Decimal.of(squares, 2 * scale), kind.sample, kind.root);
  return {
    argumentTypes: [type],
    slots: [zero, objectZero, objectZero],
    step: ([count, sum, squares], [x], use) => {
      const plus = use("add", add);
      return `${count} += 1; ${sum} = ${plus}(${sum}, ${x}); ` +
        `${squares} = ${plus}(${squares}, ${use("multiply", multiply)}(${x}, ${x}));`;
    },
    finish: ([count, sum, squares], use) => `${use("variance", finish)}(${count}, ${sum}, ${squares})`,
    parts: {
      results: [
        { type: { kind: "i64" }, finish: ([count]) => `${count}` },
        { type: { kind: "numeric", scale }, finish: ([, sum]) => `${sum}` },
        { type: { kind: "numeric", scale: 2 * scale }, finish: ([, , squares]) => `${squares}` },
      ],
      merge: ([count, sum, squares], [rows, x, y], use) => {
        const plus = use("add", add);
        return `${count} += ${rows}; ${sum} = ${plus}(${sum}, ${x}); ${squares} = ${plus}(${squares}, ${y});`;
      },
    },
  };
}

function decimalVariance(kind: VarianceKind): AggregateParts {
  const plus = (sum: Decimal | null, value: Decimal) => sum === null ? value : sum.add(value);
  const plusSquare = (sum: Decimal | null, value: Decimal) => plus(sum, value.multiply(value));
  const finish = (count: number, sum: Decimal | null, squares: Decimal | null) =>
    exactVariance(count, sum ?? Decimal.ZERO, squares ?? Decimal.ZERO, kind.sample, kind.root);
  return {
    slots: [zero, nothing, nothing],
    step: ([count, sum, squares], [x], use) =>
      `${count} += 1; ${sum} = ${use("plus", plus)}(${sum}, ${x}); ` +
      `${squares} = ${use("plusSquare", plusSquare)}(${squares}, ${x});`,
    finish: ([count, sum, squares], use) => `${use("variance", finish)}(${count}, ${sum}, ${squares})`,
    parts: {
      results: [
        { type: { kind: "i64" }, finish: ([count]) => `${count}` },
        { type: { kind: "numeric" }, finish: ([, sum]) => `${sum}` },
        { type: { kind: "numeric" }, finish: ([, , squares]) => `${squares}` },
      ],
      merge: ([count, sum, squares], [rows, x, y], use) => {
        const add = use("plus", plus);
        return `${count} += ${rows}; ${sum} = ${add}(${sum}, ${x}); ${squares} = ${add}(${squares}, ${y});`;
      },
    },
  };
}

/** Deviations that are not finite although the value and the sum before it are: an overflow. */
function checkSquares(value: number, before: number): void {
  if (Number.isFinite(value) && Number.isFinite(before)) throw floatOverflow();
}

/** Sums of deviations that became infinite although the values and the sums before them are finite: an overflow. */
function checkDeviations(
  x: number,
  sxBefore: number,
  sx: number,
  sxx: number,
  y: number,
  syBefore: number,
  sy: number,
  syy: number,
  sxy: number,
): void {
  const [xIsFinite, yIsFinite] = [
    !isInfinite(x) && !isInfinite(sxBefore),
    !isInfinite(y) && !isInfinite(syBefore),
  ];
  if (
    ((isInfinite(sx) || isInfinite(sxx)) && xIsFinite) ||
    ((isInfinite(sy) || isInfinite(syy)) && yIsFinite) ||
    (isInfinite(sxy) && xIsFinite && yIsFinite)
  ) throw floatOverflow();
}

function isInfinite(value: number): boolean {
  return Math.abs(value) === Infinity;
}

function floatVariance(kind: VarianceKind): AggregateParts {
  const finish = (count: number, squares: number) => {
    if (count === 0 || (kind.sample && count === 1)) return null;
    const variance = squares / (kind.sample ? count - 1 : count);
    return kind.root ? Math.sqrt(variance) : variance;
  };
  return {
    slots: [zero, zero, zero],
    step: ([n, sum, squares], [x], use) =>
      `{ const before = ${sum}; ${n} += 1; ${sum} += ${x}; ` +
      `if (${n} > 1) { const d = ${x} * ${n} - ${sum}; ${squares} += d * d / (${n} * (${n} - 1)); } ` +
      `else if (!Number.isFinite(${x})) ${squares} = NaN; ` +
      `if (!Number.isFinite(${squares})) ${use("checkSquares", checkSquares)}(${x}, before); }`,
    finish: ([n, _sum, squares], use) => `${use("variance", finish)}(${n}, ${squares})`,
    parts: {
      results: [
        { type: { kind: "i64" }, finish: ([n]) => `${n}` },
        { type: { kind: "f64" }, finish: ([, sum]) => `${sum}` },
        { type: { kind: "f64" }, finish: ([, , squares]) => `${squares}` },
      ],
      // The pairwise form of the updating formula.
      merge: ([n, sum, squares], [rows, x, y], use) =>
        `if (${rows} > 0) { const all = ${n} + ${rows}; const before = ${squares}; ` +
        `const d = ${n} === 0 ? 0 : ${sum} / ${n} - ${x} / ${rows}; ` +
        `${squares} += ${y} + ${n} * ${rows} * d * d / all; ` +
        `if (!Number.isFinite(${squares}) && Number.isFinite(before) && Number.isFinite(${y})) ` +
        `${use("checkSquares", checkSquares)}(${x}, ${sum}); ` +
        `${n} = all; ${sum} += ${x}; }`,
    },
  };
}

const variances: readonly AggregateOverload[] = varianceKinds.flatMap((kind) =>
  kind.names.flatMap((name): AggregateOverload[] => [
    ...["i16", "i32", "i64"].map((takes): AggregateOverload => ({
      name,
      takes,
      returns: "numeric",
      summary: kind.summary,
      parts: ([type = { kind: "i64" }]) => scaledVariance(kind, type, 0),
    })),
    {
      name,
      takes: "numeric",
      returns: "numeric",
      summary: kind.summary,
      parts: ([type]) =>
        type?.kind === "numeric" && type.scale !== undefined
          ? scaledVariance(kind, type, type.scale)
          : decimalVariance(kind),
    },
    ...["f32", "f64"].map((takes): AggregateOverload => ({
      name,
      takes,
      returns: "f64",
      summary: kind.summary,
      parts: () => floatVariance(kind),
    })),
  ])
);

/** The sums that all regression aggregates finish from: N, Sx, Sxx, Sy, Syy, Sxy (deviations, as PostgreSQL). */
type RegressionFinish = (
  n: number,
  sx: number,
  sxx: number,
  sy: number,
  syy: number,
  sxy: number,
) => number | null;

function regression(name: string, summary: string, finish: RegressionFinish): AggregateOverload {
  return {
    name,
    takes: "f64, f64",
    returns: "f64",
    summary,
    parts: () => ({
      slots: [zero, zero, zero, zero, zero, zero],
      // PostgreSQL's order of arguments: the dependent variable Y first, then X.
      step: ([n, sx, sxx, sy, syy, sxy], [y, x], use) =>
        `{ const sxBefore = ${sx}; const syBefore = ${sy}; ` +
        `${n} += 1; ${sx} += ${x}; ${sy} += ${y}; if (${n} > 1) { ` +
        `const dx = ${x} * ${n} - ${sx}; const dy = ${y} * ${n} - ${sy}; const scale = 1 / (${n} * (${n} - 1)); ` +
        `${sxx} += dx * dx * scale; ${syy} += dy * dy * scale; ${sxy} += dx * dy * scale; ` +
        `if (!Number.isFinite(${sxx}) || !Number.isFinite(${syy}) || !Number.isFinite(${sxy})) { ` +
        `${
          use("checkDeviations", checkDeviations)
        }(${x}, sxBefore, ${sx}, ${sxx}, ${y}, syBefore, ${sy}, ${syy}, ${sxy}); ` +
        `if (!Number.isFinite(${sxx})) ${sxx} = NaN; if (!Number.isFinite(${syy})) ${syy} = NaN; ` +
        `if (!Number.isFinite(${sxy})) ${sxy} = NaN; } } else { ` +
        `if (!Number.isFinite(${x})) { ${sxx} = NaN; ${sxy} = NaN; } ` +
        `if (!Number.isFinite(${y})) { ${syy} = NaN; ${sxy} = NaN; } } }`,
      finish: (slots, use) => `${use(name, finish)}(${slots.join(", ")})`,
    }),
  };
}

const regressions: readonly AggregateOverload[] = [
  {
    name: "regr_count",
    takes: "f64, f64",
    returns: "i64",
    summary: "Number of rows in which both are not NULL.",
    parts: () => ({ slots: [zero], step: ([n]) => `${n} += 1;`, finish: ([n]) => `${n}` }),
  },
  regression(
    "regr_sxx",
    "Sum of squares of the independent variable X.",
    (n, _sx, sxx) => n < 1 ? null : sxx,
  ),
  regression(
    "regr_syy",
    "Sum of squares of the dependent variable Y.",
    (n, _sx, _sxx, _sy, syy) => n < 1 ? null : syy,
  ),
  regression(
    "regr_sxy",
    "Sum of products of the variables.",
    (n, _sx, _sxx, _sy, _syy, sxy) => n < 1 ? null : sxy,
  ),
  regression("regr_avgx", "Average of the independent variable X.", (n, sx) => n < 1 ? null : sx / n),
  regression(
    "regr_avgy",
    "Average of the dependent variable Y.",
    (n, _sx, _sxx, sy) => n < 1 ? null : sy / n,
  ),
  regression("covar_pop", "Population covariance.", (n, _sx, _sxx, _sy, _syy, sxy) => n < 1 ? null : sxy / n),
  regression(
    "covar_samp",
    "Sample covariance.",
    (n, _sx, _sxx, _sy, _syy, sxy) => n < 2 ? null : sxy / (n - 1),
  ),
  regression(
    "corr",
    "Correlation coefficient.",
    (n, _sx, sxx, _sy, syy, sxy) => n < 1 || sxx === 0 || syy === 0 ? null : sxy / Math.sqrt(sxx * syy),
  ),
  regression("regr_r2", "Square of the correlation coefficient.", (n, _sx, sxx, _sy, syy, sxy) => {
    if (n < 1 || sxx === 0) return null;
    return syy === 0 ? 1 : (sxy * sxy) / (sxx * syy);
  }),
  regression(
    "regr_slope",
    "Slope of the least-squares line.",
    (n, _sx, sxx, _sy, _syy, sxy) => n < 1 || sxx === 0 ? null : sxy / sxx,
  ),
  regression(
    "regr_intercept",
    "Intercept of the least-squares line.",
    (n, sx, sxx, sy, _syy, sxy) => n < 1 || sxx === 0 ? null : (sy - sx * sxy / sxx) / n,
  ),
];

function checkFraction(fraction: number): void {
  if (fraction >= 0 && fraction <= 1) return;
  throw new DatabaseError(
    SQLSTATE.numericValueOutOfRange,
    `percentile value ${fraction} is not between 0 and 1`,
  );
}

/** How a percentile is made of values in the order of WITHIN GROUP. */
interface Percentile {
  /** Positions of the values that it is made of, ascending, of so many. */
  readonly positions: (fraction: number, count: number) => readonly number[];
  readonly value: (fraction: number, count: number, at: (position: number) => SqlValue) => SqlValue;
}

const continuous: Percentile = {
  positions: (fraction, count) => {
    const position = fraction * (count - 1);
    return [Math.floor(position), Math.ceil(position)];
  },
  value: (fraction, count, at) => {
    const position = fraction * (count - 1);
    const lower = Number(at(Math.floor(position)));
    if (Number.isInteger(position)) return lower;
    const upper = Number(at(Math.ceil(position)));
    return lower + (upper - lower) * (position - Math.floor(position));
  },
};

function discretePosition(fraction: number, count: number): number {
  return Math.max(1, Math.ceil(fraction * count)) - 1;
}

const discrete: Percentile = {
  positions: (fraction, count) => [discretePosition(fraction, count)],
  value: (fraction, count, at) => at(discretePosition(fraction, count)),
};

/** Of the values of a group, which come in order, those that its percentiles are made of. */
class Percentiles<Fractions extends number | SqlArray> {
  readonly fractions: Fractions;
  readonly #percentile: Percentile;
  readonly #count: number;
  /** Ascending. */
  readonly #positions: readonly number[];
  readonly #values = new Map<number, SqlValue>();
  #row = 0;

  constructor(fractions: Fractions, percentile: Percentile, count: number) {
    this.fractions = fractions;
    this.#percentile = percentile;
    this.#count = count;
    const given = typeof fractions === "number" ? [fractions] : fractions.elements;
    const wanted = new Set<number>();
    for (const fraction of given) {
      if (fraction === null) continue;
      checkFraction(Number(fraction));
      for (const position of percentile.positions(Number(fraction), count)) wanted.add(position);
    }
    this.#positions = [...wanted].sort((left, right) => left - right);
  }

  add(value: SqlValue): void {
    if (this.#positions[this.#values.size] === this.#row) this.#values.set(this.#row, value);
    this.#row++;
  }

  at(fraction: SqlValue): SqlValue {
    if (fraction === null) return null;
    const value = (position: number): SqlValue => this.#values.get(position) ?? null;
    return this.#percentile.value(Number(fraction), this.#count, value);
  }
}

function orderedSet<Fractions extends number | SqlArray>(
  { name, takes, returns, summary }: Pick<AggregateOverload, "name" | "takes" | "returns" | "summary">,
  percentile: Percentile,
  finish: (state: Percentiles<Fractions>) => SqlValue,
): AggregateOverload {
  const step = (
    state: Percentiles<Fractions> | null,
    fractions: Fractions,
    value: SqlValue,
    count: number,
  ) => {
    const made = state ?? new Percentiles(fractions, percentile, count);
    made.add(value);
    return made;
  };
  return {
    ...{ name, takes, returns, summary },
    orderSensitive: true,
    needsCount: true,
    parts: () => ({
      slots: [nothing],
      step: ([state], [fractions, x], use, facts) =>
        `${state} = ${use("percentiles", step)}(${state}, ${fractions}, ${x}, ${facts?.count});`,
      finish: ([state], use) => `(${state} === null ? null : ${use(name, finish)}(${state}))`,
    }),
  };
}

function one(state: Percentiles<number>): SqlValue {
  return state.at(state.fractions);
}

/** One percentile for each fraction, in an array of the same form. */
function many(state: Percentiles<SqlArray>): SqlArray {
  const { elements, dimensions, lowerBounds } = state.fractions;
  return new SqlArray(elements.map((fraction) => state.at(fraction)), dimensions, lowerBounds);
}

/** Runs of equal values in sorted order: the first longest one wins. */
interface Runs {
  value: NonNullable<SqlValue>;
  length: number;
  best: NonNullable<SqlValue>;
  bestLength: number;
}

function stepMode(type: SqlType): (state: Runs | null, value: NonNullable<SqlValue>) => Runs {
  return (state, value) => {
    if (state === null) return { value, length: 1, best: value, bestLength: 1 };
    if (compareValues(type, state.value, value) === 0) state.length++;
    else {
      state.value = value;
      state.length = 1;
    }
    if (state.length > state.bestLength) {
      state.best = state.value;
      state.bestLength = state.length;
    }
    return state;
  };
}

const orderedSets: readonly AggregateOverload[] = [
  orderedSet(
    {
      name: "percentile_cont",
      takes: "f64, f64",
      returns: "f64",
      summary: "Continuous percentile; WITHIN GROUP (ORDER BY value) gives the second argument.",
    },
    continuous,
    one,
  ),
  orderedSet(
    {
      name: "percentile_disc",
      takes: "f64, anyelement",
      returns: "anyelement",
      summary:
        "First value whose position reaches the fraction; WITHIN GROUP (ORDER BY value) gives the second argument.",
    },
    discrete,
    one,
  ),
  orderedSet(
    {
      name: "percentile_cont",
      takes: "f64[], f64",
      returns: "f64[]",
      summary: "Continuous percentiles for an array of fractions.",
    },
    continuous,
    many,
  ),
  orderedSet(
    {
      name: "percentile_disc",
      takes: "f64[], anyelement",
      returns: "anyarray",
      summary: "Discrete percentiles for an array of fractions.",
    },
    discrete,
    many,
  ),
  {
    name: "mode",
    takes: "anyelement",
    returns: "anyelement",
    summary: "The most frequent value; WITHIN GROUP (ORDER BY value) gives the argument.",
    orderSensitive: true,
    parts: ([type]) =>
      type === undefined ? undefined : {
        slots: [nothing],
        step: ([state], [x], use) => `${state} = ${use("mode", stepMode(type))}(${state}, ${x});`,
        finish: ([state]) => `(${state} === null ? null : ${state}.best)`,
      },
  },
];

/** Variances, regressions and ordered-set aggregates. */
export const statisticalAggregates: readonly AggregateDefinition[] = [
  ...variances,
  ...regressions,
  ...orderedSets,
].map(defineAggregate);
