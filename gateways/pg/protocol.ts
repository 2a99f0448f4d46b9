/**
 * Numbers of the PostgreSQL frontend/backend protocol 3.0, as in "PostgreSQL Documentation, Message Formats".
 * Messages are named by their ASCII letter.
 */
import type { TransactionStatus } from "../../engine/statements/outcome.ts";
import { ENCRYPTION_CODE } from "../shared/beginning.ts";

/** Messages from the client. */
export const FRONTEND = {
  bind: 0x42,
  close: 0x43,
  copyData: 0x64,
  copyDone: 0x63,
  copyFail: 0x66,
  describe: 0x44,
  execute: 0x45,
  flush: 0x48,
  functionCall: 0x46,
  parse: 0x50,
  password: 0x70,
  query: 0x51,
  sync: 0x53,
  terminate: 0x58,
} as const;

/** Messages from the server. */
export const BACKEND = {
  authentication: 0x52,
  backendKeyData: 0x4b,
  bindComplete: 0x32,
  closeComplete: 0x33,
  commandComplete: 0x43,
  copyData: 0x64,
  copyDone: 0x63,
  copyInResponse: 0x47,
  copyOutResponse: 0x48,
  dataRow: 0x44,
  emptyQueryResponse: 0x49,
  errorResponse: 0x45,
  negotiateProtocolVersion: 0x76,
  noData: 0x6e,
  noticeResponse: 0x4e,
  notificationResponse: 0x41,
  parameterDescription: 0x74,
  parameterStatus: 0x53,
  parseComplete: 0x31,
  portalSuspended: 0x73,
  readyForQuery: 0x5a,
  rowDescription: 0x54,
} as const;

/** What ReadyForQuery says of the transaction. */
export const STATUS: Readonly<Record<TransactionStatus, number>> = { idle: 0x49, block: 0x54, failed: 0x45 };

/** Kinds of an Authentication message. */
export const AUTHENTICATION = { ok: 0, sasl: 10, saslContinue: 11, saslFinal: 12 } as const;

/** What the first packet of a connection may be, by its code. */
export const STARTUP_CODE = { cancel: 80877102, ...ENCRYPTION_CODE } as const;

/** The protocol version that is spoken: 3.0. */
export const PROTOCOL_VERSION = 3 << 16;

const known = new Uint8Array(256);
for (const type of Object.values(FRONTEND)) known[type] = 1;

/** Whether a byte is the type of a message that clients send. */
export function isFrontendMessage(type: number): boolean {
  return known[type] === 1;
}
