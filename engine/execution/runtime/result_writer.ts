/**
 * Where results go. Generated code calls a writer once per value, in column order, so that a protocol can encode rows
 * straight into its output buffer; there are no row objects in between.
 */
import type { SqlValue } from "../../types/value.ts";

/** Receives rows. Between `beginRow` and `endRow` come exactly as many writes as the result has columns. */
export interface ResultWriter {
  beginRow(): void;
  writeNull(): void;
  /** Columns of the kinds i8 … u64 and oid. */
  writeInteger(value: number | bigint): void;
  /** Columns of the kinds text, varchar, name, uuid, json, jsonb. */
  writeText(value: string): void;
  /** The same kinds as `writeText`, already in UTF-8; the bytes are only valid during the call. */
  writeUtf8(bytes: Uint8Array, start: number, end: number): void;
  /** A non-null value of any other kind; `column` counts from 0 and tells the type. */
  writeValue(column: number, value: SqlValue): void;
  endRow(): void;
}
