/** Interners and UTF-8 decoding. */
import assert from "node:assert/strict";
import { SeededRandom } from "../testing/seeded_random.ts";
import type { ExecutionState } from "./execution_state.ts";
import { BigInterner, decodeText, sameUtf8, TextInterner, ValueInterner } from "./interner.ts";

function accountant(): { state: ExecutionState; bytes: () => number } {
  let bytes = 0;
  return { state: { charge: (more: number) => void (bytes += more) } as ExecutionState, bytes: () => bytes };
}

const encoder = new TextEncoder();

Deno.test("TextInterner gives one code to a text, as a string or as bytes", () => {
  const { state, bytes } = accountant();
  const interner = new TextInterner(state);
  const random = new SeededRandom(5);
  const codes = new Map<string, number>();
  for (let round = 0; round < 4000; round++) {
    const text = `${random.pick(["", "a", "ä", "\u{1F600}", "long text "])}${random.below(300)}`;
    const encoded = encoder.encode(`<${text}>`);
    const code = random.chance(0.5)
      ? interner.ofText(text)
      : interner.ofBytes(encoded, 1, encoded.length - 1);
    assert.equal(code, codes.get(text) ?? codes.size, text);
    codes.set(text, code);
    assert.equal(interner.text(code), text);
  }
  assert.equal(interner.findText("absent"), -1);
  assert.equal(interner.findBytes(encoder.encode("absent"), 0, 6), -1);
  assert.ok(bytes() > 0);
  interner.release();
  assert.equal(bytes(), 0);
});

Deno.test("ValueInterner finds values by their keys", () => {
  const { state, bytes } = accountant();
  const interner = new ValueInterner(state);
  assert.equal(interner.of("k", "first"), 0);
  assert.equal(interner.of("l", "second"), 1);
  assert.equal(interner.of("k", "other"), 0);
  assert.equal(interner.values[0], "first");
  assert.equal(interner.find("m"), -1);
  assert.ok(bytes() > 0);
  interner.release();
  assert.equal(bytes(), 0);
});

Deno.test("BigInterner gives codes that are no safe integers", () => {
  const interner = new BigInterner();
  const code = interner.of(9007199254740993n);
  assert.equal(interner.of(9007199254740993n), code);
  assert.ok(!Number.isSafeInteger(code));
  assert.notEqual(interner.of(-9007199254740993n), code);
  assert.equal(interner.value(code), 9007199254740993n);
  assert.equal(interner.value(42), 42);
  assert.equal(interner.value(Infinity), Infinity);
});

Deno.test("decodeText() reads UTF-8 of every length", () => {
  for (const unit of ["a", "ä", "€", "\u{1F600}"]) {
    for (let length = 0; length < 60; length++) {
      for (const text of [unit.repeat(length), "x".repeat(length) + unit]) {
        const encoded = encoder.encode(`[${text}]`);
        assert.equal(decodeText(encoded, 1, encoded.length - 1), text);
        assert.ok(sameUtf8(encoded, 1, encoded.length - 1, encoder.encode(text)));
      }
    }
  }
});
