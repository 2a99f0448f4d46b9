/** Limits of the PostgreSQL gateway that no other part of the database shares. */
import { assert } from "../../engine/base/assert.ts";
import { LIMITS } from "../../engine/base/limits.ts";
import { BEGINNING } from "../shared/beginning.ts";

/** Limits of the PostgreSQL gateway that no other part of the database shares. */
export const PG_LIMITS = {
  /** A startup packet, as in PostgreSQL. */
  maximumStartupBytes: 10_000,
  /** A message before the client has authenticated. */
  maximumAuthenticationBytes: 65_535,
  /** A message afterwards. */
  maximumMessageBytes: LIMITS.maximumFrameBytes,
  /** SSLRequest and GSSENCRequest packets of one connection. */
  maximumEncryptionRequests: 2,
  /** How long a client may take from connecting to the end of authentication. */
  authenticationMilliseconds: BEGINNING.pg.milliseconds,
  /** Unsent output beyond which a connection's statements wait. */
  outputBacklogBytes: 1 << 20,
  /** Unprocessed input beyond which a connection is not read from. */
  inputBacklogBytes: 256 * 1024,
  /** Connections beyond the cap that may be in their startup, for refusals and CancelRequests. */
  extraStartingConnections: 64,
  /** How long a closed connection may take to collect its last bytes. */
  lingerMilliseconds: 2_000,
  /** The same for the clients of a listener that closes. */
  closeMilliseconds: 100,
  /** Connections accepted before others get a turn. */
  acceptsPerTurn: 8,
  /** Messages of one read before the time of its turn begins to run. */
  messagesUntimed: 4,
  /** Data of COPY comes in a message for each row: the clock takes as long as reading a row. */
  dataMessagesUntimed: 64,
  /** How long a connection processes what it has received before others get a turn. */
  turnMilliseconds: 5,
  /** The same for one that sends without pause, in reads of {@link PG_LIMITS.bulkReadBytes} and more. */
  bulkTurnMilliseconds: 1,
  /** A read of so many bytes is taken for a part of bulk data. */
  bulkReadBytes: 4096,
  /** One read from a socket whose client sends little. */
  firstReadBytes: 4096,
  /** One read after such a one was full. */
  readBytes: 65_536,
  /** Buffers of this size that are kept for connections to come. */
  keptReadBuffers: 64,
  /** Unnamed statements kept by text, per connection. */
  unnamedStatements: 64,
  /** UTF-16 units of such a text; longer ones are prepared anew. */
  maximumUnnamedLength: 4096,
  /** Characters of the nonce that a client sends to log in. */
  maximumNonceLength: 1024,
} as const;

assert(
  PG_LIMITS.maximumStartupBytes <= PG_LIMITS.maximumAuthenticationBytes,
  "a client may say more after its startup packet than in it",
);
assert(
  PG_LIMITS.bulkReadBytes <= PG_LIMITS.firstReadBytes && PG_LIMITS.firstReadBytes < PG_LIMITS.readBytes,
  "bulk data is noticed by the first read, and read in larger pieces afterwards",
);
