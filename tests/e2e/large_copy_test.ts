/** `deno task soak:large-copy` at a size that takes seconds; entries of 4 MiB are in parts there. */
import { deepStrictEqual, ok } from "node:assert/strict";
import { copyLarge } from "./large_copy.ts";

Deno.test("a COPY in parts is whole or not there when the server is killed, and others read", async () => {
  const lines: string[] = [], bytes = 12 * 2 ** 20;
  const report = await copyLarge({
    bytes,
    kills: [{ bytes: bytes / 2 }, { afterEnd: 150 }],
    flags: ["--checkpoint-log", "1m"],
    say: (line) => lines.push(line),
  });
  deepStrictEqual(report.wrong, [], lines.join("\n"));
  ok(report.longestTurnMilliseconds > 0 && report.residentBytes > 2 ** 20, JSON.stringify(report));
});
