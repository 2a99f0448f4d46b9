/**
 * `deno task soak:drivers [--shards K] [FAILOVERS]`: drivers and programs across ten failovers, unless another number
 * is given, of members with so many shards each.
 */
import { parseArgs } from "node:util";
import { SHARD_COUNTS } from "../../engine/sharding/shard_map.ts";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { ClusterProcesses } from "./cluster_processes.ts";
import { failDriversOver } from "./driver_rounds.ts";

const { values, positionals } = parseArgs({
  args: Deno.args,
  options: { shards: { type: "string", default: "1" } },
  allowPositionals: true,
});
const failovers = Number(positionals[0] ?? "10");
if (!Number.isSafeInteger(failovers) || failovers < 1 || !SHARD_COUNTS.includes(Number(values.shards))) {
  console.error("Usage: deno task soak:drivers [--shards K] [FAILOVERS]");
  Deno.exit(2);
}
const { dbd, dbcli } = await compiledPrograms();
await using cluster = await ClusterProcesses.start({
  dbd,
  memberCount: 3,
  flags: ["--shards", values.shards],
});
console.log(
  `${failovers} failovers; transactions of each, all there once:`,
  await failDriversOver(cluster, { dbcli, failovers }),
);
