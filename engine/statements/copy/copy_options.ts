/**
 * COPY's options, checked and with their defaults, and the columns that it moves. Errors are PostgreSQL's.
 */
import { DatabaseError, SQLSTATE, type SqlState } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import { closest } from "../../base/suggest.ts";
import type { TableDefinition } from "../../catalog/definitions.ts";
import type { Copy, CopyOptions } from "../../sql/parser/ast.ts";
import { errorPosition } from "../../sql/parser/source_text.ts";
import type { CopySettings } from "../parsed_copy.ts";
import type { StatementHost } from "../statement_host.ts";

function fail(code: SqlState, message: string): never {
  throw new DatabaseError(code, message);
}

function oneByte(text: string, what: string): number {
  const code = text.charCodeAt(0);
  if (text.length !== 1 || code > 127) {
    fail(SQLSTATE.featureNotSupported, `COPY ${what} must be a single one-byte character`);
  }
  return code;
}

/** Checks the options of a COPY. */
export function copySettings(session: Pick<StatementHost, "currentText">, statement: Copy): CopySettings {
  const { options, direction } = statement;
  const format = formatOf(options);
  refuseUnserved(session, options);
  const isCsv = format === "csv";
  if (format === "binary") refuseInBinary(options);
  const delimiter = oneByte(options.delimiter ?? (isCsv ? "," : "\t"), "delimiter");
  const nullText = options.null ?? (isCsv ? "" : "\\N");
  if (delimiter === 10 || delimiter === 13) {
    fail(SQLSTATE.invalidParameterValue, "COPY delimiter cannot be newline or carriage return");
  }
  if (/[\n\r]/.test(nullText)) {
    fail(SQLSTATE.invalidParameterValue, "COPY null representation cannot use newline or carriage return");
  }
  const delimiterText = String.fromCharCode(delimiter);
  if (format === "text" && /^[\\.a-z0-9]$/.test(delimiterText)) {
    fail(SQLSTATE.invalidParameterValue, `COPY delimiter cannot be "${delimiterText}"`);
  }
  if (!isCsv) refuseOutsideCsv(options);
  const quote = oneByte(options.quote ?? '"', "quote");
  const escape = oneByte(options.escape ?? String.fromCharCode(quote), "escape");
  if (isCsv && quote === delimiter) {
    fail(SQLSTATE.invalidParameterValue, "COPY delimiter and quote must be different");
  }
  if (options.forceQuote !== null && direction === "from") {
    fail(SQLSTATE.featureNotSupported, "COPY force quote only available using COPY TO");
  }
  if (options.forceNotNull !== null && direction === "to") {
    fail(SQLSTATE.featureNotSupported, "COPY force not null only available using COPY FROM");
  }
  if (options.forceNull !== null && direction === "to") {
    fail(SQLSTATE.featureNotSupported, "COPY force null only available using COPY FROM");
  }
  if (options.header === "match" && direction === "to") {
    fail(SQLSTATE.featureNotSupported, 'cannot use "match" with HEADER in COPY TO');
  }
  if (nullText.includes(delimiterText)) {
    fail(SQLSTATE.featureNotSupported, "COPY delimiter must not appear in the NULL specification");
  }
  if (isCsv && nullText.includes(String.fromCharCode(quote))) {
    fail(SQLSTATE.featureNotSupported, "CSV quote character must not appear in the NULL specification");
  }
  return {
    format,
    delimiter,
    nullText,
    header: options.header ?? false,
    quote,
    escape,
    forceQuote: options.forceQuote ?? [],
    forceNotNull: options.forceNotNull ?? [],
    forceNull: options.forceNull ?? [],
  };
}

function formatOf(options: CopyOptions): CopySettings["format"] {
  const format = options.format ?? "text";
  if (format === "text" || format === "csv" || format === "binary") return format;
  return fail(SQLSTATE.invalidParameterValue, `COPY format "${format}" not recognized`);
}

function refuseUnserved(session: Pick<StatementHost, "currentText">, options: CopyOptions): void {
  const [unknown] = options.unknown;
  if (unknown !== undefined) {
    throw new DatabaseError(SQLSTATE.syntaxError, `option "${unknown.name}" not recognized`, {
      position: errorPosition(session.currentText, unknown.position),
    });
  }
  if (options.default !== null) fail(SQLSTATE.featureNotSupported, "COPY DEFAULT is not supported");
  if (options.onError !== null && options.onError !== "stop") {
    fail(SQLSTATE.featureNotSupported, `COPY ON_ERROR ${options.onError} is not supported`);
  }
  const encoding = options.encoding?.replaceAll(/[^A-Za-z0-9]/g, "").toUpperCase();
  if (encoding !== undefined && !["UTF8", "UNICODE", "SQLASCII"].includes(encoding)) {
    throw new DatabaseError(
      SQLSTATE.featureNotSupported,
      `COPY with the encoding "${options.encoding}" is not supported`,
      { hint: "Convert the data to UTF-8." },
    );
  }
}

function refuseInBinary(options: CopyOptions): void {
  const given = options.delimiter !== null
    ? "DELIMITER"
    : options.null !== null
    ? "NULL"
    : options.header !== null && options.header !== false
    ? "HEADER"
    : null;
  if (given !== null) fail(SQLSTATE.syntaxError, `cannot specify ${given} in BINARY mode`);
}

function refuseOutsideCsv(options: CopyOptions): void {
  const given = options.quote !== null
    ? "quote"
    : options.escape !== null
    ? "escape"
    : options.forceQuote !== null
    ? "force quote"
    : options.forceNotNull !== null
    ? "force not null"
    : options.forceNull !== null
    ? "force null"
    : null;
  if (given !== null) fail(SQLSTATE.featureNotSupported, `COPY ${given} available only in CSV mode`);
}

/** Positions of the columns that COPY moves, in its order. */
export function copyColumns(table: TableDefinition, names: readonly string[]): readonly number[] {
  if (names.length === 0) {
    return table.columns.flatMap((column, position) =>
      column.hidden || column.generatedText !== null ? [] : [position]
    );
  }
  const positions: number[] = [];
  for (const name of names) {
    const position = columnNamed(table, name);
    if (table.columns[position]?.generatedText !== null) {
      throw new DatabaseError(SQLSTATE.invalidColumnReference, `column "${name}" is a generated column`, {
        detail: "Generated columns cannot be used in COPY.",
      });
    }
    if (positions.includes(position)) {
      fail(SQLSTATE.duplicateColumn, `column "${name}" specified more than once`);
    }
    positions.push(position);
  }
  return positions;
}

function columnNamed(table: TableDefinition, name: string): number {
  const position = table.columns.findIndex((column) => column.name === name && !column.hidden);
  if (position >= 0) return position;
  const near = closest(name, table.columns.filter((column) => !column.hidden).map((column) => column.name));
  throw new DatabaseError(
    SQLSTATE.undefinedColumn,
    `column "${name}" of relation "${table.name}" does not exist`,
    near === undefined ? {} : { hint: `Did you mean "${near}"?` },
  );
}

/** For each moved column whether a FORCE option names it; unknown names are refused. */
export function forcedColumns(
  columns: readonly string[],
  forced: readonly string[] | "all",
  option: string,
): readonly boolean[] {
  if (forced === "all") return columns.map(() => true);
  for (const name of forced) {
    if (!columns.includes(name)) {
      throw new DatabaseError(
        SQLSTATE.invalidColumnReference,
        `${option} column "${name}" not referenced by COPY`,
      );
    }
  }
  return columns.map((name) => forced.includes(name));
}

/** The 54000 of a row that is longer than any may be. */
export function rowTooLong(): DatabaseError {
  return new DatabaseError(SQLSTATE.programLimitExceeded, "a row of the COPY data is too long", {
    hint:
      `The limit is ${LIMITS.maximumCopyRowBytes} bytes; look whether the line breaks are as they should be.`,
  });
}

/** An error with the place in the data where it happened. */
export function withContext(thrown: unknown, context: string): unknown {
  if (!(thrown instanceof DatabaseError)) return thrown;
  const fields = thrown.fields();
  const where = fields.where === undefined ? context : `${fields.where}\n${context}`;
  return new DatabaseError(thrown.code, thrown.message, { ...fields, where });
}
