/** Runs every file of `cases/` in this process. */
import assert from "node:assert/strict";
import { open } from "../../mod.ts";
import { logicDatabase } from "./library_database.ts";
import { parseLogicTests } from "./logic_test_file.ts";
import { runLogicTests } from "./run_logic_tests.ts";

const folder = new URL("cases/", import.meta.url);
const names = [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => name.endsWith(".slt"));

for (const name of names.sort()) {
  Deno.test(`logic tests of ${name}`, async () => {
    const records = parseLogicTests(Deno.readTextFileSync(new URL(name, folder)), "db");
    await using database = await open(":memory:");
    const failures = await runLogicTests(logicDatabase(database), records);
    assert.ok(records.length > 0, "the file has records");
    const report = failures.map(({ line, sql, message }) => `line ${line}: ${sql}\n ${message}`).join("\n\n");
    assert.equal(failures.length, 0, report);
  });
}

Deno.test("parseLogicTests() reads records, conditions and formats", () => {
  const text = [
    "# comment",
    "",
    "skipif db",
    "statement ok",
    "SELECT 1",
    "",
    "statement error 22012",
    "SELECT 1/0",
    "",
    "query IT rowsort",
    "SELECT 2,",
    "  'x'",
    "----",
    "2",
    "x",
    "",
    "format rows",
    "",
    "onlyif db",
    "query TT",
    "SELECT 3, 'y'",
    "----",
    "3\ty",
    "",
    "halt",
    "",
    "statement ok",
    "SELECT 4",
  ].join("\n");
  assert.deepEqual(parseLogicTests(text, "db"), [
    { kind: "statement", line: 7, sql: "SELECT 1/0", error: "22012" },
    {
      kind: "query",
      line: 10,
      types: "IT",
      sort: "rowsort",
      rows: false,
      sql: "SELECT 2,\n  'x'",
      expected: ["2", "x"],
    },
    {
      kind: "query",
      line: 20,
      types: "TT",
      sort: "nosort",
      rows: true,
      sql: "SELECT 3, 'y'",
      expected: ["3\ty"],
    },
  ]);
});

Deno.test("runLogicTests() reports wrong rows, missing and unexpected errors", async () => {
  const text =
    "statement ok\nSELECT 1/0\n\nstatement error 22012\nSELECT 1\n\nquery I\nSELECT 1\n----\n2\n\n" +
    "query I\nSELECT 1\n----\n1\n";
  await using database = await open(":memory:");
  const failures = await runLogicTests(logicDatabase(database), parseLogicTests(text, "db"));
  assert.deepEqual(failures.map(({ line, message }) => [line, message]), [
    [1, "unexpected error 22012: division by zero"],
    [4, "expected an error 22012, but it succeeded"],
    [7, "expected [2], got [1]"],
  ]);
});
