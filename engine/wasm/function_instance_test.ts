/** Calls under gas, resets, traps and memory of functions in WebAssembly. */
import assert from "node:assert/strict";
import { DatabaseError } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { expressionSteps, FunctionInstance, type WasmValue } from "./function_instance.ts";
import { InstancePool } from "./instance_pool.ts";
import { prepareModule } from "./prepared_module.ts";
import { assemble } from "./testing.ts";

const pool = new InstancePool();

function instance(text: string, name = "f", gas: number = LIMITS.wasmGas): FunctionInstance {
  return new FunctionInstance(prepareModule(assemble(text)), name, { gas, pool });
}

function checkError(call: () => unknown, code: string, message: RegExp): void {
  assert.throws(call, (error) => {
    assert.ok(error instanceof DatabaseError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  });
}

Deno.test("FunctionInstance.call() passes every type of value in and out", () => {
  const check = (type: string, value: WasmValue) => {
    const f = instance(`(module (func (export "f") (param ${type}) (result ${type}) (local.get 0)))`);
    assert.equal(f.call(value), value);
  };
  check("i32", -5);
  check("i64", -(2n ** 63n));
  check("f32", 1.5);
  check("f64", -0);
  const two = instance(`(module (func (export "f") (result i32 f64) (i32.const 1) (f64.const 2)))`);
  assert.deepEqual(two.call(), [1, 2]);
  const none = instance(`(module (func (export "f")))`);
  assert.equal(none.call(), undefined);
});

Deno.test("FunctionInstance.call() resets globals, memory, its size, the table and segments before each call", () => {
  const check = (parts: string, body: string, expected: WasmValue) => {
    const f = instance(`(module ${parts} (func (export "f") (result i32) ${body}))`);
    for (let count = 0; count < 3; count++) assert.equal(f.call(), expected);
    const { raw } = f;
    for (let count = 0; count < 3; count++) assert.equal(raw(), expected);
  };
  check(
    "(global $g (mut i32) (i32.const 41))",
    "(global.set $g (i32.add (global.get $g) (i32.const 1))) (global.get $g)",
    42,
  );
  for (const address of [0, 10, 511, 512, 1023, 65_527, 65_535, 131_071]) {
    check(
      `(memory 2) (data (i32.const ${address}) "\\07")`,
      `(i32.store8 (i32.const ${address}) (i32.add (i32.load8_u (i32.const ${address})) (i32.const 1)))
       (i32.load8_u (i32.const ${address}))`,
      8,
    );
  }
  // A store over the border of chunks, with a small and a large offset, and where nothing is in the image.
  for (const [base = 0, offset = 0] of [[505, 0], [508, 255], [254, 256], [0, 100_000], [65_400, 131]]) {
    check(
      `(memory 2) (data (i32.const 3) "abc")`,
      `(i64.store offset=${offset} (i32.const ${base})
         (i64.add (i64.load offset=${offset} (i32.const ${base})) (i64.const 0x0101010101010101)))
       (i32.load offset=${offset + 4} (i32.const ${base}))`,
      0x01010101,
    );
  }
  check(
    `(memory 1) (data (i32.const 0) "ab")`,
    `(memory.copy (i32.const 100) (i32.const 99) (i32.const 2000))
     (memory.fill (i32.const 3000) (i32.add (i32.load8_u (i32.const 3000)) (i32.const 9)) (i32.const 700))
     (memory.copy (i32.const 60000) (i32.const 0) (i32.const 1))
     (i32.add (i32.load8_u (i32.const 3699)) (i32.load8_u (i32.const 60000)))`,
    106,
  );
  check(
    "(memory 1 4)",
    "(drop (memory.grow (i32.const 2))) (i32.store (i32.const 100000) (i32.const 1)) (memory.size)",
    3,
  );
  check(
    `(memory 1) (data $d "xyz")`,
    "(memory.init $d (i32.const 0) (i32.const 0) (i32.const 3)) (data.drop $d) (i32.load8_u (i32.const 2))",
    122,
  );
  check(
    `(type $t (func (result i32))) (table 2 funcref) (elem (i32.const 0) $a $b) (elem $p func $b)
     (func $a (result i32) (i32.const 1)) (func $b (result i32) (i32.const 2))`,
    `(i32.mul (call_indirect (type $t) (i32.const 0)) (i32.const 10))
     (table.init $p (i32.const 0) (i32.const 0) (i32.const 1)) (elem.drop $p)
     (i32.add (call_indirect (type $t) (i32.const 0)))`,
    12,
  );
});

Deno.test("FunctionInstance.call() runs a start function that does not loop, each time", () => {
  const f = instance(`(module (global $g (mut i32) (i32.const 1)) (memory 1)
    (start $s) (func $s (global.set $g (i32.const 20)) (i32.store (i32.const 8) (i32.const 1)))
    (func (export "f") (result i32)
      (global.set $g (i32.add (global.get $g) (i32.load (i32.const 8))))
      (i32.store (i32.const 8) (i32.const 5))
      (global.get $g)))`);
  for (let count = 0; count < 3; count++) assert.equal(f.call(), 21);
});

Deno.test("FunctionInstance.call() is as at the start after a trap", () => {
  const f = instance(`(module (memory 1) (global $g (mut i32) (i32.const 0))
    (func (export "f") (param i32) (result i32)
      (i32.store (i32.const 4) (i32.add (i32.load (i32.const 4)) (i32.const 1)))
      (global.set $g (i32.add (global.get $g) (i32.const 1)))
      (if (local.get 0) (then (unreachable)))
      (i32.add (global.get $g) (i32.load (i32.const 4)))))`);
  for (let count = 0; count < 3; count++) {
    checkError(() => f.call(1), "38000", /^WebAssembly function "f" trapped: unreachable$/);
    assert.equal(f.call(0), 2);
  }
});

Deno.test("FunctionInstance.call() ends what runs without end, by gas, and says so with 54001", () => {
  const check = (body: string, code: string, message: RegExp, gas = 100_000) => {
    const f = instance(
      `(module (memory 1) (type $t (func (param i32) (result i32))) (table 1 funcref) (elem (i32.const 0) $f)
        (func $f (export "f") (param i32) (result i32) ${body}))`,
      "f",
      gas,
    );
    checkError(() => f.call(1), code, message);
    checkError(() => f.call(1), code, message);
    if (/gas/.test(message.source)) assert.equal(f.gasUsed, gas + Math.max(0, f.gasUsed - gas));
  };
  const gas = /^WebAssembly function "f" ran out of gas$/;
  const depth = /^WebAssembly function "f" exceeded the depth of calls$/;
  check("(loop $l (br $l)) (i32.const 0)", "54001", gas);
  check("(loop $l (br_if $l (local.get 0))) (i32.const 0)", "54001", gas);
  check("(loop $l (br_table $l $l (local.get 0))) (i32.const 0)", "54001", gas);
  check("(loop $l (if (local.get 0) (then (br $l)))) (i32.const 0)", "54001", gas);
  check("(loop $l (drop (memory.grow (i32.const 0))) (br $l)) (i32.const 0)", "54001", gas);
  check("(loop $l (drop (memory.grow (i32.const 70000))) (br $l)) (i32.const 0)", "54001", gas);
  check("(loop $l (drop (memory.grow (i32.const 1))) (br $l)) (i32.const 0)", "54001", gas);
  check("(memory.fill (i32.const 0) (i32.const 1) (i32.const -1)) (i32.const 0)", "54001", gas);
  check(
    "(loop $l (memory.copy (i32.const 0) (i32.const 1) (i32.const 60000)) (br $l)) (i32.const 0)",
    "54001",
    gas,
  );
  check("(call $f (local.get 0))", "54001", depth);
  check("(call_indirect (type $t) (local.get 0) (i32.const 0))", "54001", depth);
});

Deno.test("FunctionInstance.call() pays for every page above 16, so that large memories get fewer instructions", () => {
  const f = instance(
    `(module (memory 20) (func (export "f") (param i32) (result i32) (memory.grow (local.get 0))))`,
  );
  assert.equal(f.call(0), 20);
  assert.equal(f.gasUsed, 4 * 81_920 + 101);
  assert.equal(f.call(3), 20);
  assert.equal(f.gasUsed, 7 * 81_920 + 3 * 4096 + 101);
  checkError(() => f.call(200), "54001", /out of gas/);
  const small = instance(
    `(module (memory 1) (func (export "f") (param i32) (result i32) (memory.grow (local.get 0))))`,
  );
  small.call(15);
  assert.equal(small.gasUsed, 15 * 4096 + 101);
  small.call(16);
  assert.equal(small.gasUsed, 16 * 4096 + 81_920 + 101);
  assert.equal(small.call(256), -1);
});

Deno.test("FunctionInstance.call() reports a trap by its kind, with 38000 unless SQL has a code for it", () => {
  const check = (body: string, kind: string) => {
    const f = instance(
      `(module (memory 1) (type $t (func)) (table 2 funcref) (elem (i32.const 0) $f)
       (func $f (export "f") (param i32 f64) ${body}))`,
    );
    const code = kind.endsWith("zero") ? "22012" : /^integer|^invalid/.test(kind) ? "22003" : "38000";
    checkError(() => f.call(0, NaN), code, new RegExp(`trapped: ${kind}$`));
  };
  check("(drop (i32.div_s (i32.const 1) (local.get 0)))", "integer divide by zero");
  check("(drop (i32.rem_u (i32.const 1) (local.get 0)))", "integer divide by zero");
  check(
    "(drop (i32.div_s (i32.const 0x80000000) (i32.sub (local.get 0) (i32.const 1))))",
    "integer overflow",
  );
  check("(drop (i32.trunc_f64_s (local.get 1)))", "invalid conversion to integer");
  check("(i32.store (i32.const 65533) (local.get 0))", "out of bounds memory access");
  check("(i32.store offset=4294967295 (i32.const 8) (local.get 0))", "out of bounds memory access");
  check("(i32.store (i32.const -4) (local.get 0))", "out of bounds memory access");
  check("(drop (i32.load (i32.const 65533)))", "out of bounds memory access");
  check("(memory.fill (i32.const 65530) (i32.const 0) (i32.const 7))", "out of bounds memory access");
  check("(call_indirect (type $t) (i32.const 2))", "out of bounds table access");
  check("(call_indirect (type $t) (i32.const 1))", "uninitialized element");
  check("(call_indirect (type $t) (i32.const 0))", "indirect call type mismatch");
});

Deno.test("FunctionInstance makes every NaN canonical where its bits can be seen, and leaves determined bits", () => {
  const bits = (body: string, ...values: WasmValue[]) =>
    instance(
      `(module (memory 1) (global $g (mut f64) (f64.const 0))
       (func $id (param f64) (result f64) (local.get 0))
       (func (export "f") (param $x f64) (param $y f64) (result i64) (local $z f64) ${body}))`,
    ).call(...values);
  const canonical = 0x7ff8000000000000n;
  const open = "(f64.sqrt (f64.const -1))";
  const check = (body: string) => assert.equal(bits(body, NaN, -1), canonical, body);
  check("(i64.reinterpret_f64 (local.get $x))");
  check(`(i64.reinterpret_f64 ${open})`);
  check(`(f64.store (i32.const 8) ${open}) (i64.load (i32.const 8))`);
  check(`(local.set $z ${open}) (i64.reinterpret_f64 (local.get $z))`);
  check(`(i64.reinterpret_f64 (local.tee $z ${open}))`);
  check(`(global.set $g ${open}) (i64.reinterpret_f64 (global.get $g))`);
  check(`(i64.reinterpret_f64 (call $id ${open}))`);
  check(`(i64.reinterpret_f64 (block (result f64) (br 0 ${open})))`);
  check(`(i64.reinterpret_f64 (if (result f64) (i32.const 1) (then ${open}) (else (f64.const 0))))`);
  check(`(i64.reinterpret_f64 (f64.neg ${open}))`);
  check(`(i64.reinterpret_f64 (f64.copysign (f64.const nan) (f64.sub (local.get $x) (f64.const 1))))`);
  check(`(i64.reinterpret_f64 (select ${open} (f64.const 1) (i32.const 1)))`);
  check(`(i64.reinterpret_f64 (f64.promote_f32 (f32.demote_f64 (local.get $x))))`);
  check(`(i64.reinterpret_f64 (f64.div (f64.const 0) (f64.const 0)))`);
  const kept = (body: string, expected: bigint) => assert.equal(bits(body, NaN, -1), expected, body);
  kept("(i64.reinterpret_f64 (f64.const nan:0x4000000000001))", 0x7ff4000000000001n);
  kept("(i64.reinterpret_f64 (f64.neg (f64.const nan)))", 0xfff8000000000000n - 2n ** 64n);
  kept(
    `(i64.store (i32.const 0) (i64.const 0x7ff0000000000001))
     (f64.store (i32.const 8) (f64.load (i32.const 0))) (i64.load (i32.const 8))`,
    0x7ff0000000000001n,
  );
  kept(
    `(i64.reinterpret_f64 (select ${open} (f64.const nan:0x4000000000001) (i32.const 0)))`,
    0x7ff4000000000001n,
  );
});

Deno.test("FunctionInstance.next() goes on with the state and the gas that are there, reset() ends it", () => {
  const f = instance(
    `(module (memory (export "memory") 1) (global $top (mut i32) (i32.const 16))
      (func (export "alloc") (param i32) (result i32)
        (global.get $top) (global.set $top (i32.add (global.get $top) (local.get 0))))
      (func (export "f") (param i32 i32) (result i32) (local $sum i32)
        (loop $l
          (local.set $sum (i32.add (local.get $sum) (i32.load8_u (local.get 0))))
          (local.set 0 (i32.add (local.get 0) (i32.const 1)))
          (br_if $l (local.tee 1 (i32.sub (local.get 1) (i32.const 1)))))
        (local.get $sum))
      (func (export "peek") (param i32) (result i32) (i32.load8_u (local.get 0))))`,
    "f",
    10_000,
  );
  for (let round = 0; round < 3; round++) {
    f.reset();
    const first = f.next("alloc", 3);
    assert.equal(first, 16);
    assert.equal(f.next("alloc", 5), 19);
    assert.ok(f.write(16, Uint8Array.of(1, 2, 3)));
    assert.equal(f.next("f", 16, 3), 6);
    assert.deepEqual(f.read(16, 2), Uint8Array.of(1, 2));
    const used = f.gasUsed;
    assert.ok(used > 50 && used < 100, `${used}`);
    f.next("f", 16, 3);
    assert.equal(f.gasUsed, used + 46);
    checkError(() => f.next("f", 0, 50_000), "54001", /out of gas/);
    f.reset();
    assert.equal(f.next("peek", 16), 0);
    assert.equal(f.gasUsed, 3);
  }
  assert.equal(f.write(65_535, Uint8Array.of(1, 2)), false);
  assert.equal(f.write(-1, Uint8Array.of(1)), false);
  assert.equal(f.read(65_530, 7), undefined);
});

Deno.test("FunctionInstance.call() sees nothing of what a host has written before", () => {
  const f = instance(
    `(module (memory (export "memory") 1) (func (export "f") (result i32) (i32.load (i32.const 4))))`,
  );
  assert.ok(f.write(4, Uint8Array.of(9)));
  assert.equal(f.call(), 0);
});

Deno.test("InstancePool keeps memory and number of instances bounded", () => {
  const own = new InstancePool();
  const module = prepareModule(assemble(
    `(module (memory (export "memory") 256) (func (export "f") (result i32) (i32.const 7)))`,
  ));
  const all = Array.from(
    { length: 40 },
    () => new FunctionInstance(module, "f", { gas: LIMITS.maximumWasmGas, pool: own }),
  );
  for (const one of all) {
    assert.equal(one.call(), 7);
    assert.ok(own.bytes <= LIMITS.wasmInstanceBytes, `${own.bytes}`);
  }
  for (const one of all) assert.equal(one.call(), 7);
  assert.ok(own.count < 40);
  const small = prepareModule(assemble(`(module (func (export "f") (result i32) (i32.const 7)))`));
  for (let count = 0; count < 100; count++) new FunctionInstance(small, "f", { gas: 1000, pool: own }).call();
  assert.equal(own.count, LIMITS.wasmInstances);
});

Deno.test("expressionSteps() counts 250 instructions as a step, and a part of them as one", () => {
  assert.equal(expressionSteps(0), 0);
  assert.equal(expressionSteps(1), 1);
  assert.equal(expressionSteps(250), 1);
  assert.equal(expressionSteps(251), 2);
});

Deno.test("FunctionInstance.call() pays for code that V8 may have to compile, however it is reached", () => {
  const branches = "(if (local.get 0) (then (local.set 0 (i32.const 7))))".repeat(8_000);
  const large = (name: string) => `(func ${name} (param i32) (result i32) ${branches} (local.get 0))`;
  const gasOf = (text: string): number => {
    const f = instance(`(module ${text})`, "f", LIMITS.maximumWasmGas);
    assert.equal(f.call(0), 0);
    return f.gasUsed;
  };
  const plain = gasOf(large('(export "f")'));
  const call = (index: number) => `(i32.mul (i32.const 0) (call ${index} (i32.const 0)))`;
  const both = gasOf(
    `${large("")} (func (export "f") (param i32) (result i32) (i32.mul (i32.const 0) ${call(0)}))`,
  );
  assert.ok(plain > 5_000_000, `${plain}`);
  // Not called, but callable.
  const unused = gasOf(
    `${large("")} (func (export "f") (param i32) (result i32) (if (local.get 0) (then (drop ${
      call(0)
    }))) (local.get 0))`,
  );
  assert.ok(Math.abs(both - plain) < 200_000 && unused > plain - 200_000, `${plain}, ${both}, ${unused}`);
  // What cannot be reached costs nothing, and far too much code is never run.
  const beside = gasOf(`${large("")} (func (export "f") (param i32) (result i32) (local.get 0))`);
  assert.ok(beside < 100, `${beside}`);
  const huge = Array.from({ length: 3 }, () => large("")).join(" ");
  const calls = Array.from({ length: 3 }, (_, index) => `(drop ${call(index)})`).join(" ");
  const f = instance(
    `(module ${huge} (func (export "f") (param i32) (result i32) ${calls} (local.get 0)))`,
    "f",
    LIMITS.maximumWasmGas,
  );
  const held = pool.count;
  checkError(() => f.call(0), "54001", /ran out of gas/);
  checkError(() => f.raw(0), "54001", /ran out of gas/);
  // Nothing was compiled for that.
  assert.equal(pool.count, held);
});
