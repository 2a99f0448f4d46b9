/** Canonical text of expressions, which shows precedence too; each text is read back and formatted again. */
import { strict as assert } from "node:assert";
import { DatabaseError } from "../../base/errors.ts";
import { formatExpression, formatTypeName } from "./format_expression.ts";
import { parseExpression, parseTypeName } from "./statements.ts";

const CASES: readonly (readonly [string, string])[] = [
  ["1 + 2 * 3 ^ 4 - -5", "((1 + (2 * (3 ^ 4))) - '-5'::integer)"],
  ["-2 ^ 2", "('-2'::integer ^ 2)"],
  ["- a.b::int", "(- (a.b)::integer)"],
  ["a OR b AND NOT c = d", "(a OR (b AND (NOT (c = d))))"],
  ["a AND b AND c", "(a AND b AND c)"],
  ["a < b + c IS NULL", "((a < (b + c)) IS NULL)"],
  ["NOT a IS NOT TRUE", "(NOT (a IS NOT TRUE))"],
  ["a ISNULL OR b NOTNULL", "((a IS NULL) OR (b IS NOT NULL))"],
  ["a IS DISTINCT FROM b", "(a IS DISTINCT FROM b)"],
  ["a IS NOT DISTINCT FROM b", "(NOT (a IS DISTINCT FROM b))"],
  ["a BETWEEN 1 AND 2 + 3 AND b", "(((a >= 1) AND (a <= (2 + 3))) AND b)"],
  ["a NOT BETWEEN 1 AND 2", "((a < 1) OR (a > 2))"],
  ["a BETWEEN SYMMETRIC 1 AND 2", "(((a >= 1) AND (a <= 2)) OR ((a >= 2) AND (a <= 1)))"],
  ["a IN (1)", "(a = 1)"],
  ["a IN (1, 2)", "(a = ANY (ARRAY[1, 2]))"],
  ["a NOT IN (1, -2)", "(a <> ALL (ARRAY[1, '-2'::integer]))"],
  ["a IN ('x', 'y')", "(a IN ('x', 'y'))"],
  ["(a, b) IN ((1, 2), (3, 4))", "(ROW(a, b) IN (ROW(1, 2), ROW(3, 4)))"],
  ["a LIKE 'x%' || b", "(a ~~ ('x%' || b))"],
  ["a NOT ILIKE 'x'", "(a !~~* 'x')"],
  ["a LIKE 'x' ESCAPE '!'", "(a LIKE 'x' ESCAPE '!')"],
  ["a SIMILAR TO 'x'", "(a SIMILAR TO 'x')"],
  ["a = ANY ('{1}'::int[])", "(a = ANY ('{1}'::integer[]))"],
  ["a NOT LIKE ALL (ARRAY['x'])", "(a !~~ ALL (ARRAY['x']))"],
  ["a OPERATOR(pg_catalog.~) 'x' COLLATE \"C\"", "(a OPERATOR(pg_catalog.~) ('x' COLLATE \"C\"))"],
  ["a || b && c", "((a || b) && c)"],
  ["a -> 'b' ->> 'c' = 'd'", "(((a -> 'b') ->> 'c') = 'd')"],
  ["a@>b", "(a @> b)"],
  ["5-3", "(5 - 3)"],
  ["a*-1", "(a * '-1'::integer)"],
  ["!! a", "(!! a)"],
  ["a != b", "(a <> b)"],
  ["CAST(a AS numeric(10, 2))", "(a)::numeric(10,2)"],
  ["a::timestamp(3) with time zone", "(a)::timestamp(3) with time zone"],
  ["'x'::char(3)[]", "'x'::character(3)[]"],
  ["DATE '2020-01-01'", "'2020-01-01'::date"],
  ["INTERVAL '1' DAY TO SECOND(3)", "'1'::interval day to second(3)"],
  ["varchar(3) 'abc'", "'abc'::character varying(3)"],
  ["double precision '1.5'", "'1.5'::double precision"],
  ["x 'ff'", "'ff'::x"],
  ["X'fF'", "X'fF'"],
  ["now() AT TIME ZONE 'UTC' + a", "((now() AT TIME ZONE 'UTC') + a)"],
  ["a[1][2:3].b", "(a[1][2:3]).b"],
  ["(f(x)).n", "(f(x)).n"],
  ["CASE a WHEN 1 THEN 'x' ELSE 'y' END", "CASE a\n    WHEN 1 THEN 'x'\n    ELSE 'y'\nEND"],
  ["coalesce(a, nullif(b, 0))", "COALESCE(a, NULLIF(b, 0))"],
  ["extract(year from a)", "EXTRACT(year FROM a)"],
  ["substring(a from 2 for 3)", "SUBSTRING(a FROM 2 FOR 3)"],
  ["substring(a similar 'x' escape '#')", "SUBSTRING(a SIMILAR 'x' ESCAPE '#')"],
  ["substring(a, 2)", '"substring"(a, 2)'],
  ["position('x' in a)", "POSITION(('x') IN (a))"],
  ["overlay(a placing b from 1)", "OVERLAY(a PLACING b FROM 1)"],
  ["trim(leading 'x' from a)", "TRIM(LEADING 'x' FROM a)"],
  ["trim(a)", "TRIM(BOTH FROM a)"],
  ["normalize(a, nfd)", "NORMALIZE(a, NFD)"],
  ["(a, b) OVERLAPS (c, d)", '"overlaps"(a, b, c, d)'],
  ["current_timestamp(3)", "CURRENT_TIMESTAMP(3)"],
  ["current_schema() || CURRENT_USER", '("current_schema"() || CURRENT_USER)'],
  ["string_agg(DISTINCT a, ',' ORDER BY a DESC)", "string_agg(DISTINCT a, ',' ORDER BY a DESC)"],
  ["array[[1,2],[3]]", "ARRAY[ARRAY[1, 2], ARRAY[3]]"],
  ['"A b".c + new.d', '("A b".c + new.d)'],
  [
    "E'a\\tb\\'' || U&'\\0041' || $q$x'y$q$",
    "((('a\tb''' || 'A')) || 'x''y')".replace("(('a", "('a").replace("'A'))", "'A')"),
  ],
  ["'a\\b'", "E'a\\\\b'"],
  ["2147483648 + 0x1F + 0b11 + 1_000", "((('2147483648'::bigint + 31) + 3) + 1000)"],
  ["-9223372036854775808", "'-9223372036854775808'::bigint"],
  ["1.5e3 + .5 - -1.5", "((1.5e3 + .5) - '-1.5'::numeric)"],
  ["true IS UNKNOWN", "(true IS UNKNOWN)"],
  ["NULL::text", "NULL::text"],
  ["timestamp + date", '("timestamp" + date)'],
  ["'a'\n'b'", "'ab'"],
  ["a /* x /* y */ z */ + -- b\n 1", "(a + 1)"],
];

for (const [text, expected] of CASES) {
  Deno.test(`formatExpression() prints ${JSON.stringify(text)}`, () => {
    const formatted = formatExpression(parseExpression(text));
    assert.equal(formatted, expected);
    assert.equal(formatExpression(parseExpression(formatted)), formatted, "the text must read back");
  });
}

Deno.test("formatExpression() refuses subqueries", () => {
  assert.throws(() => formatExpression(parseExpression("EXISTS (SELECT 1)")), DatabaseError);
});

Deno.test("formatTypeName() prints the names of format_type", () => {
  const check = (text: string, expected: string) =>
    assert.equal(formatTypeName(parseTypeName(text)), expected);
  check("int[][]", "integer[][]");
  check("char", "character(1)");
  check("pg_catalog.int8", "bigint");
  check("float(20)", "real");
  check('my."Type"(3)', 'my."Type"(3)');
  check("time", "time without time zone");
});
