/** The layer check against small trees that break one rule each. */
import { deepStrictEqual, ok } from "node:assert/strict";
import { fileCycleViolations, folderCycleViolations, layerViolations } from "./check_layers.ts";

async function violationsOf(files: Readonly<Record<string, string>>): Promise<string[]> {
  const root = await Deno.makeTempDir({ prefix: "layers-fixture-" });
  try {
    for (const [path, source] of Object.entries(files)) {
      await Deno.mkdir(`${root}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
      await Deno.writeTextFile(`${root}/${path}`, source);
    }
    return await layerViolations(root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test("layerViolations() finds nothing in a clean tree", async () => {
  deepStrictEqual(
    await violationsOf({
      "mod.ts": `export * from "./engine/session/session.ts";`,
      "engine/session/session.ts": `import { a } from "../base/a.ts"; export const s = a;`,
      "engine/base/a.ts": `export const a = 1; // import "../session/session.ts"`,
      "engine/base/a_test.ts": `import "../session/session.ts";`,
    }),
    [],
  );
});

Deno.test("layerViolations() names an import that points up, types and dynamic imports included", async () => {
  deepStrictEqual(
    await violationsOf({
      "engine/base/a.ts": `import type { T } from "../types/t.ts"; export type A = T;`,
      "engine/types/t.ts": `export type T = 1; export const later = () => import("../sql/lexer.ts");`,
      "engine/sql/lexer.ts": "export const l = 1;",
    }),
    [
      "engine/base/a.ts -> engine/types/t.ts: engine/base may not import engine/types: imports only point down",
      "engine/types/t.ts -> engine/sql/lexer.ts: engine/types may not import engine/sql: imports only point down",
    ],
  );
});

Deno.test("layerViolations() names an import that points up in the language, and a folder without a layer", async () => {
  deepStrictEqual(
    await violationsOf({
      "lang/check/a.ts": `import "../types/t.ts"; import "../servers/s.ts"; import "../new/n.ts";`,
      "lang/types/t.ts": `import "../../engine/base/b.ts";`,
      "lang/servers/s.ts": `import "../check/c.ts";`,
      "lang/check/c.ts": "export const c = 1;",
      "lang/new/n.ts": "export const n = 1;",
      "engine/base/b.ts": "export const b = 1;",
    }),
    [
      "lang/check/a.ts -> lang/servers/s.ts: lang/check may not import lang/servers: imports only point down",
      "lang/check/a.ts -> lang/new/n.ts: lang/new/n.ts is in no layer of tools/layers.ts",
      "folders import each other: lang/check lang/servers " +
      "(lang/check/a.ts -> lang/servers/s.ts; lang/servers/s.ts -> lang/check/c.ts)",
    ],
  );
});

Deno.test("layerViolations() finds a cycle between sibling folders", async () => {
  deepStrictEqual(
    await violationsOf({
      "engine/catalog/a.ts": `import "../operations/b.ts";`,
      "engine/operations/b.ts": `export const b = 1;`,
      "engine/operations/c.ts": `import "../catalog/d.ts";`,
      "engine/catalog/d.ts": `export const d = 1;`,
    }),
    [
      "folders import each other: engine/catalog engine/operations " +
      "(engine/catalog/a.ts -> engine/operations/b.ts; engine/operations/c.ts -> engine/catalog/d.ts)",
    ],
  );
});

Deno.test("layerViolations() refuses gateways that import each other and static links to optional ones", async () => {
  const violations = await violationsOf({
    "cli/dbd.ts": `import "../gateways/http/server.ts";`,
    "gateways/http/server.ts": `import "../pg/codec.ts";`,
    "gateways/pg/codec.ts": "export const c = 1;",
  });
  deepStrictEqual(violations.map((line) => line.split(":")[0]), [
    "cli/dbd.ts -> gateways/http/server.ts",
    "gateways/http/server.ts -> gateways/pg/codec.ts",
  ]);
});

Deno.test("layerViolations() lets pages of docs/ be imported as texts, and nothing else from there", async () => {
  deepStrictEqual(
    await violationsOf({
      "lang/mcp/page.ts": `import page from "../../docs/page.md" with { type: "text" }; export { page };`,
      "lang/mcp/code.ts": `export { a } from "../../docs/a.ts";`,
      "docs/page.md": "# Page",
      "docs/a.ts": "export const a = 1;",
    }),
    ["lang/mcp/code.ts -> docs/a.ts: lang/ may depend on itself and engine/base only, not on docs/a.ts"],
  );
});

Deno.test("layerViolations() names a module that cannot be found", async () => {
  const violations = await violationsOf({ "engine/base/a.ts": `import "./gone.ts";` });
  ok(violations.some((line) => line.includes("gone.ts")), violations.join("\n"));
});

Deno.test("folderCycleViolations() names a folder and its own sub-folder, once, and not those that are known", () => {
  const edge = (from: string, to: string) => ({ from, to, typeOnly: false });
  const imports = [
    edge("engine/sql/a.ts", "engine/sql/plan/a.ts"),
    edge("engine/sql/plan/b.ts", "engine/types/a.ts"),
    edge("engine/types/b.ts", "engine/sql/b.ts"),
  ];
  deepStrictEqual(folderCycleViolations(imports, new Map()).map((line) => line.split(" (")[0]), [
    "folders import each other: engine/sql engine/sql/plan engine/types",
  ]);
  deepStrictEqual(
    folderCycleViolations(imports, new Map([["engine/sql engine/sql/plan engine/types", "why"]])),
    [],
  );
});

Deno.test("fileCycleViolations() refuses a new cycle, a larger one, and a list that names one too many", () => {
  const edge = (from: string, to: string) => ({ from, to, typeOnly: true });
  const [a, b, c] = ["engine/sql/a.ts", "engine/sql/b.ts", "engine/sql/c.ts"] as const;
  const two = [edge(a, b), edge(b, a)];
  const known = [{ folder: "engine/sql", files: 2, reason: "visitors" }];
  deepStrictEqual(fileCycleViolations(two, known), []);
  deepStrictEqual(fileCycleViolations(two, []), [`import cycle of 2 files: ${a} ${b}`]);
  const gone = "no import cycle of 2 files in engine/sql is left: correct knownCycles in tools/layers.ts";
  deepStrictEqual(fileCycleViolations([...two, edge(b, c), edge(c, a)], known), [
    `import cycle of 3 files: ${a} ${b} ${c}`,
    gone,
  ]);
  deepStrictEqual(fileCycleViolations([edge(a, b)], known), [gone]);
});
