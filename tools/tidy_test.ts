/** Each rule of the tidy check against a text that breaks it. */
import { deepStrictEqual } from "node:assert/strict";
import { remarksOn } from "./tidy.ts";

const head = "/** What it is for. */\n";

function messages(path: string, text?: string): string[] {
  return remarksOn(path, text).map(({ place, message, fatal }) =>
    `${fatal ? "" : "warning "}${place} ${message}`
  );
}

Deno.test("remarksOn() passes a clean file", () => {
  deepStrictEqual(messages("engine/sql/lexer.ts", `${head}export const a = 1;\n`), []);
  deepStrictEqual(messages("README.md", "Two blanks make a break.  \n"), []);
  deepStrictEqual(messages("tests/fixtures/Startup-3.2.bin"), []);
});

Deno.test("remarksOn() counts lines", () => {
  const file = (lines: number) => head + "f();\n".repeat(lines - 1);
  deepStrictEqual(messages("engine/a.ts", file(500)), []);
  deepStrictEqual(messages("engine/a.ts", file(501)), ["warning engine/a.ts 501 lines; aim for 300"]);
  deepStrictEqual(messages("engine/a.ts", file(800)), ["warning engine/a.ts 800 lines; aim for 300"]);
  deepStrictEqual(messages("engine/a.ts", file(801)), ["engine/a.ts 801 lines; split it (at most 800)"]);
});

Deno.test("remarksOn() finds marks, switched-off tests, foreign paths and blanks", () => {
  const check = (line: string, expected: string) =>
    deepStrictEqual(
      messages("engine/a_test.ts", `${head}${line}\n`),
      [`engine/a_test.ts:2 ${expected}`],
      line,
    );
  check("// TO" + "DO later", "mark of unfinished work");
  check("Deno.test.sk" + "ip(f);", "test switched off");
  check("Deno.test.on" + "ly(f);", "test switched off");
  check("({ ignore" + ": true });", "test switched off");
  check(`open("/ho` + `me/someone/data");`, "path of one machine");
  check(`open("/t` + `mp/data");`, "fixed path in the temporary folder; make one with Deno.makeTempDir");
  check(`fetch("https://registry.npm` + `js.org/pg");`, "host of a package registry");
  check("f(); ", "trailing white space");
  check(`// ${"x".repeat(118)}`, "comment over 120 columns");
  deepStrictEqual(messages("engine/a_test.ts", `${head} *     ${"x".repeat(118)}\n`), []);
});

Deno.test("remarksOn() refuses words that have another one, where they have it", () => {
  const check = (path: string, line: string, expected: readonly string[]) =>
    deepStrictEqual(
      messages(path, `${head}${line}\n`),
      expected.map((word) => `${path}:2 another word is used for this: ${word}`),
    );
  check("lang/a.ts", "const MOST_ROWS = 1;", ["MAX_…"]);
  check("lang/a.ts", "const ROWS_MAX = 1;", ["MAX_…"]);
  check("lang/a.ts", "// the behaviour", ["behavior"]);
  check("lang/a.ts", "normalise(a);", ["-ize"]);
  check("engine/execution/a.ts", "const quota = 1;", ["pipeline, resumable, batch size"]);
  check("engine/sql/a.ts", "const quota = MAX_ROWS;", []);
  check("engine/transactions/a.ts", "class Overlay {}", ["write set"]);
  check("engine/types/a.ts", "let a: MixedInteger;", ["number-or-bigint"]);
  check("engine/types/a.ts", "// It waits until somebody asks.", [
    "repair, another session (or the passive), sent or reported",
  ]);
  check("engine/types/a.ts", 'raise("somebody has locked it");', []);
});

Deno.test("remarksOn() wants an opening comment and a snake_case name", () => {
  deepStrictEqual(messages("engine/a.ts", "f();\n"), [
    "engine/a.ts no opening comment that says what the file is for",
  ]);
  deepStrictEqual(messages("engine/queryPlan.ts", head), ["engine/queryPlan.ts file name is not snake_case"]);
  deepStrictEqual(messages("engine/query-plan.ts", head), [
    "engine/query-plan.ts file name is not snake_case",
  ]);
  deepStrictEqual(messages("tests/lang/fail/TY0001_argument.snap", ""), []);
  deepStrictEqual(messages("tests/lang/fail/TY01_argument.snap", "").length, 1);
});
