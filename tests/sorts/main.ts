/**
 * `deno task soak:sorts [--sorts 200] [--rows 1000000] [--query-memory 512MiB] [--statement-memory 64MB] [--timeout
 * 60] [--workers 0] [--shards 1]`: all sorts answer rightly or with 53200 after the time-out, point reads go on beside
 * them, and nothing is left. Exit codes: 0, 1 when an answer is wrong or something is left.
 */
import { parseArgs } from "node:util";
import { runSorts } from "./sorts.ts";

const { values } = parseArgs({
  options: {
    sorts: { type: "string", default: "200" },
    rows: { type: "string", default: "1000000" },
    "query-memory": { type: "string", default: "512MiB" },
    "statement-memory": { type: "string", default: "64MB" },
    timeout: { type: "string", default: "60" },
    workers: { type: "string", default: "0" },
    shards: { type: "string", default: "1" },
  },
});
const result = await runSorts({
  rows: Number(values.rows),
  sorts: Number(values.sorts),
  queryMemory: values["query-memory"],
  statementMemory: values["statement-memory"],
  timeoutSeconds: Number(values.timeout),
  workers: Number(values.workers),
  shards: Number(values.shards),
});
const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
console.log(
  `${values.sorts} sorts of ${values.rows} rows in ${
    result.seconds.toFixed(0)
  } s: ${result.answered} answered, ` +
    `${result.refused} refused after ${values.timeout} s, ${result.waits} waited`,
);
console.log(
  `${result.reads} point reads beside them: median ${result.medianMilliseconds.toFixed(1)} ms, ` +
    `99 % ${result.p99Milliseconds.toFixed(1)} ms, longest ${result.longestMilliseconds.toFixed(0)} ms`,
);
console.log(
  `most memory resident ${megabytes(result.residentBytes)}, reserved ${
    megabytes(result.peakReservedBytes)
  } of ` +
    `${values["query-memory"]}, in files ${megabytes(result.peakFileBytes)}`,
);
for (const each of result.wrong) console.error(`soak:sorts: ${each}`);
if (result.left > 0) console.error(`soak:sorts: ${result.left} bytes or statements are left`);
if (result.wrong.length > 0 || result.left > 0) Deno.exitCode = 1;
