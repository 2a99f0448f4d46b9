/** Errors with their positions and hints, nesting limits, several statements, parameters, and a fuzzer. */
import { strict as assert } from "node:assert";
import { DatabaseError } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import { errorPosition } from "./source_text.ts";
import { parseExpression, parseStatement, parseStatements } from "./statements.ts";

function failure(text: string): DatabaseError {
  try {
    parseStatements(text);
  } catch (error) {
    assert.ok(error instanceof DatabaseError, String(error));
    return error;
  }
  throw new Error(`${text} parses`);
}

const ERRORS: readonly (readonly [string, string, string, number, string?])[] = [
  ["SELCT 1", "42601", 'syntax error at or near "SELCT"', 1, 'Did you mean "SELECT"?'],
  ["SELECT * FORM t", "42601", 'syntax error at or near "FORM"', 10, 'Did you mean "FROM"?'],
  ["SELECT a FORM t", "42601", 'syntax error at or near "t"', 15, 'Did you mean "FROM"?'],
  ["SELECT * FROM t WHER a = 1", "42601", 'syntax error at or near "a"', 22, 'Did you mean "WHERE"?'],
  ["SELECT * FROM t ODER BY a", "42601", 'syntax error at or near "BY"', 22, 'Did you mean "ORDER"?'],
  ["CREATE TABEL t (a int)", "42601", 'syntax error at or near "TABEL"', 8, 'Did you mean "TABLE"?'],
  ["SELECT", "42601", "", 0],
  ["SELECT 1 +", "42601", "syntax error at end of input", 11],
  ["SELECT (1", "42601", "syntax error at end of input", 10],
  ["SELECT 1 < 2 < 3", "42601", 'syntax error at or near "<"', 14],
  ["SELECT a LIKE b LIKE c", "42601", 'syntax error at or near "LIKE"', 17],
  ["SELECT '€' || '😀', )", "42601", 'syntax error at or near ")"', 20],
  ["SELECT 'abc", "42601", 'unterminated quoted string at or near "\'abc"', 8],
  ['SELECT "abc', "42601", 'unterminated quoted identifier at or near ""abc"', 8],
  ['SELECT ""', "42601", 'zero-length delimited identifier at or near """"', 8],
  ["SELECT /* x", "42601", 'unterminated /* comment at or near "/* x"', 8],
  ["SELECT $a$ x", "42601", 'unterminated dollar-quoted string at or near "$a$ x"', 8],
  ["SELECT 123abc", "42601", 'trailing junk after numeric literal at or near "123abc"', 8],
  ["SELECT $1a", "42601", 'trailing junk after parameter at or near "$1a"', 8],
  ["SELECT E'\\xff'", "22021", 'invalid byte sequence for encoding "UTF8": 0xff', 8],
  ["SELECT B'12'", "22P02", '"2" is not a valid binary digit', 8],
  ["SELECT $0", "42P02", "there is no parameter $0", 8],
  ["VALUES (1), (2, 3)", "42601", "VALUES lists must all be the same length", 14],
  [
    "SELECT 1 LIMIT 1, 2",
    "42601",
    "LIMIT #,# syntax is not supported",
    10,
    "Use separate LIMIT and OFFSET clauses.",
  ],
  [
    "DELETE FROM t WHERE CURRENT OF c",
    "0A000",
    "WHERE CURRENT OF is not supported",
    15,
    "Name the row by its primary key.",
  ],
  [
    "CREATE TABLE t (a int) INHERITS (b)",
    "0A000",
    "INHERITS is not supported",
    24,
    "Create one table with a column that tells the kinds of rows apart, or a view over several tables.",
  ],
  [
    "CREATE TABLE t (a int NULL NOT NULL)",
    "42601",
    'conflicting NULL/NOT NULL declarations for column "a" of table "t"',
    28,
  ],
  ["SELECT sum(a) OVER (ROWS UNBOUNDED FOLLOWING)", "42P20", "frame start cannot be UNBOUNDED FOLLOWING", 21],
  ["INSERT INTO t (a) VALUES", "42601", "syntax error at end of input", 25],
  ["SELECT * FROM (t)", "42601", 'syntax error at or near ")"', 17],
];

for (const [text, code, message, position, hint] of ERRORS) {
  if (message === "") continue;
  Deno.test(`parseStatements() refuses ${text}`, () => {
    const error = failure(text);
    assert.deepEqual([error.code, error.message, error.position, error.hint], [
      code,
      message,
      position,
      hint,
    ]);
  });
}

Deno.test("errorPosition() counts code points from 1", () => {
  assert.equal(errorPosition("a😀b", 0), 1);
  assert.equal(errorPosition("a😀b", 3), 3);
  assert.equal(errorPosition("a😀b", 99), 4);
});

Deno.test("parseStatements() splits at semicolons and counts parameters for each", () => {
  const statements = parseStatements(" SELECT $2 ; ;COMMIT;SELECT ';' ");
  const view = statements.map(({ statement, start, end, parameterCount }) => [
    statement.kind,
    start,
    end,
    parameterCount,
  ]);
  assert.deepEqual(view, [["query", 1, 10, 2], ["commit", 14, 20, 0], ["query", 21, 31, 0]]);
  assert.deepEqual(parseStatements(" ; -- nothing"), []);
});

Deno.test("parseStatement() wants exactly one", () => {
  assert.throws(() => parseStatement("SELECT 1; SELECT 2"), /cannot insert multiple commands/);
  assert.throws(() => parseStatement(""), /syntax error at end of input/);
});

Deno.test("parseStatements() limits the length of the text", () => {
  assert.throws(() => parseStatements("SELECT 1", { lengthMax: 7 }), { code: "54000" });
});

Deno.test("parseStatements() folds and cuts identifiers", () => {
  const [statement] = parseStatements(`SELECT 1 AS ÄB${"X".repeat(80)}`);
  assert.ok(statement?.statement.kind === "query" && statement.statement.body.kind === "select");
  assert.equal(statement.statement.body.targets[0]?.alias, `Äb${"x".repeat(60)}`);
});

Deno.test("the parser bounds its depth", () => {
  const deep = [
    "(".repeat(20_000),
    "SELECT " + "(".repeat(20_000) + "1" + ")".repeat(20_000),
    "SELECT " + "- ".repeat(20_000) + "1",
    "SELECT " + "NOT ".repeat(20_000) + "true",
    "SELECT " + "f(".repeat(20_000),
    "SELECT " + "CASE WHEN ".repeat(20_000),
    "SELECT " + "ARRAY[".repeat(20_000),
    "SELECT ARRAY" + "[".repeat(20_000),
    "SELECT " + "1 + ".repeat(20_000) + "1",
    "SELECT * FROM " + "(".repeat(20_000) + "a",
    "SELECT 1" + " UNION ALL SELECT 1".repeat(20_000),
    "SELECT 1 FROM " + "(SELECT 1 FROM ".repeat(5_000),
    "WITH a AS (".repeat(20_000),
    "SELECT * FROM " + "a JOIN ".repeat(20_000) + "b",
    "SELECT a" + "[1]".repeat(20_000),
    "SELECT " + "f(".repeat(100) + ("1" + " + 1".repeat(900) + ", 2)").repeat(1) + " + 1".repeat(200),
    "SELECT " + "(".repeat(100) + ("1" + " + 1".repeat(50) + ")").repeat(1) +
    (" + 1".repeat(50) + ")").repeat(99),
    "(".repeat(100) + "SELECT 1" + (" UNION SELECT 1".repeat(50) + ")").repeat(100),
    "SELECT 1 GROUP BY " + "GROUPING SETS (".repeat(20_000),
  ];
  for (const text of deep) assert.match(failure(text).code, /^(54001|42601)$/, text.slice(0, 40));
  assert.equal(failure(deep[1] ?? "").code, "54001");
  assert.equal(parseExpression("(".repeat(200) + "1" + ")".repeat(200)).kind, "literal");
  const long = parseExpression("a = 1" + " OR a = 1".repeat(50_000));
  // The first, the last, and all between them packed.
  assert.ok(long.kind === "logical" && long.operands.length === 3);
  const between = long.operands[1];
  assert.ok(between?.kind === "logical" && between.packed?.values.values.length === 49_999);
  assert.equal(between.operands.length, 49_999);
  const zeros = parseExpression(`ARRAY[-0${", 1".repeat(2000)}]`);
  assert.ok(
    zeros.kind === "array" && Object.is(zeros.packed?.values[0], 0),
    "an integer has no negative zero",
  );
});

/** Mulberry32: a small generator, so that a failing run can be repeated from its seed. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const SOUP = (
  "SELECT FROM WHERE INSERT INTO VALUES UPDATE SET DELETE CREATE ALTER DROP TABLE INDEX VIEW SEQUENCE TRIGGER FUNCTION " +
  "ON AS ( ) ( ) ( ) [ ] , , . ; : :: := => + - * / % = < > <> || ~ @> a b t s.t x.y \"Q\" 1 2.5 'x' $1 E'\\n' B'1' NULL " +
  "TRUE AND OR NOT IN LIKE BETWEEN IS DISTINCT GROUP BY ORDER LIMIT OFFSET FETCH FIRST ROWS ONLY WITH RECURSIVE UNION ALL " +
  "JOIN LEFT USING NATURAL CROSS LATERAL CASE WHEN THEN ELSE END CAST int text numeric timestamp interval DAY TO ARRAY ROW " +
  "EXISTS ANY OVER PARTITION WINDOW FILTER RANGE UNBOUNDED PRECEDING PRIMARY KEY UNIQUE CHECK DEFAULT REFERENCES FOREIGN " +
  "CONSTRAINT ADD COLUMN RENAME BEFORE FOR EACH EXECUTE ID CONFLICT DO NOTHING RETURNING COPY STDIN GRANT PREPARE DECLARE " +
  "CURSOR EXPLAIN ANALYZE BEGIN COMMIT EXTRACT SUBSTRING TRIM POSITION COALESCE U& UESCAPE ' \" $$ /* -- 0x 1e !"
).split(" ");

Deno.test("parseStatements() fails with nothing but DatabaseError on any text", () => {
  const next = random(20_260_731);
  const word = () => SOUP[next(SOUP.length)] ?? "";
  const starts = [
    "SELECT",
    "INSERT INTO t",
    "UPDATE t SET",
    "CREATE TABLE t (",
    "ALTER TABLE t",
    "WITH a AS (",
    "",
  ];
  for (let round = 0; round < 6_000; round++) {
    const words = [starts[next(starts.length)] ?? ""];
    for (let count = next(14); count >= 0; count--) words.push(word());
    const text = words.join(next(5) === 0 ? "" : " ");
    try {
      parseStatements(text);
    } catch (error) {
      if (error instanceof DatabaseError) continue;
      throw new Error(`${text}: ${String(error)}`);
    }
  }
});

Deno.test("parseStatements() refuses a text of too many tokens before it parses it", () => {
  const text = `SELECT 1${", 1".repeat(LIMITS.maximumStatementTokens / 2)}`;
  assert.throws(() => parseStatements(text), { code: "54000", message: /more than 2500000 words/ });
});
