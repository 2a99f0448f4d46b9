/**
 * The choice among overloads, its errors and hints, common types, and the shape of the table itself.
 */
import assert from "node:assert/strict";
import { DatabaseError } from "../../base/errors.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { parseTypeText } from "../../types/type_names.ts";
import { commonType, findCast } from "./casts.ts";
import { aggregateTable, functionReference, functionTables, operatorTables } from "./document.ts";
import { compileMatcher } from "./pattern_functions.ts";
import {
  aggregatesNamed,
  allDefinitions,
  allFunctionNames,
  functionsNamed,
  isAggregateName,
  operatorsNamed,
  resolveAggregate,
  resolveFunction,
  resolveOperator,
} from "./registry.ts";
import { displayName, isPattern, typeKey, typeOfKey } from "./type_family.ts";

function type(text: string): SqlType {
  const found = text === "unknown" ? { kind: "unknown" } as const : parseTypeText(text);
  assert(found !== undefined, text);
  return found;
}

function show(types: readonly SqlType[]): string {
  return types.map((each) => {
    const scale = each.kind === "numeric" && each.scale !== undefined ? `@${each.scale}` : "";
    return displayName(typeKey(each)) + scale;
  }).join(", ");
}

function describe(call: () => { argumentTypes: readonly SqlType[]; returnType: SqlType }): string {
  try {
    const bound = call();
    return `(${show(bound.argumentTypes)}) ${show([bound.returnType])}`;
  } catch (error) {
    assert(error instanceof DatabaseError);
    return `${error.code} ${error.message}`;
  }
}

Deno.test("resolveOperator() chooses as PostgreSQL does", () => {
  const check = (left: string | undefined, symbol: string, right: string, expected: string) =>
    assert.equal(
      describe(() => resolveOperator(symbol, left === undefined ? undefined : type(left), type(right))),
      expected,
      `${left} ${symbol} ${right}`,
    );
  check("integer", "+", "bigint", "(integer, bigint) bigint");
  check("smallint", "+", "smallint", "(smallint, smallint) smallint");
  check("integer", "+", "unknown", "(integer, integer) integer");
  check("integer", "+", "real", "(double precision, real) double precision");
  check("integer", "+", "numeric", "(numeric, numeric) numeric");
  check("integer", "+", "numeric(10,2)", "(numeric@0, numeric@2) numeric@2");
  check("numeric(10,2)", "*", "numeric(10,3)", "(numeric@2, numeric@3) numeric@5");
  check("numeric(38,30)", "*", "numeric(38,30)", "(numeric, numeric) numeric");
  check("numeric(10,2)", "/", "numeric(10,2)", "(numeric, numeric) numeric");
  check("numeric(10,2)", "+", "unknown", "(numeric, numeric) numeric");
  check("bigint", "^", "integer", "(double precision, double precision) double precision");
  check("u32", "+", "integer", "(bigint, integer) bigint");
  check("u8", "+", "u8", "(smallint, smallint) smallint");
  check("u64", "+", "u64", "(numeric@0, numeric@0) numeric@0");
  check("u32", "=", "integer", "(u32, integer) boolean");
  check("u64", "<", "unknown", "(u64, u64) boolean");
  check("character(3)", "=", "unknown", "(character, character) boolean");
  check("character varying", "=", "text", "(text, text) boolean");
  check("character varying(3)", "~~", "unknown", "(text, text) boolean");
  check("date", "-", "date", "(date, date) integer");
  check("date", "-", "unknown", "(date, date) integer");
  check("timestamp", "-", "interval", "(timestamp without time zone, interval) timestamp without time zone");
  check("date", "<", "timestamptz", "(timestamp with time zone, timestamp with time zone) boolean");
  check("unknown", "||", "unknown", "(text, text) text");
  check("integer[]", "||", "integer", "(integer[], integer) integer[]");
  check("integer[]", "||", "unknown", "(integer[], integer[]) integer[]");
  check("integer", "||", "unknown", "(text, text) text");
  check("jsonb", "->", "unknown", "(jsonb, text) jsonb");
  check("jsonb", "->>", "integer", "(jsonb, integer) text");
  check("regclass", "=", "oid", "(oid, oid) boolean");
  check(undefined, "-", "numeric(10,2)", "(numeric@2) numeric@2");
  check("integer", "!=", "integer", "(integer, integer) boolean");
  check("unknown", "+", "unknown", "42725 operator is not unique: unknown + unknown");
  check("integer", "=", "text", "42883 operator does not exist: integer = text");
  check("json", "=", "json", "42883 operator does not exist: json = json");
  check(undefined, "-", "text", "42883 operator does not exist: - text");
  check("integer", "+", "boolean", "42883 operator does not exist: integer + boolean");
});

Deno.test("resolveFunction() chooses as PostgreSQL does", () => {
  const check = (name: string, types: string, expected: string) =>
    assert.equal(
      describe(() => resolveFunction(name, types === "" ? [] : types.split("; ").map(type))),
      expected,
      `${name}(${types})`,
    );
  check("lower", "unknown", "(text) text");
  check("length", "character varying(10)", "(text) integer");
  check("length", "bytea", "(bytea) integer");
  check("abs", "u32", "(bigint) bigint");
  check("abs", "numeric(10,2)", "(numeric@2) numeric@2");
  check("round", "integer", "(double precision) double precision");
  check("round", "numeric(10,2)", "(numeric@2) numeric@0");
  check("round", "numeric(10,2); integer", "(numeric, integer) numeric");
  check("substr", "unknown; integer", "(text, integer) text");
  check("array_append", "integer[]; numeric", "(numeric[], numeric) numeric[]");
  check("array_append", "u32[]; u32", "(u32[], u32) u32[]");
  check("concat", "integer; unknown; date", "(integer, text, date) text");
  check("pg_typeof", "unknown", "(unknown) regtype");
  check("date_trunc", "unknown; date", "(text, timestamp with time zone) timestamp with time zone");
  check("generate_series", "integer; bigint", "(bigint, bigint) bigint");
  check("text", "integer", "(integer) text");
  check("now", "", "() timestamp with time zone");
  check("nope", "integer; unknown", "42883 function nope(integer, unknown) does not exist");
  check("lower", "integer; integer", "42883 function lower(integer, integer) does not exist");
  check("unnest", "integer", "42883 function unnest(integer) does not exist");
});

Deno.test("resolveAggregate() chooses as PostgreSQL does", () => {
  const check = (name: string, types: string, expected: string) =>
    assert.equal(
      describe(() => resolveAggregate(name, types === "" ? [] : types.split("; ").map(type))),
      expected,
      `${name}(${types})`,
    );
  check("count", "", "() bigint");
  check("count", "text", "(text) bigint");
  check("sum", "integer", "(integer) bigint");
  check("sum", "bigint", "(bigint) numeric@0");
  check("sum", "numeric(10,2)", "(numeric@2) numeric@2");
  check("sum", "u32", "(bigint) numeric@0");
  check("sum", "real", "(real) real");
  check("avg", "integer", "(integer) numeric");
  check("min", "u32", "(u32) u32");
  check("min", "character varying(3)", "(text) text");
  check("max", "character(3)", "(character) character");
  check("max", "integer[]", "(integer[]) integer[]");
  check("array_agg", "text", "(text) text[]");
  check("array_agg", "integer[]", "(integer[]) integer[]");
  check("string_agg", "text; unknown", "(text, text) text");
  check("sum", "text", "42883 function sum(text) does not exist");
  check("min", "boolean", "42883 function min(boolean) does not exist");
});

Deno.test("errors of resolution carry hints and the position", () => {
  const check = (call: () => unknown, hint: string, position?: number) =>
    assert.throws(call, (error) => {
      assert(error instanceof DatabaseError);
      assert.equal(error.hint, hint);
      assert.equal(error.position, position);
      return true;
    });
  const text = type("text");
  check(() => resolveFunction("lowr", [text], { position: 8 }), 'Did you mean "lower"?', 8);
  check(() => resolveFunction("coalesc", [text]), 'Did you mean "coalesce"?');
  check(() => resolveAggregate("conut", [text]), 'Did you mean "count"?');
  check(
    () => resolveFunction("lower", [type("integer")]),
    "No function matches the given name and argument types. You might need to add explicit type casts.",
  );
  check(
    () => resolveOperator("+", text, text, { position: 3 }),
    "No operator matches the given name and argument types. You might need to add explicit type casts.",
    3,
  );
  check(
    () => resolveOperator("-", undefined, text),
    "No operator matches the given name and argument type. You might need to add an explicit type cast.",
  );
});

Deno.test("commonType() follows the rule of UNION and CASE", () => {
  const check = (types: string, expected: string) => {
    const found = commonType(types.split("; ").map(type));
    assert.equal(found === undefined ? "none" : show([found]), expected, types);
  };
  check("integer; bigint", "bigint");
  check("bigint; integer; numeric(10,2)", "numeric");
  check("numeric(10,2); numeric(8,4)", "numeric");
  check("numeric(10,2); numeric(8,2)", "numeric@2");
  check("numeric(10,2); numeric", "numeric");
  check("numeric(10,2); unknown", "numeric");
  check("integer; double precision; numeric", "double precision");
  check("unknown; unknown", "text");
  check("unknown; date", "date");
  check("date; timestamp; timestamptz", "timestamp with time zone");
  check("character varying(3); text", "character varying");
  check("character varying(3); unknown", "character varying");
  check("character varying(3); character varying(3)", "character varying");
  check("character(3); character(5)", "character");
  check("character(3); character varying(5)", "text");
  check("u8; smallint", "smallint");
  check("u16; smallint", "integer");
  check("u64; bigint", "numeric");
  check("integer[]; bigint[]", "bigint[]");
  check("integer; text", "none");
  check("boolean; integer", "none");
  check("json; jsonb", "none");
});

Deno.test("findCast() knows where casts are allowed", () => {
  const check = (from: string, to: string, expected: string | undefined) =>
    assert.equal(findCast(type(from), type(to))?.context, expected, `${from} to ${to}`);
  check("integer", "bigint", "implicit");
  check("bigint", "integer", "assignment");
  check("integer", "numeric(10,2)", "implicit");
  check("numeric", "integer", "assignment");
  check("double precision", "real", "assignment");
  check("integer", "text", "assignment");
  check("text", "integer", "explicit");
  check("integer", "boolean", "explicit");
  check("boolean", "integer", "explicit");
  check("date", "timestamptz", "implicit");
  check("timestamptz", "date", "assignment");
  check("json", "jsonb", "assignment");
  check("jsonb", "integer", "explicit");
  check("u32", "bigint", "implicit");
  check("u64", "bigint", "assignment");
  check("integer[]", "bigint[]", "implicit");
  check("text", "regclass", "implicit");
  check("boolean", "date", undefined);
  check("uuid", "integer", undefined);
  assert.equal(findCast(type("bigint"), type("integer"), "implicit"), undefined);
  assert.equal(findCast(type("text"), type("integer"), "assignment"), undefined);
  assert.equal(findCast(type("character varying(3)"), type("text"))?.identity, true);
  assert.equal(findCast(type("numeric(10,2)"), type("numeric(12,2)"))?.identity, true);
  assert.equal(findCast(type("numeric(10,2)"), type("numeric(9,2)"))?.identity, false);
});

Deno.test("casts to limited texts refuse by assignment, cut explicitly, and let pass implicitly", () => {
  const run = (to: string, place: "implicit" | "assignment" | "explicit", value: string) =>
    findCast({ kind: "unknown" }, type(to), place)?.evaluate({} as never, value);
  assert.equal(run("character varying(3)", "explicit", "abcdef"), "abc");
  assert.equal(run("character varying(3)", "implicit", "abcdef"), "abcdef");
  assert.equal(run("character varying(3)", "assignment", "abc   "), "abc");
  assert.equal(run("character(3)", "assignment", "ab   "), "ab");
  assert.throws(() => run("character varying(3)", "assignment", "abcdef"), { code: "22001" });
  assert.throws(() => run("character(3)", "assignment", "abcd"), { code: "22001" });
});

Deno.test("every definition names known types and binds to its own signature", () => {
  const { functions, operators, aggregates } = allDefinitions();
  const seen = new Set<string>();
  for (const definition of [...functions, ...operators, ...aggregates]) {
    const label = `${definition.name}(${definition.signature.join(", ")})`;
    const known = (key: string) => isPattern(key) || typeOfKey(key) !== undefined;
    assert(definition.signature.every(known) && known(definition.returns), label);
    assert(definition.summary.endsWith("."), label);
    const key = `${label}${aggregates.includes(definition as never) ? " aggregate" : ""}`;
    assert(!seen.has(key), `${label} is defined twice`);
    seen.add(key);
    const types = definition.signature.map((parameter): SqlType => {
      if (parameter.endsWith("array") && isPattern(parameter) && parameter !== "anynonarray") {
        return { kind: "array", element: { kind: "i32" } };
      }
      if (parameter === "anyenum") return { kind: "enum", id: 1, name: "e", labels: ["a"], numbers: [1] };
      return isPattern(parameter) ? { kind: "i32" } : typeOfKey(parameter) ?? { kind: "i32" };
    });
    const bound = definition.bind(types)?.bound;
    assert(bound !== undefined, label);
    assert.equal(bound.argumentTypes.length, types.length, label);
    for (const [index, target] of bound.argumentTypes.entries()) {
      const from = types[index];
      assert(from !== undefined && findCast(from, target) !== undefined, label);
    }
  }
});

Deno.test("the registry lists names", () => {
  assert(functionsNamed("lower").length === 1);
  assert(operatorsNamed("+").length > 10);
  assert(aggregatesNamed("sum").length === 7);
  assert(isAggregateName("count") && !isAggregateName("lower"));
  assert(
    allFunctionNames().includes("coalesce") && new Set(allFunctionNames()).size === allFunctionNames().length,
  );
});

Deno.test("compileMatcher() compiles each pattern operator", () => {
  assert(compileMatcher("~~", "a%c")("abc"));
  assert(compileMatcher("!~~", "b%")("abc"));
  assert(compileMatcher("~~*", "A%C")("abc"));
  assert(!compileMatcher("!~~*", "A%C")("abc"));
  assert(compileMatcher("~", "b.$")("abc"));
  assert(compileMatcher("~*", "B")("abc"));
  assert(!compileMatcher("!~", "b")("abc"));
  assert(compileMatcher("!~*", "x")("abc"));
});

Deno.test("functionReference() writes a row for every name", () => {
  const reference = functionReference();
  assert(reference.includes("| `lower(text)` | `text` | In lower case. |"));
  assert(operatorTables().includes("### Comparison"));
  assert(functionTables().includes("### Dates and times"));
  assert(aggregateTable().includes("`count()`"));
  for (const line of reference.split("\n")) {
    if (line.startsWith("| ")) assert.equal(line.replaceAll("\\|", "").split("|").length, 5, line);
  }
});
