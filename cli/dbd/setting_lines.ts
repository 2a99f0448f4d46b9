/** Every setting of the server program besides the two positional ones, a line each: pure data. */
import { LIMITS } from "../../engine/base/limits.ts";
import type { FeatureName } from "../features/feature_names.ts";

/** How a setting's text is read. */
type SettingKind = "address" | "text" | "count" | "bytes" | "seconds" | "switch";

/** One setting. */
interface SettingLine {
  readonly key: string;
  readonly kind: SettingKind;
  readonly value: string;
  readonly help: string;
  /** The build feature that serves it. */
  readonly feature?: FeatureName;
}

/** Every setting besides the two positional ones. */
export const SETTINGS: readonly SettingLine[] = [
  {
    key: "http_addr",
    kind: "address",
    value: "ADDR",
    help: "listen for HTTP and WebSocket (off unless set; port 6533)",
    feature: "http-gateway",
  },
  {
    key: "http_tls_addr",
    kind: "address",
    value: "ADDR",
    help: "listen for HTTPS and WebSocket over TLS (off unless set; port 6534)",
    feature: "tls",
  },
  {
    key: "pg_addr",
    kind: "address",
    value: "ADDR",
    help: "listen for PostgreSQL clients (off unless set; port 5432)",
    feature: "pg-gateway",
  },
  { key: "token", kind: "text", value: "TOKEN", help: "the shared secret that clients must present" },
  { key: "token_file", kind: "text", value: "FILE", help: "read the token from the first line of a file" },
  {
    key: "allow_open",
    kind: "switch",
    value: "",
    help: "let everybody in on addresses that others can reach",
  },
  {
    key: "tls_cert",
    kind: "text",
    value: "FILE",
    help: "certificate chain (PEM) for HTTPS, and for TLS on the other ports",
    feature: "tls",
  },
  { key: "tls_key", kind: "text", value: "FILE", help: "its private key (PEM)", feature: "tls" },
  {
    key: "tls_required",
    kind: "switch",
    value: "",
    help: "refuse PostgreSQL and binary clients in clear text",
    feature: "tls",
  },
  {
    key: "dev_tls",
    kind: "switch",
    value: "",
    help: "make a certificate for this machine in DATA_DIR/tls and use it",
    feature: "tls",
  },
  { key: "max_conns", kind: "count", value: "N", help: `binary connections (${LIMITS.binaryConnections})` },
  { key: "http_max_conns", kind: "count", value: "N", help: `HTTP connections (${LIMITS.httpConnections})` },
  {
    key: "pg_max_conns",
    kind: "count",
    value: "N",
    help: `PostgreSQL connections (${LIMITS.pgConnections})`,
  },
  {
    key: "http_max_body",
    kind: "bytes",
    value: "SIZE",
    help: `body of an HTTP request (${LIMITS.maximumHttpBodyBytes >> 20}MiB)`,
  },
  {
    key: "max_frame",
    kind: "bytes",
    value: "SIZE",
    help: `frame of the binary protocol (${LIMITS.maximumFrameBytes >> 20}MiB)`,
  },
  { key: "pg_idle_timeout", kind: "seconds", value: "SECONDS", help: "end idle PostgreSQL sessions (off)" },
  {
    key: "block_cache",
    kind: "bytes",
    value: "SIZE",
    help: `memory for blocks of tables (${LIMITS.blockCacheBytes >> 20}MiB)`,
  },
  {
    key: "checkpoint_log",
    kind: "bytes",
    value: "SIZE",
    help: `checkpoint after so much log (${LIMITS.checkpointLogBytes >> 20}MiB)`,
  },
  {
    key: "query_memory",
    kind: "bytes",
    value: "SIZE",
    help: "memory of all statements together for sorts and hash tables (a quarter of the machine's)",
  },
  {
    key: "temp_file_limit",
    kind: "bytes",
    value: "SIZE",
    help: `temporary files of all statements together (${LIMITS.temporaryFileBytes / 2 ** 30}GiB)`,
  },
  {
    key: "default_isolation",
    kind: "text",
    value: "LEVEL",
    help: "read-committed, repeatable-read or serializable, for who asks for none (serializable)",
  },
  {
    key: "external_allow",
    feature: "external-sources",
    kind: "text",
    value: "HOSTS",
    help: "HOST[:PORT],… that external sources may read though they are local (none)",
  },
  {
    key: "external_parquet_page",
    feature: "external-sources-objstore",
    kind: "bytes",
    value: "SIZE",
    help: `page of a Parquet file, decompressed (${LIMITS.parquetPageBytes >> 20}MiB)`,
  },
  {
    key: "check_input",
    kind: "switch",
    value: "",
    help: "let plans assert what they assume of each value (slow; to find bugs)",
  },
  {
    key: "replica",
    kind: "text",
    value: "N",
    help: "run as this member of a cluster, from 0 on; needs --peers",
  },
  {
    key: "peers",
    kind: "text",
    value: "ADDRS",
    help: "ADDR,ADDR,ADDR of all members' LISTEN_ADDR in order of index: 1, 3 or 5",
  },
  {
    key: "peer_ca",
    kind: "text",
    value: "FILE",
    help: "TLS between members: certificates of the authorities that they trust (PEM)",
    feature: "tls",
  },
  {
    key: "peer_cert",
    kind: "text",
    value: "FILE",
    help: "the certificate chain of this member, for the name in --peers",
    feature: "tls",
  },
  { key: "peer_key", kind: "text", value: "FILE", help: "its private key (PEM)", feature: "tls" },
  {
    key: "read_lease",
    kind: "text",
    value: "on|off",
    help: "whether a cluster's primary reads by itself while the others promise to wait (on)",
  },
  {
    key: "scrub_rate",
    kind: "text",
    value: "SIZE|off",
    help: "bytes of its files that a member reads each second to find damage (1MiB)",
  },
  {
    key: "shards",
    kind: "text",
    value: "K",
    help: "keep the rows at 1, 2, 4, 8 or 16 shards, each in its own thread; fixed with DATA_DIR (1)",
  },
  {
    key: "max_parallel_workers",
    kind: "count",
    value: "N",
    help: "0 to 64 threads for parts of large queries (one for each processor, 8 at most)",
  },
  {
    key: "routers",
    kind: "count",
    value: "N",
    help: "1 to 8 threads that have clients' sockets (not HTTP's), beside the sessions' (1: none)",
  },
  {
    key: "drain_timeout",
    kind: "seconds",
    value: "SECONDS",
    help: "how long running statements may finish at a stop (10)",
  },
];
