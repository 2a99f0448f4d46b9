/** `deno task soak:sorts`, in small: more sorts at a time than fit, and one that gives up. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { runSorts } from "../sorts/sorts.ts";

Deno.test("sorts that do not fit together all answer, and point reads go on beside them", async () => {
  const result = await runSorts({
    rows: 60_000,
    sorts: 24,
    queryMemory: "10MiB",
    statementMemory: "8MB",
    timeoutSeconds: 0,
    workers: 0,
    shards: 1,
  });
  deepStrictEqual(result.wrong, []);
  strictEqual(result.answered, 24);
  ok(result.waits > 0, "some have waited");
  ok(result.reads > 0);
  ok(result.peakReservedBytes <= 10 * 2 ** 20, `${result.peakReservedBytes}`);
  strictEqual(result.left, 0);
});
