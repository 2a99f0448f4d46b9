/**
 * Components: read, validated, transpiled and run by jco, the component model's tool for JavaScript.
 */
import assert from "node:assert/strict";
import { transpile } from "@bytecodealliance/jco";
import { compileComponent, type Target } from "../compiler/compile.ts";
import { optimizeModule } from "./release.ts";
import { checkSource } from "./testing.ts";

/** A component, transpiled and instantiated with these imports. */
async function instantiate(
  text: string,
  target: Target,
  imports: Record<string, unknown>,
  isRelease = false,
  hasExitCodes = false,
): Promise<Record<string, unknown>> {
  const compiled = compileComponent(checkSource(text).program, { target, hasExitCodes });
  const core = isRelease ? await optimizeModule(compiled.bytes, { isSmall: true }) : compiled.bytes;
  const { files } = await transpile(compiled.wrap(core), { name: "component", instantiation: "async" });
  const entries = new Map(Object.entries(files));
  const source = entries.get("component.js");
  if (!(source instanceof Uint8Array)) throw new Error("Cannot run the component: it has no script");
  const script = new TextDecoder().decode(source);
  const module: unknown = await import(`data:text/javascript,${encodeURIComponent(script)}`);
  const start: unknown = Reflect.get(Object(module), "instantiate");
  if (typeof start !== "function") throw new Error("Cannot run the component: it has no instantiate");
  const getCore = (path: string): WebAssembly.Module => {
    const bytes = entries.get(path);
    if (!(bytes instanceof Uint8Array)) throw new Error(`Cannot find ${path}`);
    return new WebAssembly.Module(new Uint8Array(bytes));
  };
  return await start(getCore, imports);
}

function call(owner: unknown, name: string, ...args: unknown[]): unknown {
  const target: unknown = Reflect.get(Object(owner), name);
  if (typeof target !== "function") throw new Error(`Cannot call ${name}: it is not exported`);
  return target(...args);
}

Deno.test("a game is a component of functions over numbers and bytes", async () => {
  const frames: Float32Array[] = [];
  const game = await instantiate(
    `
use web.canvas
use web.input
type State = { x: Float, ticks: Int }
pub fn init(seed: Int) -> State { State { x: seed.to_float(), ticks: 0 } }
pub fn step(state: inout State, input: Input) { if not input.pressed(Space) { state.ticks += 1 } }
pub fn draw(state: State) uses Draw { canvas.circle(state.x, state.ticks.to_float(), 2.0, Color.white) }
`,
    "wasm32-web",
    {
      "lang:web/canvas": {
        flush: (bytes: Uint8Array) => frames.push(new Float32Array(bytes.slice().buffer)),
      },
      "lang:web/input": { read: () => new Uint8Array(0) },
    },
  );
  call(game, "init", 5);
  for (let tick = 0; tick < 2; tick++) {
    call(game, "step");
    call(game, "draw");
  }
  assert.deepEqual(frames.map((frame) => [frame[1], frame[2]]), [[5, 1], [5, 2]]);
});

for (const isRelease of [false, true]) {
  Deno.test(`a command runs on WASI${isRelease ? ", as a release" : ""}`, async () => {
    let output = "";
    class OutputStream {
      blockingWriteAndFlush(bytes: Uint8Array): void {
        assert.ok(bytes.length <= 4096);
        output += new TextDecoder().decode(bytes);
      }
    }
    class InputStream {
      #rest = new TextEncoder().encode("first\nsecond\n");
      blockingRead(): Uint8Array {
        if (this.#rest.length === 0) throw Object.assign(new Error("closed"), { payload: { tag: "closed" } });
        const piece = this.#rest.slice(0, 8);
        this.#rest = this.#rest.slice(8);
        return piece;
      }
    }
    class StreamError {}
    const program = await instantiate(
      `
use host.process
pub fn main(args: List[String]) -> Int uses Log, Input {
  for argument in args { print("{argument}!") }
  let home = process.environment("HOME")
  let missing = process.environment("MISSING")
  print("{home} {missing}")
  print("{process.read_lines()}")
  print("x".repeat(5000))
  if args.len() == 3 { 0 } else { 3 }
}
`,
      "wasm32-wasi",
      {
        "wasi:cli/environment": {
          getArguments: () => ["/programs/count.wasm", "one", "", "zwölf"],
          getEnvironment: () => [["PATH", "/programs"], ["HOME", "/root-of-ada"]],
        },
        "wasi:cli/stdout": { getStdout: () => new OutputStream() },
        "wasi:cli/stderr": { getStderr: () => new OutputStream() },
        "wasi:cli/stdin": { getStdin: () => new InputStream() },
        "wasi:io/streams": { OutputStream, InputStream },
        "wasi:io/error": { Error: StreamError },
      },
      isRelease,
    );
    call(program["run"] ?? program["wasi:cli/run@0.2.0"], "run");
    const expected = `one!\n!\nzwölf!\nSome("/root-of-ada") None\n["first", "second"]\n${"x".repeat(5000)}\n`;
    assert.equal(output, expected);
  });
}

Deno.test("a command that gives another code than 0 fails on WASI", async () => {
  const program = await instantiate("pub fn main() -> Int { 3 }", "wasm32-wasi", {});
  assert.throws(() => call(program["run"] ?? program["wasi:cli/run@0.2.0"], "run"));
});

Deno.test("a command's exit codes from 2 to 255 leave its component when it is built so, others are 0 or a failure", async () => {
  for (const [code, expected] of [[0, 0], [1, 1], [2, 2], [200, 200], [255, 255], [256, 1], [-1, 1]]) {
    let told: unknown = null;
    const stop = new Error("the process ends");
    const program = await instantiate(
      `pub fn main(args: List[String]) -> Int { if args == ["a", "b c"] { ${code} } else { 9 } }`,
      "wasm32-wasi",
      {
        "wasi:cli/environment": { getArguments: () => ["main.wasm", "a", "b c"], getEnvironment: () => [] },
        "wasi:cli/exit": {
          exitWithCode: (given: unknown) => {
            told = given;
            throw stop;
          },
        },
      },
      false,
      true,
    );
    let exit = 0;
    try {
      call(program["run"] ?? program["wasi:cli/run@0.2.0"], "run");
    } catch (error) {
      exit = error === stop ? Number(told) : 1;
    }
    assert.equal(exit, expected);
  }
});

Deno.test("a command gets no arguments when WASI has none, not even its name", async () => {
  for (const given of [[], ["main.wasm"]]) {
    const program = await instantiate(
      "pub fn main(args: List[String]) -> Int { args.len() }",
      "wasm32-wasi",
      { "wasi:cli/environment": { getArguments: () => given, getEnvironment: () => [] } },
    );
    call(program["run"] ?? program["wasi:cli/run@0.2.0"], "run");
  }
});
