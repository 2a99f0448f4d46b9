/**
 * Drivers and programs of PostgreSQL's protocol and of this project, while primaries end again and again: each goes on,
 * and every transaction that was acknowledged to it is there, once.
 */
import { ok, strictEqual } from "node:assert/strict";
import pg from "pg";
import { isInstalled, reportNotRun } from "../../tools/not_run.ts";
import { connectPg } from "../support/clients.ts";
import { runProgram } from "../support/programs.ts";
import type { ClusterProcesses } from "./cluster_processes.ts";
import { JDBC, PGBENCH, PSYCOPG } from "./driver_programs.ts";

/** How often, by which programs. */
export interface DriverOptions {
  readonly dbcli: string;
  readonly failovers: number;
}

const JDBC_DRIVER = "/usr/share/java/postgresql.jar";
/** Debian's, for which its packages are made. */
const PYTHON = "/usr/bin/python3";

const HANG_MILLISECONDS = 3000;

/** What runs: ends when the file is there, and answers what was acknowledged at least and at most. */
interface Driver {
  readonly name: string;
  /** null: it is there. */
  missing(): Promise<string | null>;
  run(world: World): Promise<readonly [least: number, most: number]>;
}

interface World {
  readonly cluster: ClusterProcesses;
  readonly directory: string;
  readonly stopFile: string;
  readonly dbcli: string;
  isOver(): boolean;
}

const portsOf = ({ cluster }: World): string => cluster.members.map(({ port }) => port).join(",");

/** What a client may meet that is to be run again; the others are looked at first. */
const UNKNOWN = ["40003", "08006", ""];
const ALLOWED = ["40001", "57P01", "57P03", ...UNKNOWN];

/** Writes transactions one by one, by the rules of the documents; the code of what fails is the attempt's to find. */
async function writeAll(
  { isOver }: World,
  client: {
    write(id: number): Promise<void>;
    isThere(id: number): Promise<boolean>;
    codeOf(error: unknown): string;
  },
): Promise<[number, number]> {
  let looks = false;
  let id = 1;
  while (!isOver()) {
    try {
      if (!looks || !await client.isThere(id)) await client.write(id);
      looks = false;
      id++;
      await pause(5);
    } catch (error) {
      const code = client.codeOf(error);
      if (!ALLOWED.includes(code)) throw error;
      looks ||= UNKNOWN.includes(code);
      await pause(20);
    }
  }
  // The last one may be there, or not.
  return [id - 1, looks ? id : id - 1];
}

const nodePostgres: Driver = {
  name: "node-postgres",
  missing: () => Promise.resolve(null),
  run: async (world) => {
    let client: pg.Client | null = null;
    let count = 0;
    const use = async (): Promise<pg.Client> => {
      if (client !== null) return client;
      const { members } = world.cluster;
      const member = members[count++ % members.length];
      const made = new pg.Client({
        host: "127.0.0.1",
        ...(member === undefined ? {} : { port: member.port }),
        user: "node",
        database: "db",
        connectionTimeoutMillis: 5000,
      });
      made.on("error", () => undefined);
      await made.connect();
      return client = made;
    };
    const drop = (error: unknown): never => {
      void client?.end().catch(() => undefined);
      client = null;
      throw error;
    };
    const figures = await writeAll(world, {
      write: async (id) => {
        const made = await use().catch(drop);
        try {
          await made.query("BEGIN");
          await made.query("INSERT INTO written VALUES ('node-postgres', $1)", [id]);
          await made.query("UPDATE counter SET value = value + 1 WHERE driver = 'node-postgres'");
          await made.query("COMMIT");
        } catch (error) {
          drop(error);
        }
      },
      isThere: async (id) => {
        const made = await use().catch(drop);
        const sql = "SELECT FROM written WHERE driver = 'node-postgres' AND id = $1";
        return await made.query(sql, [id]).then(({ rowCount }) => rowCount === 1, drop);
      },
      // Errors of sockets have codes of the system.
      codeOf: (error) => {
        const code = error instanceof Error && "code" in error ? String(error.code) : "";
        return /^[0-9A-Z]{5}$/.test(code) && code !== "EPIPE" ? code : "";
      },
    });
    await (client as pg.Client | null)?.end().catch(() => undefined);
    return figures;
  },
};

const psql: Driver = {
  name: "psql",
  missing: async () => await isInstalled("psql") ? null : "psql is not installed",
  run: async (world) => {
    const ports = portsOf(world);
    const hosts = world.cluster.members.map(() => "127.0.0.1").join(",");
    const target = `host=${hosts} port=${ports} user=psql dbname=db connect_timeout=5`;
    const ask = async (input: string): Promise<string> => {
      const { code, stdout, stderr } = await runProgram("psql", [
        ...["-XqAt", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=sqlstate", target],
      ], { input });
      if (code === 0) return stdout.trim();
      throw new Error(stderr);
    };
    return await writeAll(world, {
      write: async (id) => {
        await ask(
          `BEGIN; INSERT INTO written VALUES ('psql', ${id});
           UPDATE counter SET value = value + 1 WHERE driver = 'psql'; COMMIT;`,
        );
      },
      isThere: async (id) => await ask(`SELECT 1 FROM written WHERE driver = 'psql' AND id = ${id}`) === "1",
      codeOf: (error) =>
        /(?:ERROR|FATAL): {2}([0-9A-Z]{5})\b/.exec(String(error))?.[1] ?? lossOf(String(error)),
    });
  },
};

/** What psql and libpq say of connections, in words only. */
function lossOf(text: string): string {
  return /connection to server|server closed the connection|could not (?:receive|send) data/i.test(text)
    ? ""
    : text;
}

const psycopg: Driver = {
  name: "psycopg",
  missing: async () => {
    const probe = await runProgram(PYTHON, ["-c", "import psycopg"]).catch(() => null);
    return probe?.code === 0 ? null : "python3-psycopg is not installed";
  },
  run: async (world) => await printed(PYTHON, ["-c", PSYCOPG, portsOf(world), world.stopFile]),
};

const jdbc: Driver = {
  name: "jdbc",
  missing: async () => {
    const hasDriver = await Deno.stat(JDBC_DRIVER).then(() => true, () => false);
    return hasDriver && await isInstalled("javac")
      ? null
      : "a JDK or libpostgresql-jdbc-java is not installed";
  },
  run: async (world) => {
    const path = `${world.directory}/Main.java`;
    await Deno.writeTextFile(path, JDBC);
    return await printed("java", ["-cp", JDBC_DRIVER, path, portsOf(world), world.stopFile]);
  },
};

async function printed(program: string, parameters: readonly string[]): Promise<[number, number]> {
  const { code, stdout, stderr } = await runProgram(program, parameters);
  strictEqual(code, 0, stderr);
  // The last one may be there although nothing was said.
  return [Number(stdout), Number(stdout) + 1];
}

const pgbench: Driver = {
  name: "pgbench",
  missing: async () => await isInstalled("pgbench") ? null : "pgbench is not installed",
  run: async (world) => {
    const script = `${world.directory}/pgbench.sql`;
    await Deno.writeTextFile(script, PGBENCH);
    let [least, most] = [0, 0];
    for (let count = 0; !world.isOver(); count++) {
      const { members } = world.cluster;
      const { port } = members[count % members.length] ?? { port: 0 };
      // A client whose connection ends is given up by pgbench: then the next round connects anew.
      const { stdout, stderr } = await runProgram("pgbench", [
        ...["-n", "-h", "127.0.0.1", "-p", String(port), "-U", "pgbench", "-c", "2", "-t", "20"],
        ...["--max-tries", "20", "-f", script, "db"],
      ]);
      const processed = Number(/actually processed: (\d+)/.exec(stdout)?.[1] ?? 0);
      for (const [, code] of stderr.matchAll(/(?:ERROR|FATAL): {2}([0-9A-Z]{5})\b/g)) {
        ok(ALLOWED.includes(code ?? ""), stderr);
      }
      ok(!/syntax|does not exist|duplicate key/.test(stderr), stderr);
      least += processed;
      most += processed + 2;
    }
    return [least, most];
  },
};

const dbcli: Driver = {
  name: "dbcli",
  missing: () => Promise.resolve(null),
  run: async (world) => {
    const addresses = world.cluster.members.map(({ binaryPort }) => `127.0.0.1:${binaryPort}`).join(",");
    const child = new Deno.Command(world.dbcli, {
      args: ["--addrs", addresses],
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const output = child.output();
    const writer = child.stdin.getWriter();
    let id = 0;
    while (!world.isOver()) {
      // Each by itself, so that it has a sequence number.
      const statement = `WITH w AS (INSERT INTO written VALUES ('dbcli', ${++id}) RETURNING id)
        UPDATE counter SET value = value + 1 FROM w WHERE driver = 'dbcli';\n`;
      await writer.write(new TextEncoder().encode(statement));
      await pause(10);
    }
    await writer.close();
    const { code, stdout, stderr } = await output;
    strictEqual(code, 0, new TextDecoder().decode(stderr));
    strictEqual(new TextDecoder().decode(stdout).match(/^UPDATE 1$/gm)?.length, id);
    return [id, id];
  },
};

const DRIVERS = [nodePostgres, psql, psycopg, jdbc, pgbench, dbcli] as const;

/** Lets primaries end so many times beside all of them; answers how many transactions each has written. */
export async function failDriversOver(
  cluster: ClusterProcesses,
  { dbcli, failovers }: DriverOptions,
): Promise<Record<string, number>> {
  const directory = await Deno.makeTempDir({ prefix: "drivers-" });
  const drivers: Driver[] = [];
  for (const driver of DRIVERS) {
    const missing = await driver.missing();
    if (missing === null) drivers.push(driver);
    else reportNotRun(`${driver.name} across failovers`, missing);
  }
  const admin = await connectPg(await cluster.primary());
  await admin.query("CREATE TABLE written (driver text, id int, PRIMARY KEY (driver, id))");
  await admin.query("CREATE TABLE counter (driver text PRIMARY KEY, value int NOT NULL)");
  await admin.query("CREATE SEQUENCE pgbench_ids");
  for (const { name } of drivers) await admin.query("INSERT INTO counter VALUES ($1, 0)", [name]);
  await admin.close();
  let isOver = false;
  let failure: unknown = null;
  const stopFile = `${directory}/stop`;
  const world: World = { cluster, directory, stopFile, dbcli, isOver: () => isOver };
  const running = drivers.map(async ({ name, run }) => {
    try {
      return await run(world);
    } catch (error) {
      failure ??= new Error(name, { cause: error });
      return [0, 0] as const;
    }
  });
  try {
    for (let round = 0; round <= failovers; round++) {
      await allGoOn(cluster, drivers, () => failure);
      if (round === failovers) break;
      const primary = await cluster.primary();
      if (round % 3 === 1) {
        // Clients of backups are sent away at once, those of the primary when it goes on.
        primary.signal("SIGSTOP");
        await pause(HANG_MILLISECONDS);
        primary.signal("SIGCONT");
        continue;
      }
      await primary.stop(round % 3 === 2 ? "SIGTERM" : "SIGKILL");
      await pause(300);
      primary.start();
    }
  } finally {
    isOver = true;
    await Deno.writeTextFile(stopFile, "");
    await Promise.all(running);
    await Deno.remove(directory, { recursive: true });
  }
  if (failure !== null) throw failure;
  const acknowledged = await Promise.all(running);
  const found = await counts(cluster);
  for (const [index, { name }] of drivers.entries()) {
    const [least, most] = acknowledged[index] ?? [0, 0];
    const { rows, value } = found[name] ?? { rows: 0, value: 0 };
    ok(rows >= least && rows <= most, `${name}: ${rows} rows, ${least} were acknowledged`);
    strictEqual(value, rows, `${name}: rows and counter`);
  }
  return Object.fromEntries(Object.entries(found).map(([name, { rows }]) => [name, rows]));
}

async function counts(cluster: ClusterProcesses): Promise<Record<string, { rows: number; value: number }>> {
  const client = await connectPg(await cluster.primary());
  try {
    const rows = await client.query(
      `SELECT driver, value, (SELECT count(*) FROM written WHERE written.driver = counter.driver) AS rows FROM counter`,
    );
    return Object.fromEntries(
      rows.map(({ driver, value, rows }) => [String(driver), { rows: Number(rows), value: Number(value) }]),
    );
  } finally {
    await client.close();
  }
}

/** Waits until each of them has written more. */
async function allGoOn(
  cluster: ClusterProcesses,
  drivers: readonly Driver[],
  failure: () => unknown,
): Promise<void> {
  const end = performance.now() + 60_000;
  const before = await counts(cluster);
  for (;;) {
    if (failure() !== null) throw failure();
    const now = await counts(cluster);
    const late = drivers.filter(({ name }) => (now[name]?.rows ?? 0) < (before[name]?.rows ?? 0) + 3);
    if (late.length === 0) return;
    ok(performance.now() < end, `${late.map(({ name }) => name)} do not go on:\n${cluster.logs()}`);
    await pause(50);
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
