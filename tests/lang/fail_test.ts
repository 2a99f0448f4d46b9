/**
 * The programs that must fail: each has one error and raises the code that its file is named after, as its only
 * error; a program of a warning raises no error. What the compiler says of them is in their snapshots; `deno task
 * golden` renews it.
 */
import assert from "node:assert/strict";
import { filesOfPage } from "../../lang/diagnostics/codes/code_page.ts";
import { reportToJson } from "../../lang/diagnostics/json.ts";
import { diagnosticsOf, failCases, failSnapshot, fixedProgram } from "./fail_snapshot.ts";
import { diagnosticsOfJson, spansOf } from "./json_diagnostics.ts";

for (const name of failCases.names) {
  const code = name.slice(0, 6);
  Deno.test(`${name} raises ${code} once, and no other error`, () => {
    const told = diagnosticsOf(failCases.program(name)).filter((diagnostic) =>
      diagnostic.severity === "error" || diagnostic.code === code
    );
    assert.deepEqual(
      told.map((diagnostic) => diagnostic.code),
      [code],
      told.map((diagnostic) => `${diagnostic.code} ${diagnostic.message}`).join("\n"),
    );
  });
}

Deno.test("programs that must fail: what people see and the fixes are as in their snapshots", () => {
  assert.ok(failCases.names.length >= 300, `${failCases.names.length} programs`);
  const different: string[] = [];
  for (const name of failCases.names) {
    const program = failCases.program(name);
    if (failSnapshot(program, diagnosticsOf(program)) !== failCases.read(name)) different.push(name);
  }
  assert.deepEqual(different, []);
});

Deno.test("programs that must fail: the snapshots can be made from JSON, whose two forms of a span agree", () => {
  for (const name of failCases.names) {
    const program = failCases.program(name);
    const json = reportToJson(diagnosticsOf(program));
    assert.equal(failSnapshot(program, diagnosticsOfJson(json, filesOfPage(program))), failCases.read(name));
    assert.equal(json.ok, !json.diagnostics.some(({ severity }) => severity === "error"));
    for (const { byBytes, byColumns } of spansOf(json, filesOfPage(program))) {
      assert.deepEqual(byBytes, byColumns);
    }
  }
});

Deno.test("programs that must fail: no span is empty or longer than a line, so that carets show all of it", () => {
  for (const name of failCases.names) {
    for (const diagnostic of diagnosticsOf(failCases.program(name))) {
      for (const { file, span } of [diagnostic, ...diagnostic.labels]) {
        assert.match(file.text.slice(span.start, span.end), /^.+$/, name);
      }
    }
  }
});

Deno.test("no fix that can be applied as it is brings a syntax error into a program that had none", () => {
  const wrong: string[] = [];
  for (const name of failCases.names) {
    const program = failCases.program(name);
    const told = diagnosticsOf(program);
    if (told.some(({ code }) => code.startsWith("SY"))) continue;
    for (const fix of told.flatMap(({ fixes }) => fixes)) {
      const codes = diagnosticsOf(fixedProgram(program, fix)).map(({ code }) => code);
      if (codes.some((code) => code.startsWith("SY"))) wrong.push(`${name}: ${fix.title}: ${codes.join()}`);
    }
  }
  assert.deepEqual(wrong, []);
});
