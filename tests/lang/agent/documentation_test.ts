/** The session in docs/agent.md is what the agent answers, and the page names every op, line and field. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { LINES, RESULTS } from "../../../lang/servers/agent/lines.ts";
import { OPS, REQUESTS } from "../../../lang/servers/agent/requests.ts";
import { agent, withPackage } from "./agent_client.ts";

const page = await Deno.readTextFile(new URL("../../../docs/agent.md", import.meta.url));

Deno.test("docs/agent.md: the session is answered as it stands there", async () => {
  const [source, session] = [...page.matchAll(/```text\n([^]*?)```/g)].map(([, text]) => text ?? "");
  const lines = session?.trimEnd().split("\n") ?? [];
  const requests = lines.filter((line) => line.startsWith("> ")).map((line) => line.slice(2));
  const answers = lines.filter((line) => line.startsWith("< ")).map((line) => line.slice(2));
  strictEqual(requests.length + answers.length, lines.length);
  await withPackage({
    "project.toml": 'name = "sample"\nversion = "0.1.0"\n',
    "src/main.lang": source ?? "",
  }, async (folder) => {
    const { stdout } = await agent(folder, requests);
    deepStrictEqual(stdout.trimEnd().split("\n"), answers);
  });
});

Deno.test("docs/agent.md: every op, kind of line and field is named", () => {
  const common = ["kind", "id", "op", "ok"];
  const names = [
    ...OPS,
    ...Object.keys(LINES),
    ...OPS.flatMap((op) => Object.keys(REQUESTS[op].shape)),
    ...OPS.flatMap((op) => Object.keys(RESULTS[op].shape)),
  ];
  // What only says what it is called.
  const plain = new Set([...common, "code", "severity", "symbol_kind", "span", "reason"]);
  for (const name of new Set(names)) {
    ok(plain.has(name) || page.includes(`\`${name}\``) || page.includes(`result.${name}`), name);
  }
});
