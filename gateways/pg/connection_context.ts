/** What the connections of a listener have in common. */
import type { EnginePort } from "../shared/engine_port.ts";
import type { RelayPort } from "../shared/relay_port.ts";
import type { ScramVerifier } from "./scram.ts";

/** What all connections of a listener share. */
export interface ConnectionContext {
  readonly engine: EnginePort;
  /** null: no authentication. */
  readonly verifier: ScramVerifier | null;
  /** true: SSLRequest is accepted, and the owner of the socket starts TLS when `Connection.wantsTls` is set. */
  readonly offersTls: boolean;
  /** true: sessions in clear text are refused. */
  readonly requiresTls: boolean;
  /** null: a server of its own, whose sessions are all here. */
  readonly relay: RelayPort | null;
  /** Version of the product as clients are sent it, if any. */
  readonly version: string | null;
  /** Counts a session in; false: there are too many. */
  admit(): boolean;
  /** Counts it out. */
  leave(): void;
  /** true: the server is going down; sessions end as soon as they are idle. */
  readonly isDraining: boolean;
  /** Told of errors that are bugs of this program; the client gets XX000. */
  onInternalError(error: unknown): void;
}
