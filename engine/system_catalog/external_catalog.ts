/** External sources: what there are, what their last REFRESH has read, and how far those are that run. */
import type { TableDefinition } from "../catalog/definitions.ts";
import type { ExternalSourceDefinition } from "../catalog/external_source.ts";
import type { CatalogContext } from "./catalog_context.ts";
import { DATABASE_ID } from "./object_ids.ts";
import { liveRows, type RelationProviders } from "./relation_provider.ts";
import type { RowValues } from "./relation_shape.ts";

function pagingText({ page }: ExternalSourceDefinition): string | null {
  switch (page?.kind) {
    case "next_json":
      return `NEXT JSON '${page.path}'`;
    case "cursor_json":
      return `CURSOR JSON '${page.path}' PARAM '${page.parameter}'`;
    case "next_link":
      return "NEXT LINK";
    default:
      return null;
  }
}

/** The names of variables, never their values. */
function authText({ auth }: ExternalSourceDefinition): string | null {
  switch (auth?.kind) {
    case "bearer":
      return `BEARER ENV '${auth.variable}'`;
    case "header":
      return `HEADER '${auth.header}' ENV '${auth.variable}'`;
    case "s3":
      return `S3 KEYID ENV '${auth.keyIdVariable}' SECRET ENV '${auth.secretVariable}'`;
    case "azure":
      return `AZURE ACCOUNT '${auth.account}' KEY ENV '${auth.keyVariable}'`;
    default:
      return null;
  }
}

function sourceRow(
  { catalog }: CatalogContext,
  table: TableDefinition,
  source: ExternalSourceDefinition,
): RowValues {
  const last = catalog.lastRefresh(table.id);
  return {
    relid: table.id,
    schemaname: table.schema,
    sourcename: table.name,
    url: source.url,
    format: source.format,
    key: table.columns.find((column) => column.id === source.keyColumn)?.name ?? null,
    paging: pagingText(source),
    auth: authText(source),
    last_refresh: last?.at ?? null,
    last_rows: last?.rows ?? null,
    last_pages: last?.pages ?? null,
    last_bytes: last?.bytes ?? null,
  };
}

/** Providers of the relations about external sources. */
export const EXTERNAL_RELATIONS: RelationProviders = {
  pg_external_sources: liveRows((context) =>
    context.catalog.tables.flatMap((table) =>
      table.external === undefined ? [] : [sourceRow(context, table, table.external)]
    )
  ),
  pg_stat_progress_refresh: liveRows(({ catalog, server, database }) =>
    [...server.refreshes].map(([relid, { processId, progress }]) => ({
      pid: processId,
      datid: DATABASE_ID,
      datname: database,
      relid,
      relname: catalog.table(relid)?.name ?? null,
      ...progress,
    }))
  ),
};
