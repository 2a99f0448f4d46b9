/** How the connections of a protocol begin, as far as encryption goes. */
import type { RelayedProtocol } from "./relay_port.ts";

/** How a protocol begins. */
export interface Beginning {
  /** The application protocol of TLS (ALPN), as registered where it is. */
  readonly application: string;
  /** A client that shakes hands without a request before it must name the protocol. */
  readonly requiresProtocol: boolean;
  /** It may ask for encryption in clear text first, by the codes of {@link ENCRYPTION_CODE}. */
  readonly hasRequests: boolean;
  /** How long a client may take for what comes before its session. */
  readonly milliseconds: number;
}

/** By protocol; HTTP over TLS has a port of its own. */
export const BEGINNING: Readonly<Record<Exclude<RelayedProtocol, "http">, Beginning>> = {
  pg: { application: "postgresql", requiresProtocol: true, hasRequests: true, milliseconds: 60_000 },
  binary: { application: "db-op-v1", requiresProtocol: false, hasRequests: false, milliseconds: 10_000 },
};

/** The codes of PostgreSQL's requests for encryption: packets of two u32, the first of which is their length. */
export const ENCRYPTION_CODE = { ssl: 80877103, gssEncryption: 80877104 } as const;

/** The bytes of such a request. */
export const ENCRYPTION_REQUEST_BYTES = 8;
