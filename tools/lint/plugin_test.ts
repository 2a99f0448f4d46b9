/** Each lint rule against sources that it must refuse and sources that it must let pass. */
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import plugin from "./plugin.ts";

function rulesBroken(path: string, source: string): string[] {
  return Deno.lint.runPlugin(plugin, path, source).map((diagnostic) => diagnostic.id);
}

function check(cases: readonly (readonly [path: string, source: string, expected: readonly string[]])[]) {
  for (const [path, source, expected] of cases) {
    deepStrictEqual(rulesBroken(path, source), expected, `${path}: ${source}`);
  }
}

Deno.test("db/layers refuses an import that points up", () => {
  check([
    ["engine/storage/log.ts", `import { a } from "../session/session.ts";`, ["db/layers"]],
    ["engine/storage/log.ts", `import type { a } from "../session/session.ts";`, ["db/layers"]],
    ["engine/storage/log.ts", `export { a } from "../sql/lexer.ts";`, ["db/layers"]],
    ["engine/storage/log.ts", `export * from "../sql/lexer.ts";`, ["db/layers"]],
    ["engine/storage/log.ts", `await import("../sql/lexer.ts");`, ["db/layers"]],
    ["engine/base/assert.ts", `import "../types/value.ts";`, ["db/layers"]],
    ["lang/check.ts", `import "../engine/types/value.ts";`, ["db/layers"]],
    ["lang/check.ts", `import "../registry/index.ts";`, ["db/layers"]],
    ["gateways/http/server.ts", `import "../pg/codec.ts";`, ["db/layers"]],
    ["cli/dbd.ts", `import { s } from "../gateways/pg/server.ts";`, ["db/layers"]],
    ["cli/dbd.ts", `import "../mod.ts";`, ["db/layers"]],
    ["engine/stray.ts", `import "./base/assert.ts";`, ["db/layers"]],
    ["engine/sql/lexer.ts", `import "../../tests/oracle.ts";`, ["db/layers"]],
  ]);
});

Deno.test("db/layers lets imports pass that point down or stay inside", () => {
  check([
    ["engine/session/session.ts", `import { a } from "../sql/lexer.ts"; import "./plan_cache.ts";`, []],
    ["engine/catalog/table.ts", `import "../operations/ddl.ts";`, []],
    ["gateways/http/server.ts", `import "../shared/limits.ts";`, []],
    ["cli/dbd.ts", `import type { s } from "../gateways/pg/server.ts";`, []],
    ["cli/features/pg_gateway.ts", `export { s } from "../../gateways/pg/server.ts";`, []],
    ["cli/lang.ts", `import "../lang/check.ts";`, []],
    ["lang/check.ts", `import "../engine/base/assert.ts"; import "npm:moo";`, []],
    ["engine/storage/log_test.ts", `import "../session/session.ts";`, []],
    ["tests/oracle.ts", `import "../gateways/pg/server.ts";`, []],
  ]);
});

Deno.test("db/no-ambient refuses clocks, chance, timers, network and node: in the engine", () => {
  for (
    const source of [
      "Date.now();",
      "new Date();",
      "Math.random();",
      `Math["random"]();`,
      "performance.now();",
      "setTimeout(f, 1);",
      "crypto.getRandomValues(a);",
      "crypto.subtle;",
      "Deno.readFileSync(p);",
      "globalThis.Date;",
      "fetch(url);",
      `import { x } from "node:fs";`,
      `export { x } from "node:zlib";`,
    ]
  ) check([["engine/storage/log.ts", source, ["db/no-ambient"]]]);
});

Deno.test("db/no-ambient knows own names, members, the host and tests", () => {
  check([
    [
      "engine/sql/ast.ts",
      "const fetch = 1; const o = { Date: 1, crypto: 2 }; o.Date + o.crypto + fetch;",
      [],
    ],
    [
      "engine/sql/ast.ts",
      "function f({ fetch, Date }: P, performance: number) { return fetch + performance; }",
      [],
    ],
    ["engine/sql/ast.ts", "interface Q { fetch: number; performance(self: number): void }", []],
    ["engine/sql/ast.ts", "class C { Date = 1; fetch() { return this.Date; } }", []],
    ["engine/sql/ast.ts", "Math.floor(1.5); clock.now();", []],
    ["engine/host/deno_clock.ts", "Date.now(); performance.now();", []],
    ["engine/sql/lexer_test.ts", "Date.now();", []],
    ["gateways/http/server.ts", "Date.now(); Deno.listen(o);", []],
  ]);
});

Deno.test("db/synchronous-core refuses async, await and promises", () => {
  check([
    ["engine/sql/a.ts", "async function f() {}", ["db/synchronous-core"]],
    ["engine/state_machine/a.ts", "const f = async () => {};", ["db/synchronous-core"]],
    ["engine/execution/a.ts", "class C { async m() {} }", ["db/synchronous-core"]],
    ["engine/types/a.ts", "await f();", ["db/synchronous-core"]],
    ["engine/transactions/a.ts", "new Promise(f);", ["db/synchronous-core"]],
    ["engine/catalog/a.ts", "for await (const x of y) f(x);", ["db/synchronous-core"]],
    ["engine/storage/a.ts", "async function f() { await g(); }", []],
    ["engine/session/a.ts", "async function f() { await g(); }", []],
    ["engine/sql/a_test.ts", "await f();", []],
    ["engine/sql/a.ts", "function* f() { yield 1; } for (const x of f()) g(x);", []],
  ]);
});

Deno.test("db/no-empty-catch wants a statement or a reason", () => {
  check([
    ["engine/sql/a.ts", "try { f(); } catch {}", ["db/no-empty-catch"]],
    ["tests/a_test.ts", "try { f(); } catch (error) { }", ["db/no-empty-catch"]],
    ["engine/sql/a.ts", "try { f(); } catch { /* the file may be gone already */ }", []],
    ["engine/sql/a.ts", "try { f(); } catch (error) { g(error); }", []],
  ]);
});

Deno.test("db/no-console is for cli, tools and tests", () => {
  check([
    ["engine/sql/a.ts", "console.log(1);", ["db/no-console"]],
    ["gateways/pg/server.ts", "console.error(1);", ["db/no-console"]],
    ["cli/dbd.ts", "console.log(1);", []],
    ["tools/ok.ts", "console.log(1);", []],
    ["lang/page_runtime/web/loader.js", "console.log(1);", []],
    ["lang/web.ts", "console.log(1);", ["db/no-console"]],
    ["engine/sql/a_test.ts", "console.log(1);", []],
  ]);
});

Deno.test("the plugin is named db", () => strictEqual(plugin.name, "db"));
