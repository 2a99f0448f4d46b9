/**
 * Programs that must run: `run/NAME.lang` prints what `run/NAME.out` has, by the interpreter and as WebAssembly, and leaves no memory in use.
 *
 * `deno run -A tests/lang/run_test.ts --update` writes the files anew; read the difference before committing it.
 */
import assert from "node:assert/strict";
import type { TypedProgram } from "../../lang/typed/tree.ts";
import { compiledOutput } from "./compiled.ts";
import { checkedProgram, interpretedOutput } from "./interpreted.ts";

const folder = new URL("./run/", import.meta.url);
const names = [...Deno.readDirSync(folder)].map((entry) => entry.name).filter((name) =>
  name.endsWith(".lang")
)
  .map((name) => name.slice(0, -".lang".length)).toSorted();

function programNamed(name: string): TypedProgram {
  return checkedProgram(Deno.readTextFileSync(new URL(`${name}.lang`, folder)));
}

if (import.meta.main && Deno.args.includes("--update")) {
  for (const name of names) {
    Deno.writeTextFileSync(new URL(`${name}.out`, folder), interpretedOutput(programNamed(name)));
  }
} else {
  for (const name of names) {
    Deno.test(`run/${name}.lang prints what it should, by both evaluators`, () => {
      const program = programNamed(name);
      const expected = Deno.readTextFileSync(new URL(`${name}.out`, folder));
      assert.equal(interpretedOutput(program), expected);
      assert.equal(compiledOutput(program), expected);
    });
  }
  Deno.test("there are programs to run", () => assert.ok(names.length >= 100, `${names.length}`));
}
