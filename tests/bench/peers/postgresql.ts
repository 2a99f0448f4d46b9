/** A private PostgreSQL server in a temporary directory, with its default settings, as the peer to compare with. */
import { ensureDevelopmentCertificate } from "../../../gateways/tls/development_certificate.ts";
import type { Peer } from "../benchmark.ts";
import { PostgresqlPrograms } from "./postgresql_programs.ts";
import { exists, freePort } from "./process.ts";

/** How to start it. */
export interface PostgresqlOptions {
  readonly cacheBytes?: number;
  /** With a certificate as that of dbd. */
  readonly tls?: true;
  /** Of its configuration, in the form `name=value`. */
  readonly settings?: readonly string[];
  /** Where its data stays, and is found by a later start; a temporary directory when absent. */
  readonly data?: string;
}

/** Starts a server; null when PostgreSQL is not installed. */
export async function startPostgresql(options: PostgresqlOptions = {}): Promise<Peer | null> {
  const programs = await PostgresqlPrograms.find();
  if (programs === null) return null;
  const { directory } = programs;
  const data = options.data ?? `${directory}/data`;
  if (options.data === undefined || !await exists(data)) await programs.initialize(data);
  // 256 clients, as many as dbd lets in by default.
  const settings = ["max_connections=260", ...options.settings ?? []];
  if (options.cacheBytes !== undefined) settings.push(`shared_buffers=${options.cacheBytes >> 20}MB`);
  if (options.tls !== undefined) {
    const files = ensureDevelopmentCertificate(`${directory}/tls`, new Date());
    await programs.own(`${directory}/tls`);
    settings.push("ssl=on", `ssl_cert_file=${files.certificatePath}`, `ssl_key_file=${files.keyPath}`);
  }
  const port = freePort();
  await programs.start(data, port, settings);
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
    stop: () => programs.stop(),
  };
}
