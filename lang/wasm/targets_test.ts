/**
 * What modules of each target export and import, gas, the limit of calls, trap sites and texts.
 */
import assert from "node:assert/strict";
import { compile } from "../compiler/compile.ts";
import { checkSource, RunningModule, runSource } from "./testing.ts";

const GAME = `
use web.canvas
use web.input

type State = { x: Float, ticks: Int, trail: List[Float] }

pub fn init(seed: Int) -> State {
  State { x: seed.to_float(), ticks: 0, trail: [] }
}

pub fn step(state: inout State, input: Input) {
  state.ticks += 1
  if input.pressed(Space) { state.x += 1.0 }
  state.trail.push(state.x)
}

pub fn draw(state: State) uses Draw {
  canvas.circle(state.x, state.ticks.to_float(), 2.0, Color.white)
}
`;

Deno.test("a game keeps its state between the calls of the page", () => {
  const { program } = checkSource(GAME);
  const compiled = compile(program, { target: "wasm32-web" });
  const module = new WebAssembly.Module(compiled.bytes);
  const names = WebAssembly.Module.exports(module).map((each) => each.name);
  assert.deepEqual(
    names.filter((name) => ["init", "step", "draw", "allocate", "memory"].includes(name)).sort(),
    [
      "allocate",
      "draw",
      "init",
      "memory",
      "step",
    ],
  );
  assert.equal(WebAssembly.Module.customSections(module, "lang.state").length, 1);
  const frames: number[][] = [];
  const imports = {
    "lang:web/canvas@1.0.0": {
      flush(pointer: number, length: number) {
        const { memory } = instance.exports;
        if (memory instanceof WebAssembly.Memory) {
          frames.push([...new Float32Array(memory.buffer, pointer, length / 4)]);
        }
      },
    },
    "lang:web/input@1.0.0": { read() {} },
  };
  const instance = new WebAssembly.Instance(module, imports);
  const call = (name: string, ...args: number[]): void => {
    const target = instance.exports[name];
    if (typeof target === "function") target(...args);
  };
  const heapBytes = (): unknown => {
    const global = instance.exports["heap_bytes"];
    return global instanceof WebAssembly.Global ? global.value : null;
  };
  call("init", 7);
  for (let tick = 0; tick < 3; tick++) {
    call("step");
    call("draw");
  }
  assert.deepEqual(frames.map((frame) => [frame[1], frame[2]]), [[7, 1], [7, 2], [7, 3]]);
  const steady = heapBytes();
  call("init", 1);
  for (let tick = 0; tick < 3; tick++) {
    call("step");
    call("draw");
  }
  assert.equal(heapBytes(), steady);
});

Deno.test("a game that does not look at its input does not ask for it", () => {
  const game = (body: string) => {
    const { program } = checkSource(`
use web.input
type State = { ticks: Int, left: Bool }
pub fn init() -> State { State { ticks: 0, left: false } }
pub fn step(state: inout State, input: Input) { ${body} }
pub fn draw(_state: State) {}
`);
    const module = new WebAssembly.Module(compile(program, { target: "wasm32-web" }).bytes);
    return WebAssembly.Module.imports(module).map(({ name }) => name);
  };
  assert.deepEqual(game("state.ticks += 1"), []);
  assert.deepEqual(game("state.left = input.held(ArrowLeft)"), ["read"]);
  assert.deepEqual(game("let held = fn() { input.held(A) } state.left = held()"), ["read"]);
});

Deno.test("a command gets its arguments and gives its exit code", () => {
  const { program } = checkSource(`
pub fn main(args: List[String]) -> Int uses Log {
  for argument in args { print(argument) }
  args.len()
}
`);
  const compiled = compile(program, { target: "wasm32-wasi" });
  const log: string[] = [];
  const view = (): DataView => {
    const { memory } = instance.exports;
    if (!(memory instanceof WebAssembly.Memory)) {
      throw new Error("Cannot read the memory: it is not exported");
    }
    return new DataView(memory.buffer);
  };
  const instance = new WebAssembly.Instance(new WebAssembly.Module(compiled.bytes), {
    "lang:host/log@1.0.0": {
      write(pointer: number, length: number) {
        log.push(new TextDecoder().decode(new Uint8Array(view().buffer, pointer, length)));
      },
    },
    "lang:host/process@1.0.0": {
      arguments(result: number) {
        const bytes = new TextEncoder().encode("\0one\0two words\0");
        const { allocate } = instance.exports;
        const pointer = typeof allocate === "function" ? Number(allocate(bytes.length)) : 0;
        new Uint8Array(view().buffer).set(bytes, pointer);
        view().setInt32(result, pointer, true);
        view().setInt32(result + 4, bytes.length, true);
      },
    },
  });
  const { run } = instance.exports;
  assert.equal(typeof run === "function" ? run() : null, 3);
  assert.deepEqual(log, ["one", "two words", ""]);
  const { heap_bytes } = instance.exports;
  assert.equal(heap_bytes instanceof WebAssembly.Global ? heap_bytes.value : null, 0);
});

Deno.test("functions of a database take and give texts by pointer and length, without imports", () => {
  const { program } = checkSource(`
pub fn shout(text: String, times: Int) -> String {
  var loud = ""
  for _ in 0..times { loud += text.to_upper() }
  loud
}
pub fn half(x: Float) -> Float { x / 2.0 }
pub fn unfit(xs: List[String]) -> Int { xs.len() }
`);
  const running = new RunningModule(compile(program, { target: "wasm32-db" }));
  assert.equal(running.call("half", 3), 1.5);
  assert.equal(running.exports["unfit"], undefined);
  const text = new TextEncoder().encode("añ");
  for (let round = 0; round < 3; round++) {
    const pointer = Number(running.call("allocate", text.length));
    new Uint8Array(running.memory.buffer).set(text, pointer);
    const result = Number(running.call("shout", pointer, text.length, 2));
    const view = new DataView(running.memory.buffer);
    const bytes = new Uint8Array(view.buffer, view.getInt32(result, true), view.getInt32(result + 4, true));
    assert.match(new TextDecoder().decode(bytes), /^A.A.$/u);
  }
});

Deno.test("functions of a database take and give lists of numbers and options", () => {
  const { program } = checkSource(`
pub fn total(xs: List[Int64]) -> Int64 {
  var sum = 0.to_int64()
  for x in xs { sum += x }
  sum
}
pub fn doubled(xs: List[Float]) -> List[Float] { xs.map(fn(x) { x * 2.0 }) }
pub fn flags(xs: List[Bool]) -> List[Bool] { xs.map(fn(x) { not x }) }
pub fn or_zero(x: Option[Int]) -> Int { x.unwrap_or(0) }
pub fn positive(x: Float) -> Option[Float] { if x > 0.0 { Some(x) } else { None } }
pub fn joined(left: Option[String], right: String) -> Option[String] { Some(left.unwrap_or("-") + right) }
`);
  const running = new RunningModule(compile(program, { target: "wasm32-db" }));
  const put = (bytes: Uint8Array): number => {
    const pointer = Number(running.call("allocate", bytes.length));
    new Uint8Array(running.memory.buffer).set(bytes, pointer);
    return pointer;
  };
  const taken = (result: unknown, width: number): Uint8Array => {
    const view = new DataView(running.memory.buffer);
    const [start, length] = [view.getInt32(Number(result), true), view.getInt32(Number(result) + 4, true)];
    return new Uint8Array(running.memory.buffer, start, length * width).slice();
  };
  assert.equal(
    running.call("total", put(new Uint8Array(BigInt64Array.of(5n, -7n, 1n << 40n).buffer)), 3),
    (1n << 40n) - 2n,
  );
  const floats = new Uint8Array(Float64Array.of(1.5, -2).buffer);
  assert.deepEqual(
    new Float64Array(taken(running.call("doubled", put(floats), 2), 8).buffer),
    Float64Array.of(3, -4),
  );
  assert.deepEqual(taken(running.call("flags", put(Uint8Array.of(0, 1, 1)), 3), 1), Uint8Array.of(1, 0, 0));
  assert.deepEqual(taken(running.call("doubled", put(new Uint8Array()), 0), 8), new Uint8Array());
  assert.deepEqual([running.call("or_zero", 0, 9), running.call("or_zero", 1, 9)], [0, 9]);
  assert.deepEqual([running.call("positive", 2), running.call("positive", -2)], [[1, 2], [0, 0]]);
  const [a, b] = [new TextEncoder().encode("a"), new TextEncoder().encode("b")];
  const text = (result: unknown) => new TextDecoder().decode(taken(result, 1));
  assert.equal(text(running.call("joined", 1, put(a), 1, 1, put(b), 1)), "ab");
  assert.equal(text(running.call("joined", 0, 0, 0, 1, put(b), 1)), "-b");
  assert.equal(running.call("joined", 1, put(a), 1, 0, 0, 0), 0);
});

Deno.test("a library's function named as what the module exports itself gets another name", () => {
  const running = runSource("pub fn memory(n: Int) -> Int { n + 1 }");
  assert.equal(running.call("memory_", 1), 2);
});

Deno.test("functions of public types are exported with their types' names", () => {
  const { program } = checkSource(`
pub type Money = { cents: Int }
pub fn Money.total(cents: Int, count: Int) -> Int { Money { cents: cents }.times(count).cents }
pub fn Money.times(self: Money, count: Int) -> Money { Money { cents: self.cents * count } }
type Hidden = { n: Int }
pub fn Hidden.of(n: Int) -> Int { n }
`);
  const running = new RunningModule(compile(program, { target: "wasm32-db" }));
  assert.equal(running.call("Money.total", 250, 3), 750);
  const functions = Object.keys(running.exports).filter((name) =>
    typeof running.exports[name] === "function"
  );
  assert.deepEqual(functions, ["Money.total"]);
});

Deno.test("a trap tells its kind and place, a panic its text", () => {
  const running = runSource(`
pub fn overflow(n: Int) -> Int { n + 1 }
pub fn divide(n: Int) -> Int { 10 / n }
pub fn index(n: Int) -> Int { [1, 2][n] }
pub fn tell(n: Int) -> Int { panic("n is {n}") }
pub fn convert(x: Float) -> Int { x.to_int() }
pub fn deep(n: Int) -> Int { if n == 0 { 0 } else { 1 + deep(n - 1) } }
`);
  assert.equal(running.trapOf("overflow", 2147483647), "overflow 2:34");
  assert.equal(running.trapOf("divide", 0), "division 3:32");
  assert.equal(running.trapOf("index", 2), "index 4:31");
  assert.equal(running.trapOf("index", -1), "index 4:31");
  assert.equal(running.trapOf("tell", 5), "panic 5:30");
  assert.equal(running.textOf("trap_text"), "n is 5");
  assert.equal(running.trapOf("convert", 2147483648), "conversion 6:35");
  assert.equal(running.trapOf("convert", Number.NaN), "conversion 6:35");
  assert.equal(running.call("convert", -2147483648.5), -2147483648);
  assert.equal(running.call("deep", 1000), 1000);
  assert.match(String(running.trapOf("deep", 1_000_000)), /^depth /);
});

Deno.test("functions with many variables come to the limit of calls before the engine's stack ends", () => {
  const names = Array.from({ length: 300 }, (_, index) => `x${index}`);
  const running = runSource(`
pub fn deep(n: Int, x: Float) -> Float {
${names.map((name, index) => `  let ${name} = x * ${index}.5`).join("\n")}
  let below = deep(n + 1, x + 1.0)
  below + ${names.join(" + ")}
}
`);
  assert.match(String(running.trapOf("deep", 0, 1)), /^depth /);
});

Deno.test("gas is charged before a block runs, memory by its size", () => {
  const running = runSource(
    `
pub fn loop(n: Int) -> Int {
  var sum = 0
  for i in 0..n { sum += i }
  sum
}
pub fn forever() { while true {} }
pub fn fill(n: Int) -> Int { List.filled(0, n).len() }
`,
    { hasGas: true },
  );
  const gas = running.exports["gas_left"];
  if (!(gas instanceof WebAssembly.Global)) throw new Error("Cannot set gas: it is not exported");
  const used = (name: string, argument: number): number => {
    gas.value = 1_000_000n;
    running.call(name, argument);
    return Number(1_000_000n - BigInt(gas.value));
  };
  const [ten, twenty, thirty] = [used("loop", 10), used("loop", 20), used("loop", 30)];
  assert.ok(ten > 10);
  assert.equal(thirty - twenty, twenty - ten);
  assert.ok(used("fill", 80_000) - used("fill", 40_000) >= 20_000);
  gas.value = 1000n;
  assert.match(String(running.trapOf("forever")), /^gas /);
});

Deno.test("the heap has a cap", () => {
  const running = runSource(`pub fn fill(n: Int) -> Int { List.filled(1.0, n).len() }`, { maximumPages: 4 });
  assert.equal(running.call("fill", 1000), 1000);
  assert.match(String(running.trapOf("fill", 1_000_000)), /^memory /);
});

Deno.test("the same program gives the same bytes", () => {
  const first = compile(checkSource(GAME).program, { target: "wasm32-web" });
  const second = compile(checkSource(GAME).program, { target: "wasm32-web" });
  assert.deepEqual(first.bytes, second.bytes);
  assert.equal(first.sourceMap("main.wasm"), second.sourceMap("main.wasm"));
});

Deno.test("a program without effects is a module without imports, an empty game at most a kibibyte", () => {
  const { program } = checkSource(`
type State = { ticks: Int }
pub fn init() -> State { State { ticks: 0 } }
pub fn step(state: inout State) { state.ticks += 1 }
pub fn draw(state: State) {}
`);
  const { bytes } = compile(program, { target: "wasm32-web" });
  assert.deepEqual(WebAssembly.Module.imports(new WebAssembly.Module(bytes)), []);
  assert.ok(bytes.length <= 1024, `${bytes.length} bytes`);
});
