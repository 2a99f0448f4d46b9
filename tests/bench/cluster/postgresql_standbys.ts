/** PostgreSQL with two synchronous standbys, of which one must have each commit: the peer of a cluster of three. */
import type { PeerAddress } from "../benchmark.ts";
import { execute } from "../cases/client.ts";
import { findPostgresqlProgram, freePort, runProgram, waitForPort } from "../peers/process.ts";

const STANDBYS = 2;
const MAX_CONNECTIONS = 200;
const STOP_MILLISECONDS = 5000;

/** How far a standby must be before a commit is answered. */
export type SynchronousCommit = "on" | "remote_write";

/** A primary with its standbys. */
export interface PostgresqlStandbys {
  /** The primary, where commits wait as said. */
  address(commit: SynchronousCommit): PeerAddress;
  /** Lets the sessions that begin from now on wait so. */
  waitFor(commit: SynchronousCommit): Promise<void>;
  stop(): Promise<void>;
}

/** Starts all three; null when PostgreSQL is not installed. */
export async function startPostgresqlStandbys(): Promise<PostgresqlStandbys | null> {
  const initdb = findPostgresqlProgram("initdb");
  const postgres = findPostgresqlProgram("postgres");
  const basebackup = findPostgresqlProgram("pg_basebackup");
  if (initdb === null || postgres === null || basebackup === null) return null;
  const directory = await Deno.makeTempDir({ prefix: "postgresql-" });
  const asRoot = Deno.uid() === 0;
  // The server refuses to run as root; Debian's package has made a user for it.
  const run = (program: string, args: readonly string[]): [string, string[]] =>
    asRoot
      ? ["setpriv", ["--reuid=postgres", "--regid=postgres", "--clear-groups", program, ...args]]
      : [program, [...args]];
  const runToEnd = (program: string, args: readonly string[]) =>
    runProgram(...run(program, args), { cwd: directory });
  if (asRoot) await runProgram("chown", ["postgres:postgres", directory]);
  const data = `${directory}/primary`;
  await runToEnd(initdb, ["-D", data, "-U", "postgres", "-A", "trust", "--locale=C.UTF-8", "-E", "UTF8"]);
  const children: Deno.ChildProcess[] = [];
  const start = async (folder: string, port: number, settings: readonly string[]): Promise<void> => {
    const all = [
      "listen_addresses=127.0.0.1",
      `unix_socket_directories=${directory}`,
      `max_connections=${MAX_CONNECTIONS}`,
      ...settings,
    ];
    const [command, args] = run(postgres, [
      ...["-D", folder, "-p", String(port)],
      ...all.flatMap((each) => ["-c", each]),
    ]);
    const quiet = { stdin: "null", stdout: "null", stderr: "null" } as const;
    children.push(new Deno.Command(command, { args, cwd: directory, ...quiet }).spawn());
    await waitForPort(port, 20_000);
  };
  const names = Array.from({ length: STANDBYS }, (_, index) => `standby${index + 1}`);
  const ports = [freePort(), ...names.map(freePort)];
  const port = ports[0] ?? 0;
  const stop = async (): Promise<void> => {
    // Nothing of it is kept: at once, and a kill for one that misses the signal.
    for (const child of children.toReversed()) {
      child.kill("SIGQUIT");
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MILLISECONDS);
      await child.status;
      clearTimeout(timer);
    }
    await Deno.remove(directory, { recursive: true });
  };
  const address = (name: string): PeerAddress => ({
    name,
    host: "127.0.0.1",
    port,
    user: "postgres",
    database: "postgres",
  });
  try {
    await start(data, port, [`synchronous_standby_names=ANY 1 (${names.join(", ")})`]);
    await untilAccepted(port);
    const source = `host=127.0.0.1 port=${port} user=postgres`;
    for (const [index, name] of names.entries()) {
      const folder = `${directory}/${name}`;
      await runToEnd(basebackup, ["-D", folder, "-d", source, "-X", "stream", "-c", "fast", "-R"]);
      await start(folder, ports[index + 1] ?? 0, [`primary_conninfo=${source} application_name=${name}`]);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    address: (commit) => address(`PostgreSQL ×3, ${commit}`),
    waitFor: (commit) =>
      execute(address("PostgreSQL"), [`ALTER DATABASE postgres SET synchronous_commit = '${commit}'`]),
    stop,
  };
}

/** It listens a while before it lets anybody in. */
async function untilAccepted(port: number): Promise<void> {
  const program = findPostgresqlProgram("pg_isready");
  for (let attempt = 0; program !== null && attempt < 200; attempt++) {
    const { success } = await new Deno.Command(program, {
      args: ["-q", "-h", "127.0.0.1", "-p", String(port)],
    }).output();
    if (success) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
