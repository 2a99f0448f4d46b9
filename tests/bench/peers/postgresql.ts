/** A private PostgreSQL server in a temporary directory, with its default settings, as the peer to compare with. */
import { ensureDevelopmentCertificate } from "../../../gateways/tls/development_certificate.ts";
import type { Peer } from "../benchmark.ts";
import { findPostgresqlProgram, freePort, runProgram, waitForPort } from "./process.ts";

/** How to start it. */
export interface PostgresqlOptions {
  readonly cacheBytes?: number;
  /** With a certificate as that of dbd. */
  readonly tls?: true;
}

/** Starts a server; null when PostgreSQL is not installed. */
export async function startPostgresql(options: PostgresqlOptions = {}): Promise<Peer | null> {
  const initdb = findPostgresqlProgram("initdb");
  const postgres = findPostgresqlProgram("postgres");
  if (initdb === null || postgres === null) return null;
  const directory = await Deno.makeTempDir({ prefix: "postgresql-" });
  const asRoot = Deno.uid() === 0;
  // The server refuses to run as root; Debian's package has made a user for it.
  const run = (program: string, args: readonly string[]): [string, string[]] =>
    asRoot
      ? ["setpriv", ["--reuid=postgres", "--regid=postgres", "--clear-groups", program, ...args]]
      : [program, [...args]];
  if (asRoot) await runProgram("chown", ["postgres:postgres", directory]);
  const data = `${directory}/data`;
  const [initCommand, initArgs] = run(initdb, [
    "-D",
    data,
    "-U",
    "postgres",
    "-A",
    "trust",
    "--locale=C.UTF-8",
    "-E",
    "UTF8",
  ]);
  await runProgram(initCommand, initArgs, { cwd: directory });
  const port = freePort();
  const files = options.tls === undefined
    ? null
    : ensureDevelopmentCertificate(`${directory}/tls`, new Date());
  if (files !== null && asRoot) await runProgram("chown", ["-R", "postgres:postgres", `${directory}/tls`]);
  const settings = [
    ...(options.cacheBytes === undefined ? [] : [`shared_buffers=${options.cacheBytes >> 20}MB`]),
    ...(files === null
      ? []
      : ["ssl=on", `ssl_cert_file=${files.certificatePath}`, `ssl_key_file=${files.keyPath}`]),
  ];
  const parameters = ["listen_addresses=127.0.0.1", `unix_socket_directories=${directory}`, ...settings];
  const [command, args] = run(postgres, [
    "-D",
    data,
    "-p",
    String(port),
    ...parameters.flatMap((each) => ["-c", each]),
  ]);
  const child = new Deno.Command(command, {
    args,
    cwd: directory,
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  await waitForPort(port, 20_000);
  await untilReady(port);
  return {
    name: "PostgreSQL",
    host: "127.0.0.1",
    port,
    user: "postgres",
    database: "postgres",
    ...(options.tls === undefined ? {} : { tls: options.tls }),
    another: async (others) => {
      const other = await startPostgresql(others);
      if (other === null) throw new Error("PostgreSQL has gone meanwhile");
      return other;
    },
    stop: async () => {
      child.kill("SIGINT");
      await child.status;
      await Deno.remove(directory, { recursive: true });
    },
  };
}

/** It listens a while before it lets anybody in. */
async function untilReady(port: number): Promise<void> {
  const program = findPostgresqlProgram("pg_isready");
  for (let attempt = 0; program !== null && attempt < 200; attempt++) {
    const { success } = await new Deno.Command(program, {
      args: ["-q", "-h", "127.0.0.1", "-p", String(port)],
    }).output();
    if (success) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
