/** PostgreSQL with two synchronous standbys, of which one must have each commit: the peer of a cluster of three. */
import type { PeerAddress } from "../benchmark.ts";
import { execute } from "../cases/client.ts";
import { PostgresqlPrograms } from "../peers/postgresql_programs.ts";
import { freePort } from "../peers/process.ts";

const STANDBYS = ["standby1", "standby2"] as const;
const MAX_CONNECTIONS = "max_connections=200";

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
  const programs = await PostgresqlPrograms.find("pg_basebackup");
  if (programs === null) return null;
  const { directory } = programs;
  const data = `${directory}/primary`;
  await programs.initialize(data);
  const port = freePort();
  try {
    const names = `synchronous_standby_names=ANY 1 (${STANDBYS.join(", ")})`;
    await programs.start(data, port, [MAX_CONNECTIONS, names]);
    const source = `host=127.0.0.1 port=${port} user=postgres`;
    for (const name of STANDBYS) {
      const folder = `${directory}/${name}`;
      await programs.run("pg_basebackup", ["-D", folder, "-d", source, "-X", "stream", "-c", "fast", "-R"]);
      const connection = `primary_conninfo=${source} application_name=${name}`;
      await programs.start(folder, freePort(), [MAX_CONNECTIONS, connection]);
    }
  } catch (error) {
    await programs.stop();
    throw error;
  }
  const address = (name: string): PeerAddress => ({
    name,
    host: "127.0.0.1",
    port,
    user: "postgres",
    database: "postgres",
  });
  return {
    address: (commit) => address(`PostgreSQL ×3, ${commit}`),
    waitFor: (commit) =>
      execute(address("PostgreSQL"), [`ALTER DATABASE postgres SET synchronous_commit = '${commit}'`]),
    stop: () => programs.stop(),
  };
}
