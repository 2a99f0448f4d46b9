/**
 * The functions of `std.math` against exact arithmetic: numbers as bigints in units of 2^-2200, so that every double
 * is exact and so is every comparison. The largest errors, in units in the last place, stay below what the module's
 * head says.
 */
import assert from "node:assert/strict";
import { PackageAnalyzer } from "../check/package_analysis.ts";
import { Interpreter, RecordingHost } from "../interpret/interpreter.ts";

/** Bits behind the point while series are summed: enough for the worst cancellation of doubles. */
const BITS = 1400n;
const ONE = 1n << BITS;

function exact(value: number): { readonly mantissa: bigint; readonly exponent: number } {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const field = Number(bits >> 52n & 2047n);
  const fraction = bits & 0xfffffffffffffn;
  const mantissa = field === 0 ? fraction : fraction | 0x10000000000000n;
  return { mantissa: bits >> 63n === 1n ? -mantissa : mantissa, exponent: Math.max(field, 1) - 1075 };
}

/** The double in fixed point; doubles below 2^-1400 are cut. */
function fixed(value: number): bigint {
  const { mantissa, exponent } = exact(value);
  const shift = BITS + BigInt(exponent);
  return shift >= 0n ? mantissa << shift : mantissa >> -shift;
}

const times = (left: bigint, right: bigint) => left * right >> BITS;
const over = (left: bigint, right: bigint) => (left << BITS) / right;

function series(first: bigint, next: (term: bigint, index: bigint) => bigint): bigint {
  let sum = 0n;
  let term = first;
  for (let index = 1n; term !== 0n; index++) {
    sum += term;
    term = next(term, index);
    if (term === -1n) break;
  }
  return sum;
}

function arcTangentOfInverse(n: bigint): bigint {
  let power = ONE / n;
  return series(power, (_, index) => {
    power /= -n * n;
    return power / (2n * index + 1n);
  });
}

const PI = 4n * (4n * arcTangentOfInverse(5n) - arcTangentOfInverse(239n));

function exponential(x: bigint): bigint {
  // e^x = (e^(x / 2^k))^(2^k), with k guard bits lost; enough are there.
  const small = x >> 40n;
  let result = series(ONE, (term, index) => times(term, small) / index);
  for (let count = 0; count < 40; count++) result = times(result, result);
  return result;
}

function sine(x: bigint): bigint {
  const square = times(x, x);
  return series(x, (term, index) => -times(term, square) / (2n * index * (2n * index + 1n)));
}

/** Sine and cosine of any number: reduced by an exact multiple of pi / 2. */
function circular(value: number): { readonly sine: bigint; readonly cosine: bigint } {
  const x = fixed(value);
  const half = PI / 2n;
  const turns = (x + half / 2n) / half - (x + half / 2n < 0n ? 1n : 0n);
  const rest = x - turns * half;
  const s = sine(rest);
  const c = sine(half - rest);
  const quarter = Number((turns % 4n + 4n) % 4n);
  return { sine: [s, c, -s, -c][quarter] ?? 0n, cosine: [c, -s, -c, s][quarter] ?? 0n };
}

const LN2 = (() => {
  const third = ONE / 3n;
  let power = third;
  return 2n * series(third, (_, index) => {
    power /= 9n;
    return power / (2n * index + 1n);
  });
})();

function logarithm(value: number): bigint {
  const { mantissa, exponent } = exact(value);
  const length = mantissa.toString(2).length;
  const fraction = mantissa << BITS >> BigInt(length - 1);
  // ln f = 2 atanh((f - 1) / (f + 1)), after square roots have brought f near 1.
  let root = fraction;
  for (let count = 0; count < 12; count++) root = squareRoot(root << BITS);
  const ratio = over(root - ONE, root + ONE);
  const square = times(ratio, ratio);
  let power = ratio;
  const sum = series(ratio, (_, index) => {
    power = times(power, square);
    return power / (2n * index + 1n);
  });
  return (2n * sum << 12n) + BigInt(exponent + length - 1) * LN2;
}

function squareRoot(n: bigint): bigint {
  if (n < 2n) return n;
  let x = 1n << BigInt(n.toString(2).length + 1 >> 1);
  while (true) {
    const y = x + n / x >> 1n;
    if (y >= x) return x;
    x = y;
  }
}

function arcTangent(x: bigint): bigint {
  // Halved angles bring the series near zero.
  let small = x;
  for (let count = 0; count < 12; count++) {
    small = over(small, ONE + squareRoot((ONE << BITS) + small * small));
  }
  const square = times(small, small);
  let power = small;
  return series(small, (_, index) => {
    power = -times(power, square);
    return power / (2n * index + 1n);
  }) << 12n;
}

/** How far a double is from what is right, in its last places. */
function error(found: number, right: bigint): number {
  const { exponent } = exact(found);
  const difference = fixed(found) - right;
  const magnitude = difference < 0n ? -difference : difference;
  const unit = BITS + BigInt(exponent);
  return Number(magnitude >> unit - 20n) / 2 ** 20;
}

interface Measured {
  readonly name: string;
  readonly limit: number;
  readonly points: readonly (readonly number[])[];
  readonly right: (...args: number[]) => bigint;
}

/** Numbers from a seed that are spread over the range. */
function spread(low: number, high: number, count: number, seed: number): number[] {
  let state = seed;
  return Array.from({ length: count }, () => {
    state = Math.imul(state, 1664525) + 1013904223 | 0;
    const first = state >>> 0;
    state = Math.imul(state, 1664525) + 1013904223 | 0;
    return low + (high - low) * ((first + (state >>> 0) / 2 ** 32) / 2 ** 32);
  });
}

const one = (values: readonly number[]) => values.map((value) => [value]);
const scales = (count: number, seed: number, low: number, high: number) =>
  spread(low, high, count, seed).map((exponent, index) => 2 ** Math.floor(exponent) * (1 + index / count));

const angles = [
  ...spread(-8, 8, 80, 1),
  ...spread(-1e5, 1e5, 40, 2),
  ...scales(40, 3, 20, 1000),
  1e22,
  Math.PI,
  1e-5,
];
const SQUARE = (x: bigint) => times(x, x);

const measured: readonly Measured[] = [
  { name: "sin", limit: 1, points: one(angles), right: (x) => circular(x).sine },
  { name: "cos", limit: 1, points: one(angles), right: (x) => circular(x).cosine },
  {
    name: "tan",
    limit: 2,
    points: one(angles),
    right: (x) => over(circular(x).sine, circular(x).cosine),
  },
  {
    name: "atan",
    limit: 2,
    points: one([...spread(-2, 2, 100, 4), ...scales(40, 5, -20, 60)]),
    right: (x) => arcTangent(fixed(x)),
  },
  {
    name: "asin",
    limit: 2,
    points: one(spread(-1, 1, 100, 6)),
    right: (x) => arcTangent(over(fixed(x), squareRoot((ONE - SQUARE(fixed(x))) << BITS))),
  },
  {
    name: "acos",
    limit: 2,
    points: one(spread(-1, 1, 100, 7)),
    right: (x) => PI / 2n - arcTangent(over(fixed(x), squareRoot((ONE - SQUARE(fixed(x))) << BITS))),
  },
  {
    name: "atan2",
    limit: 2,
    points: spread(-3, 3, 100, 8).map((y, index) => [y, spread(-3, 3, 100, 9)[index] ?? 1]),
    right: (y, x) => {
      const base = arcTangent(over(fixed(y), fixed(x)));
      return x > 0 ? base : y >= 0 ? base + PI : base - PI;
    },
  },
  {
    name: "exp",
    limit: 1,
    points: one([...spread(-2, 2, 80, 10), ...spread(-700, 700, 80, 11)]),
    right: (x) => exponential(fixed(x)),
  },
  {
    name: "log",
    limit: 1,
    points: one([...spread(0.5, 2, 80, 12), ...scales(80, 13, -1000, 1000)]),
    right: logarithm,
  },
  {
    name: "log2",
    limit: 1,
    points: one([...spread(0.5, 2, 60, 14), ...scales(60, 15, -1000, 1000)]),
    right: (x) => over(logarithm(x), LN2),
  },
  {
    name: "log10",
    limit: 1,
    points: one([...spread(0.5, 2, 60, 16), ...scales(60, 17, -1000, 1000)]),
    right: (x) => over(logarithm(x), logarithm(10)),
  },
  {
    name: "pow",
    limit: 1,
    points: [...spread(0.01, 30, 80, 18), ...scales(60, 19, -300, 300)].map((x, index) => {
      const power = 2 ** (spread(-8, 9, 140, 20)[index] ?? 0);
      return [x, Math.abs(Math.log(x) * power) > 690 ? 600 / Math.log(x) : index % 2 === 0 ? power : -power];
    }),
    right: (x, y) => exponential(times(logarithm(x), fixed(y))),
  },
  {
    name: "hypot",
    limit: 2,
    points: spread(-3, 3, 60, 21).map((x, index) => [x, scales(60, 22, -60, 60)[index] ?? 1]),
    right: (x, y) => squareRoot(SQUARE(fixed(x)) + SQUARE(fixed(y)) << BITS),
  },
];

const source = `use std.math\n\n${
  measured.map(({ name, points }) => {
    const names = points[0]?.length === 2 ? ["x", "y"] : ["x"];
    const parameters = names.map((each) => `${each}: Float`).join(", ");
    return `pub fn call_${name}(${parameters}) -> Float {\n  math.${name}(${names.join(", ")})\n}\n`;
  }).join("\n")
}`;

const { program } = new PackageAnalyzer().analyze(new Map([["src/main.lang", source]]));

for (const { name, limit, points, right } of measured) {
  Deno.test(`math.${name} is at most ${limit} units in the last place from what is right`, () => {
    const fn = program?.root?.functions.find((each) => each.name === `call_${name}`);
    assert.ok(program !== null && fn !== undefined);
    const interpreter = new Interpreter(program, new RecordingHost());
    let largest = 0;
    for (const point of points) {
      const found = interpreter.call(fn, [...point]);
      assert.ok(
        typeof found === "number" && Number.isFinite(found),
        `${name}(${point.join(", ")}) is ${found}`,
      );
      const distance = error(found, right(...point));
      largest = Math.max(largest, distance);
      assert.ok(distance <= limit, `${name}(${point.join(", ")}) is ${found}, ${distance} units off`);
    }
    // An error of nothing would mean that nothing was compared.
    assert.ok(largest > 0.3, `${name}: ${largest}`);
  });
}
