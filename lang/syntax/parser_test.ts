/** The parser on small programs, and its trees. */
import assert from "node:assert/strict";
import { SourceFile } from "../source/source_file.ts";
import { parse } from "./parser.ts";

Deno.test("parse() makes the tree of a function", () => {
  const { module, diagnostics } = parse(new SourceFile("src/main.lang", "fn main() -> Int { 1 + 2 }"));
  assert.deepEqual(diagnostics, []);
  const [main] = module.declarations;
  assert.ok(main?.kind === "function" && main.body !== null);
  const [statement] = main.body.statements;
  assert.ok(statement?.kind === "expression" && statement.expression.kind === "binary");
  assert.deepEqual(statement.expression.span, { start: 19, end: 24 });
  assert.deepEqual(statement.expression.left, { kind: "integer", value: 1n, span: { start: 19, end: 20 } });
});
