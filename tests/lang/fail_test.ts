/**
 * The programs that must fail: each has one mistake and raises the code that its file is named after, as its only error; a program of a
 * warning raises no error. What the compiler says of them is what stands beside them; `deno task golden` renews it.
 */
import assert from "node:assert/strict";
import { diagnosticsOf, failOutputs, failPrograms, fixedProgram, readFail } from "./fail_outputs.ts";

for (const name of failPrograms()) {
  const code = name.slice(0, 6);
  Deno.test(`${name} raises ${code} once, and no other error`, () => {
    const told = diagnosticsOf(readFail(name, "lang")).filter((diagnostic) =>
      diagnostic.severity === "error" || diagnostic.code === code
    );
    assert.deepEqual(
      told.map((diagnostic) => diagnostic.code),
      [code],
      told.map((diagnostic) => `${diagnostic.code} ${diagnostic.message}`).join("\n"),
    );
  });
}

Deno.test("programs that must fail: what people see, JSON and fixed sources are as written", () => {
  const names = failPrograms();
  assert.ok(names.length >= 300, `${names.length} programs`);
  const different: string[] = [];
  for (const name of names) {
    const outputs = failOutputs(name);
    for (const extension of ["txt", "json", "fixed"] as const) {
      if (readFail(name, extension) !== outputs[extension]) different.push(`${name}.${extension}`);
    }
    assert.match(outputs.txt, new RegExp(`\\[${name.slice(0, 6)}\\]`), `${name} raises its code`);
  }
  assert.deepEqual(different, []);
});

Deno.test("no fix that can be applied as it is brings a mistake of syntax into a program that had none", () => {
  const wrong: string[] = [];
  for (const name of failPrograms()) {
    const program = readFail(name, "lang");
    const told = diagnosticsOf(program);
    if (told.some(({ code }) => code.startsWith("SY"))) continue;
    for (const fix of told.flatMap(({ fixes }) => fixes)) {
      const codes = diagnosticsOf(fixedProgram(program, fix)).map(({ code }) => code);
      if (codes.some((code) => code.startsWith("SY"))) wrong.push(`${name}: ${fix.title}: ${codes.join()}`);
    }
  }
  assert.deepEqual(wrong, []);
});
