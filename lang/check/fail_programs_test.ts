/**
 * The programs of `tests/lang/fail`: each has one mistake and raises the code that its file is named after, as its only error; a program of a
 * warning raises no error. A line `// src/physics.lang` begins another file of the package.
 */
import assert from "node:assert/strict";
import { filesOfPage } from "../diagnostics/codes/code_page.ts";
import { PackageAnalyser } from "./package_analysis.ts";

const folder = new URL("../../tests/lang/fail/", import.meta.url);
const analyser = new PackageAnalyser();

const names = [...Deno.readDirSync(folder)].map((entry) => entry.name).filter((name) =>
  /^[A-Z]{2}\d{4}_\w+\.lang$/.test(name)
);

for (const name of names.sort()) {
  const code = name.slice(0, 6);
  Deno.test(`${name.slice(0, -".lang".length)} raises ${code} once, and no other error`, () => {
    const { diagnostics } = analyser.analyse(filesOfPage(Deno.readTextFileSync(new URL(name, folder))));
    const told = diagnostics.filter((diagnostic) =>
      diagnostic.severity === "error" || diagnostic.code === code
    );
    assert.deepEqual(
      told.map((diagnostic) => diagnostic.code),
      [code],
      told.map((diagnostic) => `${diagnostic.code} ${diagnostic.message}`).join("\n"),
    );
  });
}

Deno.test("there are at least 150 programs that must fail", () => {
  assert.ok(names.length >= 150, `${names.length}`);
});
