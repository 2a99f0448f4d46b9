/**
 * Where results go. Generated code calls a writer once per value, in column order, so that a protocol can encode rows
 * straight into its output buffer; there are no row objects in between.
 */
import { isIntegerKind } from "../../types/number_or_bigint.ts";
import type { SqlTypeKind } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";

/** Receives rows. Between `beginRow` and `endRow` come exactly as many writes as the result has columns. */
export interface ResultWriter {
  beginRow(): void;
  writeNull(): void;
  /** Columns that {@link writeMethodOf} says so of. */
  writeInteger(value: number | bigint): void;
  /** Columns that {@link writeMethodOf} says so of. */
  writeText(value: string): void;
  /**
   * Columns that {@link takesUtf8} says so of, already in UTF-8; of CHAR(n) without spaces at the end. The bytes are
   * only valid during the call.
   */
  writeUtf8(bytes: Uint8Array, start: number, end: number): void;
  /** A non-null value of any other column; `column` counts from 0 and gives the type. */
  writeValue(column: number, value: SqlValue): void;
  endRow(): void;
  /** Some rows can no longer be taken back; absent: all can. */
  readonly hasSent?: boolean;
}

/** The method that takes the values of a column, other than NULL. */
export type WriteMethod = "writeInteger" | "writeText" | "writeValue";

/** The method for a type: protocols write integers and texts without asking for the column's type. */
export function writeMethodOf(kind: SqlTypeKind): WriteMethod {
  if (isIntegerKind(kind)) return "writeInteger";
  switch (kind) {
    case "text":
    case "varchar":
    case "name":
    case "uuid":
    case "json":
    case "jsonb":
      return "writeText";
    default:
      return "writeValue";
  }
}

/** Whether a column's values may be written as UTF-8. */
export function takesUtf8(kind: SqlTypeKind): boolean {
  return kind === "char" || writeMethodOf(kind) === "writeText";
}

/** Code that writes a value, other than NULL, of the column with this number to the writer. */
export function writeCode(writer: string, kind: SqlTypeKind, column: number, value: string): string {
  const method = writeMethodOf(kind);
  return method === "writeValue"
    ? `${writer}.writeValue(${column}, ${value});`
    : `${writer}.${method}(${value});`;
}
