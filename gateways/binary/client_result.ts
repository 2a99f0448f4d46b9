/** What a statement answered, as clients see it: rows as objects, as values, or as PostgreSQL's texts. */
import type { Notice, StatementOutcome } from "../../engine/statements/outcome.ts";
import { type JavaScriptValue, type Row, toJavaScript } from "../../engine/session/javascript_value.ts";
import type { RowId } from "../../engine/operations/effect.ts";
import type { SqlType } from "../../engine/types/sql_type.ts";
import { fromStored, type StoredValue } from "../../engine/types/stored_value.ts";
import { formatText, type TextOptions } from "../../engine/types/text_io.ts";
import type { SqlValue } from "../../engine/types/value.ts";
import { formatType } from "../../engine/types/type_names.ts";
import type { ColumnInformation } from "../../engine/session/database.ts";
import type { ClientResult } from "./client_api.ts";
import type { WireColumn } from "../shared/operation/operation.ts";

/** A column of a result. */
export interface ResultColumnInformation extends ColumnInformation {
  /** Its type as the engine knows it. */
  readonly sqlType: SqlType;
}

/** What a statement answered, as clients see it: rows as objects, as values, or as PostgreSQL's texts. */
export class StatementResult implements ClientResult {
  /** PostgreSQL's command tag, such as `INSERT 0 1`. */
  readonly command: string;
  /** What kind of answer it is: rows, a count of affected rows, one aggregate's value … */
  readonly kind: StatementOutcome["kind"];
  /** Rows returned, inserted, updated, deleted or copied; 0 where that has no meaning. */
  readonly rowCount: number;
  /** The id that a single-row INSERT assigned. */
  readonly insertedId: RowId | null;
  /** See {@link ClientResult.op}; known when the last statement of the request has ended. */
  op = 0;
  readonly notices: readonly Notice[];
  /** Empty when the statement returns no rows. */
  readonly columns: readonly ResultColumnInformation[];
  readonly #stored: readonly (readonly StoredValue[])[];
  readonly #options: TextOptions;

  constructor(options: {
    readonly outcome: {
      readonly tag: string;
      readonly kind: StatementOutcome["kind"];
      readonly rowCount: number | null;
      readonly insertedId: RowId | null;
      readonly notices: readonly Notice[];
    };
    readonly columns: readonly WireColumn[];
    readonly rows: readonly (readonly StoredValue[])[];
    readonly textOptions: TextOptions;
  }) {
    const { outcome } = options;
    this.command = outcome.tag;
    this.kind = outcome.kind;
    this.rowCount = outcome.rowCount ?? 0;
    this.insertedId = outcome.insertedId;
    this.notices = outcome.notices;
    this.columns = options.columns.map(({ name, type }) => ({ name, type: formatType(type), sqlType: type }));
    this.#stored = options.rows;
    this.#options = options.textOptions;
  }

  /** The rows as objects keyed by column name. */
  rows<T extends Row = Row>(): T[] {
    return this.#stored.map((stored) => {
      const row: Row = {};
      for (const [index, column] of this.columns.entries()) {
        row[column.name] = this.#value(column.sqlType, stored[index] ?? null);
      }
      return row as T;
    });
  }

  /** The rows as lists of values in column order. */
  values(): JavaScriptValue[][] {
    return this.#stored.map((stored) =>
      this.columns.map((column, index) => this.#value(column.sqlType, stored[index] ?? null))
    );
  }

  /** The rows as PostgreSQL prints them; null is NULL. */
  texts(): (string | null)[][] {
    return this.#stored.map((stored) =>
      this.columns.map((column, index) => {
        const value = fromStored(column.sqlType, stored[index] ?? null);
        return value === null ? null : formatText(column.sqlType, value, this.#options);
      })
    );
  }

  /** The rows as the engine's values. */
  sqlValues(): SqlValue[][] {
    return this.#stored.map((stored) =>
      this.columns.map((column, index) => fromStored(column.sqlType, stored[index] ?? null))
    );
  }

  /** How the session prints values that have several forms. */
  get textOptions(): TextOptions {
    return this.#options;
  }

  #value(type: SqlType, stored: StoredValue): JavaScriptValue {
    return toJavaScript(type, fromStored(type, stored), this.#options);
  }
}
