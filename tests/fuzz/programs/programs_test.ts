/**
 * Generated programs: all are right, they use what the language has, compiled code and interpreter agree on them, and
 * disagreements are found and made small.
 */
import assert from "node:assert/strict";
import { expectValid, validated } from "../../../lang/wasm/validity.ts";
import { shrink } from "../choices.ts";
import { agrees, answersTo, compareProgram } from "./program_oracle.ts";
import { programOf, programOfSeed } from "./statements.ts";

const COUNT = 60;

Deno.test(`${COUNT} generated programs print the same by interpreter and compiled code`, async () => {
  const before = validated();
  for (let seed = 0; seed < COUNT; seed++) {
    const disagreement = await compareProgram(seed);
    if (disagreement === null) continue;
    const { text, interpreted, compiled } = disagreement;
    assert.fail(`seed ${seed}\n${text}\n--- interpreter\n${interpreted}\n--- compiled\n${compiled}`);
  }
  assert.equal(validated() - before, COUNT);
});

Deno.test("a module that is not valid, or that needs more than releases may use, is refused", () => {
  const section = (id: number, ...bytes: number[]) => [id, bytes.length, ...bytes];
  const module = (...code: number[]) =>
    Uint8Array.of(
      ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
      ...section(1, 1, 0x60, 0, 0),
      ...section(3, 1, 0),
      ...section(10, 1, code.length + 2, 0, ...code, 0x0b),
    );
  expectValid(module(0x01));
  assert.throws(() => expectValid(module(0x6a)), /not enough arguments/);
  // A vector constant.
  assert.throws(
    () => expectValid(module(0xfd, 12, ...Array.from({ length: 16 }, () => 0), 0x1a)),
    /Binaryen/,
  );
});

Deno.test("programOfSeed() makes the same program of a seed, and programOf() of its decisions", () => {
  const { text, record } = programOfSeed(7);
  assert.equal(programOfSeed(7).text, text);
  assert.equal(programOf(record), text);
  assert.notEqual(programOfSeed(8).text, text);
});

Deno.test("generated programs use every form of the language that they know", () => {
  const all = Array.from({ length: 10 * COUNT }, (_, seed) => programOfSeed(seed).text).join("\n");
  const forms = [
    "for inout",
    "if let Some",
    "while ",
    "match ",
    "break",
    "continue",
    "return",
    ": inout ",
    "fn(",
    "..Record",
    "Map.from_list",
    "Set.from_list",
    ".map(fn",
    "| -1 =>",
    "Err(",
    "to_int64()",
    "exchange(&",
    "push_some(&",
    "F32",
    "Bytes",
    "identity(",
    "larger(",
    "+%=",
    "?\n",
    "Pool.empty()",
    ".clamp(0, 3) - 1",
    ".sort_by(fn",
    ".update(",
    "const v",
    " else { return",
    "else if ",
    ", ..v",
    "'a'..='z'",
    ", .. }",
    "expect(",
    "panic(",
    "times: 3",
    "Bag.put(&",
    ".checked_add(",
    ".group_by(",
    ".or_some(",
  ];
  assert.deepEqual(forms.filter((form) => !all.includes(form)), []);
});

Deno.test("agrees() takes neither another answer nor a fault for agreement, and a failing program is made small", async () => {
  assert.equal(agrees({ interpreted: "1\n", compiled: "2\n" }), false);
  assert.equal(agrees({ interpreted: "# refused", compiled: "# refused" }), false);
  assert.equal(agrees(answersTo("pub fn main() uses Log {\n  print(1)\n}\n")), false);
  assert.equal(agrees(answersTo('pub fn main() uses Log {\n  print("1")\n}\n')), true);
  const { text, record } = programOfSeed(11);
  const small = await shrink(
    record,
    (candidate) => Promise.resolve(programOf(candidate).includes("print(")),
    200,
  );
  assert.ok(programOf(small).length < text.length && programOf(small).includes("print("));
});
