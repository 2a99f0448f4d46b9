/**
 * Tests that are run in threads: the same results as in one thread, however many there are; what takes too long is
 * stopped alone.
 */
import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { runBy } from "../../../lang/commands/run.ts";
import { test, type TestOptions } from "../../../lang/commands/tests.ts";
import { Workspace } from "../../../lang/commands/workspace.ts";
import { MemoryFiles } from "../../../lang/package/package_files.ts";
import { renderResults } from "../../../lang/testing/report.ts";
import { CommandThread } from "./command_thread.ts";
import { TestThreads } from "./test_threads.ts";

function workspaceOf(source: string): Workspace {
  return new Workspace(new MemoryFiles([["project.toml", 'name = "p"\n'], ["src/main.lang", source]]));
}

const ENDLESS = "var n = 0\n  while n >= 0 { n = (n + 1) % 1000 }";

/** What `lang test` shows, with so many threads. */
async function shown(source: string, threads: number, options: TestOptions = {}): Promise<string> {
  using runner = new TestThreads({ threads, aloneMilliseconds: 0 });
  const { results, diagnostics } = await test(workspaceOf(source), { seed: 3, ...options, runner });
  ok(results !== null, diagnostics.map(({ message }) => message).join("\n"));
  return renderResults(results, { isVerbose: true, seed: 3 });
}

/**
 * Lasts longer than the limits of time here, and ends what goes on after them: a thread that computes cannot be
 * stopped.
 */
const LEAST_GAS = 1e9;

Deno.test("threads: results are in the order of the source, the same with one thread, with four and in this one", async () => {
  const tests = Array.from({ length: 40 }, (_, index) =>
    `test "number ${index}" {
  var sum = 0
  for each in 0..${(40 - index) * 2000} { sum = (sum + each) % 1000 }
  print("{sum}")
  expect(${index} % 7 != 3)
}
`).join("");
  const source = `${tests}
property "small" (x: Int, text: String) { expect(x < 100 or text.is_empty()) }
eval "scores" threshold 0.5 { case "half" => 0.5 }
`;
  const here = renderResults((await test(workspaceOf(source), { seed: 3 })).results ?? [], {
    isVerbose: true,
    seed: 3,
  });
  match(here, /^pass test "number 0" .*FAIL test "number 3" .*34 passed, 7 failed\n$/s);
  strictEqual(await shown(source, 1), here);
  strictEqual(await shown(source, 4), here);
  match(await shown(source, 4, { evals: true }), /0\.5 {2}half/);
});

Deno.test("threads: a test that does not end is stopped after its time, and the others go on", async () => {
  const source = `
test "before" { expect(1 == 1) }
test "spins" {
  ${ENDLESS}
}
/// An example that does not end.
///
/// \`\`\`
/// while spin() > 0 {}
/// \`\`\`
pub fn spin() -> Int { 1 }
test "after" { expect(1 == 2) }
`;
  strictEqual(
    await shown(source, 2, { timeoutMilliseconds: 150, gas: LEAST_GAS }),
    `pass test "before" src/main.lang:2:6
FAIL test "spins" src/main.lang:3:6
  Cannot go on: the test was stopped after 0.15 seconds

FAIL example of spin src/main.lang:9:1
  Cannot go on: the test was stopped after 0.15 seconds

FAIL test "after" src/main.lang:13:6
  does not hold: 1 == 2 (src/main.lang:13:16)
   left: 1
  right: 2

1 passed, 3 failed
`,
  );
});

const TimelyChannel = globalThis.MessageChannel;

/** Channels whose messages are heard 200 ms late at one end, as by a thread that gets no processor. */
class LateChannel {
  readonly port1: Pick<MessagePort, "postMessage" | "close" | "onmessage">;
  readonly port2: MessagePort;

  constructor() {
    const { port1, port2 } = new TimelyChannel();
    this.port2 = port2;
    let isClosed = false;
    this.port1 = {
      postMessage: (message: unknown) => port1.postMessage(message),
      close() {
        isClosed = true;
        port1.close();
      },
      set onmessage(hear: MessagePort["onmessage"]) {
        port1.onmessage = (event) => {
          setTimeout(() => isClosed || hear?.call(port1, event), 200);
        };
      },
    };
  }
}

Deno.test("threads: outcomes on their way when a test is stopped are not lost", async () => {
  Object.assign(globalThis, { MessageChannel: LateChannel });
  try {
    const source = `test "quick" { expect(1 == 1) }\ntest "spins" {\n  ${ENDLESS}\n}\n`;
    match(await shown(source, 1, { timeoutMilliseconds: 50, gas: LEAST_GAS }), /\n1 passed, 1 failed\n$/);
  } finally {
    Object.assign(globalThis, { MessageChannel: TimelyChannel });
  }
});

Deno.test("threads: a property that does not end tells its seed and its arguments, one that failed before what it failed with", async () => {
  const text = await shown(
    `
property "loops" (x: Int, name: String) {
  var n = x
  while n > 10 { n = n * 1 }
}
property "fails, then loops" (x: Int) {
  var n = x
  while n == 0 { n = n * 1 }
  expect(x < 5)
}
`,
    2,
    { timeoutMilliseconds: 200, gas: LEAST_GAS },
  );
  match(
    text,
    /FAIL property "loops" src\/main.lang:2:10\n {2}with x = \d+\n {2}with name = ".*"\n {2}Cannot go on: the test was stopped after 0.2 seconds\n {2}failed at try 3; `lang test --seed 3` repeats it/,
  );
  match(text, /FAIL property "fails, then loops" .*\n {2}with x = \d+\n {2}does not hold: x < 5/);
});

Deno.test("threads: gas that is used up is a trap with its place, whatever the time", async () => {
  const results = await shown(`test "spins" {\n  ${ENDLESS}\n}\n`, 1, {
    gas: 10_000,
    timeoutMilliseconds: null,
  });
  match(results, /Cannot go on: the gas is used up \(src\/main.lang:3:3\)/);
});

Deno.test("threads: a signal ends all of it at once", async () => {
  using runner = new TestThreads({ threads: 2 });
  const controller = new AbortController();
  const running = test(workspaceOf(`test "spins" {\n  ${ENDLESS}\n}\n`), {
    runner,
    timeoutMilliseconds: null,
    gas: LEAST_GAS,
    signal: controller.signal,
  });
  controller.abort(new Error("enough"));
  await rejects(running, /enough/);
});

Deno.test("threads: snapshots are renewed over several rounds", async () => {
  const workspace = workspaceOf(`test "snapshots" {
  expect_snapshot(1 + 1, "")
  expect_snapshot(2 + 2, "")
}
`);
  using runner = new TestThreads();
  const { isPassed, updatedPaths } = await test(workspace, { runner, update: true });
  deepStrictEqual([isPassed, updatedPaths], [true, ["src/main.lang"]]);
});

Deno.test("threads: a command is stopped by time, by gas and by a signal, and tells what it wrote before", async () => {
  const workspace = workspaceOf(`pub fn main(args: List[String]) -> Int uses Log {
  for arg in args { print(arg) }
  if args.len() == 1 { return 7 }
  ${ENDLESS}
  0
}
`);
  let written = "";
  const runner = new CommandThread({
    hasInput: false,
    onWritten: (_, bytes) => written += new TextDecoder().decode(bytes),
  });
  const run = (options: Parameters<typeof runBy>[2]) => runBy(runner, workspace, options);
  deepStrictEqual((await run({ args: ["one"] })).exitCode, 7);
  const late = await run({ args: ["two", "three"], timeoutMilliseconds: 150, gas: LEAST_GAS });
  deepStrictEqual([late.exitCode, late.trap?.kind, late.trap?.message], [
    1,
    "timeout",
    "Cannot go on: the program was stopped after 0.15 seconds",
  ]);
  const spent = await run({ args: [], gas: 1000 });
  deepStrictEqual([spent.trap?.kind, spent.trap?.place?.line], ["gas", 5]);
  strictEqual(written, "one\ntwo\nthree\n");
  await rejects(run({ args: [], gas: LEAST_GAS, signal: AbortSignal.timeout(100) }), {
    name: "TimeoutError",
  });
});
