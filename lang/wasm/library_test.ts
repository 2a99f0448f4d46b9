/**
 * Every test of the library, as WebAssembly: it does what the interpreter does, and leaves the heap as it was.
 */
import assert from "node:assert/strict";
import { PackageChecker } from "../check/package_checker.ts";
import { STANDARD_LIBRARY } from "../check/standard_library.ts";
import { Interpreter, ProgramTrap, RecordingHost } from "../interpret/interpreter.ts";
import { INTRINSICS } from "../library/intrinsics.ts";
import { KNOWN_INTRINSICS } from "../ir/lower/intrinsics.ts";
import { compile } from "../compiler/compile.ts";
import { RunningModule } from "./testing.ts";

Deno.test("the back end knows the intrinsics of the list and no others", () => {
  assert.deepEqual([...KNOWN_INTRINSICS].sort(), INTRINSICS.map((each) => each.id).sort());
});

for (const name of STANDARD_LIBRARY.names) {
  Deno.test(`tests of ${name} do the same in WebAssembly and in the interpreter`, () => {
    const { program } = new PackageChecker().checkLibraryModule(STANDARD_LIBRARY, name);
    const module = program?.modules.find((each) => each.name === name);
    if (program === null || module === undefined) throw new Error(`Cannot test ${name}: it has errors`);
    const tests = module.tests.filter((test) => test.body !== null && test.parameters.length === 0)
      .map((test) => ({ module, test }));
    const compiled = compile(program, { target: "core", tests });
    for (const [index, { test }] of tests.entries()) {
      let expected: string | null = null;
      try {
        new Interpreter(program, new RecordingHost()).runTest(module, test);
      } catch (error) {
        if (!(error instanceof ProgramTrap)) throw error;
        expected = error.kind;
      }
      const running = new RunningModule(compiled);
      const trap = running.trapOf(`test_${index}`);
      assert.equal(trap?.split(" ")[0] ?? null, expected, test.name);
      if (trap === null) assert.equal(running.heapBytes, 0, `${test.name} leaves memory behind`);
    }
  });
}
