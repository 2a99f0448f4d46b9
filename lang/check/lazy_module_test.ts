/** Modules of the library parsed by need are what parsing them whole gives. */
import assert from "node:assert/strict";
import { LIBRARY_MODULES } from "../library/library.ts";
import type * as ast from "../syntax/ast.ts";
import { parse } from "../syntax/parser.ts";
import { lazyModule } from "./lazy_module.ts";

/** A tree as plain data, with bodies that were parsed by need. */
function plain(declarations: readonly ast.Declaration[]): unknown {
  const text = JSON.stringify(
    declarations,
    (_, value) => typeof value === "bigint" ? `${value}n` : value,
  );
  return JSON.parse(text);
}

for (const { name, file } of LIBRARY_MODULES) {
  Deno.test(`lazyModule() gives the declarations and tests of ${name}`, () => {
    const whole = parse(file);
    assert.deepEqual(whole.diagnostics, []);
    const { module, tests } = lazyModule(file);
    assert.equal(module.file, file);
    const both = [...module.declarations, ...tests()].toSorted((a, b) => a.span.start - b.span.start);
    assert.deepEqual(plain(both), plain(whole.module.declarations));
  });
}
