/** Limits of the operation protocol and HTTP that no other layer shares; those of PostgreSQL's are in its gateway. */
import { assert } from "../../engine/base/assert.ts";
import { LIMITS } from "../../engine/base/limits.ts";

/** The limits, with their units in their names. */
export const GATEWAY_LIMITS = {
  /** Requests of one connection that wait behind the one being answered. */
  maximumWaitingRequests: 10_000,
  /** The same in bytes. */
  maximumWaitingBytes: 64 << 20,
  /** Row operations of one `txn` request. */
  maximumTransactionOperations: 1_000_000,
  /** Nesting of a type in a message. */
  maximumTypeDepth: 8,
  /** Texts of one connection whose parsed statements are kept. */
  keptStatements: 200,

  /** A frame of the binary protocol's handshake. */
  maximumHandshakeBytes: 1024,
  /** The name that a client gives itself in it. */
  maximumClientNameBytes: 256,

  /** The head of an HTTP request. */
  maximumHttpHeadBytes: 16 * 1024,
  /** Input without a whole request in it, after which the connection ends; empty lines between requests count too. */
  maximumUnfinishedHeadBytes: 256 * 1024,
  /** How long the head of a request may take to arrive. */
  httpHeadMilliseconds: 30_000,
  /** How long a whole request may take to arrive. */
  httpRequestMilliseconds: 300_000,
  /** How long an HTTP connection without a request is kept. */
  httpKeepAliveMilliseconds: 75_000,
  /** Connections beyond a listener's cap that may be in their handshake, to be refused over TLS. */
  extraHandshakes: 64,

  /** After the last message on a connection: how long the client may be silent, and go on sending, and how much. */
  farewell: { silenceMilliseconds: 2_000, totalMilliseconds: 20_000, bytes: 64 << 20 },
} as const;

assert(
  GATEWAY_LIMITS.maximumClientNameBytes < GATEWAY_LIMITS.maximumHandshakeBytes,
  "a name fits the frame that carries it",
);
assert(
  GATEWAY_LIMITS.maximumWaitingBytes >= LIMITS.maximumFrameBytes,
  "a request of the largest size may wait",
);
