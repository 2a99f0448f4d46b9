/**
 * Every template and every example is without a remark, formatted, and passes its tests in WebAssembly and in the
 * interpreter.
 */
import assert from "node:assert/strict";
import { DiskFiles } from "../../cli/lang/shared/disk_files.ts";
import { build } from "../commands/build.ts";
import { SourceFile } from "../source/source_file.ts";
import { format } from "../syntax/format.ts";
import { Workspace } from "../commands/workspace.ts";
import { Interpreter, RecordingHost } from "../interpret/interpreter.ts";
import { test } from "../commands/tests.ts";
import { MemoryFiles } from "../package/package_files.ts";
import { planTests } from "../testing/test_plan.ts";
import { coreModule } from "../page_runtime/web/loader.js";

const LANG = new URL("..", import.meta.url).pathname;

/** Packages, what they are built for, and how many tests each has at least. */
const PACKAGES = [
  ["templates/game", "wasm32-web", 10],
  ["templates/tool", "wasm32-wasi", 10],
  ["templates/library", null, 20],
  ["templates/db-function", "wasm32-db", 10],
  ["examples/snake", "wasm32-web", 15],
  ["examples/platformer", "wasm32-web", 15],
  ["examples/particles", "wasm32-web", 8],
] as const;

/** The package in memory, so that a build leaves the sources alone. */
function packageOf(path: string): Workspace {
  const disk = new DiskFiles(LANG + path);
  return new Workspace(new MemoryFiles(disk.list().map((file) => [file, disk.read(file) ?? ""] as const)));
}

for (const [path, target, count] of PACKAGES) {
  Deno.test(`${path} is without a remark, formatted, and passes its tests`, async () => {
    const workspace = packageOf(path);
    const checked = workspace.check();
    assert.deepEqual(checked.diagnostics.map(({ code, message }) => `${code} ${message}`), []);
    assert.equal(checked.target, target);
    for (const [file, text] of workspace.sources()) {
      assert.equal(format(new SourceFile(file, text)), text, file);
    }
    const { results, isPassed } = await test(workspace, { seed: 1 });
    assert.ok(results !== null && results.length >= count, `${results?.length}`);
    assert.ok(isPassed, `${results.filter((each) => !each.isPassed).map((each) => each.name)}`);
  });
}

/** Tests without arguments; those of the particles take the interpreter too long, one is enough. */
function plainTests(path: string) {
  const { program } = packageOf(path).check();
  assert.ok(program !== null);
  const plain = planTests(program).filter(({ test }) => test.body !== null && test.parameters.length === 0);
  return { program, tests: path.endsWith("particles") ? plain.slice(0, 1) : plain };
}

Deno.test("the interpreter passes the tests of the templates and examples as well", () => {
  let count = 0;
  for (const [path] of PACKAGES) {
    const { program, tests } = plainTests(path);
    for (const { module, test } of tests) {
      const answers = new Map([["lang:web/storage@1.0.0 read", () => new Uint8Array()]]);
      new Interpreter(program, new RecordingHost(answers)).runTest(module, test);
      count++;
    }
  }
  assert.ok(count > 80, `${count}`);
});

Deno.test("Pong has at most 12 KiB, an empty game at most 1 KiB", async () => {
  const pong = await build(packageOf("templates/game"), { isRelease: true });
  const size = coreModule(pong.built?.bytes ?? assert.fail("no module")).length;
  assert.ok(size > 4_000 && size <= 12 * 1024, `${size}`);
  const empty = new Workspace(
    new MemoryFiles([["project.toml", 'name = "empty"\n'], ["src/main.lang", EMPTY]]),
  );
  const { built, diagnostics } = await build(empty, { isRelease: true });
  assert.deepEqual(diagnostics, []);
  const emptySize = coreModule(built?.bytes ?? assert.fail("no module")).length;
  assert.ok(emptySize <= 1024, `${emptySize}`);
});

const EMPTY = `use web.input

type State = { ticks: Int }

pub fn init(_seed: Int) -> State { State { ticks: 0 } }
pub fn step(_state: inout State, _input: Input) {}
pub fn draw(_state: State) {}
`;
