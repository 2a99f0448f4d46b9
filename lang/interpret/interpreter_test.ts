/**
 * The interpreter from outside: what goes to the host, what traps tell, calls with places, scores; tests/lang/run has
 * whole programs.
 */
import assert from "node:assert/strict";
import { PackageAnalyzer } from "../check/package_analysis.ts";
import type { TypedFunction, TypedProgram } from "../typed/tree.ts";
import { ExpectationTrap, type HostValue, Interpreter, ProgramTrap, RecordingHost } from "./interpreter.ts";
import { decodeText, encodeText, ListValue, type Value } from "./value.ts";

function checked(text: string): TypedProgram {
  const { program, diagnostics } = new PackageAnalyzer().analyze(new Map([["src/main.lang", text]]));
  assert.ok(program !== null, diagnostics.map((each) => each.message).join("; "));
  return program;
}

function functionOf(program: TypedProgram, name: string): TypedFunction {
  const fn = program.root?.functions.find((each) => each.name === name);
  assert.ok(fn !== undefined);
  return fn;
}

function trapOf(run: () => unknown): ProgramTrap {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof ProgramTrap);
    return error;
  }
  assert.fail("the program did not trap");
}

Deno.test("calls of extern functions go to the host with their arguments, and its answers come back", () => {
  const program = checked(`use host.process
use std.time
pub fn main() -> String uses Input, Store, Log, Time {
  print("{process.environment("HOME")} {process.environment("NONE")} {process.read_file("a").map(fn(bytes) { bytes.len() })}")
  "{time.now()} {process.write_file("b", Bytes.from_list([1, 2]))}"
}
`);
  const host = new RecordingHost(
    new Map<string, (args: readonly HostValue[]) => HostValue>([
      ["lang:host/process@1.0.0 environment_variable", ([name]) => {
        return name === "HOME" ? new Uint8Array([1, 104, 105]) : new Uint8Array([0]);
      }],
      ["lang:host/process@1.0.0 read_whole_file", () => new Uint8Array([1, 7, 7, 7])],
      [
        "lang:host/process@1.0.0 write_whole_file",
        () => new Uint8Array([0, ...encodeText("the disk is full")]),
      ],
      ["lang:host/time@1.0.0 now_milliseconds", () => 12.5],
    ]),
  );
  const result = new Interpreter(program, host).call(functionOf(program, "main"));
  assert.ok(result instanceof Uint8Array);
  assert.equal(decodeText(result), '12.5 Err("the disk is full")');
  assert.equal(host.output, 'Some("hi") None Ok(3)\n');
  assert.deepEqual(host.calls.map(({ name, args }) => [name, ...args]), [
    ["environment_variable", "HOME"],
    ["environment_variable", "NONE"],
    ["read_whole_file", "a"],
    ["write", 'Some("hi") None Ok(3)'],
    ["now_milliseconds"],
    ["write_whole_file", "b", new Uint8Array([1, 2])],
  ]);
});

Deno.test("a trap tells its kind, its place and the calls that led there", () => {
  const program = checked(`fn inner(n: Int) -> Int {
  10 / n
}
fn outer(n: Int) -> Int {
  inner(n - 1)
}
pub fn main() -> Int {
  outer(1)
}
`);
  const trap = trapOf(() => new Interpreter(program, new RecordingHost()).call(functionOf(program, "main")));
  const text = (span: { start: number; end: number }) => trap.site.file.text.slice(span.start, span.end);
  assert.equal(trap.kind, "division");
  assert.equal(text(trap.site.span), "10 / n");
  assert.deepEqual(trap.calls.slice(0, 2).map((call) => text(call.span)), ["inner(n - 1)", "outer(1)"]);
});

Deno.test("call() changes what is given for inout parameters, and nothing else", () => {
  const program = checked(`pub fn grow(list: inout List[Int], by: List[Int]) -> Int {
  list.append(by)
  list[0] = 9
  list.len()
}
`);
  const first = new ListValue([1]);
  const copy = first;
  copy.shared = true;
  const args: Value[] = [first, new ListValue([2, 3])];
  assert.equal(new Interpreter(program, new RecordingHost()).call(functionOf(program, "grow"), args), 3);
  const [changed] = args;
  assert.ok(changed instanceof ListValue);
  assert.deepEqual(changed.items, [9, 2, 3]);
  assert.deepEqual(first.items, [1]);
});

Deno.test("runTest() tells both sides of an expectation, and where the text of a snapshot stands", () => {
  const program = checked(`test "sides" {
  expect([1, 2].len() == 3)
}
test "snapshot" {
  expect_snapshot([1, 2], "[1]")
}
`);
  const module = program.root;
  const [sides, snapshot] = module?.tests ?? [];
  assert.ok(module !== null && sides !== undefined && snapshot !== undefined);
  const interpreter = new Interpreter(program, new RecordingHost());
  const failed = trapOf(() => interpreter.runTest(module, sides));
  assert.ok(failed instanceof ExpectationTrap);
  assert.deepEqual(failed.sides, { left: "2", operator: "==", right: "3" });
  const differs = trapOf(() => interpreter.runTest(module, snapshot));
  assert.ok(differs instanceof ExpectationTrap && differs.snapshotSpan !== null);
  assert.equal(module.file.text.slice(differs.snapshotSpan.start, differs.snapshotSpan.end), '"[1]"');
  assert.equal(differs.sides?.left, "[1, 2]");
});

Deno.test("score() gives truth values and floats of an eval's cases", () => {
  const program = checked(`eval "answers" threshold 0.5 {
  case "right" => 1 + 1 == 2
  case "half" => 0.5
}
`);
  const module = program.root;
  const [test] = module?.tests ?? [];
  assert.ok(module !== null && test !== undefined);
  const interpreter = new Interpreter(program, new RecordingHost());
  assert.deepEqual([interpreter.score(module, test, 0), interpreter.score(module, test, 1)], [1, 0.5]);
  assert.throws(() => interpreter.score(module, test, 2), RangeError);
});
