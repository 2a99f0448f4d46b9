/** Rows of pgbench_accounts in and out through COPY, with psql as the client. */
import type { Benchmark, Scale } from "../benchmark.ts";
import { runPsql } from "./client.ts";

const ROWS = { smoke: 2_000, full: 1_000_000 } as const;
const ROWS_A_PIECE = 10_000;

let input: { readonly file: string; readonly scale: Scale } | null = null;

/** COPY in both directions. */
export const copy: readonly Benchmark[] = [
  {
    name: "COPY in, pgbench_accounts",
    unit: "rows/s",
    higherIsBetter: true,
    bar: "≥ 1.2",
    prepare: prepareFile,
    measure: async (peer, scale) => {
      await runPsql(peer, [
        "-c",
        "DROP TABLE IF EXISTS copied",
        "-c",
        "CREATE TABLE copied (aid int PRIMARY KEY, bid int, abalance int, filler char(84))",
      ]);
      return rate(scale, () => runPsql(peer, ["-c", `\\copy copied FROM '${input?.file}'`]));
    },
  },
  {
    name: "COPY out, pgbench_accounts",
    unit: "rows/s",
    higherIsBetter: true,
    bar: "≥ 0.8",
    prepare: async (peer, scale) => {
      await prepareFile(peer, scale);
      const [{ measure: load } = { measure: null }] = copy;
      await load?.(peer, scale);
    },
    measure: (peer, scale) => rate(scale, () => runPsql(peer, ["-c", "\\copy copied TO '/dev/null'"])),
    finish: async () => {
      if (input !== null) await Deno.remove(input.file);
      input = null;
    },
  },
];

async function rate(scale: Scale, work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return ROWS[scale] / ((performance.now() - start) / 1000);
}

/** The file that psql reads: what `pgbench -i` sends. */
async function prepareFile(_peer: unknown, scale: Scale): Promise<void> {
  if (input?.scale === scale) return;
  const path = await Deno.makeTempFile({ prefix: "accounts-", suffix: ".copy" });
  using file = await Deno.open(path, { write: true });
  const encoder = new TextEncoder();
  const filler = " ".repeat(84);
  for (let first = 1; first <= ROWS[scale]; first += ROWS_A_PIECE) {
    let text = "";
    const end = Math.min(first + ROWS_A_PIECE - 1, ROWS[scale]);
    for (let aid = first; aid <= end; aid++) {
      text += `${aid}\t${Math.floor((aid - 1) / 100_000) + 1}\t0\t${filler}\n`;
    }
    const bytes = encoder.encode(text);
    for (let at = 0; at < bytes.length;) at += await file.write(bytes.subarray(at));
  }
  input = { file: path, scale };
}
