/** Unification: what fits, what does not, and what a failed attempt leaves. */
import assert from "node:assert/strict";
import { ERROR_TYPE, FLOAT, INT, INT64, resolve, STRING, UNIT } from "./primitives.ts";
import type { Type } from "./type.ts";
import { typeText } from "./type_text.ts";
import { hasUnknown, substitute, Unifier, zonk } from "./unification.ts";

const tuple = (...elements: Type[]): Type => ({ kind: "tuple", elements });
const fn = (parameters: Type[], result: Type): Type => ({
  kind: "function",
  parameters: parameters.map((type) => ({ isInout: false, type })),
  result,
});

Deno.test("Unifier.unify() links variables in tuples and functions", () => {
  const unifier = new Unifier();
  const [a, b] = [unifier.fresh(), unifier.fresh()];
  assert.ok(unifier.unify(fn([a, tuple(b, INT)], a), fn([STRING, tuple(FLOAT, INT)], STRING)));
  assert.equal(resolve(a), STRING);
  assert.equal(resolve(b), FLOAT);
});

Deno.test("Unifier.unify() lets literals be the types that they fit", () => {
  const unifier = new Unifier();
  const check = (kind: "integer" | "float", type: Type, fits: boolean) =>
    assert.equal(unifier.unify(unifier.literal(kind), type), fits);
  check("integer", INT, true);
  check("integer", INT64, true);
  check("integer", FLOAT, false);
  check("integer", STRING, false);
  check("float", FLOAT, true);
  check("float", INT, false);
  check("integer", unifier.literal("float"), false);
  assert.equal(typeText(zonk(unifier.literal("integer"))), "Int");
  assert.equal(typeText(zonk(unifier.literal("float"))), "Float");
});

Deno.test("Unifier.unify() keeps a literal's choice when it meets a variable", () => {
  const unifier = new Unifier();
  const [literal, variable] = [unifier.literal("integer"), unifier.fresh()];
  assert.ok(unifier.unify(variable, literal));
  assert.ok(!unifier.unify(variable, FLOAT));
  assert.ok(unifier.unify(variable, INT64));
  assert.equal(resolve(literal), INT64);
});

Deno.test("Unifier.unify() refuses a type that contains itself", () => {
  const unifier = new Unifier();
  const variable = unifier.fresh();
  assert.ok(!unifier.unify(variable, tuple(variable, INT)));
});

Deno.test("Unifier.unify() takes what is broken for anything, and what it meets for broken", () => {
  const unifier = new Unifier();
  const variable = unifier.fresh();
  assert.ok(unifier.unify(tuple(variable, INT), ERROR_TYPE));
  assert.equal(resolve(variable), ERROR_TYPE);
});

Deno.test("Unifier.attempt() takes its links back when it fails", () => {
  const unifier = new Unifier();
  const variable = unifier.fresh();
  assert.ok(!unifier.attempt(tuple(variable, INT), tuple(STRING, FLOAT)));
  assert.equal(resolve(variable), variable);
  assert.ok(unifier.attempt(tuple(variable, INT), tuple(STRING, INT)));
  assert.equal(resolve(variable), STRING);
});

Deno.test("substitute() puts types in for parameters", () => {
  const parameter = { name: "T", bounds: [] };
  const type = fn([{ kind: "parameter", parameter }], tuple({ kind: "parameter", parameter }, UNIT));
  assert.equal(typeText(substitute(type, [parameter], [INT])), "fn(Int) -> (Int, ())");
});

Deno.test("hasUnknown() sees variables that stand for nothing yet", () => {
  const unifier = new Unifier();
  assert.ok(hasUnknown(tuple(INT, unifier.fresh())));
  assert.ok(!hasUnknown(tuple(INT, unifier.literal("integer"))));
});
