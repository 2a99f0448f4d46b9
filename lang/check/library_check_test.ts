/** The library is checked like any package: it has no mistakes and no warnings. */
import assert from "node:assert/strict";
import { PackageChecker } from "./package_checker.ts";
import { STANDARD_LIBRARY } from "./standard_library.ts";

for (const name of STANDARD_LIBRARY.names) {
  Deno.test(`the library's module ${name} has no diagnostics`, () => {
    const { diagnostics } = new PackageChecker().checkLibraryModule(STANDARD_LIBRARY, name);
    assert.deepEqual(
      diagnostics.map(({ code, message, file, span }) =>
        `${code} line ${file.positionOf(span).line}: ${message}`
      ),
      [],
    );
  });
}
