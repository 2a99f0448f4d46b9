/** Work done by pgbench, PostgreSQL's own benchmark client: point reads, point writes, TPC-B, inserts. */
import type { Benchmark, Peer, Scale } from "../benchmark.ts";
import { findPostgresqlProgram, runProgram } from "../peers/process.ts";

/** Rows of pgbench_accounts per unit of scale, from pgbench's documentation. */
const ACCOUNTS_PER_SCALE = 100_000;

const prepared = new Set<string>();

/** pgbench scripts by name. */
const SCRIPTS = {
  "point read": "\\set aid random(1, :rows)\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n",
  "point write":
    "\\set aid random(1, :rows)\n\\set delta random(-5000, 5000)\nUPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;\n",
  "single-row insert":
    "\\set aid random(1, :rows)\nINSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (1, 1, :aid, 1, CURRENT_TIMESTAMP);\n",
  "TPC-B":
    "\\set aid random(1, :rows)\n\\set bid 1\n\\set tid random(1, 10)\n\\set delta random(-5000, 5000)\nBEGIN;\nUPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;\nUPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;\nUPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;\nINSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);\nEND;\n",
} as const;

/** How pgbench sends statements. */
type QueryMode = "simple" | "extended" | "prepared";

/** A benchmark of one script at one number of connections. */
export function pgbench(
  script: keyof typeof SCRIPTS,
  mode: QueryMode,
  clients: number,
  bar: string,
): Benchmark {
  return {
    name: `${script}, ${mode}, ${clients} client${clients === 1 ? "" : "s"}`,
    unit: "transactions/s",
    higherIsBetter: true,
    bar,
    prepare: initialise,
    measure: async (peer, scale) => {
      const file = await Deno.makeTempFile({ prefix: "pgbench-", suffix: ".sql" });
      try {
        await Deno.writeTextFile(file, SCRIPTS[script]);
        const output = await run(peer, [
          "-n",
          "-f",
          file,
          "-M",
          mode,
          "-c",
          String(clients),
          "-j",
          "1",
          "-D",
          `rows=${ACCOUNTS_PER_SCALE}`,
          ...(scale === "smoke" ? ["-t", "20"] : ["-T", "5"]),
        ]);
        const match = /^tps = ([\d.]+)/m.exec(output);
        if (match === null) throw new Error(`pgbench printed no tps: ${output}`);
        return Number(match[1]);
      } finally {
        await Deno.remove(file);
      }
    },
  };
}

/** Whether pgbench is installed. */
export function hasPgbench(): boolean {
  return findPostgresqlProgram("pgbench") !== null;
}

async function initialise(peer: Peer, _scale: Scale): Promise<void> {
  const key = `${peer.name}:${peer.port}`;
  if (prepared.has(key)) return;
  prepared.add(key);
  await run(peer, ["-i", "-q", "-s", "1"]);
}

function run(peer: Peer, args: readonly string[]): Promise<string> {
  const program = findPostgresqlProgram("pgbench");
  if (program === null) throw new Error("pgbench is not installed");
  return runProgram(program, [
    "-h",
    peer.host,
    "-p",
    String(peer.port),
    "-U",
    peer.user,
    ...args,
    peer.database,
  ], {
    env: { PGPASSWORD: "", HOME: Deno.env.get("TMPDIR") ?? "/tmp" },
  });
}
