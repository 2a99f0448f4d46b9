/**
 * `lang agent` as the compiled program: programs and tests in its threads, a recording replayed elsewhere, its end by
 * a signal.
 */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { answersOf, GOOD, only, post, readAnswer, withPackage } from "../lang/agent/agent_client.ts";

async function lang(folder: string, args: readonly string[], input: string) {
  const { lang } = await compiledPrograms();
  const child = new Deno.Command(lang, {
    args: ["agent", ...args],
    cwd: folder,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input));
  await writer.close();
  const { code, stdout, stderr } = await child.output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

Deno.test("lang agent, compiled: checks, runs and tests; the recording is replayed in another folder", async () => {
  await withPackage(GOOD, async (folder) => {
    const requests = [
      { op: "check", id: 1 },
      { op: "run", args: ["x"] },
      { op: "test" },
      { op: "symbols", query: "double" },
      { op: "schema" },
      { op: "halt" },
    ];
    const record = `${folder}/session.ndjson`;
    const session = await lang(
      folder,
      ["--record", record],
      requests.map((each) => `${JSON.stringify(each)}\n`).join(""),
    );
    deepStrictEqual([session.code, session.stderr], [1, ""]);
    const [, run = [], test = []] = answersOf(readAnswer(session.stdout));
    deepStrictEqual([only(run, "log")["text"], only(run, "result")["exit_code"]], ["x\n", 1]);
    deepStrictEqual([only(test, "result")["passed"], only(test, "result")["failed"]], [1, 0]);
    await withPackage(GOOD, async (other) => {
      const replayed = await lang(other, ["--replay", record], "");
      deepStrictEqual([replayed.code, replayed.stdout], [0, "6 requests replayed, 0 drifted\n"]);
    });
    const one = await lang(folder, ["--single-shot"], '{"op":"run","args":["a","b"]}');
    strictEqual(one.code, 2);
    const usage = await lang(folder, ["--single-shot", "--transport", "http"], "");
    deepStrictEqual([usage.code, usage.stdout], [2, ""]);
    match(usage.stderr, /--single-shot/);
  });
});

Deno.test("lang agent, compiled: serves HTTP until it is told to end", async () => {
  const { lang } = await compiledPrograms();
  await withPackage(GOOD, async (folder) => {
    const child = new Deno.Command(lang, {
      args: ["agent", "--transport", "http", "--port", "0"],
      cwd: folder,
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const reader = child.stderr.getReader();
    let told = "";
    while (!told.includes("\n")) {
      const { done, value } = await reader.read();
      if (done) break;
      told += new TextDecoder().decode(value);
    }
    const [, address] = /^listening on (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(told) ?? [];
    ok(address !== undefined, told);
    const { status, lines } = await post(address, "/v1/agent", { op: "check" });
    deepStrictEqual([status, only(lines, "result")["ok"]], [200, true]);
    child.kill("SIGINT");
    strictEqual((await child.status).code, 0);
    await reader.cancel();
  });
});
