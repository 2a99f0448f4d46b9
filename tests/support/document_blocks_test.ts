/** Reading pages. */
import { deepStrictEqual, strictEqual, throws } from "node:assert/strict";
import { blocksOf, matchesOutput, sectionOf } from "./document_blocks.ts";

const page = [
  "# Title",
  "## Tour",
  "```sh",
  "## not a heading",
  "```",
  "It prints",
  "```text",
  "done",
  "```",
  "### Part",
  "```ts",
  "x",
  "```",
  "## Next",
  "",
].join("\n");

Deno.test("sectionOf() ends before the next heading of its level, and does not look into blocks", () => {
  strictEqual(sectionOf(page, "### Part"), "### Part\n```ts\nx\n```");
  strictEqual(sectionOf(page, "## Tour").endsWith("x\n```"), true);
  throws(() => sectionOf(page, "## Missing"), /no heading/);
});

Deno.test("blocksOf() gives each block the output that follows it", () => {
  deepStrictEqual(blocksOf(page), [
    { language: "sh", text: "## not a heading\n", line: 3, expected: "done\n" },
    { language: "ts", text: "x\n", line: 11, expected: null },
  ]);
});

Deno.test("matchesOutput() takes … for any text and for any lines", () => {
  const check = (actual: string, expected: string, matches: boolean) =>
    strictEqual(matchesOutput(actual, expected), matches, `${actual} / ${expected}`);
  check("a  \nb\n\n", "a\nb\n", true);
  check("a\nc\n", "a\nb\n", false);
  check("took 12 ms\n", "took … ms\n", true);
  check("took 12 s\n", "took … ms\n", false);
  check("a\nx\ny\nb\n", "a\n…\nb\n", true);
  check("a\nb\n", "a\n…\nb\n", true);
  check("a.b", "a*b", false);
});
