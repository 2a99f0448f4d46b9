/** What cases share: a connection for statements, loading by COPY, and pgbench. */
import postgres from "postgres";
import type { Benchmark, PeerAddress, Scale } from "../benchmark.ts";
import { findPostgresqlProgram, runProgram } from "../peers/process.ts";

/** One connection. */
export function connect(peer: PeerAddress): postgres.Sql {
  return postgres({
    host: peer.host,
    port: peer.port,
    username: peer.user,
    database: peer.database,
    max: 1,
    fetch_types: false,
    onnotice: () => {},
  });
}

/** Runs statements, one after the other. */
export async function execute(peer: PeerAddress, statements: readonly string[]): Promise<void> {
  const client = connect(peer);
  try {
    for (const statement of statements) await client.unsafe(statement);
  } finally {
    await client.end();
  }
}

/** Sends pieces of data to a COPY … FROM STDIN. Raises what the server answers. */
export async function copyIn(
  client: postgres.Sql,
  statement: string,
  pieces: Iterable<string | Uint8Array>,
): Promise<void> {
  const query = client.unsafe(statement);
  const stream = await query.writable();
  const ended = new Promise<void>((resolve, reject) => {
    stream.once("finish", () => resolve());
    stream.once("error", reject);
    stream.once("close", () => reject(new Error("the connection was lost during COPY")));
    // The stream is not told of an error that the server answers to the end of the data.
    Object.assign(query, { reject });
  });
  for (const piece of pieces) {
    if (stream.write(piece)) continue;
    await Promise.race([ended, new Promise<void>((resolve) => stream.once("drain", () => resolve()))]);
  }
  stream.end();
  await ended;
}

/** Whether a benchmark is part of a run on this machine. */
export function canRun({ driver, isFullOnly }: Benchmark, scale: Scale): boolean {
  return hasDriver(driver) && !(scale === "smoke" && isFullOnly === true);
}

/** Whether the program that does the work is installed. */
export function hasDriver(driver: Benchmark["driver"]): boolean {
  return driver === undefined || findPostgresqlProgram(driver) !== null;
}

/** Whether pgbench is installed. */
export function hasPgbench(): boolean {
  return hasDriver("pgbench");
}

/** Runs pgbench against a peer; answers what it prints. */
export function runPgbench(peer: PeerAddress, args: readonly string[]): Promise<string> {
  return runClient("pgbench", peer, [...args, peer.database]);
}

/** Runs psql against a peer; answers what it prints. */
export function runPsql(peer: PeerAddress, args: readonly string[]): Promise<string> {
  return runClient("psql", peer, ["-X", "-q", "-d", peer.database, ...args]);
}

function runClient(name: string, peer: PeerAddress, args: readonly string[]): Promise<string> {
  const program = findPostgresqlProgram(name);
  if (program === null) throw new Error(`${name} is not installed`);
  return runProgram(program, ["-h", peer.host, "-p", String(peer.port), "-U", peer.user, ...args], {
    env: {
      PGPASSWORD: "",
      PGSSLMODE: peer.tls === true ? "require" : "prefer",
      HOME: Deno.env.get("TMPDIR") ?? "/tmp",
    },
  });
}

/** How pgbench sends statements. */
export type QueryMode = "simple" | "extended" | "prepared";

/** Runs a script with pgbench; answers transactions a second. */
export async function transactionRate(peer: PeerAddress, script: string, options: {
  readonly mode: QueryMode;
  readonly clients: number;
  readonly variables: Readonly<Record<string, number>>;
  /** Without it: so many transactions of each client. */
  readonly seconds: number | null;
  readonly transactions?: number;
}): Promise<number> {
  const file = await Deno.makeTempFile({ prefix: "pgbench-", suffix: ".sql" });
  try {
    await Deno.writeTextFile(file, script);
    const output = await runPgbench(peer, [
      "-n",
      "-f",
      file,
      "-M",
      options.mode,
      "-c",
      String(options.clients),
      "-j",
      "1",
      ...Object.entries(options.variables).flatMap(([name, value]) => ["-D", `${name}=${value}`]),
      ...(options.seconds === null
        ? ["-t", String(options.transactions ?? 20)]
        : ["-T", String(options.seconds)]),
    ]);
    const match = /^tps = ([\d.]+)/m.exec(output);
    if (match === null) throw new Error(`pgbench printed no tps: ${output}`);
    return Number(match[1]);
  } finally {
    await Deno.remove(file);
  }
}
