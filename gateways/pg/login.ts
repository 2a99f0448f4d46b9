/**
 * The beginning of a connection: requests for encryption and cancellation, the startup packet, the cap, authentication.
 *
 * A client that may not log in gets the error raised, which the connection sends before it closes.
 */
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";
import type { SessionEncryption } from "../../engine/system_catalog/catalog_context.ts";
import type { ConnectionContext } from "./connection_context.ts";
import { PG_LIMITS } from "./limits.ts";
import type { MessageReader } from "./message_reader.ts";
import type { MessageWriter } from "./message_writer.ts";
import { FRONTEND } from "./protocol.ts";
import { SCRAM_MECHANISM, SCRAM_PLUS_MECHANISM, type ScramExchange } from "./scram.ts";
import { readFirstPacket, type StartupRequest } from "./startup.ts";

/** What follows from a message. */
export type LoginStep =
  | { readonly kind: "continue" }
  | { readonly kind: "start_tls" }
  | { readonly kind: "closed" }
  | { readonly kind: "relay"; readonly expectsAnswer: boolean }
  | { readonly kind: "accepted"; readonly request: StartupRequest };

const CONTINUE: LoginStep = { kind: "continue" };
const CLOSED: LoginStep = { kind: "closed" };
const SSL_ACCEPTED = 0x53;
const SSL_DECLINED = 0x4e;

/**
 * The beginning of a connection: requests for encryption and cancellation, the startup packet, the cap,
 * authentication.
 */
export class Login {
  readonly #context: ConnectionContext;
  readonly #input: MessageReader;
  readonly #output: MessageWriter;
  #encryption: SessionEncryption | null = null;
  /** The channel binding of an encrypted connection whose certificate defines one. */
  #endPoint: Uint8Array | null = null;
  #request: StartupRequest | null = null;
  #exchange: ScramExchange | null = null;
  #saslSteps = 0;
  #encryptionRequests = 0;
  #isAdmitted = false;

  constructor(context: ConnectionContext, input: MessageReader, output: MessageWriter) {
    this.#context = context;
    this.#input = input;
    this.#output = output;
  }

  /** The connection comes from another member of the cluster. */
  isRelayed = false;
  /** The socket is elsewhere, and whether it is encrypted was decided there. */
  isNegotiated = false;

  /** The channel binding of the certificate that the client saw. */
  get endPoint(): Uint8Array | null {
    return this.#endPoint;
  }

  /** null: the connection is in clear text. */
  get encryption(): SessionEncryption | null {
    return this.#encryption;
  }

  /** The connection has been encrypted. */
  encrypted(encryption: SessionEncryption, endPoint: Uint8Array | null): void {
    this.#encryption = encryption;
    this.#endPoint = endPoint;
  }

  /** Takes the message at the reader's position. */
  message(): LoginStep {
    return this.#exchange === null ? this.#firstPacket() : this.#authenticate(this.#exchange);
  }

  /** The connection ends and gives up its place. */
  leave(): void {
    if (this.#isAdmitted) this.#context.leave();
    this.#isAdmitted = false;
  }

  #firstPacket(): LoginStep {
    const packet = readFirstPacket(this.#input);
    switch (packet.kind) {
      case "encryption": {
        if (this.#encryption !== null) {
          throw new DatabaseError(
            SQLSTATE.protocolViolation,
            `received a request for ${packet.method.toUpperCase()} encryption on an encrypted connection`,
          );
        }
        if (++this.#encryptionRequests > PG_LIMITS.maximumEncryptionRequests) {
          throw new DatabaseError(SQLSTATE.protocolViolation, "too many encryption requests");
        }
        const isOffered = packet.method === "ssl" && this.#context.offersTls;
        if (isOffered && this.#input.bufferedBytes > 0) {
          throw new DatabaseError(
            SQLSTATE.protocolViolation,
            "received unencrypted data after SSL request",
            { hint: "The client software is faulty, or the connection has been tampered with." },
          );
        }
        const accepted = isOffered && !this.isNegotiated;
        this.#output.writeU8(accepted ? SSL_ACCEPTED : SSL_DECLINED);
        return accepted ? { kind: "start_tls" } : CONTINUE;
      }
      case "cancel": {
        const target = this.#context.engine.sessionById(packet.processId);
        if (target !== undefined && target.secretKey === packet.secretKey) target.cancel();
        else if (this.#isForPrimary()) return { kind: "relay", expectsAnswer: false };
        return CLOSED;
      }
      case "startup":
        return this.#start(packet);
    }
  }

  #start(request: StartupRequest): LoginStep {
    if (this.#context.isDraining) {
      throw new DatabaseError(SQLSTATE.cannotConnectNow, "the database system is shutting down");
    }
    if (this.#context.requiresTls && this.#encryption === null) {
      throw new DatabaseError(
        SQLSTATE.invalidAuthorizationSpecification,
        `no encryption: the server refuses user "${request.user}" in clear text`,
        { hint: "Connect with sslmode=require, or better verify-full." },
      );
    }
    if (request.readFrom === "primary" && this.#isForPrimary()) return { kind: "relay", expectsAnswer: true };
    this.#isAdmitted = this.#context.admit();
    if (!this.#isAdmitted) {
      throw new DatabaseError(SQLSTATE.tooManyConnections, "sorry, too many clients already");
    }
    this.#input.hasTypes = true;
    this.#input.maximumBytes = PG_LIMITS.maximumAuthenticationBytes;
    if (request.unrecognizedOptions !== null) {
      this.#output.writeNegotiateProtocolVersion(request.unrecognizedOptions);
    }
    const { verifier } = this.#context;
    if (verifier === null) return { kind: "accepted", request };
    this.#request = request;
    this.#exchange = verifier.exchange(this.#endPoint);
    this.#output.writeAuthenticationSasl(
      this.#endPoint === null ? [SCRAM_MECHANISM] : [SCRAM_PLUS_MECHANISM, SCRAM_MECHANISM],
    );
    return CONTINUE;
  }

  /** Whether the session is another member's. Raises 57P03 when nobody knows. */
  #isForPrimary(): boolean {
    return this.#context.relay?.route({ isRelayed: this.isRelayed }) === "primary";
  }

  #authenticate(exchange: ScramExchange): LoginStep {
    const input = this.#input, request = this.#request;
    if (input.type === FRONTEND.terminate) return CLOSED;
    if (input.type !== FRONTEND.password || request === null) {
      throw new DatabaseError(
        SQLSTATE.protocolViolation,
        `expected SASL response, got message type ${input.type}`,
      );
    }
    if (this.#saslSteps++ === 0) {
      const mechanism = input.readText();
      if (!exchange.choose(mechanism)) {
        throw new DatabaseError(
          SQLSTATE.protocolViolation,
          "client selected an invalid SASL authentication mechanism",
        );
      }
      const length = input.readI32();
      const data = length === -1 ? new Uint8Array(0) : input.readBytes(length);
      input.expectEnd();
      this.#output.writeAuthenticationData("saslContinue", exchange.first(data));
      return CONTINUE;
    }
    const answer = exchange.final(input.readBytes(input.end - input.start));
    if (answer === null) {
      throw new DatabaseError(
        SQLSTATE.invalidPassword,
        `password authentication failed for user "${request.user}"`,
      );
    }
    this.#output.writeAuthenticationData("saslFinal", answer);
    return { kind: "accepted", request };
  }
}
