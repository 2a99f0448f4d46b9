/**
 * For tests: evaluates one call or operator over literals, written as PostgreSQL writes them.
 *
 * The forms are `f('a'::text, '1'::integer)`, `'1'::integer + '2'::integer`, `- '1'::integer`, `'1'::text ::
 * integer`; a literal without `::type` is untyped, `NULL::type` a NULL. The evaluation goes through overload
 * resolution and casts as a bound expression does, once through `evaluate` and once through `inline`, and asserts
 * that both agree.
 */
import { assert, assertDefined } from "../../base/assert.ts";
import { DatabaseError } from "../../base/errors.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { formatText, parseText } from "../../types/text_io.ts";
import { parseTypeText } from "../../types/type_names.ts";
import type { SqlValue } from "../../types/value.ts";
import { findCast } from "./casts.ts";
import type {
  BoundAggregate,
  BoundCast,
  BoundFunction,
  EvaluationContext,
  UseRuntime,
} from "./definition.ts";
import { resolveAggregate, resolveFunction, resolveOperator } from "./registry.ts";

/** A context with fixed times: the transaction began at 2024-02-29 12:34:56.789 UTC. */
export const testContext: EvaluationContext = {
  transactionTimestamp: 762525296789000,
  statementTimestamp: 762525297000000,
  timeZone: "UTC",
  dateStyle: "ISO, MDY",
  intervalStyle: "postgres",
  byteaOutput: "hex",
  user: "tester",
  database: "test",
  searchPath: ["public"],
  random: () => 0.25,
  randomBytes: (n) => new Uint8Array(n).fill(0xab),
  clockTimestamp: () => 762525298000000,
  services: {
    nextSequenceValue: (sequence) => sequence.length,
    currentSequenceValue: () => 41,
    lastSequenceValue: () => 41,
    setSequenceValue: () => undefined,
    getSetting: (name) => name === "server_version_num" ? "150000" : undefined,
    setSetting: () => "",
    catalogFunction: (name, args) =>
      name === "regtypeout" ? `type ${String(args[0])}` : name.endsWith("in") ? 1 : name,
  },
};

/** A literal of a test expression. */
interface Operand {
  readonly type: SqlType;
  readonly value: SqlValue;
}

const operandPattern =
  /^\s*(?:'((?:[^']|'')*)'|NULL)(?:::([a-z0-9_" ]+?(?:\([\d, ]+\))?(?: with(?:out)? time zone)?(?:\[\])*))?(?=\s*(?:[,):]|[^a-z0-9_" ]|$))/;

class Reader {
  #rest: string;

  constructor(text: string) {
    this.#rest = text.trim();
  }

  take(pattern: RegExp): RegExpExecArray | null {
    const match = pattern.exec(this.#rest);
    if (match !== null) this.#rest = this.#rest.slice(match[0].length);
    return match;
  }

  operand(): Operand {
    const match = this.take(operandPattern);
    assert(match !== null, `no literal at: ${this.#rest}`);
    const written = match[2]?.trim();
    const type = written === undefined ? { kind: "unknown" } as const : parseTypeText(written);
    assert(type !== undefined, `unknown type: ${written}`);
    if (match[1] === undefined) return { type, value: null };
    const text = match[1].replaceAll("''", "'");
    return { type, value: type.kind === "unknown" ? text : parseText(type, text) };
  }

  get isEmpty(): boolean {
    return this.#rest.trim() === "";
  }
}

/** A bound function with its arguments converted, ready to be run in both ways. */
interface Call {
  readonly bound: BoundFunction;
  readonly operands: readonly Operand[];
}

function parse(expression: string): Call | { readonly cast: BoundCast; readonly operand: Operand } {
  const reader = new Reader(expression);
  const call = reader.take(/^([a-z_0-9]+)\(/);
  const name = call?.[1];
  if (name !== undefined) {
    const operands: Operand[] = [];
    while (reader.take(/^\s*\)/) === null) {
      operands.push(reader.operand());
      reader.take(/^\s*,/);
    }
    return { bound: resolveFunction(name, operands.map((each) => each.type)), operands };
  }
  const prefix = reader.take(/^([-+*/<>=~!@#%^&|?]+)/);
  if (prefix !== null) {
    const operand = reader.operand();
    return { bound: resolveOperator(prefix[1] ?? "", undefined, operand.type), operands: [operand] };
  }
  const left = reader.operand();
  const castTo = reader.take(/^\s*::\s*(.*)$/);
  if (castTo !== null) {
    const target = assertDefined(parseTypeText(castTo[1] ?? ""), `type ${castTo[1]}`);
    return { cast: assertDefined(findCast(left.type, target), `cast in ${expression}`), operand: left };
  }
  const symbol = assertDefined(reader.take(/^\s*([-+*/<>=~!@#%^&|?]+)/)?.[1], `operator in ${expression}`);
  const right = reader.operand();
  assert(reader.isEmpty, `text after ${expression}`);
  return { bound: resolveOperator(symbol, left.type, right.type), operands: [left, right] };
}

/** The values of arguments converted to what the function takes. */
function converted(call: Call): SqlValue[] {
  return call.operands.map((operand, index) => {
    const wanted = assertDefined(call.bound.argumentTypes[index], "argument type");
    const cast = assertDefined(
      findCast(operand.type, wanted),
      `cast from ${operand.type.kind} to ${wanted.kind}`,
    );
    return operand.value === null ? null : cast.evaluate(testContext, operand.value);
  });
}

/** Runs the source that a definition gives to the code generator. */
export function runInline(
  source: (names: readonly string[], use: UseRuntime) => string,
  values: readonly SqlValue[],
): SqlValue {
  const names = values.map((_, index) => `a${index}`);
  const runtime = new Map<string, unknown>();
  const use: UseRuntime = (name, implementation) => {
    const identifier = `${name}$${runtime.size}`;
    runtime.set(identifier, implementation);
    return identifier;
  };
  const body = source(names, use);
  const compiled = new Function("context", ...runtime.keys(), ...names, `"use strict"; return ${body};`);
  return compiled(testContext, ...runtime.values(), ...values);
}

/** The text of a scalar result in the type's output form, NULL as `NULL`. */
function show(type: SqlType, value: SqlValue): string {
  return value === null ? "NULL" : formatText(type, value);
}

function evaluateBoth(expression: string): string {
  const parsed = parse(expression);
  if ("cast" in parsed) {
    const { cast, operand } = parsed;
    const plain = show(cast.to, cast.evaluate(testContext, operand.value));
    const { inline } = cast;
    if (inline !== undefined && operand.value !== null) {
      const other = show(cast.to, runInline(([name = ""], use) => inline(name, use), [operand.value]));
      assert(other === plain, `${expression}: inline gives ${other}, evaluate ${plain}`);
    }
    return plain;
  }
  const { bound } = parsed;
  const values = converted(parsed);
  if (bound.strict && values.includes(null)) return bound.rows === undefined ? "NULL" : "";
  if (bound.rows !== undefined) {
    const columns = assertDefined(bound.rowColumns, "columns");
    return [...bound.rows(testContext, ...values)].map((row) =>
      row.map((value, index) => show(assertDefined(columns[index], "column").type, value)).join(",")
    ).join("|");
  }
  const plain = show(bound.returnType, bound.evaluate(testContext, ...values));
  if (bound.inline !== undefined) {
    const other = show(bound.returnType, runInline(bound.inline, values));
    assert(other === plain, `${expression}: inline gives ${other}, evaluate ${plain}`);
  }
  assert(
    plain !== "NULL" || bound.mayReturnNull || bound.name === "quote_nullable",
    `${expression} is declared never to return NULL`,
  );
  return plain;
}

/** The result of an expression as text, rows separated by `|`; errors as `ERROR 22012: division by zero`. */
export function evaluateText(expression: string): string {
  try {
    return evaluateBoth(expression);
  } catch (error) {
    if (error instanceof DatabaseError) return `ERROR ${error.code}: ${error.message}`;
    throw error;
  }
}

/**
 * Runs an aggregate over rows of literals, each row texts of the argument types with `null` for NULL, through the
 * source that is fused into generated code. State lives in local variables, or in arrays as for groups; both must
 * agree.
 */
export function aggregateText(
  name: string,
  typeNames: readonly string[],
  rows: readonly (readonly (string | null)[])[],
): string {
  const types = typeNames.map((text) => assertDefined(parseTypeText(text), text));
  const aggregate = resolveAggregate(name, types);
  const casts = aggregate.argumentTypes.map((type, index) =>
    assertDefined(findCast(types[index] ?? type, type), `cast to ${type.kind}`)
  );
  const values = rows.map((row) =>
    row.map((text, index) => {
      const type = types[index];
      if (text === null || type === undefined) return null;
      return casts[index]?.evaluate(testContext, parseText(type, text)) ?? null;
    })
  );
  const local = runAggregate(aggregate, values, false);
  const grouped = runAggregate(aggregate, values, true);
  const shown = show(aggregate.returnType, local);
  const other = show(aggregate.returnType, grouped);
  assert(shown === other, `${name}: variables give ${shown}, arrays ${other}`);
  return shown;
}

/** Compiles the loop over rows as the executor does. */
export function runAggregate(
  aggregate: BoundAggregate,
  rows: readonly (readonly SqlValue[])[],
  inArrays: boolean,
): SqlValue {
  const runtime = new Map<string, unknown>();
  const use: UseRuntime = (name, implementation) => {
    const identifier = `${name}$${runtime.size}`;
    runtime.set(identifier, implementation);
    return identifier;
  };
  const slots = aggregate.slots.map((_, index) => inArrays ? `state${index}[1]` : `state${index}`);
  const declarations = aggregate.slots.map((slot, index) => {
    if (!inArrays) return `let state${index} = ${slot.initial};`;
    return slot.kind === "float"
      ? `const state${index} = new Float64Array(2).fill(${slot.initial});`
      : `const state${index} = [null, ${slot.initial}];`;
  });
  const args = aggregate.argumentTypes.map((_, index) => `a${index}`);
  const step = aggregate.step(slots, args, use, { ranges: [], hasValue: false, count: "rows.length" });
  const finish = aggregate.finish(slots, use);
  const folded = aggregate.skipsNulls ? rows.filter((row) => !row.includes(null)) : rows;
  const body = `"use strict"; ${declarations.join(" ")}
    for (const [${args.join(", ")}] of rows) { ${step} }
    return ${finish};`;
  return new Function("context", "rows", ...runtime.keys(), body)(testContext, folded, ...runtime.values());
}

/** Checks lines of the form `expression  ⇒  expected`; a line break in a result is written ⏎. */
export function checkCases(table: string): void {
  for (const line of table.split("\n")) {
    if (line.trim() === "") continue;
    const arrow = line.indexOf("  ⇒");
    assert(arrow > 0, `no ⇒ in: ${line}`);
    const expression = line.slice(0, arrow).trim();
    const expected = line.slice(arrow + 3).trim();
    const actual = evaluateText(expression).replaceAll("\n", "⏎").trim();
    assert(actual === expected, `${expression}\n  expected: ${expected}\n  actual:   ${actual}`);
  }
}
