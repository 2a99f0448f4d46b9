/**
 * The JSON Schema of `schema`, in the eyes of a validator that knows nothing of ours: it takes and refuses what the
 * server does.
 */
import { ok, strictEqual } from "node:assert/strict";
import { Ajv2020 } from "ajv/dist/2020.js";
import { readRequest } from "../../../lang/servers/agent/request_reader.ts";
import { protocolSchema } from "../../../lang/servers/agent/schema.ts";
import { agent, BAD, GOOD, withPackage } from "./agent_client.ts";

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, discriminator: false });
ajv.addSchema(JSON.parse(JSON.stringify(protocolSchema())), "agent");
const isRequest = ajv.compile({ $ref: "agent#/$defs/request" });
const isLine = ajv.compile({ $ref: "agent#/$defs/line" });

Deno.test("schema: requests are taken and refused as by the server", () => {
  const requests: readonly object[] = [
    { op: "check" },
    {
      op: "check",
      path: "src",
      include_source: true,
      files: { "src/main.lang": "" },
      max_diagnostics: 0,
      id: 1,
    },
    { op: "check", path: 1 },
    { op: "check", files: { a: 1 } },
    { op: "check", max_diagnostics: -1 },
    { op: "check", max_diagnostics: 1.5 },
    { op: "check", id: null },
    { op: "check", unknown: {} },
    { op: "fix" },
    { op: "fix", code: "TY0001", alternative: 0, write: false, line: 1 },
    { op: "fix", code: "TY0001", alternative: "0" },
    { op: "find" },
    { op: "find", query: "" },
    { op: "find", query: "x", top: 0 },
    { op: "run", args: ["a"], stdin: "", timeout: 0.5, gas: 1, seed: -1 },
    { op: "run", args: [1] },
    { op: "run", timeout: 601 },
    { op: "test", filter: "x", eval: true, update: false },
    { op: "hover", path: "src/main.lang", line: 1, column: 1 },
    { op: "hover", path: "src/main.lang", line: 1 },
    { op: "rename", path: "src/main.lang", line: 1, column: 1, new_name: "" },
    { op: "cancel", request: "x" },
    { op: "cancel", request: [] },
    { op: "nothing" },
    {},
  ];
  let taken = 0;
  for (const request of requests) {
    const isTaken = readRequest(JSON.stringify(request)).kind === "request";
    strictEqual(isRequest(request), isTaken, JSON.stringify(request));
    if (isTaken) taken++;
  }
  strictEqual(taken, 8);
});

Deno.test("schema: answers fit it", async () => {
  for (const files of [GOOD, BAD]) {
    await withPackage(files, async (folder) => {
      const place = { path: "src/main.lang", line: 4, column: 8 };
      const { lines } = await agent(folder, [
        { op: "check", include_source: true, id: "x" },
        { op: "run", args: ["x"] },
        { op: "test" },
        { op: "inspect", cost: true },
        { op: "find", query: "double" },
        { op: "explain", code: "MX0001" },
        { op: "fmt", check: true },
        { op: "fix", code: "NM0001" },
        { op: "symbols" },
        { op: "references", ...place },
        { op: "hover", ...place },
        { op: "complete", ...place },
        { op: "rename", ...place, new_name: "twice" },
        { op: "cancel", request: 1 },
        { op: "schema" },
        { op: "version" },
        { op: "explain", code: "?" },
        { op: "nothing" },
      ]);
      ok(lines.length > 36);
      for (const line of lines) ok(isLine(line), `${ajv.errorsText(isLine.errors)} ${JSON.stringify(line)}`);
    });
  }
  // The validator can refuse.
  ok(!isLine({ kind: "done" }) && !isLine({ kind: "result", op: "version", ok: true }));
});
