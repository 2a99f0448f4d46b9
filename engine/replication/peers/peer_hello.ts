/**
 * The first frames between two members: who they are, whether they fit together, and that both know the token.
 *
 * A frame is u32 length, u8 code, and a body; integers are little-endian. `docs/replication.md` shows one.
 *
 * 1 hello: `DBVR`, u16 newest and u16 oldest version that the sender speaks (`catalog/cluster_version.ts`; not below
 * the active one of its cluster), u8 sender, u8 receiver, u8 members, u8 flags (1 has a token, 2 knows a cluster, 4 has
 * a log, 8 only asks who is there), 16 bytes cluster id, u64 configuration hash, 32 bytes nonce, 16 bytes process.
 * 2 proof: HMAC-SHA-256(token; u8 side, hello of the one that dialed, hello of the other); empty without a token.
 * 3 refusal: u8 reason.
 * 5 secure: `DBVR`; TLS follows at once, and in it the hello.
 *
 * Both hellos are under both proofs, so that neither a nonce nor an index can be exchanged. A later version may put
 * more fields behind these; they are ignored.
 */
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { assert } from "../../base/assert.ts";
import { ByteReader, ByteWriter, encodeUtf8, equalBytes } from "../../base/bytes.ts";
import { corruptedReplication } from "./header_codec.ts";

/** The longest frame of the hello, its length not counted. */
export const MAX_HELLO_BYTES = 1024;
/** Bytes of a nonce. */
export const PEER_NONCE_BYTES = 32;
/** Bytes of a cluster id, and of what names a process. */
export const PEER_ID_BYTES = 16;

/** `DBVR`. */
export const PEER_MAGIC = 0x5256_4244;

/** Codes of frames; 4 is that of a relay. */
const CODES = { hello: 1, proof: 2, refusal: 3, secure: 5 } as const;
const FLAGS = { token: 1, cluster: 2, log: 4, question: 8 } as const;

/** What a member says of itself. */
export interface PeerHello {
  /** The newest that it speaks. */
  readonly version: number;
  /** The oldest that it speaks, and that its cluster allows. */
  readonly oldestVersion: number;
  readonly from: number;
  readonly to: number;
  readonly memberCount: number;
  readonly hasToken: boolean;
  /** null: the directory is empty. */
  readonly clusterId: Uint8Array | null;
  /** The member has been in a view or has an entry: the cluster has begun. */
  readonly hasLog: boolean;
  /** The sender wants the other's hello, and nothing else. */
  readonly isQuestion?: true;
  readonly configurationHash: bigint;
  /** Random for each connection. */
  readonly nonce: Uint8Array;
  /** Random for each start of the program. */
  readonly process: Uint8Array;
}

/** Why a hello is refused, where only one of the two can know. */
export type Refusal = "token" | "index" | "secure" | "certificate" | "order";

const REFUSALS: readonly Refusal[] = ["token", "index", "secure", "certificate", "order"];

/** So many first bytes of a connection tell whether it is another member's. */
export const PEER_HELLO_HEAD_BYTES = 9;

/** What a connection between members that is to be encrypted begins with, in clear text. */
export const SECURE_FRAME: Uint8Array = new Uint8Array([5, 0, 0, 0, CODES.secure, ...encodeUtf8("DBVR")]);

/** Whether a connection is another member's, or still may be where fewer bytes are there. */
export function isPeerHello(first: Uint8Array): boolean {
  return isFrameOf(CODES.hello, first);
}

/** Whether it is one that is to be encrypted, or still may be. */
export function isSecureFrame(first: Uint8Array): boolean {
  return isFrameOf(CODES.secure, first);
}

function isFrameOf(code: number, first: Uint8Array): boolean {
  const head = [code, ...encodeUtf8("DBVR")];
  return head.every((byte, at) => first[at + 4] === undefined || first[at + 4] === byte);
}

/** The version that two members speak to each other. */
export function spokenVersion(one: Pick<PeerHello, "version">, other: Pick<PeerHello, "version">): number {
  return Math.min(one.version, other.version);
}

/** Whether a frame refuses. */
export function isRefusal(frame: Uint8Array): boolean {
  return frame[0] === CODES.refusal;
}

/** The bytes of a hello, its length not included. */
export function encodePeerHello(hello: PeerHello): Uint8Array {
  const writer = new ByteWriter(128);
  writer.writeU8(CODES.hello);
  writer.writeU32(PEER_MAGIC);
  writer.writeU16(hello.version);
  writer.writeU16(hello.oldestVersion);
  writer.writeU8(hello.from);
  writer.writeU8(hello.to);
  writer.writeU8(hello.memberCount);
  writer.writeU8(
    (hello.hasToken ? FLAGS.token : 0) | (hello.clusterId === null ? 0 : FLAGS.cluster) |
      (hello.hasLog ? FLAGS.log : 0) | (hello.isQuestion === true ? FLAGS.question : 0),
  );
  writer.writeBytes(hello.clusterId ?? new Uint8Array(PEER_ID_BYTES));
  writer.writeU64(hello.configurationHash);
  assert(hello.nonce.length === PEER_NONCE_BYTES, "a nonce has 32 bytes");
  writer.writeBytes(hello.nonce);
  assert(hello.process.length === PEER_ID_BYTES, "a process has 16 bytes");
  writer.writeBytes(hello.process);
  return writer.finish();
}

/** Reads a hello; raises XX001 for anything else. */
export function decodePeerHello(bytes: Uint8Array): PeerHello {
  const reader = frame(bytes, CODES.hello, "a member's hello");
  if (reader.readU32() !== PEER_MAGIC) throw corruptedReplication("this is no member of a cluster");
  const version = reader.readU16();
  const oldestVersion = reader.readU16();
  const from = reader.readU8();
  const to = reader.readU8();
  const memberCount = reader.readU8();
  const flags = reader.readU8();
  const clusterId = reader.readBytes(PEER_ID_BYTES).slice();
  return {
    version,
    oldestVersion,
    from,
    to,
    memberCount,
    hasToken: (flags & FLAGS.token) !== 0,
    clusterId: (flags & FLAGS.cluster) === 0 ? null : clusterId,
    hasLog: (flags & FLAGS.log) !== 0,
    ...((flags & FLAGS.question) === 0 ? {} : { isQuestion: true as const }),
    configurationHash: reader.readU64(),
    nonce: reader.readBytes(PEER_NONCE_BYTES).slice(),
    process: reader.readBytes(PEER_ID_BYTES).slice(),
  };
}

/** The bytes of a proof. */
export function encodeProof(proof: Uint8Array): Uint8Array {
  return new Uint8Array([CODES.proof, ...proof]);
}

/** The bytes of a refusal. */
export function encodeRefusal(refusal: Refusal): Uint8Array {
  return new Uint8Array([CODES.refusal, REFUSALS.indexOf(refusal) + 1]);
}

/** Reads a proof or a refusal in its place; raises XX001. */
export function decodeProof(bytes: Uint8Array): Uint8Array | Refusal {
  if (!isRefusal(bytes)) {
    frame(bytes, CODES.proof, "a member's proof");
    return bytes.slice(1);
  }
  const refusal = REFUSALS[(bytes[1] ?? 0) - 1];
  if (refusal === undefined) throw corruptedReplication("a refusal of an unknown kind");
  return refusal;
}

/** Which of the two a proof is of. */
export type PeerSide = "dialer" | "acceptor";

/** What one side proves itself with, over the bytes of both hellos; empty without a token. */
export function proofOf(
  side: PeerSide,
  token: string | null,
  hellos: Readonly<Record<PeerSide, Uint8Array>>,
): Uint8Array {
  if (token === null) return new Uint8Array(0);
  return keyedHash(token, new Uint8Array([side === "dialer" ? 1 : 2]), hellos.dialer, hellos.acceptor);
}

/** HMAC-SHA-256 of the pieces under the token. */
export function keyedHash(token: string, ...pieces: readonly Uint8Array[]): Uint8Array {
  const hash = hmac.create(sha256, encodeUtf8(token));
  for (const piece of pieces) hash.update(piece);
  return hash.digest();
}

/** Compares two proofs in a time that does not depend on where they differ. */
export function sameProof(left: Uint8Array, right: Uint8Array): boolean {
  let difference = left.length ^ right.length;
  for (let at = 0; at < left.length; at++) difference |= (left[at] ?? 0) ^ (right[at] ?? 0);
  return difference === 0;
}

/**
 * What is wrong between two hellos before the proofs, as one line for the member that said `own`; null: nothing.
 * `place`: where the other is.
 */
export function misfitBeforeProof(own: PeerHello, other: PeerHello, place: string): string | null {
  const member = `member ${other.from} at ${place}`;
  if (spokenVersion(own, other) < Math.max(own.oldestVersion, other.oldestVersion)) {
    return `${member} speaks version ${other.version} of the cluster's protocol, this one version ${own.version}: ` +
      `upgrade ${own.version < other.version ? "this member" : "that one"} first`;
  }
  if (own.hasToken === other.hasToken) return null;
  return `${member} has ${other.hasToken ? "a" : "no"} token, this one has ${
    own.hasToken ? "one" : "none"
  }: ` +
    "give all members the same --token-file";
}

/** What is wrong between two members that know the token, as one line for the one that said `own`; null: nothing. */
export function misfitOf(
  own: PeerHello,
  other: PeerHello,
  { place, expected }: { readonly place: string; readonly expected: number },
): string | null {
  const member = `member ${other.from} at ${place}`;
  if (other.memberCount !== own.memberCount) {
    return `${member} counts ${other.memberCount} members, this one ${own.memberCount}: ` +
      "give all the same number of --peers";
  }
  if (other.from === own.from) {
    return `the member at ${place} says that it is member ${own.from}, as this one does: check --replica of both`;
  }
  if (other.from !== expected) return otherIndex(place, other.from, expected);
  if (other.to !== own.from) {
    return `${member} takes this one for member ${other.to}, but it is member ${own.from}: ` +
      "check --replica here and the order of --peers there";
  }
  if (other.clusterId !== null && own.clusterId !== null && !equalBytes(other.clusterId, own.clusterId)) {
    return `${member} belongs to cluster ${other.clusterId.toHex()}, this one to ${own.clusterId.toHex()}: ` +
      "check the data directories";
  }
  if (other.configurationHash !== own.configurationHash) {
    return `${member} has another --checkpoint-log or --shards: settings that shape files must be the same at all members`;
  }
  return null;
}

/** What is wrong where another member is found than the one that is expected. */
export function otherIndex(place: string, found: number, expected: number): string {
  return `the member at ${place} says that it is member ${found}, not ${expected}: ` +
    "check its --replica and the order of --peers";
}

function frame(bytes: Uint8Array, code: number, what: string): ByteReader {
  if (bytes[0] !== code) throw corruptedReplication(`${what} was expected`);
  return new ByteReader(bytes, 1);
}
