/** What the compiler says of the programs that must fail is what stands beside them; `deno task golden` renews it. */
import assert from "node:assert/strict";
import { failOutputs, failPrograms, readFail } from "./fail_outputs.ts";

Deno.test("programs that must fail: what people see, JSON and fixed sources are as written", () => {
  const names = failPrograms();
  assert.ok(names.length >= 240, `${names.length} programs`);
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
