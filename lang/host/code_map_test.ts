/** Where traps are reported: at the package's own line, whatever was called or lowered in place on the way there. */
import assert from "node:assert/strict";
import { PackageAnalyzer } from "../check/package_analysis.ts";
import { Interpreter, RecordingHost } from "../interpret/interpreter.ts";
import { compile, type CompileOptions } from "../compiler/compile.ts";
import { CodeMap } from "./code_map.ts";
import { trapReportOf } from "./trap_report.ts";
import { externsOf, WasmProgram } from "./wasm_program.ts";
import type { TrapReport } from "./wasm_trap.ts";

function programOf(text: string) {
  const { program, diagnostics } = new PackageAnalyzer().analyze(new Map([["src/main.lang", text]]));
  assert.ok(program !== null, diagnostics.map(({ message }) => message).join("\n"));
  const main = program.root?.functions.find(({ name }) => name === "main");
  assert.ok(main !== undefined);
  return { program, main };
}

function trapOf(work: () => unknown, map: CodeMap | null): TrapReport {
  try {
    work();
  } catch (error) {
    const report = trapReportOf(error, map);
    if (report === null) throw error;
    return report;
  }
  throw new Error("the program does not trap");
}

function compiledTrap(text: string, options: Partial<CompileOptions> = {}, gas = 0n): TrapReport {
  const { program, main } = programOf(text);
  const compiled = compile(program, { target: "core", exports: [main], ...options });
  const run = new WasmProgram({ bytes: compiled.bytes, externs: externsOf(program) }).instantiate(
    new RecordingHost(),
  );
  if (options.hasGas === true) run.gasLeft = gas;
  return trapOf(() => run.call("main"), new CodeMap(compiled));
}

function interpretedTrap(text: string): TrapReport {
  const { program, main } = programOf(text);
  return trapOf(() => new Interpreter(program, new RecordingHost()).call(main), null);
}

function placeText({ place, library }: TrapReport): string {
  return `${place?.file}:${place?.line}${library === null ? "" : ` in ${library.file}`}`;
}

Deno.test("a full heap is told with the line that took the last of it", () => {
  const report = compiledTrap(
    `fn main() -> Int {
  var all: List[List[Int]] = []
  while all.len() < 1_000_000 {
    let row = [1, 2, 3, 4, 5, 6, 7, 8]
    all.push(row)
  }
  all.len()
}
`,
    { maximumPages: 4 },
  );
  assert.deepEqual([report.kind, report.message], ["memory", "Cannot take memory: the heap is full"]);
  assert.equal(report.place?.file, "src/main.lang");
  assert.ok([4, 5].includes(report.place?.line ?? 0), `${report.place?.line}`);
});

Deno.test("gas that is used up inside of the library is told with the caller's line", () => {
  const text = `fn main() -> Int {
  let text = "a,b".repeat(3000)

  text.split(",").len()
}
`;
  const report = compiledTrap(text, { hasGas: true }, 30_000n);
  assert.equal(report.kind, "gas");
  assert.equal(report.place?.file, "src/main.lang");
  assert.match(report.library?.file ?? "", /^std:/);
});

Deno.test("a trap in the library is told with the same lines by both evaluators", () => {
  const programs = {
    "called in place": "fn main() -> Int {\n  let none: Option[Int] = None\n  none.unwrap()\n}\n",
    "called, with a text of its own": `fn main() -> Int {
  let numbers = [1, 2, 3]
  numbers.slice(1, 9).len()
}
`,
    "through functions of the package": `fn inner(values: List[Int], index: Int) -> Int {
  var sum = 0
  for value in values { sum += value }
  if index > 100 { return inner(values, index - 1) }
  sum + values.slice(0, index).len()
}

fn main() -> Int {
  inner([1], 150)
}
`,
    "in a closure that the library calls": `fn main() -> Int {
  let rows = [[1], []]
  rows.map(fn(row) {
    row.first().unwrap()
  }).len()
}
`,
    "in a method that the library calls": `type Version = { parts: List[Int] }

fn Version.compare(self: Version, other: Version) -> Order {
  self.parts[0].compare(other.parts[0])
}

fn main() -> Int {
  var versions = [Version { parts: [1] }, Version { parts: [] }]
  versions.sort()
  versions.len()
}
`,
  };
  for (const [name, text] of Object.entries(programs)) {
    const [compiled, interpreted] = [compiledTrap(text), interpretedTrap(text)];
    assert.equal(placeText(compiled), placeText(interpreted), name);
    assert.equal(compiled.message, interpreted.message, name);
    assert.equal(compiled.place?.file, "src/main.lang", name);
  }
});

Deno.test("an index is told with the length of the list, known or not when the program is compiled", () => {
  for (
    const [list, index, expected] of [
      ["[1, 2, 3]", "7", "index 7 of a list of 3 elements"],
      ["[1].map(fn(x) { x })", "[2].len()", "index 1 of a list of 1 element"],
      ["[1].filter(fn(x) { x > 1 })", "0 - 1", "index -1 of an empty list"],
    ]
  ) {
    const text = `fn main() -> Int {\n  let list = ${list}\n  list[${index}]\n}\n`;
    for (const report of [compiledTrap(text), interpretedTrap(text)]) {
      assert.equal(report.message, `Cannot take the element: ${expected}`);
      assert.equal(placeText(report), "src/main.lang:3");
    }
  }
});
