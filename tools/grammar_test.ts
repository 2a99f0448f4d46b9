/** The generated grammar is what the grammar makes. */
import assert from "node:assert/strict";
import { generatedModule, withGrammar } from "./grammar.ts";

const folder = new URL("../lang/syntax/", import.meta.url);

Deno.test("generatedModule() of grammar.ne is grammar.generated.ts", () => {
  const made = generatedModule(Deno.readTextFileSync(new URL("grammar.ne", folder)));
  assert.ok(
    made === Deno.readTextFileSync(new URL("grammar.generated.ts", folder)),
    "lang/syntax/grammar.generated.ts is not what the grammar makes; run deno task grammar",
  );
});

Deno.test("docs/language.md prints the grammar", () => {
  const page = Deno.readTextFileSync(new URL("../docs/language.md", import.meta.url));
  const grammar = Deno.readTextFileSync(new URL("grammar.ne", folder));
  assert.ok(
    withGrammar(page, grammar) === page,
    "the grammar in docs/language.md is an old one; run deno task grammar",
  );
  assert.ok(page.includes('\nfunction -> "fn" heading block\n'));
});

Deno.test("generatedModule() refuses a grammar that is not LALR(1)", () => {
  const ambiguous = '@lexer tokens\nsum -> sum "+" sum {% id %} | %integer {% id %}\n';
  assert.throws(() => generatedModule(ambiguous), /sum -> sum \+ sum or shifting/);
});
