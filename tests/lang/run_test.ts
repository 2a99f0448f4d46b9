/**
 * Programs that must run: `run/NAME.lang` prints what `run/NAME.out` has, by the interpreter.
 *
 * `deno run -A tests/lang/run_test.ts --update` writes the files anew; read the difference before committing it.
 */
import assert from "node:assert/strict";
import { checkedProgram, interpretedOutput } from "./interpreted.ts";

const folder = new URL("./run/", import.meta.url);
const names = [...Deno.readDirSync(folder)].map((entry) => entry.name).filter((name) =>
  name.endsWith(".lang")
)
  .map((name) => name.slice(0, -".lang".length)).toSorted();

function output(name: string): string {
  return interpretedOutput(checkedProgram(Deno.readTextFileSync(new URL(`${name}.lang`, folder))));
}

if (import.meta.main && Deno.args.includes("--update")) {
  for (const name of names) Deno.writeTextFileSync(new URL(`${name}.out`, folder), output(name));
} else {
  for (const name of names) {
    Deno.test(`run/${name}.lang prints what it should by the interpreter`, () => {
      assert.equal(output(name), Deno.readTextFileSync(new URL(`${name}.out`, folder)));
    });
  }
  Deno.test("there are programs to run", () => assert.ok(names.length >= 100, `${names.length}`));
}
