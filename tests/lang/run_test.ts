/**
 * Programs that must run print what their snapshots say, by the interpreter and as WebAssembly, and leave no memory
 * in use.
 */
import assert from "node:assert/strict";
import { compiledOutput } from "./compiled.ts";
import { checkedProgram, interpretedOutput } from "./interpreted.ts";
import { runCases, runSnapshot } from "./run_snapshot.ts";

for (const name of runCases.names) {
  Deno.test(`run/${name} prints what it should, by both evaluators`, () => {
    const text = runCases.program(name);
    const program = checkedProgram(text);
    assert.equal(runSnapshot(text, interpretedOutput(program)), runCases.read(name));
    assert.equal(runSnapshot(text, compiledOutput(program)), runCases.read(name));
  });
}

Deno.test("there are programs to run", () => {
  assert.ok(runCases.names.length >= 100, `${runCases.names.length}`);
});
