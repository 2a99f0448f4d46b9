/** Rows of pgbench_accounts in and out through COPY, with psql as the client. */
import type { Benchmark, PeerAddress, Scale } from "../benchmark.ts";
import { ACCOUNT_ROWS, accountsFile, removeAccountsFile } from "./accounts_file.ts";
import { runPsql } from "./client.ts";

/** COPY in both directions. */
export const copy: readonly Benchmark[] = [
  {
    name: "COPY in, pgbench_accounts",
    unit: "rows/s",
    higherIsBetter: true,
    bar: "≥ 1.2",
    prepare: async (_peer, scale) => void await accountsFile(scale),
    measure: copyAccounts,
  },
  {
    name: "COPY out, pgbench_accounts",
    unit: "rows/s",
    higherIsBetter: true,
    bar: "≥ 0.8",
    prepare: async (peer, scale) => {
      const [{ measure: load } = { measure: null }] = copy;
      await load?.(peer, scale);
    },
    measure: (peer, scale) => rate(scale, () => runPsql(peer, ["-c", "\\copy copied TO '/dev/null'"])),
    finish: removeAccountsFile,
  },
];

/** Rows a second. */
export async function copyAccounts(peer: PeerAddress, scale: Scale): Promise<number> {
  await runPsql(peer, [
    "-c",
    "DROP TABLE IF EXISTS copied",
    "-c",
    "CREATE TABLE copied (aid int PRIMARY KEY, bid int, abalance int, filler char(84))",
  ]);
  const file = await accountsFile(scale);
  return rate(scale, () => runPsql(peer, ["-c", `\\copy copied FROM '${file}'`]));
}

async function rate(scale: Scale, work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return ACCOUNT_ROWS[scale] / ((performance.now() - start) / 1000);
}
