/** Drivers and programs go on across failovers; ten of them: `deno task soak:drivers`. */
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { ClusterProcesses } from "./cluster_processes.ts";
import { failDriversOver } from "./driver_rounds.ts";

const FAILOVERS = 2;

Deno.test(`drivers, pgbench, psql and dbcli go on across ${FAILOVERS} primaries that end, and write each row once`, async () => {
  const { dbd, dbcli } = await compiledPrograms();
  await using cluster = await ClusterProcesses.start({ dbd, memberCount: 3 });
  console.log(await failDriversOver(cluster, { dbcli, failovers: FAILOVERS }));
});
