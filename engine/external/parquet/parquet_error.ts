/** Errors about Parquet files, with their place: damaged ones, and those with what the reader does not support. */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";

/** Where the reader is; it moves on as the file is read. */
export class FilePosition {
  /** Names the file in messages. */
  readonly file: string;
  column: string | null = null;
  rowGroup: number | null = null;
  page: number | null = null;

  constructor(file: string) {
    this.file = file;
  }

  /** `row group 2, column a.b, page 3`, each counted from 1; empty before the first row group. */
  get place(): string {
    const parts: string[] = [];
    if (this.rowGroup !== null) parts.push(`row group ${this.rowGroup + 1}`);
    if (this.column !== null) parts.push(`column ${this.column}`);
    if (this.page !== null) parts.push(`page ${this.page + 1}`);
    return parts.join(", ");
  }

  #fields(): { readonly where: string } {
    const { place } = this;
    return { where: `Parquet file ${this.file}${place === "" ? "" : `, ${place}`}` };
  }

  /** The file is damaged, or is no Parquet file: 22P04. */
  damaged(reason: string): DatabaseError {
    return new DatabaseError(
      SQLSTATE.badCopyFileFormat,
      `cannot read Parquet file "${this.file}": ${reason}`,
      this.#fields(),
    );
  }

  /** The file has what the reader does not support: 0A000. */
  unsupported(reason: string, hint?: string): DatabaseError {
    return new DatabaseError(
      SQLSTATE.featureNotSupported,
      `Parquet file "${this.file}" is not supported: ${reason}`,
      hint === undefined ? this.#fields() : { ...this.#fields(), hint },
    );
  }

  /** The file is sound but asks for more than a limit allows: 54000. */
  tooLarge(reason: string): DatabaseError {
    return new DatabaseError(
      SQLSTATE.programLimitExceeded,
      `Parquet file "${this.file}" is too large: ${reason}`,
      this.#fields(),
    );
  }

  /** An error about a value, with its place. */
  located(thrown: unknown): unknown {
    if (!(thrown instanceof DatabaseError) || thrown.where !== undefined) return thrown;
    const { code, message, detail, hint, cause } = thrown;
    return new DatabaseError(code, message, {
      ...this.#fields(),
      ...(detail === undefined ? {} : { detail }),
      ...(hint === undefined ? {} : { hint }),
      cause: cause ?? thrown,
    });
  }
}
