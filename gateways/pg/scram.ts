/**
 * SCRAM-SHA-256 and, on encrypted connections, SCRAM-SHA-256-PLUS (RFC 5802, RFC 7677), the server's side. The token is
 * the password of every user. The channel binding is `tls-server-end-point` (RFC 5929).
 *
 * The salted password is derived once, with a salt of its own for the process; a login costs a handful of hashes.
 * Secrets are compared in constant time.
 */
import { hmac } from "@noble/hashes/hmac.js";
import { pbkdf2 } from "@noble/hashes/pbkdf2.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { decodeUtf8Strict, encodeUtf8 } from "../../engine/base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";
import { PG_LIMITS } from "./limits.ts";

/** The mechanism that is always offered. */
export const SCRAM_MECHANISM = "SCRAM-SHA-256";
/** The mechanism with channel binding, offered where there is a channel to bind to. */
export const SCRAM_PLUS_MECHANISM = "SCRAM-SHA-256-PLUS";
const CHANNEL_BINDING = "tls-server-end-point";
const ITERATIONS = 4096;
const SALT_BYTES = 16;
const NONCE_BYTES = 18;
const PROOF_BYTES = 32;

/** What the server keeps of the password. */
export class ScramVerifier {
  readonly salt: string;
  readonly iterations = ITERATIONS;
  readonly storedKey: Uint8Array;
  readonly serverKey: Uint8Array;
  readonly #randomBytes: (count: number) => Uint8Array;

  /** Derives the keys; takes some milliseconds. */
  constructor(token: string, randomBytes: (count: number) => Uint8Array) {
    const salt = randomBytes(SALT_BYTES);
    const salted = pbkdf2(sha256, encodeUtf8(prepareText(token)), salt, { c: ITERATIONS, dkLen: 32 });
    this.salt = encodeBase64(salt);
    this.storedKey = sha256(hmac(sha256, salted, encodeUtf8("Client Key")));
    this.serverKey = hmac(sha256, salted, encodeUtf8("Server Key"));
    this.#randomBytes = randomBytes;
  }

  /** Starts one login, on a connection with or without channel binding. */
  exchange(endPoint: Uint8Array | null = null): ScramExchange {
    return new ScramExchange(this, encodeBase64(this.#randomBytes(NONCE_BYTES)), endPoint);
  }
}

/** One login. */
export class ScramExchange {
  readonly #verifier: ScramVerifier;
  readonly #serverNonce: string;
  readonly #endPoint: Uint8Array | null;
  #isBound = false;
  #header = "";
  #clientFirstBare = "";
  #serverFirst = "";
  #nonce = "";

  constructor(verifier: ScramVerifier, serverNonce: string, endPoint: Uint8Array | null = null) {
    this.#verifier = verifier;
    this.#serverNonce = serverNonce;
    this.#endPoint = endPoint;
  }

  /** The client chooses a mechanism; false: it was not offered. */
  choose(mechanism: string): boolean {
    this.#isBound = mechanism === SCRAM_PLUS_MECHANISM && this.#endPoint !== null;
    return this.#isBound || mechanism === SCRAM_MECHANISM;
  }

  /** Takes the client's first message and answers the server's. Raises 08P01 when it is malformed. */
  first(message: Uint8Array): string {
    const text = decode(message);
    const match = /^(([ny]|p=[^,]*),([^,]*),)((?:m=[^,]*,)?n=[^,]*,r=([^,]*)(?:,.*)?)$/s.exec(text);
    if (match === null) throw malformed("The message does not start as the mechanism says.");
    const [, header = "", binding = "", authorization = "", bare = "", clientNonce = ""] = match;
    this.#checkBinding(binding);
    if (authorization !== "") {
      throw new DatabaseError(
        SQLSTATE.featureNotSupported,
        "client uses authorization identity, but it is not supported",
      );
    }
    if (bare.startsWith("m=")) {
      throw new DatabaseError(SQLSTATE.featureNotSupported, "client requires an unsupported SCRAM extension");
    }
    if (!/^[\x21-\x2b\x2d-\x7e]+$/.test(clientNonce) || clientNonce.length > PG_LIMITS.maximumNonceLength) {
      throw malformed("The nonce is not made of printable characters.");
    }
    this.#header = header;
    this.#clientFirstBare = bare;
    this.#nonce = clientNonce + this.#serverNonce;
    this.#serverFirst = `r=${this.#nonce},s=${this.#verifier.salt},i=${this.#verifier.iterations}`;
    return this.#serverFirst;
  }

  /** What the client says of channel binding must fit the mechanism, and what was offered. */
  #checkBinding(flag: string): void {
    if (this.#isBound) {
      if (flag === `p=${CHANNEL_BINDING}`) return;
      if (flag.startsWith("p=")) {
        throw new DatabaseError(
          SQLSTATE.protocolViolation,
          `unsupported SCRAM channel-binding type "${flag.slice(2)}"`,
        );
      }
      throw malformed("The client selected SCRAM-SHA-256-PLUS, but its message has no channel binding data.");
    }
    if (flag.startsWith("p")) {
      throw malformed("The client chose channel binding, which the mechanism does not have.");
    }
    // The client could have bound and believes that the server cannot: the offer was removed on its way.
    if (flag === "y" && this.#endPoint !== null) {
      throw new DatabaseError(
        SQLSTATE.invalidAuthorizationSpecification,
        "SCRAM channel binding negotiation error",
        {
          detail:
            "The client supports SCRAM channel binding but thinks the server does not. However, this server does support channel binding.",
        },
      );
    }
  }

  #isBindingOf(text: string): boolean {
    const header = encodeUtf8(this.#header);
    const bound = this.#isBound && this.#endPoint !== null ? this.#endPoint : new Uint8Array(0);
    const expected = new Uint8Array(header.length + bound.length);
    expected.set(header);
    expected.set(bound, header.length);
    return text === encodeBase64(expected);
  }

  /**
   * Takes the client's final message. Answers the server's, or null when the password was wrong. Raises 08P01 when the
   * message is malformed.
   */
  final(message: Uint8Array): string | null {
    const text = decode(message);
    const match = /^(c=([^,]*),r=([^,]*)(?:,[^p].*)?),p=([^,]*)$/s.exec(text);
    if (match === null) throw malformed("The final message does not have the mechanism's form.");
    const [, withoutProof = "", binding = "", nonce = "", proofText = ""] = match;
    if (!this.#isBindingOf(binding)) {
      throw new DatabaseError(
        this.#isBound ? SQLSTATE.invalidAuthorizationSpecification : SQLSTATE.protocolViolation,
        this.#isBound ? "SCRAM channel binding check failed" : "malformed SCRAM message",
        { detail: "The channel binding does not match the connection or the first message." },
      );
    }
    if (nonce !== this.#nonce) throw malformed("The nonce does not match.");
    const proof = decodeBase64(proofText);
    if (proof === undefined || proof.length !== PROOF_BYTES) throw malformed("The proof is not one.");
    const { storedKey, serverKey } = this.#verifier;
    const authMessage = encodeUtf8(`${this.#clientFirstBare},${this.#serverFirst},${withoutProof}`);
    const signature = hmac(sha256, storedKey, authMessage);
    const clientKey = proof.map((byte, index) => byte ^ (signature[index] as number));
    if (!equalInConstantTime(sha256(clientKey), storedKey)) return null;
    return `v=${encodeBase64(hmac(sha256, serverKey, authMessage))}`;
  }
}

/** Compares secrets in a time that depends on their length only. */
export function equalInConstantTime(left: Uint8Array, right: Uint8Array): boolean {
  let difference = left.length ^ right.length;
  for (let i = 0; i < left.length; i++) difference |= (left[i] as number) ^ (right[i] ?? 0);
  return difference === 0;
}

/** SASLprep (RFC 4013) as far as it changes texts: other spaces, characters mapped to nothing, normal form KC. */
export function prepareText(text: string): string {
  return text
    .replace(/[\u00A0\u1680\u2000-\u200B\u202F\u205F\u3000]/g, " ")
    .replace(/\u00AD|\u034F|\u1806|[\u180B-\u180D]|[\u200C-\u200D]|\u2060|[\uFE00-\uFE0F]|\uFEFF/g, "")
    .normalize("NFKC");
}

function decode(message: Uint8Array): string {
  const text = decodeUtf8Strict(message);
  if (text === undefined || text.includes("\0")) throw malformed("The message is not a text.");
  return text;
}

function encodeBase64(bytes: Uint8Array): string {
  return bytes.toBase64();
}

function decodeBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.fromBase64(text);
  } catch {
    return undefined;
  }
}

function malformed(detail: string): DatabaseError {
  return new DatabaseError(SQLSTATE.protocolViolation, "malformed SCRAM message", { detail });
}
