/** Which modules are accepted, why others are refused and where, and that rewriting is deterministic. */
import assert from "node:assert/strict";
import { ModuleError } from "./module_error.ts";
import { modulePreparation, prepareModule } from "./prepared_module.ts";
import { assemble } from "./testing.ts";

function refusal(bytes: Uint8Array): ModuleError {
  try {
    prepareModule(bytes);
  } catch (error) {
    if (error instanceof ModuleError) return error;
    throw error;
  }
  throw new Error("the module was accepted");
}

Deno.test("prepareModule() lists exported functions with their types, and what the memory may become", () => {
  const module = prepareModule(assemble(
    `(module (memory (export "mem") 2 1000) (global (export "g") i32 (i32.const 1))
      (func $a (export "a") (export "b") (param i32 i64) (result f64) (f64.const 0))
      (func (export "") (param f32)))`,
  ));
  assert.deepEqual([...module.functions.keys()], ["a", "b", ""]);
  assert.deepEqual(module.functions.get("a"), { parameters: [0x7f, 0x7e], results: [0x7c] });
  assert.deepEqual(module.memory, { initialPages: 2, maximumPages: 256, exportName: "mem" });
  assert.equal(module.isStateless, true);
  assert.equal(prepareModule(assemble("(module)")).memory, null);
});

Deno.test("prepareModule() refuses what is not allowed, with the reason and the offset in the file", () => {
  const check = (text: string, reason: RegExp, offset: number) => {
    const bytes = assemble(text);
    const error = refusal(bytes);
    assert.match(error.message, reason);
    assert.equal(error.offset, offset, `${text}: ${error.message}`);
  };
  const body = (code: string) => `(module (func ${code}))`;
  check(`(module (import "env" "now" (func)))`, /^imports are not allowed: "env" "now"$/, 17);
  check(`(module (import "" "m" (memory 1)))`, /^imports are not allowed/, 11);
  check(body("(param v128)"), /^SIMD is not allowed: type v128$/, 13);
  check(body("(drop (v128.const i32x4 0 0 0 0))"), /^SIMD is not allowed: opcode 0xfd$/, 23);
  check(`(module (memory 1 1 shared))`, /^threads are not allowed: shared memory$/, 11);
  check(`(module (memory 1) (func (drop (i32.atomic.load (i32.const 0)))))`, /^threads are not allowed/, 30);
  check(`(module (tag))`, /^exceptions are not allowed: tag section$/, 14);
  check(body("(try (do))"), /^exceptions are not allowed: opcode 0x06$/, 23);
  check(body("(local externref)"), /^references are not allowed as values$/, 24);
  check(body("(drop (ref.null func))"), /^references are not allowed as values: opcode 0xd0$/, 23);
  check(`(module (table 1 externref))`, /^tables hold functions/, 11);
  check(`(module (table 1 funcref) (table 1 funcref))`, /^multiple tables are not allowed$/, 14);
  check(`(module (table 1 funcref) (func (drop (table.size))))`, /^references are not allowed/, 29);
  check(`(module (memory i64 1))`, /^64-bit memories and tables are not allowed$/, 11);
  check(`(module (memory 1) (memory 1))`, /^multiple memories are not allowed$/, 13);
  check(`(module (func $f (return_call $f)))`, /^tail calls are not allowed: opcode 0x12$/, 23);
  check(
    `(module (global i32 (i32.const 1)) (global i32 (i32.add (i32.const 1) (i32.const 2))))`,
    /^constant expression required: one constant, then end$/,
    20,
  );
  check(
    `(module (start $s) (func $s (loop $l (br $l))))`,
    /^the start function may not loop: it reaches a loop$/,
    26,
  );
  check(`(module (start $s) (func $s (call $t)) (func $t (call $s)))`, /it reaches a recursion$/, 26);
  check(
    `(module (type $t (func)) (table 1 funcref) (elem (i32.const 0) $s) (start $s)
      (func $s (call_indirect (type $t) (i32.const 0))))`,
    /it reaches a recursion$/,
    40,
  );
  check(`(module (memory 1) (data (i32.const 65535) "ab"))`, /^out of bounds memory access/, 16);
  check(`(module (table 1 funcref) (func $f) (elem (i32.const 1) $f))`, /^out of bounds table access/, 27);
  check(`(module (memory 257))`, /^the memory begins with 257 pages, the limit is 256$/, 11);
  check(`(module (func (result i32) (i64.const 1)))`, /^type mismatch: i32 expected, found i64$/, 26);
});

Deno.test("prepareModule() refuses what is no module, a component, and a module that is too large", () => {
  const check = (bytes: number[], reason: RegExp, offset: number) => {
    const error = refusal(Uint8Array.from(bytes));
    assert.match(error.message, reason);
    assert.equal(error.offset, offset);
  };
  check([], /^unexpected end$/, 0);
  check([0, 0x61, 0x73, 0x6d, 1, 0], /^unexpected end$/, 6);
  check([1, 2, 3, 4, 5, 6, 7, 8], /^magic header not detected/, 0);
  check([0, 0x61, 0x73, 0x6d, 2, 0, 0, 0], /^unknown binary version$/, 4);
  check([0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0], /^components are not allowed/, 4);
  check([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 5, 0], /^unexpected end$/, 11);
  assert.match(
    refusal(new Uint8Array(4 * 1024 * 1024 + 1)).message,
    /^the module has 4194305 bytes, the limit is 4194304$/,
  );
});

Deno.test("prepareModule() gives the same bytes for the same bytes, whatever runs in between", async () => {
  const text =
    `(module (memory (export "m") 1 5) (data (i32.const 7) "abc") (global $g (mut f32) (f32.const 2))
    (table 2 funcref) (elem (i32.const 0) $f $f) (type $t (func (param f64 i32) (result f64)))
    (func $f (param f64 i32) (result f64) (local i64)
      (f64.store (i32.const 600) (f64.mul (local.get 0) (local.get 0)))
      (if (local.get 1) (then (global.set $g (f32.sqrt (global.get $g)))))
      (memory.fill (i32.const 0) (i32.const 1) (local.get 1))
      (drop (memory.grow (i32.const 1)))
      (call_indirect (type $t) (f64.load (i32.const 600)) (i32.const 0) (i32.const 1)))
    (func (export "f") (result f64) (loop $l (br_if $l (i32.const 0))) (call $f (f64.const 1) (i32.const 2))))`;
  const bytes = assemble(text);
  const { rewritten } = prepareModule(bytes);
  prepareModule(assemble("(module (func (loop (br 0))))"));
  assert.deepEqual(prepareModule(bytes).rewritten, rewritten);
  assert.ok(WebAssembly.validate(rewritten));
  // The bytes are the same on every machine and in every version: gas and results of stored functions hang on them.
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", rewritten)).slice(0, 8).toHex();
  assert.equal(digest, "a04fdfd8ec1f3357");
});

Deno.test("modulePreparation() has a step for every few thousand instructions and for every few functions", () => {
  const steps = (bytes: Uint8Array): number => {
    const preparation = modulePreparation(bytes);
    for (let count = 1;; count++) {
      const step = preparation.next();
      if (step.done !== true) continue;
      assert.deepEqual(step.value.rewritten, prepareModule(bytes).rewritten);
      return count;
    }
  };
  const long = assemble(`(module (func (export "f") ${"(block (br_if 0 (i32.const 1)))".repeat(10_000)}))`);
  // 40 001 instructions, twice.
  assert.ok(steps(long) > 2 * 40_000 / 4096, String(steps(long)));
  const many = assemble(
    `(module ${Array.from({ length: 1000 }, (_, n) => `(func (export "f${n}"))`).join("")})`,
  );
  assert.ok(steps(many) > 3 * 1000 / 32, String(steps(many)));
  assert.ok(steps(assemble("(module)")) < 5);
});

Deno.test("prepareModule() measures calls through tables, and chains of many exports, once for each function", () => {
  // Each function can call each function of the next type: as many pairs as half the square of their number.
  const half = 5_000;
  const layers = assemble(`(module (type $a (func)) (type $b (func (result i32)))
    (table funcref (elem ${Array.from({ length: half * 2 }, (_, n) => `$f${n}`).join(" ")}))
    ${
    Array.from({ length: half }, (_, n) =>
      `(func $f${n} (type $a) (drop (call_indirect (type $b) (i32.const ${half}))))`).join("")
  }
    ${Array.from({ length: half }, (_, n) => `(func $f${half + n} (type $b) (i32.const 1))`).join("")}
    (func (export "f") (call_indirect (type $a) (i32.const 0))))`);
  // Each call costs 10 and its index 1; the last function 1 and the frames that calls enter are not counted.
  const bound = prepareModule(layers).bounds.get("f");
  assert.ok(bound !== undefined && bound > 100 && bound < 1000, String(bound));
  const length = 20_000;
  const chain = (last: string): ReadonlyMap<string, number> =>
    prepareModule(
      assemble(`(module ${
        Array.from(
          { length },
          (_, n) => `(func $f${n} (export "f${n}") ${n === length - 1 ? last : `(call $f${n + 1})`})`,
        ).join("")
      })`),
    ).bounds;
  const bounds = chain("");
  assert.equal(bounds.get(`f${length - 1}`), 0);
  assert.ok((bounds.get(`f${length - 4}`) ?? 0) > 100);
  assert.equal(bounds.has("f0"), false, "its bound is beyond any that is of use");
  assert.equal(chain("(loop)").size, 0);
  assert.equal(chain(`(call $f${length - 3})`).size, 0, "all of them reach the recursion");
});
