/**
 * Writes protocol messages into a connection's output: type, a length that is filled in at the end, fields.
 */
import type { DatabaseError } from "../../engine/base/errors.ts";
import type { Notice, TransactionStatus } from "../../engine/statements/outcome.ts";
import type { ResultColumn } from "../../engine/sql/plan/plan.ts";
import type { SqlType } from "../../engine/types/sql_type.ts";
import { typeLength, typeModifier, typeOid } from "../../engine/types/type_names.ts";
import { OutputBuffer } from "../shared/output_buffer.ts";
import { formatCode, type ResultFormats } from "./parameters.ts";
import { AUTHENTICATION, BACKEND, PROTOCOL_VERSION, STATUS } from "./protocol.ts";

/** A RowDescription with all columns in text format, and where the last byte of each one's format code is. */
interface EncodedDescription {
  readonly bytes: Uint8Array;
  readonly formatsAt: Uint32Array;
}

/** Those of plans that were used before. */
const descriptions = new WeakMap<readonly ResultColumn[], EncodedDescription>();

/** Writes protocol messages into a connection's output: type, a length that is filled in at the end, fields. */
export class MessageWriter extends OutputBuffer {
  /** Absolute position of the message that is being written; -1 between messages. */
  #messageAt = -1;

  /** Begins a message. */
  beginMessage(type: number): void {
    this.#messageAt = this.position;
    this.reserve(16);
    this.writeU8(type);
    this.writeI32(0);
  }

  /** Ends it. */
  endMessage(): void {
    this.patchI32(this.#messageAt + 1, this.position - this.#messageAt - 1);
    this.#messageAt = -1;
  }

  /** Takes back a message that was begun and cannot be ended. */
  abandonMessage(): void {
    if (this.#messageAt >= 0) this.truncate(this.#messageAt);
    this.#messageAt = -1;
  }

  /** A message without fields. */
  writeEmptyMessage(type: number): void {
    this.writeU8(type);
    this.writeI32(4);
  }

  /** A text with a zero byte behind it; zero bytes within it are left out. */
  writeZeroTerminated(text: string): void {
    this.writeText(text.includes("\0") ? text.replaceAll("\0", "") : text);
    this.writeU8(0);
  }

  writeAuthenticationOk(): void {
    this.beginMessage(BACKEND.authentication);
    this.writeI32(AUTHENTICATION.ok);
    this.endMessage();
  }

  /** Offers SASL mechanisms. */
  writeAuthenticationSasl(mechanisms: readonly string[]): void {
    this.beginMessage(BACKEND.authentication);
    this.writeI32(AUTHENTICATION.sasl);
    for (const mechanism of mechanisms) this.writeZeroTerminated(mechanism);
    this.writeU8(0);
    this.endMessage();
  }

  /** A step of the SASL exchange. */
  writeAuthenticationData(kind: "saslContinue" | "saslFinal", data: string): void {
    this.beginMessage(BACKEND.authentication);
    this.writeI32(AUTHENTICATION[kind]);
    this.writeText(data);
    this.endMessage();
  }

  writeNegotiateProtocolVersion(unrecognized: readonly string[]): void {
    this.beginMessage(BACKEND.negotiateProtocolVersion);
    this.writeI32(PROTOCOL_VERSION);
    this.writeI32(unrecognized.length);
    for (const option of unrecognized) this.writeZeroTerminated(option);
    this.endMessage();
  }

  writeParameterStatus(name: string, value: string): void {
    this.beginMessage(BACKEND.parameterStatus);
    this.writeZeroTerminated(name);
    this.writeZeroTerminated(value);
    this.endMessage();
  }

  writeBackendKeyData(processId: number, secretKey: number): void {
    this.beginMessage(BACKEND.backendKeyData);
    this.writeI32(processId);
    this.writeI32(secretKey);
    this.endMessage();
  }

  writeNotification(processId: number, channel: string, payload: string): void {
    this.beginMessage(BACKEND.notificationResponse);
    this.writeI32(processId);
    this.writeZeroTerminated(channel);
    this.writeZeroTerminated(payload);
    this.endMessage();
  }

  writeReadyForQuery(status: TransactionStatus): void {
    this.reserve(6);
    this.writeU8(BACKEND.readyForQuery);
    this.writeI32(5);
    this.writeU8(STATUS[status]);
  }

  writeCommandComplete(tag: string): void {
    this.writeU8(BACKEND.commandComplete);
    this.writeI32(tag.length + 5);
    this.writeText(tag);
    this.writeU8(0);
  }

  /** RowDescription, which is encoded once for the columns of a plan. */
  writeRowDescription(columns: readonly ResultColumn[], formats: ResultFormats): void {
    const at = this.position;
    let known = descriptions.get(columns);
    if (known === undefined) {
      const formatsAt = this.#encodeRowDescription(columns);
      known = { bytes: this.copyFrom(at), formatsAt };
      descriptions.set(columns, known);
    } else this.writeBytes(known.bytes);
    if (formats === "text") return;
    for (let index = 0; index < columns.length; index++) {
      if (formatCode(formats, index) === 1) this.patchU8(at + (known.formatsAt[index] as number), 1);
    }
  }

  /** With all columns in text format; answers where the last byte of each one's format code is. */
  #encodeRowDescription(columns: readonly ResultColumn[]): Uint32Array {
    const at = this.position;
    const formatsAt = new Uint32Array(columns.length);
    this.beginMessage(BACKEND.rowDescription);
    this.writeI16(columns.length);
    for (const [index, { name, tableId, columnId, type }] of columns.entries()) {
      this.writeZeroTerminated(name);
      this.writeI32(tableId);
      this.writeI16(columnId);
      this.writeI32(typeOid(type));
      this.writeI16(typeLength(type));
      // A type modifier is sent for columns only: those of expressions are inferred and would mislead.
      this.writeI32(tableId === 0 && type.kind === "numeric" ? -1 : typeModifier(type));
      this.writeI16(0);
      formatsAt[index] = this.position - at - 1;
    }
    this.endMessage();
    return formatsAt;
  }

  writeParameterDescription(types: readonly SqlType[]): void {
    this.beginMessage(BACKEND.parameterDescription);
    this.writeI16(types.length);
    for (const type of types) this.writeI32(typeOid(type));
    this.endMessage();
  }

  /** CopyInResponse or CopyOutResponse. */
  writeCopyResponse(type: number, binary: boolean, columnCount: number): void {
    const format = binary ? 1 : 0;
    this.beginMessage(type);
    this.writeU8(format);
    this.writeI16(columnCount);
    for (let i = 0; i < columnCount; i++) this.writeI16(format);
    this.endMessage();
  }

  writeError(error: DatabaseError, severity: "ERROR" | "FATAL"): void {
    this.beginMessage(BACKEND.errorResponse);
    this.#writeField(0x53, severity);
    this.#writeField(0x56, severity);
    this.#writeField(0x43, error.code);
    this.#writeField(0x4d, error.message);
    this.#writeField(0x44, error.detail);
    this.#writeField(0x48, error.hint);
    if (error.position !== undefined) this.#writeField(0x50, String(error.position));
    this.#writeField(0x57, error.where);
    this.#writeField(0x73, error.schema);
    this.#writeField(0x74, error.table);
    this.#writeField(0x63, error.column);
    this.#writeField(0x64, error.dataType);
    this.#writeField(0x6e, error.constraint);
    this.writeU8(0);
    this.endMessage();
  }

  writeNotice(notice: Notice): void {
    this.beginMessage(BACKEND.noticeResponse);
    this.#writeField(0x53, notice.severity);
    this.#writeField(0x56, notice.severity);
    this.#writeField(0x43, notice.code);
    this.#writeField(0x4d, notice.message);
    this.#writeField(0x44, notice.detail);
    this.#writeField(0x48, notice.hint);
    this.writeU8(0);
    this.endMessage();
  }

  #writeField(letter: number, text: string | undefined): void {
    if (text === undefined) return;
    this.writeU8(letter);
    this.writeZeroTerminated(text);
  }
}
