/** How the test runner reads the lines of `deno test`. */
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { parseIgnored, parseSummary } from "./test_runner.ts";

Deno.test("parseSummary() reads every form of the summary line", () => {
  const check = (line: string, passed: number, failed: number, ignored: number) =>
    deepStrictEqual(parseSummary(line), { passed, failed, ignored }, line);
  check("ok | 12 passed | 0 failed (7ms)", 12, 0, 0);
  check("ok | 1 passed (1 step) | 0 failed | 1 ignored (7ms)", 1, 0, 1);
  check("FAILED | 10 passed (4 steps) | 2 failed (1 step) | 3 ignored | 1 filtered out (1s)", 10, 2, 3);
  check("\x1b[0m\x1b[32mok\x1b[0m | 3 passed | 0 failed \x1b[38;5;245m(9ms)\x1b[0m", 3, 0, 0);
  strictEqual(parseSummary("a test ... ok (1ms)"), undefined);
});

Deno.test("parseIgnored() names the ignored test", () => {
  strictEqual(
    parseIgnored("./x_test.ts => Log.append() refuses a gap ... ignored (0ms)"),
    "./x_test.ts => Log.append() refuses a gap",
  );
  strictEqual(parseIgnored("b ... ok (0ms)"), undefined);
});
