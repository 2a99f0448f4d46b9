/** The programs in `docs/language.md` are right: every code block is a package that checks. */
import assert from "node:assert/strict";
import { PackageAnalyzer } from "./package_analysis.ts";

const text = Deno.readTextFileSync(new URL("../../docs/language.md", import.meta.url));
const blocks = [...text.matchAll(/^```lang\n(.*?)^```$/gms)];

for (const block of blocks) {
  const line = text.slice(0, block.index).split("\n").length;
  Deno.test(`docs/language.md:${line} checks`, () => {
    const { diagnostics } = new PackageAnalyzer().analyze(new Map([["src/main.lang", block[1] ?? ""]]));
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    assert.deepEqual(
      errors.map(({ code, message, file, span }) => `${code} ${file.positionOf(span).line}: ${message}`),
      [],
    );
  });
}

Deno.test("docs/language.md has programs", () => assert.ok(blocks.length >= 4));
