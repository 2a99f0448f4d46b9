/** Rows of document 2, section 3: states of a session and transitions. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { agent, answersOf, BAD, GOOD, only, post, talk, withAgent, withPackage } from "../agent_client.ts";

Deno.test("Awaiting request | request line | valid op | Awaiting request | response lines are emitted; the result of the last `check` is remembered so `fix` can find the diagnostic without re-reading the file", async () => {
  await withPackage(BAD, async (folder) => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const say = (request: object) => writer.write(new TextEncoder().encode(`${JSON.stringify(request)}\n`));
    const running = agent(folder, readable);
    await say({ op: "check" });
    await say({ op: "version" });
    // What the file holds now no longer matters for what was found.
    const before = await Deno.readTextFile(`${folder}/src/main.lang`);
    await Deno.writeTextFile(`${folder}/src/main.lang`, GOOD["src/main.lang"] ?? "");
    await say({ op: "fix", code: "NM0001" });
    await say({ op: "fix", code: "NM0001", write: true });
    await writer.close();
    const { lines, code } = await running;
    strictEqual(code, 1);
    const [check = [], version = [], preview = [], refused = []] = answersOf(lines);
    strictEqual(only(check, "result")["ok"], false);
    strictEqual(only(version, "result")["ok"], true);
    ok(String(only(preview, "patch")["diff"]).includes("-  doubel(2)\n+  double(2)\n"));
    // But a file that is not what the check read is not overwritten.
    strictEqual(only(refused, "error")["message"], "Cannot change src/main.lang: it changed meanwhile");
    strictEqual(await Deno.readTextFile(`${folder}/src/main.lang`), GOOD["src/main.lang"]);
    ok(before !== GOOD["src/main.lang"]);
  });
});

Deno.test("Awaiting request | `{op: halt}` | none | Stopped | clean shutdown of the loop", async () => {
  await withPackage(GOOD, async (folder) => {
    const { code, lines } = await agent(folder, [{ op: "halt" }, { op: "check" }]);
    strictEqual(code, 0);
    deepStrictEqual(lines.map((line) => line.kind), ["result", "done"]);
    // Also while the input stays open.
    const open = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"op":"halt"}\n')),
    });
    strictEqual((await agent(folder, open)).code, 0);
  });
});

Deno.test("Awaiting request | end of input | none | Stopped", async () => {
  await withPackage(GOOD, async (folder) => {
    deepStrictEqual(await agent(folder, []), { code: 0, stdout: "", stderr: "", lines: [] });
    // The last line need not end with a line break.
    const { code, lines } = await agent(folder, new TextEncoder().encode('{"op":"check"}'));
    deepStrictEqual([code, only(lines, "result")["ok"]], [0, true]);
  });
});

Deno.test("Awaiting request | fatal protocol error | bad JSON or unknown op | Stopped | exit code 2", async () => {
  await withPackage(GOOD, async (folder) => {
    const bad = ["{", "[]", '"check"', "nonsense", '{"op":"chekc"}', "{}", '{"op":1}', '{"op":"find"}'];
    for (const line of bad) {
      const { code, lines } = await agent(folder, [line, { op: "check" }]);
      strictEqual(code, 2, line);
      deepStrictEqual(lines.map((each) => each.kind), ["error", "done"], line);
      strictEqual(only(lines, "done")["exit_code"], 2);
    }
  });
});

Deno.test("Single-shot mode reads all of stdin as one object, runs it once, and exits with the wrapped op's exit code", async () => {
  await withPackage(BAD, async (folder) => {
    const run = (text: string) => agent(folder, new TextEncoder().encode(text), { singleShot: true });
    strictEqual((await run('{\n  "op": "version"\n}\n')).code, 0);
    strictEqual((await run('{\n  "op":\n  "check"\n}')).code, 1);
    strictEqual((await run('{"op":"explain","code":"ZZ9999"}')).code, 2);
    strictEqual((await run('{"op":"check"}\n{"op":"check"}\n')).code, 2);
    strictEqual((await run("")).code, 2);
  });
  await withPackage(GOOD, async (folder) => {
    const run = await agent(folder, [{ op: "run", args: ["a", "b", "c"] }], { singleShot: true });
    deepStrictEqual([run.code, only(run.lines, "log")["text"]], [3, "a\nb\nc\n"]);
  });
});

Deno.test("A unix-socket server runs one independent session per connection; the HTTP batch route shares session state across the lines of one body", async () => {
  await withPackage(BAD, async (folder) => {
    const overlay = {
      "src/main.lang":
        "pub fn main(_args: List[String]) -> Int {\n  tripel(2)\n}\n\nfn triple(n: Int) -> Int {\n  n * 3\n}\n",
    };
    const check = JSON.stringify({ op: "check", files: overlay });
    const fix = JSON.stringify({ op: "fix", code: "NM0001" });
    await withAgent(folder, { transport: "unix", socket: `${folder}/agent.sock` }, async (path) => {
      const ask = async (text: string) => await talk(await Deno.connect({ transport: "unix", path }), text);
      ok((await ask(`${check}\n${fix}\n`)).includes("triple(2)"));
      // Another connection knows nothing of it.
      ok((await ask(`${fix}\n`)).includes("double(2)"));
    });
    await withAgent(folder, {}, async (address) => {
      ok((await post(address, "/v1/agent/batch", `${check}\n${fix}\n`)).text.includes("triple(2)"));
      ok((await post(address, "/v1/agent", fix)).text.includes("double(2)"));
    });
  });
});
