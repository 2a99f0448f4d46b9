/** Sections 2 and 4 of the document: tables, columns, rows, constraints, indexes and statements, over HTTP. */
import { answers, type DocumentRow, refuses } from "./row.ts";

const OK = { status: "ok" };

/** Tables, columns and rows. */
export const RESOURCE_ROWS: readonly DocumentRow[] = [
  answers("CREATE TABLE at run time", "CREATE TABLE doc (a U32 NOT NULL, b U64, c I64, d CHAR(4))", OK),
  answers("INSERT … ID n", "INSERT INTO doc ID 7 (a, b, c, d) VALUES (1, 18446744073709551615, -5, 'ab')", {
    status: "ok",
    affected: 1,
    id: 7,
  }),
  answers("SELECT * FROM t ID n", "SELECT * FROM doc ID 7", [{
    a: 1,
    b: "18446744073709551615",
    c: -5,
    d: "ab  ",
  }]),
  answers("CHAR(N) compares padding-aware", "SELECT count(*) FROM doc WHERE d = 'ab'", 1),
  answers("UPDATE t ID n SET", ["UPDATE doc ID 7 SET c = 6", "SELECT c FROM doc ID 7"], [{ c: 6 }]),
  refuses("an id that exists already", "INSERT INTO doc ID 7 (a) VALUES (1)", { code: "23505", status: 409 }),
  refuses("U32 overflows", "INSERT INTO doc (a) VALUES (4294967296)", { code: "22003" }),
  refuses("NOT NULL", "INSERT INTO doc (b) VALUES (1)", { code: "23502", status: 409 }),
  answers("nullable columns", ["INSERT INTO doc ID 8 (a) VALUES (2)", "SELECT b FROM doc ID 8"], [{
    b: null,
  }]),
  answers("multi-row VALUES", "INSERT INTO doc (a) VALUES (3), (4), (5)", { status: "ok", affected: 3 }),
  refuses("multi-row VALUES is one atomic op", "INSERT INTO doc (a) VALUES (6), (NULL)", {
    code: "23502",
    status: 409,
  }),
  answers("… nothing of it is kept", "SELECT count(*) FROM doc WHERE a = 6", 0),
  answers("ADD COLUMN online", ["ALTER TABLE doc ADD COLUMN e TEXT DEFAULT 'x'", "SELECT e FROM doc ID 7"], [{
    e: "x",
  }]),
  answers("RENAME COLUMN", ["ALTER TABLE doc RENAME COLUMN e TO f", "SELECT f FROM doc ID 7"], [{ f: "x" }]),
  answers("DROP COLUMN", ["ALTER TABLE doc DROP COLUMN f", "SELECT * FROM doc ID 8"], [{
    a: 2,
    b: null,
    c: null,
    d: null,
  }]),
  answers("DELETE", "DELETE FROM doc ID 8", { status: "ok", affected: 1 }),
  answers("DESCRIBE", ["CREATE TABLE doc_d (a I64 NOT NULL, b TEXT)", "DESCRIBE doc_d"], {
    status: "ok",
    table: "doc_d",
    columns: [
      { name: "a", type: "bigint", nullable: false },
      { name: "b", type: "text", nullable: true },
    ],
  }),
  answers("DROP TABLE", "DROP TABLE doc_d", OK),
  refuses("an unknown table has a hint", "SELECT * FROM docc", { code: "42P01", hint: /doc/ }),
  refuses("an unknown column has a hint", "SELECT cc FROM doc", { code: "42703", hint: /"doc\.c"/ }),
  ...[["int2", 1], ["int4", 1], ["int8", 1], ["float4", 1], ["float8", 1], ["bool", true], ["text", "1"]].map(
    (
      [type, value],
    ) => answers(`type ${type}`, `SELECT ('1'::${type}) AS x FROM doc ID 7`, [{ x: value }]),
  ),
  answers("type varchar", "SELECT ('ab'::varchar(1)) AS x FROM doc ID 7", [{ x: "a" }]),
  answers("type bytea", "SELECT '\\x00ff'::bytea AS x FROM doc ID 7", [{ x: "\\x00ff" }]),
  answers("type timestamptz", "SELECT '2026-01-02 03:04:05+01'::timestamptz AS x FROM doc ID 7", [
    { x: "2026-01-02T02:04:05Z" },
  ]),
];

/** Constraints, foreign keys, triggers, functions, indexes. */
export const LOGIC_ROWS: readonly DocumentRow[] = [
  answers("parent and child", [
    "CREATE TABLE doc_p (id I64 PRIMARY KEY)",
    "INSERT INTO doc_p VALUES (0), (1), (2), (3), (4), (5)",
    "CREATE TABLE doc_c (p I64, FOREIGN KEY (p) REFERENCES doc_p ON DELETE CASCADE)",
    "CREATE TABLE doc_n (p I64, FOREIGN KEY (p) REFERENCES doc_p ON DELETE SET NULL)",
    "CREATE TABLE doc_e (p I64 DEFAULT 0, FOREIGN KEY (p) REFERENCES doc_p ON DELETE SET DEFAULT)",
    "CREATE TABLE doc_r (p I64, FOREIGN KEY (p) REFERENCES doc_p ON DELETE RESTRICT)",
    "CREATE TABLE doc_a (p I64, FOREIGN KEY (p) REFERENCES doc_p ON DELETE NO ACTION)",
  ], OK),
  refuses("a child without a parent", "INSERT INTO doc_c VALUES (99)", { code: "23503", status: 409 }),
  answers("a NULL foreign key", "INSERT INTO doc_c VALUES (NULL)", { status: "ok", affected: 1, id: 2 }),
  answers("ON DELETE CASCADE", [
    "INSERT INTO doc_c VALUES (1)",
    "DELETE FROM doc_p WHERE id = 1",
    "SELECT count(p) FROM doc_c",
  ], 0),
  answers("ON DELETE SET NULL", [
    "INSERT INTO doc_n VALUES (2)",
    "DELETE FROM doc_p WHERE id = 2",
    "SELECT p FROM doc_n",
  ], [{ p: null }]),
  answers("ON DELETE SET DEFAULT", [
    "INSERT INTO doc_e VALUES (3)",
    "DELETE FROM doc_p WHERE id = 3",
    "SELECT p FROM doc_e",
  ], [{ p: 0 }]),
  answers("a row to restrict", "INSERT INTO doc_r VALUES (4)", { status: "ok", affected: 1, id: 1 }),
  refuses("ON DELETE RESTRICT", "DELETE FROM doc_p WHERE id = 4", { code: "23503", status: 409 }),
  answers("a row without action", "INSERT INTO doc_a VALUES (5)", { status: "ok", affected: 1, id: 1 }),
  refuses("ON DELETE NO ACTION", "DELETE FROM doc_p WHERE id = 5", { code: "23503", status: 409 }),
  answers("UNIQUE and CHECK", "CREATE TABLE doc_u (a I64 UNIQUE, b I64 CHECK (b > 0), h TEXT)", OK),
  answers("a unique row", "INSERT INTO doc_u VALUES (1, 1)", { status: "ok", affected: 1, id: 1 }),
  refuses("UNIQUE", "INSERT INTO doc_u VALUES (1, 1)", { code: "23505", status: 409 }),
  refuses("CHECK", "INSERT INTO doc_u VALUES (2, 0)", { code: "23514", status: 409 }),
  answers("BEFORE trigger with SET and SHA-256", [
    "CREATE TRIGGER hash BEFORE INSERT ON doc_u FOR EACH ROW SET h = encode(sha256(NEW.a::text::bytea), 'hex')",
    "INSERT INTO doc_u VALUES (3, 1)",
    "SELECT left(h, 8) AS h FROM doc_u WHERE a = 3",
  ], [{ h: "4e074085" }]),
  answers("BEFORE trigger with REJECT", [
    "CREATE TRIGGER no BEFORE DELETE ON doc_u FOR EACH ROW WHEN (OLD.a = 3) REJECT 'three stays'",
  ], OK),
  refuses("… its message", "DELETE FROM doc_u", { code: "P0001", message: /three stays/ }),
  answers("DROP TRIGGER", ["DROP TRIGGER no ON doc_u", "DELETE FROM doc_u WHERE a = 3"], {
    status: "ok",
    affected: 1,
  }),
  answers("HMAC-SHA-256 in CHECK", [
    "CREATE TABLE doc_h (v TEXT, m BYTEA, CHECK (m = hmac_sha256('key'::bytea, v::bytea)))",
    "INSERT INTO doc_h VALUES ('a', hmac_sha256('key', 'a'))",
    "SELECT count(*) FROM doc_h",
  ], 1),
  answers(
    "CHECK is gas-bounded",
    "CREATE TABLE doc_g (v TEXT, CHECK (length(repeat(v, 30000000)) >= 0))",
    OK,
  ),
  refuses("… 54001", "INSERT INTO doc_g VALUES ('abc')", { code: "54001" }),
  answers("CREATE FUNCTION … LANGUAGE WASM", [
    // (func (export "add") (param i64 i64) (result i64) local.get 0 local.get 1 i64.add)
    "CREATE FUNCTION doc_add(a I64, b I64) RETURNS I64 LANGUAGE WASM AS " +
    "'\\x0061736d0100000001070160027e7e017e03020100070701036164640000" +
    "0a09010700200020017c0b' EXPORT 'add'",
    "SELECT doc_add(c, 4) AS x FROM doc ID 7",
  ], [{ x: 10 }]),
  refuses(
    "… with an import",
    "CREATE FUNCTION doc_bad() RETURNS I64 LANGUAGE WASM AS " +
      "'\\x0061736d010000000105016000017e020901036d6f6401660000'",
    { code: "42P13", message: /import/ },
  ),
  answers("DROP FUNCTION", "DROP FUNCTION doc_add", OK),
  answers("CREATE INDEX", "CREATE INDEX doc_i ON doc (a, c)", OK),
  answers("CREATE UNIQUE INDEX", "CREATE UNIQUE INDEX doc_ui ON doc_p (id)", OK),
  answers("CREATE RANGE INDEX", [
    "CREATE TABLE doc_x (n I64)",
    "INSERT INTO doc_x SELECT i FROM generate_series(1, 3000) AS g(i)",
    "CREATE RANGE INDEX doc_ri ON doc_x (n)",
  ], OK),
  answers("BETWEEN by a range index", "SELECT count(*) FROM doc_x WHERE n BETWEEN 10 AND 19", 10),
  answers("MIN by the extreme", "SELECT min(n) FROM doc_x", 1),
  answers("MAX by the extreme", "SELECT max(n) FROM doc_x", 3000),
  answers("DROP INDEX", "DROP INDEX doc_ri", OK),
];

/** Statements. */
export const STATEMENT_ROWS: readonly DocumentRow[] = [
  answers("tables to ask", [
    "CREATE TABLE doc_l (k I64, v TEXT)",
    "CREATE TABLE doc_m (k I64, w I64)",
    "INSERT INTO doc_l VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, NULL)",
    "INSERT INTO doc_m VALUES (1, 10), (2, 20), (2, 30), (9, 90)",
  ], { status: "ok", affected: 4 }),
  answers("projection", "SELECT v FROM doc_l WHERE k = 1", [{ v: "a" }]),
  answers("IN", "SELECT count(*) FROM doc_l WHERE k IN (1, 3)", 2),
  answers("BETWEEN", "SELECT count(*) FROM doc_l WHERE k BETWEEN 2 AND 3", 2),
  answers("LIKE", "SELECT count(*) FROM doc_l WHERE v LIKE '_' AND v LIKE 'a%'", 1),
  answers("IS NULL", "SELECT count(*) FROM doc_l WHERE v IS NULL", 1),
  answers("IS NOT NULL", "SELECT count(*) FROM doc_l WHERE v IS NOT NULL", 3),
  answers("AND, OR, NOT", "SELECT count(*) FROM doc_l WHERE NOT (k = 1 OR k = 2) AND k < 4", 1),
  answers(
    "GROUP BY, HAVING, ORDER BY",
    "SELECT k, sum(w) AS s FROM doc_m GROUP BY k HAVING count(*) > 0 ORDER BY k DESC",
    [
      { k: 9, s: 90 },
      { k: 2, s: 50 },
      { k: 1, s: 10 },
    ],
  ),
  answers("LIMIT, OFFSET", "SELECT k FROM doc_l ORDER BY k LIMIT 2 OFFSET 1", [{ k: 2 }, { k: 3 }]),
  answers("COUNT", "SELECT count(v) FROM doc_l", 3),
  answers("SUM", "SELECT sum(w) FROM doc_m", 150),
  answers("SUM of nothing", "SELECT sum(w) FROM doc_m WHERE k = 0", null),
  answers("AVG is exact", "SELECT avg(w) FROM doc_m", 37.5),
  answers("several aggregates", "SELECT min(w), max(w) FROM doc_m", [{ min: 10, max: 90 }]),
  answers("table aliases", "SELECT x.v FROM doc_l AS x, doc_m y WHERE x.k = y.k AND y.w = 10", [{ v: "a" }]),
  answers("INNER JOIN", "SELECT count(*) FROM doc_l JOIN doc_m ON doc_l.k = doc_m.k", 3),
  answers("LEFT JOIN", "SELECT count(*) FROM doc_l LEFT OUTER JOIN doc_m ON doc_l.k = doc_m.k", 5),
  answers("RIGHT JOIN", "SELECT count(*) FROM doc_l RIGHT JOIN doc_m ON doc_l.k = doc_m.k", 4),
  answers("FULL JOIN", "SELECT count(*) FROM doc_l FULL OUTER JOIN doc_m ON doc_l.k = doc_m.k", 6),
  answers(
    "chained INNER joins",
    "SELECT a.v, b.w, c.w AS z FROM doc_l a JOIN doc_m b ON a.k = b.k JOIN doc_m c ON c.k = b.k WHERE a.k = 1",
    [{ v: "a", w: 10, z: 10 }],
  ),
  answers("left columns before right", "SELECT * FROM doc_l a JOIN doc_m b ON a.k = b.k WHERE a.k = 1", [
    { k: 1, v: "a", k_2: 1, w: 10 },
  ]),
  answers("UPDATE with WHERE", "UPDATE doc_m SET w = w + 1 WHERE k = 2", { status: "ok", affected: 2 }),
  answers("DELETE with WHERE", "DELETE FROM doc_m WHERE k = 9", { status: "ok", affected: 1 }),
  answers("RETURNING", "UPDATE doc_m SET w = 0 WHERE k = 1 RETURNING w", [{ w: 0 }]),
  answers("EXPLAIN", "SELECT count(*) > 0 AS x FROM doc_l", [{ x: true }]),
  answers(
    "several statements are one transaction",
    "INSERT INTO doc_l VALUES (7, 'x'); SELECT count(*) FROM doc_l",
    5,
  ),
  refuses("… all or nothing", "INSERT INTO doc_l VALUES (8, 'x'); SELECT 1/0", { code: "22012" }),
  answers("… nothing", "SELECT count(*) FROM doc_l WHERE k = 8", 0),
  answers("BEGIN, COMMIT", "BEGIN; INSERT INTO doc_l VALUES (10, 'y'); COMMIT", OK),
  answers("BEGIN, ROLLBACK", "BEGIN; INSERT INTO doc_l VALUES (11, 'y'); ROLLBACK", OK),
  answers("… what is left", "SELECT count(*) FROM doc_l WHERE k > 9", 1),
];
