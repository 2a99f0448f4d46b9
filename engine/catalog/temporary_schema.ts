/**
 * Schemas of temporary tables: one for each session that has any, named after the session. They are dropped when the
 * session ends, and when a database is opened those that a crash has left behind.
 */
import type { Catalog } from "./catalog.ts";
import type { CatalogChange } from "./catalog_change.ts";
import type { TableDefinition } from "./definitions.ts";

const PREFIX = "pg_temp_";

/** The option of a table that says what a commit does to it; `delete rows` or `drop`. */
export const ON_COMMIT = "on_commit";

/** The schema of a session. A follower must not see that of the primary's session of the same number. */
export function temporarySchemaOf(sessionId: number, session: { readonly isFollower: boolean }): string {
  return `${PREFIX}${session.isFollower ? 0 : sessionId}`;
}

/** Whether a schema is one of temporary tables. */
export function isTemporarySchema(schema: string): boolean {
  return schema.startsWith(PREFIX);
}

/** Temporary tables of a schema that a commit empties or drops. */
export function tablesOnCommit(catalog: Catalog, schema: string): readonly TableDefinition[] {
  if (catalog.schema(schema) === undefined) return [];
  return catalog.tables.filter((table) => table.schema === schema && table.options[ON_COMMIT] !== undefined);
}

/** What drops a table with the sequences that it owns. */
export function dropTableChanges(catalog: Catalog, table: TableDefinition): CatalogChange[] {
  const changes: CatalogChange[] = catalog.sequences.filter((each) => each.ownedBy?.tableId === table.id)
    .map((each) => ({ kind: "drop_sequence", sequenceId: each.id }));
  return [...changes, { kind: "drop_table", tableId: table.id }];
}

/** What drops schemas of temporary tables with all that is in them. */
export function dropSchemaChanges(catalog: Catalog, schemas: readonly string[]): CatalogChange[] {
  const isIn = (object: { readonly schema: string }): boolean => schemas.includes(object.schema);
  return [
    ...catalog.views.filter(isIn).map((view) => ({ kind: "drop_view", viewId: view.id }) as const),
    ...catalog.tables.filter(isIn).map((table) => ({ kind: "drop_table", tableId: table.id }) as const),
    ...catalog.sequences.filter(isIn).map((each) =>
      ({ kind: "drop_sequence", sequenceId: each.id }) as const
    ),
    ...catalog.enums.filter(isIn).map((each) => ({ kind: "drop_enum", enumId: each.id }) as const),
    ...catalog.schemas.filter((schema) => schemas.includes(schema.name))
      .map((schema) => ({ kind: "drop_schema", schemaId: schema.id }) as const),
  ];
}
