/** Rows of document 2, section 2: requests and their fields. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { agent, answersOf, BAD, GOOD, only, withPackage } from "../agent_client.ts";

Deno.test("check | `path` (string), `include_source` (boolean)", async () => {
  await withPackage({ ...BAD, "src/other.lang": "pub fn other() -> Int { absent }\n" }, async (folder) => {
    const { code, lines } = await agent(folder, [
      { op: "check", path: "src/other.lang", include_source: true },
      { op: "check" },
    ]);
    strictEqual(code, 1);
    const [one = [], all = []] = answersOf(lines);
    const envelopes = one.filter((line) => line.kind === "envelope");
    deepStrictEqual(
      envelopes.map((line) => [line["code"], line["severity"], line["source"]]),
      [["NM0001", "error", "pub fn other() -> Int { absent }"]],
    );
    strictEqual(only(one, "result")["path"], "src/other.lang");
    ok(all.filter((line) => line.kind === "envelope").length > 1);
    ok(all.every((line) => !("source" in line)));
  });
});

Deno.test("fix | `path` (string), `code` (string, a diagnostic code), `alternative` (integer index of the suggested fix), `write` (boolean; when absent or false the fix is previewed only)", async () => {
  await withPackage(BAD, async (folder) => {
    const read = () => Deno.readTextFile(`${folder}/src/main.lang`);
    const before = await read();
    const { lines } = await agent(folder, [
      { op: "fix", path: "src/main.lang", code: "NM0001", alternative: 0 },
      { op: "fix", code: "NM0001", write: false },
      { op: "fix", code: "NM0001", alternative: 99 },
    ]);
    const [preview = [], explicit = [], none = []] = answersOf(lines);
    strictEqual(await read(), before);
    deepStrictEqual(only(preview, "patch")["diff"], only(explicit, "patch")["diff"]);
    strictEqual(only(preview, "result")["written"], false);
    deepStrictEqual([only(none, "result")["ok"], only(none, "done")["exit_code"]], [false, 1]);
    const written = await agent(folder, [{ op: "fix", code: "NM0001", alternative: 0, write: true }]);
    strictEqual(written.code, 0, written.stdout);
    strictEqual(only(written.lines, "result")["written"], true);
    ok(await read() !== before);
  });
});

Deno.test("explain | `code` (string)", async () => {
  await withPackage(GOOD, async (folder) => {
    const { code, lines } = await agent(folder, [{ op: "explain", code: "ty0001" }]);
    strictEqual(code, 0);
    const result = only(lines, "result");
    strictEqual(result["code"], "TY0001");
    match(String(only(lines, "log")["text"]), /TY0001/);
    ok(Array.isArray(result["fixed"]) && result["fixed"].length > 0);
  });
});

Deno.test("run, test, inspect, find, fmt, halt | `op` only is shown", async () => {
  await withPackage(GOOD, async (folder) => {
    const { code, lines } = await agent(folder, [
      { op: "run" },
      { op: "test" },
      { op: "inspect" },
      { op: "find", query: "double" },
      { op: "fmt", check: true },
      { op: "halt" },
    ]);
    strictEqual(code, 0, JSON.stringify(lines));
    deepStrictEqual(
      lines.filter((line) => line.kind === "result").map((line) => [line["op"], line["ok"]]),
      ["run", "test", "inspect", "find", "fmt", "halt"].map((op) => [op, true]),
    );
  });
});

Deno.test("Version document: object with string fields `agent_protocol` and `lang_version`", async () => {
  await withPackage(GOOD, async (folder) => {
    const { lines } = await agent(folder, [{ op: "version" }]);
    const { agent_protocol, lang_version } = only(lines, "result");
    strictEqual(agent_protocol, "1.0");
    match(String(lang_version), /^\d+\.\d+\.\d+/);
  });
});
