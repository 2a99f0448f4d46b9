/** `other_release.ts OLDEST NEWEST …`: the server as a release that speaks these versions of the cluster's protocol. */
import { fileURLToPath } from "node:url";
import { main } from "../../cli/dbd.ts";
import type { ServerProgram } from "./cluster_processes.ts";

/** The server from these sources; of another release, where its versions are given. */
export function sourcesIn(
  folder: string,
  versions?: readonly [oldest: number, newest: number],
): ServerProgram {
  const program = versions === undefined ? "cli/dbd.ts" : "tests/cluster/other_release.ts";
  const run = ["run", "-A", "--no-check", "--config", `${folder}/deno.json`, `${folder}/${program}`];
  return { dbd: Deno.execPath(), programArguments: [...run, ...(versions ?? []).map(String)] };
}

/** The folder of these sources. */
export const SOURCES = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

if (import.meta.main) {
  const [oldest, newest, ...parameters] = Deno.args;
  Deno.exit(await main(parameters, { versions: { oldest: Number(oldest), newest: Number(newest) } }));
}
