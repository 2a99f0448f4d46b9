/** `deno task soak:large-writes` at a size that takes seconds. */
import { deepStrictEqual, ok } from "node:assert/strict";
import { writeLarge } from "./large_writes.ts";

Deno.test("UPDATE and DELETE of many rows are whole or not there when the server is killed, and others read", async () => {
  const lines: string[] = [];
  const report = await writeLarge({ rows: 40_000, kills: 2, say: (line) => lines.push(line) });
  deepStrictEqual(report.wrong, [], lines.join("\n"));
  ok(report.reads > 5 && report.residentBytes > 2 ** 20, JSON.stringify(report));
});
