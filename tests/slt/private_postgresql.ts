/**
 * A PostgreSQL server of our own in a temporary folder, to compare answers with. Nothing outside the folder is
 * touched; the server listens on the loopback address only and is gone after {@link PrivatePostgresql.stop}.
 *
 * Limits: PostgreSQL refuses to run as root, so that a root user starts it as the system user `postgres`.
 */
import pg from "pg";
import { freePort } from "../bench/peers/process.ts";
import { DatabaseError, type SqlState } from "../../mod.ts";
import { isInstalled } from "../../tools/not_run.ts";
import type { LogicDatabase } from "./run_logic_tests.ts";

const folders = ["/usr/local/bin", "/usr/lib/postgresql/15/bin", "/usr/bin"];

async function programOf(name: string): Promise<string | null> {
  for (const candidate of [name, ...folders.map((folder) => `${folder}/${name}`)]) {
    if (await isInstalled(candidate)) return candidate;
  }
  return null;
}

/** Raised when there is no PostgreSQL server program to start. */
export class PostgresqlMissing extends Error {
  override readonly name = "PostgresqlMissing";
}

/** A logic test's database that can be closed. */
export interface ClosableLogicDatabase extends LogicDatabase {
  close(): Promise<void>;
}

/** A PostgreSQL server of our own in a temporary folder, to compare answers with. */
export class PrivatePostgresql {
  readonly #folder: string;
  readonly #control: string;
  readonly #port: number;
  #databases = 0;

  private constructor(folder: string, control: string, port: number) {
    this.#folder = folder;
    this.#control = control;
    this.#port = port;
  }

  /** Makes a cluster and starts its server. Raises {@link PostgresqlMissing}. */
  static async start(): Promise<PrivatePostgresql> {
    const [initialize, control] = await Promise.all([programOf("initdb"), programOf("pg_ctl")]);
    if (initialize === null || control === null) {
      throw new PostgresqlMissing("initdb or pg_ctl is not installed");
    }
    const folder = await Deno.makeTempDir({ prefix: "private_postgresql_" });
    await Deno.chmod(folder, 0o755);
    if (Deno.uid() === 0) await run("chown", ["postgres", folder], folder, false);
    const data = `${folder}/data`;
    const port = freePort();
    const server = new PrivatePostgresql(folder, control, port);
    try {
      const cluster = ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"];
      await run(initialize, cluster, folder, true);
      // It is asked much of little, and nobody minds when it loses it.
      const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${folder} ` +
        "-c timezone=UTC -c fsync=off -c full_page_writes=off -c synchronous_commit=off -c jit_above_cost=-1 " +
        "-c autovacuum=off";
      await run(control, ["-D", data, "-o", options, "-w", "-l", `${folder}/log`, "start"], folder, true);
    } catch (error) {
      await Deno.remove(folder, { recursive: true });
      throw error;
    }
    return server;
  }

  /** The port on the loopback address; user `postgres` needs no password. */
  get port(): number {
    return this.#port;
  }

  /** Opens a connection to a new, empty database. */
  async database(): Promise<ClosableLogicDatabase> {
    const name = `d${this.#databases++}`;
    const administrator = await connect(this.#port, "postgres");
    try {
      await administrator.query(`CREATE DATABASE ${name} TEMPLATE template0`);
    } finally {
      await administrator.end();
    }
    const client = await connect(this.#port, name);
    return { run: (sql) => ask(client, sql), close: () => client.end() };
  }

  /** Stops the server and removes its folder. */
  async stop(): Promise<void> {
    await run(this.#control, ["-D", `${this.#folder}/data`, "-m", "immediate", "stop"], this.#folder, true);
    await Deno.remove(this.#folder, { recursive: true });
  }
}

async function connect(port: number, database: string): Promise<pg.Client> {
  const client = new pg.Client({
    host: "127.0.0.1",
    port,
    user: "postgres",
    database,
    types: { getTypeParser: () => (text: string) => text },
  });
  await client.connect();
  return client;
}

async function ask(client: pg.Client, sql: string): Promise<(string | null)[][]> {
  try {
    const answer: unknown = await client.query({ text: sql, rowMode: "array" });
    const results = Array.isArray(answer) ? answer : [answer];
    return results.flatMap((result: { rows: (string | null)[][] }) => result.rows);
  } catch (error) {
    if (
      error instanceof Error && "code" in error && typeof error.code === "string" && error.code.length === 5
    ) {
      throw new DatabaseError(stateOf(error.code), error.message);
    }
    throw error;
  }
}

function stateOf(code: string): SqlState {
  // PostgreSQL also raises codes that this product does not; they are only compared.
  return code as SqlState;
}

async function run(
  program: string,
  args: readonly string[],
  folder: string,
  asServer: boolean,
): Promise<void> {
  const lowered = asServer && Deno.uid() === 0;
  const command = lowered
    ? new Deno.Command("setpriv", {
      args: ["--reuid=postgres", "--regid=postgres", "--clear-groups", program, ...args],
      cwd: folder,
      env: { LC_ALL: "C" },
      stdin: "null",
      stdout: "null",
      stderr: "null",
    })
    : new Deno.Command(program, {
      args: [...args],
      cwd: folder,
      stdin: "null",
      stdout: "null",
      stderr: "null",
    });
  const { success, code } = await command.output();
  if (!success) throw new Error(`${program} ${args.join(" ")} ended with ${code}`);
}
