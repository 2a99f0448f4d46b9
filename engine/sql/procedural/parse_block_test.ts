/** Tests of the parser of PL/pgSQL blocks. */
import { strict as assert } from "node:assert";
import { DatabaseError } from "../../base/errors.ts";
import { parseBlock } from "./parse_block.ts";

/** The kinds of the statements, with their parts in brackets. */
function shape(text: string): string {
  const kinds = (statements: ReturnType<typeof parseBlock>["body"]): string =>
    statements.map((each) => "body" in each ? `${each.kind}(${kinds(each.body)})` : each.kind).join(" ");
  return kinds(parseBlock(text).body);
}

Deno.test("parseBlock() tells statements of the language from SQL", () => {
  assert.equal(
    shape(`BEGIN
      a := 1; b.c = 2; d[1][2] := 3;
      IF a = 1 THEN NULL; ELSIF a = 2 THEN NULL; END IF;
      LOOP EXIT; END LOOP;
      WHILE a < 3 LOOP CONTINUE WHEN a = 1; END LOOP;
      FOR i IN 1..10 BY 2 LOOP PERFORM f(i); END LOOP;
      FOR r IN SELECT * FROM t LOOP UPDATE t SET a = 1; END LOOP;
      FOREACH x IN ARRAY xs LOOP RAISE NOTICE '%', x; END LOOP;
      EXECUTE 'x' USING 1, 2; CREATE TABLE q (a int); RETURN;
    END`),
    "assign assign assign if loop(exit) loop(continue) for_integer(perform) for_rows(sql) foreach(raise) execute sql return",
  );
});

Deno.test("parseBlock() reads over CASE and brackets to the end of an expression", () => {
  const text = "BEGIN IF CASE WHEN a THEN b ELSE c END AND x IN (1, 2) THEN NULL; END IF; END";
  const [only] = parseBlock(text).body;
  assert.equal(
    only?.kind === "if" ? only.branches[0]?.condition.text : null,
    "CASE WHEN a THEN b ELSE c END AND x IN (1, 2)",
  );
});

Deno.test("parseBlock() takes INTO out of a statement, but not that of INSERT", () => {
  const [select, insert] = parseBlock(`BEGIN
    SELECT a, b INTO STRICT x, y.z FROM t;
    INSERT INTO t VALUES (1) RETURNING a INTO x;
  END`).body;
  assert.ok(select?.kind === "sql" && insert?.kind === "sql");
  assert.equal(select.statement.text.replace(/\s+/g, " "), "SELECT a, b FROM t");
  assert.deepEqual(select.into?.targets.map(({ parts }) => parts.join(".")), ["x", "y.z"]);
  assert.equal(select.into?.strict, true);
  assert.equal(insert.statement.text.trim(), "INSERT INTO t VALUES (1) RETURNING a");
  assert.deepEqual([select.line, insert.line], [2, 3]);
});

Deno.test("parseBlock() refuses what it does not know, and names what it does not serve", () => {
  const check = (text: string, code: string, message: RegExp) =>
    assert.throws(
      () => parseBlock(text),
      (error) => error instanceof DatabaseError && error.code === code && message.test(error.message),
      text,
    );
  check("BEGIN a := ; END", "42601", /at or near ";"/);
  check("BEGIN IF a THEN END", "42601", /end of input/);
  check("BEGIN NULL; END; END", "42601", /at or near "END"/);
  check("<<a>> BEGIN NULL; END b", "42601", /end label "b" differs from block's label "a"/);
  check("BEGIN EXCEPTION WHEN unique_violatio THEN NULL; END", "42704", /unrecognized exception condition/);
  check("BEGIN RAISE NOTICE '% %', 1; END", "42601", /too few parameters/);
  check("BEGIN RAISE NOTICE 'x', 1; END", "42601", /too many parameters/);
  check("BEGIN COMMIT; END", "0A000", /COMMIT in a PL\/pgSQL block/);
  check("DECLARE c CURSOR FOR SELECT 1; BEGIN NULL; END", "0A000", /cursor/);
  check(`${"BEGIN ".repeat(10_000)}`, "54001", /depth/);
});
