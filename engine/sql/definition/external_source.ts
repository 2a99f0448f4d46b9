/**
 * CREATE EXTERNAL SOURCE: a table with its key, and where its rows come from. All that can be known without asking the
 * source is checked here: the address, the paths, which clauses go together.
 */
import { closest } from "../../base/suggest.ts";
import { SQLSTATE } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import type { TableDefinition } from "../../catalog/definitions.ts";
import type { SourceAuthentication, SourceField, SourcePaging } from "../../catalog/external_source.ts";
import { keyPath, parseSourcePath, SourcePathError } from "../../catalog/source_path.ts";
import type { CreateExternalSource, ExternalColumn } from "../parser/ast.ts";
import { requireColumnType } from "./columns.ts";
import { addConstraint } from "./constraints.ts";
import { columnFor, requireNewName } from "./create_table.ts";
import type { DefinitionBinder } from "./definition_binder.ts";

const TAG = "CREATE EXTERNAL SOURCE";
const SCHEMES = ["http", "https", "s3", "az"];
/** Headers that the client sets itself. */
const OWN_HEADERS = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "accept-encoding",
  "range",
  "te",
  "upgrade",
  "trailer",
  "expect",
]);

/** CREATE EXTERNAL SOURCE. */
export function createExternalSource(binder: DefinitionBinder, ast: CreateExternalSource): string {
  const { name } = ast;
  if (name.schema === "pg_temp") {
    throw binder.unsupported("a temporary external source", name.position);
  }
  const schema = binder.schemaFor(name);
  if (binder.isTaken(schema, name.name)) {
    if (!ast.ifNotExists) {
      throw binder.error(SQLSTATE.duplicateTable, `relation "${name.name}" already exists`, name.position);
    }
    binder.notice(SQLSTATE.duplicateTable, `relation "${name.name}" already exists, skipping`);
    return TAG;
  }
  binder.requireNoType(schema, name);
  if (ast.columns.length > LIMITS.maximumTableColumns) {
    throw binder.error(
      SQLSTATE.tooManyColumns,
      `tables can have at most ${LIMITS.maximumTableColumns} columns`,
    );
  }
  const url = checkAddress(binder, ast);
  checkClauses(binder, ast, url);
  const auth = checkAuthentication(binder, ast, url);
  const page = checkPaging(binder, ast);
  if (ast.rows !== null) checkPath(binder, ast.rows, ast.rowsPosition, "ROWS");
  let table: TableDefinition = {
    id: binder.newId(),
    schema,
    name: name.name,
    columns: [],
    nextColumnId: 1,
    rowIdColumn: null,
    constraints: [],
    indexes: [],
    triggers: [],
    options: {},
    comment: null,
  };
  const fields: SourceField[] = [];
  for (const column of ast.columns) {
    requireNewName(binder, table, column.name, column.position);
    const type = binder.type(column.type);
    requireColumnType(binder, column.name, type, column.position);
    const id = table.nextColumnId;
    const added = { ...columnFor(id, column.name, type), notNull: column.notNull };
    table = { ...table, columns: [...table.columns, added], nextColumnId: id + 1 };
    fields.push({ columnId: id, from: fieldOf(binder, ast, column) });
  }
  const key = binder.column(table, ast.key, ast.keyPosition);
  table = addConstraint(binder, table, {
    kind: "primary_key",
    name: null,
    columns: [ast.key],
    include: [],
    nullsNotDistinct: false,
    usingIndex: null,
    deferral: { deferrable: false, initiallyDeferred: false },
    position: ast.keyPosition,
  }).table;
  binder.putTable({
    ...table,
    external: {
      url: ast.url,
      format: ast.format,
      keyColumn: key.id,
      fields,
      rows: ast.rows,
      page,
      auth,
      region: ast.region,
      endpoint: ast.endpoint,
    },
  });
  return TAG;
}

function invalid(
  binder: DefinitionBinder,
  message: string,
  position: number | undefined,
  hint?: string,
): Error {
  return binder.error(
    SQLSTATE.invalidParameterValue,
    message,
    position,
    hint === undefined ? {} : { hint },
  );
}

/** The address: of a known scheme, with a host, and without a password. */
function checkAddress(binder: DefinitionBinder, ast: CreateExternalSource): URL {
  const { url: text, urlPosition: position } = ast;
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined || !SCHEMES.includes(scheme)) {
    const near = scheme === undefined ? undefined : closest(scheme, SCHEMES);
    throw invalid(
      binder,
      scheme === undefined
        ? `an external source needs an absolute address, not "${text}"`
        : `unknown scheme "${scheme}" of an external source`,
      position,
      near === undefined
        ? "Addresses begin with http://, https://, s3:// or az://."
        : `Did you mean "${near}"?`,
    );
  }
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.hostname === "" || !/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) {
    throw invalid(binder, `"${text}" is not a valid address`, position);
  }
  if (url.username !== "" || url.password !== "") {
    // The address is shown in catalogs; what is secret belongs in the environment.
    throw invalid(
      binder,
      "the address of an external source must not hold a user name or password",
      position,
      "Use AUTH with the name of an environment variable.",
    );
  }
  return url;
}

/** Which clauses go with which address and format. */
function checkClauses(binder: DefinitionBinder, ast: CreateExternalSource, { protocol }: URL): void {
  const isStore = protocol === "s3:" || protocol === "az:";
  if (ast.format === "parquet" && !isStore) {
    throw binder.error(
      SQLSTATE.featureNotSupported,
      "FORMAT PARQUET is served for s3:// and az:// addresses only",
      ast.urlPosition,
    );
  }
  if (ast.rows !== null && ast.format !== "json") {
    throw invalid(binder, "ROWS goes with FORMAT JSON only", ast.rowsPosition);
  }
  if (ast.page !== null) {
    if (isStore) {
      throw invalid(binder, "PAGE goes with http:// and https:// addresses only", ast.pagePosition);
    }
    const isJson = ast.format === "json" || ast.format === "ndjson";
    if (ast.page.kind !== "next_link" && !isJson) {
      throw invalid(
        binder,
        "PAGE by a JSON path goes with FORMAT JSON and NDJSON only",
        ast.pagePosition,
        "PAGE NEXT LINK follows the Link header, whatever the format is.",
      );
    }
  }
  if (protocol === "az:" && ast.auth === null && ast.endpoint === null) {
    throw invalid(
      binder,
      "an az:// address without AUTH AZURE needs ENDPOINT",
      ast.urlPosition,
      "ENDPOINT 'https://account.blob.core.windows.net'",
    );
  }
  if (ast.region !== null && protocol !== "s3:") {
    throw invalid(binder, "REGION goes with s3:// addresses only", ast.regionPosition);
  }
  if (ast.endpoint === null) return;
  if (!isStore) {
    throw invalid(binder, "ENDPOINT goes with s3:// and az:// addresses only", ast.endpointPosition);
  }
  const endpoint = URL.canParse(ast.endpoint) ? new URL(ast.endpoint) : null;
  if (endpoint?.protocol !== "https:" || endpoint.username !== "" || endpoint.password !== "") {
    throw invalid(binder, "ENDPOINT takes an https:// address", ast.endpointPosition);
  }
}

function checkAuthentication(
  binder: DefinitionBinder,
  { auth }: CreateExternalSource,
  { protocol }: URL,
): SourceAuthentication | null {
  if (auth === null) return null;
  const { position, ...stored } = auth;
  const wanted = auth.kind === "s3" ? ["s3:"] : auth.kind === "azure" ? ["az:"] : ["http:", "https:"];
  if (!wanted.includes(protocol)) {
    throw invalid(
      binder,
      `AUTH ${auth.kind.toUpperCase()} goes with ${
        wanted.map((each) => `${each}//`).join(" and ")
      } addresses only`,
      position,
    );
  }
  const variables = auth.kind === "s3"
    ? [auth.keyIdVariable, auth.secretVariable]
    : [auth.kind === "azure" ? auth.keyVariable : auth.variable];
  for (const variable of variables) {
    // What does not look like a name may be the secret itself, and is not repeated.
    if (/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(variable)) continue;
    throw invalid(
      binder,
      "ENV takes the name of an environment variable",
      position,
      "The value stays in the environment of the server; the database keeps the name only.",
    );
  }
  if (auth.kind === "header") {
    if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(auth.header)) {
      throw invalid(binder, `"${auth.header}" is not the name of a header`, position);
    }
    if (OWN_HEADERS.has(auth.header.toLowerCase())) {
      throw invalid(binder, `the header "${auth.header}" cannot be set`, position);
    }
  }
  if (protocol === "http:") {
    binder.warn(SQLSTATE.warning, "the credentials of this external source are sent unencrypted");
  }
  return stored;
}

function checkPaging(binder: DefinitionBinder, { page }: CreateExternalSource): SourcePaging | null {
  if (page === null || page.kind === "next_link") return page;
  checkPath(binder, page.path, page.pathPosition, "PAGE");
  if (page.kind === "next_json") return { kind: "next_json", path: page.path };
  if (page.parameter === "") throw invalid(binder, "PARAM takes the name of a parameter", page.pathPosition);
  return { kind: "cursor_json", path: page.path, parameter: page.parameter };
}

/** Where a column's value is: what FROM says, or the column's own name. */
function fieldOf(binder: DefinitionBinder, ast: CreateExternalSource, column: ExternalColumn): string {
  if (ast.format === "csv") return column.from ?? column.name;
  if (column.from === null) return keyPath(column.name);
  checkPath(binder, column.from, column.fromPosition, `FROM of column "${column.name}"`);
  return column.from;
}

function checkPath(binder: DefinitionBinder, path: string, position: number, what: string): void {
  try {
    if (parseSourcePath(path).length > 0 || what === "ROWS") return;
  } catch (thrown) {
    if (!(thrown instanceof SourcePathError)) throw thrown;
    // Behind the quote that opens the literal.
    const offset = position + 1 + thrown.offset;
    throw invalid(
      binder,
      `invalid path "${path}" in ${what}: ${thrown.message} at character ${thrown.offset + 1}`,
      offset,
      'A path is keys and indexes, such as owner.login, tags[0] or "first name".',
    );
  }
  throw invalid(binder, `the path in ${what} names nothing`, position);
}
