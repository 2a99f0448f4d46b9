/** Where statements end, in pipes and in the shell. */
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { isComplete, StatementSplitter } from "./statement_splitter.ts";

function split(text: string, endsBeforeKeyword = true): string[] {
  const splitter = new StatementSplitter({ endsBeforeKeyword });
  const pieces = text.split("\n").flatMap((line) => splitter.line(line));
  pieces.push(...splitter.end());
  return pieces.map((piece) => piece.text);
}

Deno.test("StatementSplitter ends statements at semicolons outside of quotes and comments", () => {
  const check = (text: string, expected: string[]) => deepStrictEqual(split(text), expected, text);
  check("SELECT 1; SELECT 2;", ["SELECT 1", "SELECT 2"]);
  check("SELECT ';' AS \"a;b\"; SELECT 2", ["SELECT ';' AS \"a;b\"", "SELECT 2"]);
  check("SELECT 'it''s; fine'", ["SELECT 'it''s; fine'"]);
  check("SELECT E'a\\';b'; SELECT 2", ["SELECT E'a\\';b'", "SELECT 2"]);
  check("SELECT $$a;b$$, $x$;$$;$x$; SELECT 2", ["SELECT $$a;b$$, $x$;$$;$x$", "SELECT 2"]);
  check("SELECT 1 /* ; /* ; */ ; */ + 1; SELECT 2", ["SELECT 1 /* ; /* ; */ ; */ + 1", "SELECT 2"]);
  check("SELECT 1 -- no; end\n+ 1", ["SELECT 1 -- no; end\n+ 1"]);
  check("SELECT 'a\n# no comment\n;b'", ["SELECT 'a\n# no comment\n;b'"]);
  check(";;\n;", []);
  check("SELECT $1; SELECT a$b$c", ["SELECT $1", "SELECT a$b$c"]);
});

Deno.test("StatementSplitter ignores blank lines and comments", () => {
  deepStrictEqual(split("# one\n-- two\n\n  # three\nSELECT 1\n  -- four\n+ 1\n\n# five"), ["SELECT 1\n+ 1"]);
});

Deno.test("StatementSplitter ends a complete statement before a line that begins another", () => {
  const check = (text: string, expected: string[]) => deepStrictEqual(split(text), expected, text);
  check("SELECT 1\nSELECT 2", ["SELECT 1", "SELECT 2"]);
  check("BEGIN\ninsert into t values (1)\nCOMMIT", ["BEGIN", "insert into t values (1)", "COMMIT"]);
  check("INSERT INTO t\nSELECT * FROM u\nSELECT 2", ["INSERT INTO t\nSELECT * FROM u", "SELECT 2"]);
  check("INSERT INTO t (a)\nVALUES (1)\nSELECT 2", ["INSERT INTO t (a)\nVALUES (1)", "SELECT 2"]);
  check("UPDATE t\nSET a = 1\nWHERE b = 2", ["UPDATE t\nSET a = 1\nWHERE b = 2"]);
  check("SELECT 1\nUNION\nSELECT 2", ["SELECT 1\nUNION\nSELECT 2"]);
  check("WITH x AS (\nSELECT 1\n)\nSELECT * FROM x", ["WITH x AS (\nSELECT 1\n)\nSELECT * FROM x"]);
  check("CREATE TABLE t (\n  a INT\n)\nDROP TABLE t", ["CREATE TABLE t (\n  a INT\n)", "DROP TABLE t"]);
  check("CREATE VIEW v AS\nSELECT 1", ["CREATE VIEW v AS\nSELECT 1"]);
  check("ALTER TABLE t\nDROP COLUMN a", ["ALTER TABLE t\nDROP COLUMN a"]);
  check("CREATE TABLE c (a INT REFERENCES p ON DELETE\nSET NULL)", [
    "CREATE TABLE c (a INT REFERENCES p ON DELETE\nSET NULL)",
  ]);
  check("SELECT * FROM t\nFETCH FIRST 1 ROW ONLY", ["SELECT * FROM t\nFETCH FIRST 1 ROW ONLY"]);
  check("EXPLAIN\nSELECT 1", ["EXPLAIN\nSELECT 1"]);
});

Deno.test("StatementSplitter does not let a wrong statement swallow the next", () => {
  deepStrictEqual(split("SELEC 1\nSELECT 2"), ["SELEC 1", "SELECT 2"]);
  deepStrictEqual(split("SELECT 1 +* 2\nSELECT 2"), ["SELECT 1 +* 2", "SELECT 2"]);
});

Deno.test("StatementSplitter hands out lines that begin with a backslash, ending what stands before", () => {
  deepStrictEqual(split("SELECT 1\n\\d t\n\\q"), ["SELECT 1", "\\d t", "\\q"]);
  deepStrictEqual(split("SELECT 'a\n\\d t'"), ["SELECT 'a\n\\d t'"]);
});

Deno.test("StatementSplitter in a shell waits for the semicolon", () => {
  deepStrictEqual(split("SELECT 1\nSELECT 2", false), ["SELECT 1\nSELECT 2"]);
  const splitter = new StatementSplitter({ endsBeforeKeyword: false });
  deepStrictEqual(splitter.line("SELECT 1"), []);
  strictEqual(splitter.isOpen, true);
  splitter.clear();
  strictEqual(splitter.isOpen, false);
});

Deno.test("isComplete() wants no more of what parses or cannot be helped", () => {
  strictEqual(isComplete("SELECT 1"), true);
  strictEqual(isComplete("SELECT"), true);
  strictEqual(isComplete("SELECT 1 FROM"), false);
  strictEqual(isComplete("INSERT INTO t"), false);
  strictEqual(isComplete("FOO BAR"), true);
});
