/** The TextMate grammar: the committed file is the lexer's, and its expressions fit what the lexer reads. */
import assert from "node:assert/strict";
import { lex } from "./lexer.ts";
import { textMateGrammar, type TextMateRule } from "./textmate.ts";
import { KEYWORDS } from "./token.ts";

const files = ["lang.tmlanguage.json", "vscode/syntaxes/lang.tmlanguage.json"];

Deno.test("the grammars of editors/ are what textMateGrammar() makes", () => {
  for (const path of files) {
    assert.equal(
      Deno.readTextFileSync(new URL(`../../editors/${path}`, import.meta.url)),
      `${JSON.stringify(textMateGrammar(), null, 2)}\n`,
      `editors/${path}: run deno task grammar`,
    );
  }
});

/** The scope of what stands at the start of a text, by the rules outside of texts. */
function scopeOf(text: string): string | undefined {
  const rules: readonly TextMateRule[] = textMateGrammar().repository["code"]?.patterns ?? [];
  const rule = rules.find(({ match, begin }) => new RegExp(match ?? begin ?? "", "y").test(text));
  return rule?.name ?? rule?.captures?.["1"]?.name;
}

Deno.test("textMateGrammar() has a scope for every token of the language", () => {
  const source = `/// About
use web.canvas as screen // why
pub fn Ball.move(self: inout Ball, by: Float) -> Option[Int] {
  let a = 0xff + 1.5e-3 * -2 % 3
  var text = "a {a} \\n" + """long"""
  if not done and a <= 3 or 'x' == '\\u{1F600}' { return None } else { call(a) }
  for i in 0..=9 { continue }
}
test "name" { expect(true) }`;
  for (const token of lex(source).tokens) {
    if (/^[()[\]{},:.]$|^_$/.test(token.text) || token.type === "text_part") continue;
    assert.notEqual(scopeOf(source.slice(token.start)), undefined, token.text);
  }
});

Deno.test("textMateGrammar() tells keywords, types, functions and comments apart", () => {
  for (const keyword of KEYWORDS.filter((word) => word !== "_" && word !== "fn")) {
    assert.match(scopeOf(`${keyword} x`) ?? "", /^(keyword|storage|constant)[.]/);
  }
  assert.equal(scopeOf("fn move()"), "storage.type.function.lang");
  assert.equal(scopeOf("Ball {"), "entity.name.type.lang");
  assert.equal(scopeOf("move(x)"), "entity.name.function.call.lang");
  assert.equal(scopeOf("/// doc"), "comment.line.documentation.lang");
  assert.equal(scopeOf("// note"), "comment.line.double-slash.lang");
  assert.equal(scopeOf('"text"'), "string.quoted.double.lang");
  assert.equal(scopeOf("ifs = 1"), "variable.other.lang");
});
