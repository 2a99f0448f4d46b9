/** Bounded arithmetic is exact, stays within its range, and is refused where it might not be. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { SeededRandom } from "../../base/random.ts";
import { boundedForm, type IntegerRange, isWithin, SAFE_RANGE } from "./integer_range.ts";

const exact = {
  "+": (a: bigint, b: bigint) => a + b,
  "-": (a: bigint, b: bigint) => a - b,
  "*": (a: bigint, b: bigint) => a * b,
} as const;

function evaluate(text: string, a: number, b: number): number {
  return new Function("a", "b", `return ${text};`)(a, b);
}

/** Operators call no functions. */
const unused = (name: string) => name;

Deno.test("boundedForm() gives exact results within its range for operands within theirs", () => {
  const random = new SeededRandom(20);
  const end = () => random.between(-1, 1) * Math.floor(2 ** (random.float() * 50));
  let bounded = 0;
  for (let round = 0; round < 5000; round++) {
    const ranges = [0, 1].map((): IntegerRange => {
      const [low = 0, high = 0] = [end(), end()].sort((a, b) => a - b);
      return { low: low + 0, high: high + 0 };
    });
    const symbol = (["+", "-", "*"] as const)[random.below(3)] ?? "+";
    const factors = [10 ** random.below(4), 10 ** random.below(4)] as const;
    const form = boundedForm(symbol, SAFE_RANGE, factors)(["a", "b"], ranges, unused);
    if (form === undefined) continue;
    bounded++;
    const [a = 0, b = 0] = ranges.map(({ low, high }) => random.between(low, high));
    const expected = exact[symbol](BigInt(a * factors[0]), BigInt(b * factors[1]));
    const result = evaluate(form.code, a, b);
    strictEqual(BigInt(result), expected, `${a} ${symbol} ${b} by ${form.code}`);
    ok(!Object.is(result, -0), `${a} ${symbol} ${b} by ${form.code}`);
    ok(result >= form.range.low && result <= form.range.high, `${result} in ${JSON.stringify(form.range)}`);
  }
  ok(bounded > 1000, `${bounded} of them were bounded`);
});

Deno.test("boundedForm() refuses what may leave the safe integers or the allowed range", () => {
  const wide = { low: 0, high: 2 ** 40 };
  strictEqual(boundedForm("*", SAFE_RANGE)(["a", "b"], [wide, wide], unused), undefined);
  strictEqual(boundedForm("+", SAFE_RANGE, [10 ** 6, 1])(["a", "b"], [wide, wide], unused), undefined);
  const byte = { low: -128, high: 127 };
  strictEqual(boundedForm("+", byte)(["a", "b"], [byte, byte], unused), undefined);
  strictEqual(boundedForm("+", SAFE_RANGE)(["a"], [byte], unused), undefined);
  deepStrictEqual(boundedForm("-", SAFE_RANGE)(["a", "b"], [byte, byte], unused)?.range, {
    low: -255,
    high: 255,
  });
  ok(isWithin(byte, SAFE_RANGE) && !isWithin(SAFE_RANGE, byte));
});
