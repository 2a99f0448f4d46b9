/** Which constants leave the text, which stay, and that the parser finds the same ones. */
import { strict as assert } from "node:assert";
import { normalize } from "./fingerprint.ts";
import { parseStatement } from "./statements.ts";

/** The key with readable placeholders. */
function key(text: string): string | null {
  return normalize(text)?.key.replaceAll("\u0001", "?").replaceAll(/\?(d\d+)\?/g, "?$1") ?? null;
}

const CASES: readonly (readonly [string, string | null])[] = [
  [
    "SELECT abalance FROM pgbench_accounts WHERE aid = 17;",
    "SELECT abalance FROM pgbench_accounts WHERE aid = ?i",
  ],
  ["UPDATE t SET a = a + -45 WHERE b = 'x''y'", "UPDATE t SET a = a + -?i WHERE b = ?s"],
  ["INSERT INTO t ID 7 (a1) VALUES (1, 3000000000, 1.50)", "INSERT INTO t ID ?i (a1) VALUES (?i, ?b, ?d2)"],
  ["SELECT a + 1 FROM t", "SELECT a + ?i FROM t"],
  [
    "SELECT a + 1 FROM t WHERE b = 2 ORDER BY a + 1 LIMIT 3",
    "SELECT a + 1 FROM t WHERE b = ?i ORDER BY a + 1 LIMIT ?i",
  ],
  ["SELECT a + 1, 5 FROM t GROUP BY 1 HAVING b > 2", "SELECT a + 1, 5 FROM t GROUP BY 1 HAVING b > 2"],
  ["SELECT DISTINCT a || 'x' FROM t WHERE b = 'x'", "SELECT DISTINCT a || 'x' FROM t WHERE b = ?s"],
  [
    "SELECT substring(a FROM 1 FOR 2) FROM t ORDER BY 1",
    "SELECT substring(a FROM 1 FOR 2) FROM t ORDER BY 1",
  ],
  [
    "SELECT (SELECT x FROM u WHERE y = 5) FROM t GROUP BY 1",
    "SELECT (SELECT x FROM u WHERE y = 5) FROM t GROUP BY 1",
  ],
  [
    "SELECT a FROM (SELECT b FROM u WHERE c = 1 ORDER BY 1) x WHERE d = 2",
    "SELECT a FROM (SELECT b FROM u WHERE c = ?i ORDER BY 1) x WHERE d = ?i",
  ],
  ["SELECT DATE '2020-01-01', INTERVAL '1 day', x'1f'", null],
  ["SELECT DATE '2020-01-01', INTERVAL '1 day' * 2", "SELECT DATE '2020-01-01', INTERVAL '1 day' * ?i"],
  [
    "SELECT 'x'::varchar(10), CAST(a AS numeric(10, 2)), b::s.u(3)",
    "SELECT ?s::varchar(10), CAST(a AS numeric(10, 2)), b::s.u(3)",
  ],
  [
    "SELECT timestamp(3) '2020-01-01', a AT TIME ZONE 'UTC'",
    "SELECT timestamp(3) '2020-01-01', a AT TIME ZONE 'UTC'",
  ],
  [
    "SELECT a FROM t WHERE b = 2147483648 AND c IN (1, 'x')",
    "SELECT a FROM t WHERE b = 2147483648 AND c IN (?i, ?s)",
  ],
  [
    "INSERT INTO t VALUES (1) ON CONFLICT (lower(a || 'x')) WHERE b > 5 DO UPDATE SET a = 6 WHERE t.b = 7",
    "INSERT INTO t VALUES (?i) ON CONFLICT (lower(a || 'x')) WHERE b > 5 DO UPDATE SET a = ?i WHERE t.b = ?i",
  ],
  ['SELECT a1, "b 2", $3 FROM t WHERE c = 4', 'SELECT a1, "b 2", $3 FROM t WHERE c = ?i'],
  ["WITH x AS (SELECT 1) SELECT * FROM x WHERE a = 2", "WITH x AS (SELECT ?i) SELECT * FROM x WHERE a = ?i"],
  ["SELECT 1; SELECT 2", null],
  ["SELECT E'x'", null],
  ["SELECT $$x$$", null],
  ["SELECT 1 -- x", null],
  ["SELECT 1e5", null],
  ["SELECT 'a'\n'b'", null],
  ["SELECT 'a", null],
  ["CREATE TABLE t (a int DEFAULT 5)", null],
  ["SELECTED 1", null],
  ["", null],
];

for (const [text, expected] of CASES) {
  Deno.test(`normalize() of ${JSON.stringify(text)}`, () => assert.equal(key(text), expected));
}

Deno.test("normalize() takes out the decoded values with their places", () => {
  assert.deepEqual(normalize("SELECT 'it''s', 1.25")?.literals, [
    { kind: "string", text: "it's", position: 7 },
    { kind: "decimal", text: "1.25", position: 16 },
  ]);
});

Deno.test("parseStatement() gives the literals their indices and reports those it has used up", () => {
  const check = (text: string, expected: number[]) => {
    const literals = normalize(text)?.literals ?? [];
    const parsed = parseStatement(text, { literals });
    assert.deepEqual(parsed.pinnedLiterals, expected, text);
    const indices = [...JSON.stringify(parsed.statement).matchAll(/"literalIndex":(\d+)/g)].map((match) =>
      Number(match[1])
    );
    const wanted = literals.map((_, index) => index).filter((index) => !expected.includes(index));
    assert.deepEqual(indices.toSorted((left, right) => left - right), wanted, text);
  };
  check("SELECT a FROM t WHERE b = 1 AND c = 'x' AND d = -3", []);
  check("INSERT INTO t ID 7 (a) VALUES (1, 2.5), ('x', 3)", []);
  check("UPDATE t SET a = 5 WHERE b BETWEEN 1 AND 2", []);
  check("SELECT a::int[3], b FROM t WHERE c = 4", [0]);
  check("SELECT extract('year' FROM a) FROM t", [0]);
  for (const [text, expected] of CASES) {
    if (expected !== null) check(text, []);
  }
});

Deno.test("normalize() follows bounded nesting and bounded lists only", () => {
  assert.equal(normalize("SELECT " + "(".repeat(100) + "1" + ")".repeat(100)), null);
  assert.equal(normalize("INSERT INTO t VALUES " + Array.from({ length: 600 }, () => "(1)").join(",")), null);
  assert.equal(normalize("SELECT 1)"), null);
});
