/**
 * What a backup says of itself at the primary's member port before it passes clients on, and what it says of each.
 *
 * The first frame: u32 length, u8 4, `DBVR`, u16 version that the two members speak, u8 sender, u8 receiver, and the
 * proof that the sender knows the token: HMAC-SHA-256(token; the receiver's process, all before). The process is what
 * the receiver's hello to its peer named it, so that the frame is of no use at another member or after a restart; the
 * login of a client is between it and the primary. What follows is `gateways/relay/relay_link.ts`.
 *
 * A client's stream: u8 protocol (1 PostgreSQL, 2 binary, 3 HTTP), u16 bits of its encryption (0: clear text), text TLS
 * version, text cipher, sized bytes of the channel binding. Integers are little-endian.
 */
import { ByteReader, ByteWriter, encodeUtf8 } from "../../engine/base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";
import type { VersionRange } from "../../engine/catalog/cluster_version.ts";
import { keyedHash, PEER_MAGIC, sameProof } from "../../engine/replication/peers/peer_hello.ts";
import type { RelayedProtocol, RelayedStream } from "./relay_port.ts";

/** The code of the frame; those of members among themselves are 1 to 3. */
export const RELAY_CODE = 4;
/** The longest such frame, its length not counted. */
export const MAX_RELAY_HELLO_BYTES = 128;

const PROTOCOLS: readonly RelayedProtocol[] = ["pg", "binary", "http"];
const PROOF_BYTES = 32;

/** Whether a connection begins with such a frame: not, perhaps or in part, or with all of it. */
export function relayHelloState(first: Uint8Array): "none" | "partial" | "whole" {
  const head = [RELAY_CODE, ...encodeUtf8("DBVR")];
  if (!head.every((byte, at) => first[at + 4] === undefined || first[at + 4] === byte)) return "none";
  if (first.length < 4 + head.length) return "partial";
  const length = new DataView(first.buffer, first.byteOffset).getUint32(0, true);
  if (length > MAX_RELAY_HELLO_BYTES) return "none";
  return first.length < 4 + length ? "partial" : "whole";
}

/** Between which members clients are relayed. */
export interface RelayEnds {
  readonly from: number;
  readonly to: number;
  /** The process of the receiver. */
  readonly process: Uint8Array;
  readonly token: string | null;
}

/** The frame, its length in front. */
export function encodeRelayHello({ from, to, process, token }: RelayEnds, version: number): Uint8Array {
  const writer = new ByteWriter(64);
  writer.writeU32(0);
  writer.writeU8(RELAY_CODE);
  writer.writeU32(PEER_MAGIC);
  writer.writeU16(version);
  writer.writeU8(from);
  writer.writeU8(to);
  writer.patchU32(0, writer.length - 4 + (token === null ? 0 : PROOF_BYTES));
  if (token !== null) writer.writeBytes(keyedHash(token, process, writer.view()));
  return writer.finish();
}

/** Who sends a frame, and what came after it. */
export interface DecodedRelayHello {
  readonly from: number;
  readonly rest: Uint8Array;
}

/** Reads a frame with its length in front, and what follows it. Raises 08P01, or 28P01 when the proof is not right. */
export function decodeRelayHello(
  bytes: Uint8Array,
  { to, process, token }: Omit<RelayEnds, "from">,
  versions: VersionRange,
): DecodedRelayHello {
  const end = 4 + new ByteReader(bytes).readU32();
  const reader = new ByteReader(bytes, 4, end);
  if (reader.readU8() !== RELAY_CODE || reader.readU32() !== PEER_MAGIC) throw refused("it is none");
  const version = reader.readU16();
  if (version > versions.newest || version < versions.oldest) throw refused(`version ${version}`);
  const from = reader.readU8();
  const receiver = reader.readU8();
  const proof = reader.readBytes(token === null ? 0 : PROOF_BYTES);
  reader.expectEnd();
  if (receiver !== to) {
    throw refused(
      `member ${from} sends it to member ${receiver}, and this is member ${to}: check the order of --peers there`,
    );
  }
  const signed = bytes.subarray(0, end - proof.length);
  if (token !== null && !sameProof(proof, keyedHash(token, process, signed))) {
    throw new DatabaseError(
      SQLSTATE.invalidPassword,
      "relayed clients come from no member of this cluster",
    );
  }
  return { from, rest: bytes.subarray(end) };
}

/** Writes what the primary hears of a client. */
export function encodeRelayedStream({ protocol, encryption, endPoint }: RelayedStream): Uint8Array {
  const writer = new ByteWriter(64);
  writer.writeU8(PROTOCOLS.indexOf(protocol) + 1);
  writer.writeU16(encryption?.bits ?? 0);
  writer.writeText(encryption?.version ?? "");
  writer.writeText(encryption?.cipher ?? "");
  writer.writeSizedBytes(endPoint ?? new Uint8Array(0));
  return writer.finish();
}

/** Reads what {@link encodeRelayedStream} has written. Raises 08P01. */
export function decodeRelayedStream(bytes: Uint8Array): RelayedStream {
  const reader = new ByteReader(bytes);
  const protocol = PROTOCOLS[reader.readU8() - 1];
  const bits = reader.readU16();
  const encryption = { version: reader.readText(), cipher: reader.readText(), bits };
  const endPoint = reader.readSizedBytes().slice();
  reader.expectEnd();
  if (protocol === undefined) throw refused("its protocol is unknown");
  return {
    protocol,
    encryption: bits === 0 ? null : encryption,
    endPoint: endPoint.length === 0 ? null : endPoint,
  };
}

function refused(why: string): DatabaseError {
  return new DatabaseError(SQLSTATE.protocolViolation, `Cannot take a relayed client: ${why}`);
}
