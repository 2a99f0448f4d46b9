/** The steps of functions and operators over large values. */
import assert from "node:assert/strict";
import { assertDefined } from "../../base/assert.ts";
import { gas } from "../../base/gas.ts";
import { testEvaluation } from "../../execution/testing/fixture.ts";
import { Decimal } from "../../types/decimal.ts";
import { SqlArray } from "../../types/sql_array.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import { fixedSteps, metered, meteredWithPattern } from "./call_steps.ts";
import type { BoundFunction } from "./definition.ts";
import { allDefinitions, resolveFunction, resolveOperator } from "./registry.ts";
import { expandSignature } from "./overload.ts";
import { isPattern, typeOfKey } from "./type_family.ts";

const TEXT: SqlType = { kind: "text" };
const SIZE = 10_000;

/** The steps of a call, and the code of its error. */
function stepsOf(
  called: BoundFunction,
  args: readonly SqlValue[],
): { readonly steps: number; readonly code: string } {
  let code = "";
  gas.beginTurn();
  try {
    gas.run(
      { what: called.name },
      () => metered(called).evaluate(testEvaluation, ...args),
      fixedSteps(called) ?? 0,
    );
  } catch (error) {
    code = String((error as { code?: string }).code);
  }
  return { steps: gas.spent, code };
}

function typeOf(value: SqlValue): SqlType {
  if (typeof value === "string") return TEXT;
  if (typeof value === "number") return { kind: "i32" };
  if (value instanceof Uint8Array) return { kind: "bytea" };
  if (value instanceof Decimal) return { kind: "numeric" };
  return { kind: "array", element: typeOf((value as SqlArray).elements[0] ?? 0) };
}

Deno.test("metered() refuses what multiplies, before it is done", () => {
  const long = "ab".repeat(20_000), digits = Decimal.fromString("7" + "3".repeat(100_000));
  const words = SqlArray.of(Array.from({ length: 40_000 }, (_, index) => `w${index}`));
  const calls: readonly (readonly [string, ...SqlValue[]])[] = [
    ["repeat", "ab", 2_000_000],
    ["lpad", "", 250_000_000, "ab"],
    ["rpad", "", 250_000_000, "ä"],
    ["replace", long, "a", long],
    ["regexp_replace", long, "a", long, "g"],
    ["format", "%250000000s", ""],
    ["array_to_string", words, long],
    ["array_fill", 1, SqlArray.of([10_000, 1_000])],
    ["factorial", 30_000],
    ["gcd", digits, Decimal.fromString("123456789".repeat(9_000))],
    ["exp", Decimal.fromString(`1.${"3".repeat(16_000)}`)],
    ["ln", digits],
    ["strpos", "a".repeat(2_000_000), `b${"a".repeat(1_000_000)}`],
    ["regexp_count", "x".repeat(3_000_000), "(x+x+)+y"],
    ["regexp_like", "x".repeat(100_000), "(.)(x*)\\2\\1y"],
    ["regexp_split_to_array", long.repeat(50), ""],
    ["upper", "ä".repeat(1_000_000)],
    ["sha256", new Uint8Array(10_000_000)],
  ];
  for (const [name, ...args] of calls) {
    const { code, steps } = stepsOf(resolveFunction(name, args.map(typeOf)), args);
    assert.deepEqual({ name, code, isMany: steps >= 100_000 }, { name, code: "54001", isMany: true });
  }
  const document = `[${"1,".repeat(3000)}1]`, json: SqlType = { kind: "jsonb" };
  const contains = resolveOperator("@>", json, json);
  assert.equal(stepsOf(contains, [`[${"2,".repeat(3000)}1]`, document]).code, "54001");
  const like = resolveOperator("~~", TEXT, TEXT);
  assert.equal(stepsOf(like, ["a".repeat(2_000_000), `%b${"a".repeat(1_000_000)}%`]).code, "54001");
  const path = resolveFunction("jsonb_path_exists", [json, { kind: "jsonpath" }]);
  assert.equal(stepsOf(path, [document, "$ ? (@[*] > $[*] + 1)"]).code, "54001");
  // Depth multiplies what is read, shared or indented.
  const nested = `${"[".repeat(900)}"${"x".repeat(60_000)}"${"]".repeat(900)}`;
  const steps = SqlArray.of(Array<string>(900).fill("0"));
  for (const type of [json, { kind: "json" } as const]) {
    const extract = resolveOperator("#>", type, { kind: "array", element: TEXT });
    assert.equal(stepsOf(extract, [nested, steps]).code, "54001", type.kind);
  }
  const collect = resolveFunction("jsonb_path_query_array", [json, { kind: "jsonpath" }]);
  assert.equal(stepsOf(collect, [nested, "$.**"]).code, "54001");
  const pretty = resolveFunction("jsonb_pretty", [json]);
  assert.equal(stepsOf(pretty, [`[${Array<string>(20).fill(nested.replaceAll("x", ""))}]`]).code, "54001");
});

Deno.test("metered() charges every function for the size of its arguments", () => {
  const samples: Readonly<Record<string, SqlValue>> = {
    text: "7".repeat(SIZE),
    bytea: new Uint8Array(SIZE),
    numeric: Decimal.fromString("7".repeat(SIZE)),
    json: `[${"1,".repeat(SIZE / 2)}1]`,
    jsonb: `[${"1,".repeat(SIZE / 2)}1]`,
    jsonpath: "$[*]",
  };
  const { functions, operators } = allDefinitions();
  const cheap: string[] = [];
  let tested = 0;
  for (const definition of [...functions, ...operators]) {
    const keys = expandSignature(
      definition.signature,
      definition.variadic === true,
      definition.signature.length,
    );
    if (keys === undefined || keys.some(isPattern)) continue;
    const bound = definition.bind(keys.map((key) => typeOfKey(key) ?? TEXT))?.bound;
    if (bound === undefined || bound.rows !== undefined || bound.volatility === "volatile") continue;
    const [first] = bound.argumentTypes;
    const large = samples[first?.kind ?? ""];
    if (large === undefined || fixedSteps(bound) !== null) continue;
    const rest = bound.argumentTypes.slice(1).map(({ kind }): SqlValue =>
      kind === "text"
        ? "x"
        : samples[kind] === undefined
        ? 1
        : kind === "bytea"
        ? new Uint8Array(1)
        : Decimal.ONE
    );
    tested++;
    if (stepsOf(bound, [large, ...rest]).steps < SIZE / 512) cheap.push(`${bound.name}(${keys.join(", ")})`);
  }
  assert.deepEqual(cheap, []);
  assert.ok(tested > 150, `${tested} functions`);
});

Deno.test("fixedSteps() knows the steps of what works on scalars", () => {
  const integer: SqlType = { kind: "i32" };
  for (const symbol of ["+", "-", "*", "/", "%", "=", "<"]) {
    assert.equal(fixedSteps(resolveOperator(symbol, integer, integer)), 1, symbol);
  }
  assert.equal(fixedSteps(resolveFunction("round", [{ kind: "f64" }])), 4);
  assert.equal(fixedSteps(resolveFunction("length", [TEXT])), null);
});

Deno.test("Gas counts an evaluation within another one by itself, and none outside", () => {
  gas.charge(1e9);
  assert.equal(gas.isCounting, false);
  gas.beginTurn();
  gas.run({ what: "outer" }, () => {
    gas.charge(99_000);
    assert.throws(() => gas.run({ what: "inner" }, () => gas.charge(100_001)), {
      code: "54001",
      message: "inner needs more than 100000 steps",
    });
    gas.charge(1_000);
    assert.throws(() => gas.charge(NaN), { code: "54001" });
  });
  assert.equal(gas.isCounting, false);
  assert.equal(gas.spent, 200_000);
  assert.ok(gas.isTurnDue);
});

Deno.test("meteredWithPattern() charges what metered() does, in front of the same call", () => {
  const patterns = ["^[a-z]+@[a-z]+$", "x", "(a|b)*c"];
  for (const name of ["~", "!~", "~*", "!~*"]) {
    const bound = resolveOperator(name, TEXT, TEXT);
    for (const pattern of patterns) {
      const made = assertDefined(meteredWithPattern(bound, pattern), name);
      const uses: [string, unknown][] = [];
      const code = assertDefined(made.inline, name)(["text", JSON.stringify(pattern)], (label, used) => {
        uses.push([`${label}_${uses.length}`, used]);
        return `${label}_${uses.length - 1}`;
      });
      const run = new Function(...uses.map(([label]) => label), "text", `return ${code};`);
      for (const text of ["", "ada@example", "x".repeat(1000), "abababababc"]) {
        gas.beginTurn();
        const answer = gas.run({ what: name }, () => run(...uses.map(([, used]) => used), text));
        const { spent } = gas;
        const wanted = stepsOf(bound, [text, pattern]);
        assert.ok(Math.abs(spent - wanted.steps) < 1e-6, `${name} ${pattern}: ${spent}, ${wanted.steps}`);
        assert.equal(answer, bound.evaluate(testEvaluation, text, pattern));
      }
    }
  }
  assert.equal(meteredWithPattern(resolveOperator("~~", TEXT, TEXT), "a%"), null);
});
