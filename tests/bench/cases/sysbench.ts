/** Work done by sysbench, which drives databases as applications do: look-ups, ranges and changes of random rows. */
import type { Benchmark, Peer, PeerAddress, Scale } from "../benchmark.ts";
import { runProgram } from "../peers/process.ts";

const TABLES = 4;
const ROWS = { smoke: 200, full: 20_000 } as const;
const SECONDS = 10;
/** Transactions of a smoke run. */
const EVENTS = 20;

/** The peers that have the tables. */
const filled = new Set<Peer>();

/** Point reads, and whole transactions at two levels. */
export const sysbench: readonly Benchmark[] = [
  ...([[1, "≥ 1.05"], [8, "≥ 1.3"], [32, "≥ 1.4"]] as const).map(([threads, bar]) =>
    benchmark("oltp_point_select", "read committed", threads, bar)
  ),
  ...[8, 32].map((threads) => benchmark("oltp_read_write", "read committed", threads, "≥ 1.0")),
  ...[8, 32].map((threads) => benchmark("oltp_read_write", "serializable", threads, "≥ 2")),
];

function benchmark(script: string, level: string, threads: number, bar: string): Benchmark {
  const noun = `thread${threads === 1 ? "" : "s"}`;
  return {
    driver: "sysbench",
    name: `sysbench ${script}, ${level}, ${threads} ${noun}`,
    unit: "transactions/s",
    higherIsBetter: true,
    bar,
    maximumRounds: 3,
    isFullOnly: threads !== 8,
    prepare: async (peer, scale) => {
      if (filled.has(peer)) return;
      filled.add(peer);
      await run(peer, "oltp_read_write", scale, ["prepare"]);
    },
    measure: async (peer, scale) => {
      const printed = await run(peer, script, scale, [
        `--threads=${threads}`,
        ...(scale === "smoke" ? ["--time=0", `--events=${EVENTS}`] : [`--time=${SECONDS}`, "--events=0"]),
        "run",
      ], level);
      const rate = /^\s*transactions:\s+\d+\s+\(([\d.]+) per sec/m.exec(printed)?.[1];
      if (rate === undefined) throw new Error(`sysbench printed no rate: ${printed}`);
      return Number(rate);
    },
  };
}

/** Runs one of its scripts; answers what it prints. */
async function run(
  peer: PeerAddress,
  script: string,
  scale: Scale,
  args: readonly string[],
  level = "read committed",
): Promise<string> {
  const options = [
    "--db-driver=pgsql",
    `--pgsql-host=${peer.host}`,
    `--pgsql-port=${peer.port}`,
    `--pgsql-user=${peer.user}`,
    `--pgsql-db=${peer.database}`,
    `--tables=${TABLES}`,
    `--table-size=${ROWS[scale]}`,
  ];
  // sysbench has no option for the level.
  const PGOPTIONS = `-c default_transaction_isolation=${level.replace(" ", "\\ ")}`;
  return await runProgram("sysbench", [script, ...options, ...args], { env: { PGPASSWORD: "", PGOPTIONS } });
}
