/**
 * Where a member of a cluster has its clients' sessions: at the primary. A backup passes the bytes of a client on, to
 * the same gateway there. `gateways/relay` implements it; a server of its own has none.
 */
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";
import type { SessionEncryption } from "../../engine/system_catalog/catalog_context.ts";
import type { ByteStream } from "./byte_stream.ts";

/** The gateway that a stream belongs to. */
export type RelayedProtocol = "pg" | "binary" | "http";

/** A client's stream, whose TLS ends at the member that the client is connected to. */
export interface RelayedStream {
  readonly protocol: RelayedProtocol;
  /** null: in clear text. */
  readonly encryption: SessionEncryption | null;
  /** The channel binding `tls-server-end-point` of the certificate that the client saw. */
  readonly endPoint: Uint8Array | null;
}

/** A client that another member passes on. */
export interface RelayedClient {
  readonly stream: RelayedStream;
  /** What it says, and what it is answered. */
  readonly connection: ByteStream;
  /** The member that the client is connected to. */
  readonly member: number;
}

/** What a gateway needs of the cluster. */
export interface RelayPort {
  /** This member, and its address as it knows itself. */
  readonly self: { readonly index: number; readonly address: string };
  /**
   * Where a session is to be opened. Raises 57P03 when no primary is known, and for a stream that was relayed and is
   * not at its aim: it would go in circles.
   */
  route(options: { readonly isRelayed: boolean }): "here" | "primary";
  /** Opens a stream to the primary's gateway. Rejects with 57P03 when it cannot be reached. */
  open(stream: RelayedStream): Promise<ByteStream>;
  /** Takes the streams of a gateway that other members pass on; answers how to stop that. */
  take(protocol: RelayedProtocol, listener: (client: RelayedClient) => void): () => void;
}

/** Where a session reads: at the primary, or at the member that the client is connected to, which may be behind. */
export type ReadFrom = "primary" | "follower";

/** Reads what a client says of {@link ReadFrom}. Raises 22023. */
export function readFromOf(text: string, name: string): ReadFrom {
  const value = text.trim().toLowerCase();
  if (value === "primary" || value === "follower") return value;
  throw new DatabaseError(
    SQLSTATE.invalidParameterValue,
    `invalid value for parameter "${name}": "${text}"`,
    {
      hint: "Available values: primary, follower.",
    },
  );
}

/** The option of a session that reads from there. */
export function sessionReadFrom(readFrom: ReadFrom): { readonly readFrom?: "follower" } {
  return readFrom === "follower" ? { readFrom } : {};
}

/** No primary is known, or it cannot be reached; `why` goes on with that. */
export function noPrimary(why = ""): DatabaseError {
  return new DatabaseError(SQLSTATE.cannotConnectNow, `the cluster has no primary at the moment${why}`, {
    hint:
      "Try again in a second, or ask to read from a follower. Where it lasts, dbcli status says which members are missing.",
  });
}
