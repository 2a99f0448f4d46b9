/** `deno task soak:drivers [FAILOVERS]`: drivers and programs across ten failovers, unless another number is given. */
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { ClusterProcesses } from "./cluster_processes.ts";
import { failDriversOver } from "./driver_rounds.ts";

const failovers = Number(Deno.args[0] ?? "10");
if (!Number.isSafeInteger(failovers) || failovers < 1) {
  console.error("Usage: deno task soak:drivers [FAILOVERS]");
  Deno.exit(2);
}
const { dbd, dbcli } = await compiledPrograms();
await using cluster = await ClusterProcesses.start({ dbd, memberCount: 3 });
console.log(
  `${failovers} failovers; transactions of each, all there once:`,
  await failDriversOver(cluster, { dbcli, failovers }),
);
