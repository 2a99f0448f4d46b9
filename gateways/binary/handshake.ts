/**
 * The first frames of a connection: hello both ways and, when the server has a token, challenge and response.
 *
 * | from | bytes |
 * |---|---|
 * | client hello | 01, `DBOP`, u16 version, 32 bytes client nonce, text client name, perhaps u8 1: read from a follower |
 * | server hello | 02, u16 version, u8 authentication (0 none, 1 HMAC-SHA-256), 32 bytes server nonce, text server version |
 * | client proof | 03, HMAC-SHA-256(token, server nonce ‖ client nonce) |
 * | welcome | 04, u32 session, u8 1 and HMAC-SHA-256(token, client nonce ‖ server nonce), or u8 0 without a token; of a
 * cluster: u8 member that the client is connected to, u8 primary, text address of the primary |
 *
 * The token never crosses the wire, and the nonces make each proof good for one connection only; the welcome proves
 * the server to the client in the same way. Any other answer of the server is an error message (see
 * `docs/protocols.md`).
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { ByteReader, ByteWriter } from "../../engine/base/bytes.ts";
import { GATEWAY_LIMITS } from "../shared/limits.ts";
import type { ReadFrom } from "../shared/relay_port.ts";
import { decoding, undecodable } from "../shared/operation/undecodable.ts";

/** Bytes of each nonce. */
export const NONCE_BYTES = 32;
const PROOF_BYTES = 32;
const MAGIC = 0x504f_4244;
const READ_FROM_FOLLOWER = 1;

const CODES = { clientHello: 1, serverHello: 2, clientProof: 3, welcome: 4 } as const;

/** The client's first frame. */
export interface ClientHello {
  readonly version: number;
  readonly nonce: Uint8Array;
  /** Names the program, for people who look at connections. */
  readonly name: string;
  /** Where the session reads, when the server is a member of a cluster. */
  readonly readFrom: ReadFrom;
}

/** The server's first frame. */
export interface ServerHello {
  readonly version: number;
  readonly authentication: "none" | "hmac-sha-256";
  readonly nonce: Uint8Array;
  /** Version of the server program. */
  readonly serverVersion: string;
}

/** Where a session is that a member of a cluster serves. */
export interface ToldPrimary {
  /** The member that the client is connected to. */
  readonly member: number;
  /** The member that has the session. */
  readonly primary: number;
  /** Where that one is, as it knows itself. */
  readonly address: string;
}

/** The server's last frame of the handshake. */
export interface Welcome {
  readonly session: number;
  readonly proof: Uint8Array | null;
  /** null: no session of a cluster's primary. */
  readonly cluster: ToldPrimary | null;
}

export function encodeClientHello(hello: ClientHello): Uint8Array {
  const writer = new ByteWriter(64);
  writer.writeU8(CODES.clientHello);
  writer.writeU32(MAGIC);
  writer.writeU16(hello.version);
  writer.writeBytes(hello.nonce);
  writer.writeText(hello.name.slice(0, GATEWAY_LIMITS.maximumClientNameBytes / 4));
  // Servers before there were clusters know no such field.
  if (hello.readFrom === "follower") writer.writeU8(READ_FROM_FOLLOWER);
  return writer.finish();
}

export function decodeClientHello(bytes: Uint8Array): ClientHello {
  return decoding(() => {
    const reader = frame(bytes, CODES.clientHello, "a client's hello");
    if (reader.readU32() !== MAGIC) throw undecodable("this is not a client of the binary protocol");
    const version = reader.readU16();
    const nonce = reader.readBytes(NONCE_BYTES).slice();
    const name = reader.readText();
    const readFrom = reader.remaining > 0 ? reader.readU8() : 0;
    if (readFrom > READ_FROM_FOLLOWER) throw undecodable(`a session cannot read from ${readFrom}`);
    reader.expectEnd();
    return { version, nonce, name, readFrom: readFrom === READ_FROM_FOLLOWER ? "follower" : "primary" };
  });
}

export function encodeServerHello(hello: ServerHello): Uint8Array {
  const writer = new ByteWriter(64);
  writer.writeU8(CODES.serverHello);
  writer.writeU16(hello.version);
  writer.writeU8(hello.authentication === "none" ? 0 : 1);
  writer.writeBytes(hello.nonce);
  writer.writeText(hello.serverVersion);
  return writer.finish();
}

export function decodeServerHello(bytes: Uint8Array): ServerHello {
  return decoding(() => {
    const reader = frame(bytes, CODES.serverHello, "a server's hello");
    const version = reader.readU16();
    const authentication = reader.readU8();
    if (authentication > 1) throw undecodable(`unknown authentication ${authentication}`);
    const nonce = reader.readBytes(NONCE_BYTES).slice();
    const serverVersion = reader.readText();
    return { version, authentication: authentication === 0 ? "none" : "hmac-sha-256", nonce, serverVersion };
  });
}

export function encodeClientProof(proof: Uint8Array): Uint8Array {
  const writer = new ByteWriter(33);
  writer.writeU8(CODES.clientProof);
  writer.writeBytes(proof);
  return writer.finish();
}

export function decodeClientProof(bytes: Uint8Array): Uint8Array {
  return decoding(() => {
    const reader = frame(bytes, CODES.clientProof, "a client's proof");
    const proof = reader.readBytes(PROOF_BYTES).slice();
    reader.expectEnd();
    return proof;
  });
}

export function encodeWelcome(welcome: Welcome): Uint8Array {
  const writer = new ByteWriter(38);
  writer.writeU8(CODES.welcome);
  writer.writeU32(welcome.session);
  writer.writeU8(welcome.proof === null ? 0 : 1);
  if (welcome.proof !== null) writer.writeBytes(welcome.proof);
  // Clients of before there were clusters read no further.
  if (welcome.cluster !== null) {
    const { member, primary, address } = welcome.cluster;
    writer.writeU8(member);
    writer.writeU8(primary);
    writer.writeText(address);
  }
  return writer.finish();
}

export function decodeWelcome(bytes: Uint8Array): Welcome {
  return decoding(() => {
    const reader = frame(bytes, CODES.welcome, "a welcome");
    const session = reader.readU32();
    const proof = reader.readU8() === 1 ? reader.readBytes(PROOF_BYTES).slice() : null;
    const cluster = reader.remaining === 0
      ? null
      : { member: reader.readU8(), primary: reader.readU8(), address: reader.readText() };
    return { session, proof, cluster };
  });
}

/** What the client sends to prove that it knows the token. */
export function clientProof(token: string, nonces: Nonces): Uint8Array {
  return hmac(token, nonces.server, nonces.client);
}

/** What the server sends to prove the same. */
export function serverProof(token: string, nonces: Nonces): Uint8Array {
  return hmac(token, nonces.client, nonces.server);
}

/** The nonces of both sides. */
export interface Nonces {
  readonly client: Uint8Array;
  readonly server: Uint8Array;
}

/** Compares two proofs in a time that does not depend on where they differ. */
export function sameProof(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}

function hmac(token: string, first: Uint8Array, second: Uint8Array): Uint8Array {
  return new Uint8Array(createHmac("sha256", token).update(first).update(second).digest());
}

function frame(bytes: Uint8Array, code: number, what: string): ByteReader {
  const reader = new ByteReader(bytes);
  if (reader.readU8() !== code) throw undecodable(`${what} was expected`);
  return reader;
}
