/**
 * pg_class, pg_attribute and what describes relations column by column: pg_namespace, pg_attrdef, pg_index,
 * pg_sequence, pg_inherits and their kin. User tables, indexes, views and sequences are here, and the system
 * relations themselves.
 *
 * Numbers of columns are those of the catalog, which are never reused; columns that were dropped leave no row.
 */
import { isTemporarySchema } from "../catalog/temporary_schema.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { ShardBy, TableDefinition } from "../catalog/definitions.ts";
import { quoteIdentifier } from "../sql/parser/keywords.ts";
import { SHARD_BY } from "../sql/parser/shard_by.ts";
import { SqlArray } from "../types/sql_array.ts";
import type { SqlType } from "../types/sql_type.ts";
import type { SqlValue } from "../types/value.ts";
import type { CatalogContext } from "./catalog_context.ts";
import { ACCESS_METHOD, NAMESPACE, OWNER_ID } from "./object_ids.ts";
import { operatorClassOf } from "./operator_classes.ts";
import { catalogRows, fixedRows, type RelationProviders } from "./relation_provider.ts";
import { CATALOG_SHAPES, type CatalogShape, type RowValues, vector } from "./relation_shape.ts";
import { rowEstimate, sizeInBlocks } from "./relation_size.ts";
import {
  defaultTextOf,
  type IndexEntry,
  indexesOf,
  keyExpression,
  keyNumber,
  shownColumns,
} from "./table_objects.ts";
import { attributeTypeValues, BUILT_IN_TYPES } from "./type_catalog.ts";

/** The number of a schema. */
export function schemaId(context: CatalogContext, name: string): number {
  return context.catalog.schema(name)?.id ?? 0;
}

const CLASS_DEFAULTS: RowValues = {
  relowner: OWNER_ID,
  relpersistence: "p",
  relispopulated: true,
  relreplident: "n",
  reltuples: -1,
};

function shardByText({ columns }: TableDefinition, shardBy: ShardBy): string {
  if (shardBy.kind === "all") return "all";
  const name = columns.find(({ id }) => id === shardBy.columnId)?.name ?? "";
  // Quotes keep a column named like the keyword apart from it.
  return quoteIdentifier(name);
}

/** Storage parameters as `name=value`, or null without. */
export function optionsOf(table: TableDefinition): SqlValue {
  const options = Object.entries(table.options).map(([name, value]) => `${name}=${value}`);
  const { shardBy } = table;
  if (shardBy !== undefined) options.push(`${SHARD_BY}=${shardByText(table, shardBy)}`);
  return options.length === 0 ? null : SqlArray.of(options);
}

function* classRows(context: CatalogContext): Iterable<RowValues> {
  const { catalog } = context;
  for (const table of catalog.tables) {
    const namespace = schemaId(context, table.schema);
    yield {
      ...CLASS_DEFAULTS,
      oid: table.id,
      relname: table.name,
      relnamespace: namespace,
      relam: ACCESS_METHOD.heap,
      relfilenode: table.id,
      relpersistence: isTemporarySchema(table.schema) ? "t" : "p",
      relhasindex: indexesOf(table).length > 0,
      relkind: "r",
      relnatts: shownColumns(table).length,
      relchecks: table.constraints.filter((each) => each.kind === "check").length,
      relhastriggers: table.triggers.length > 0 ||
        table.constraints.some((each) => each.kind === "foreign_key") ||
        catalog.referencing(table.id).length > 0,
      relreplident: "d",
      reloptions: optionsOf(table),
    };
    for (const index of indexesOf(table)) {
      yield {
        ...CLASS_DEFAULTS,
        oid: index.id,
        relname: index.name,
        relnamespace: namespace,
        relam: ACCESS_METHOD.btree,
        relfilenode: index.id,
        relkind: "i",
        relnatts: index.columns.length + index.includes.length,
        reltuples: 0,
      };
    }
  }
  for (const sequence of catalog.sequences) {
    yield {
      ...CLASS_DEFAULTS,
      oid: sequence.id,
      relname: sequence.name,
      relnamespace: schemaId(context, sequence.schema),
      relfilenode: sequence.id,
      relkind: "S",
      relnatts: SEQUENCE_COLUMNS.length,
      relpages: 1,
      reltuples: 1,
    };
  }
  for (const view of catalog.views) {
    yield {
      ...CLASS_DEFAULTS,
      oid: view.id,
      relname: view.name,
      relnamespace: schemaId(context, view.schema),
      relkind: "v",
      relnatts: view.columns.length,
      relhasrules: true,
    };
  }
  for (const shape of CATALOG_SHAPES.values()) {
    yield {
      ...CLASS_DEFAULTS,
      oid: shape.id,
      relname: shape.name,
      relnamespace: systemNamespace(shape),
      relam: shape.kind === "r" ? ACCESS_METHOD.heap : 0,
      relfilenode: 0,
      relkind: shape.kind,
      relnatts: shape.columns.length,
      relhasrules: shape.kind === "v",
      relreplident: "n",
    };
  }
}

function systemNamespace(shape: CatalogShape): number {
  return shape.schema === "pg_catalog" ? NAMESPACE.pgCatalog : NAMESPACE.informationSchema;
}

/** What `SELECT * FROM sequence` shows. */
export const SEQUENCE_COLUMNS: readonly (readonly [string, SqlType])[] = [
  ["last_value", { kind: "i64" }],
  ["log_cnt", { kind: "i64" }],
  ["is_called", { kind: "bool" }],
];

const ATTRIBUTE_DEFAULTS: RowValues = { attstattarget: -1, attcacheoff: -1, attislocal: true };

function attribute(
  relation: number,
  number: number,
  name: string,
  type: SqlType,
  more: RowValues,
): RowValues {
  return {
    ...ATTRIBUTE_DEFAULTS,
    ...attributeTypeValues(type),
    attrelid: relation,
    attnum: number,
    attname: name,
    ...more,
  };
}

function* tableAttributes(catalog: Catalog, table: TableDefinition): Iterable<RowValues> {
  for (const column of shownColumns(table)) {
    yield attribute(table.id, column.id, column.name, column.type, {
      attstattarget: column.statisticsTarget ?? -1,
      attnotnull: column.notNull,
      atthasdef: defaultTextOf(catalog, column) !== null,
      attidentity: column.identity === null ? "" : column.identity === "always" ? "a" : "d",
      attgenerated: column.generatedText === null ? "" : "s",
    });
  }
  for (const index of indexesOf(table)) yield* indexAttributes(index);
}

function* indexAttributes(index: IndexEntry): Iterable<RowValues> {
  const numbers = [...index.columns.map((column) => column.columnId), ...index.includes];
  let number = 0;
  for (const columnId of numbers) {
    const column = index.table.columns.find((each) => each.id === columnId);
    if (column === undefined) continue;
    number++;
    yield attribute(index.id, number, column.hidden ? "expr" : column.name, column.type, {
      attstattarget: -1,
    });
  }
}

function systemAttributes(shape: CatalogShape): RowValues[] {
  return shape.columns.map((column, index) => {
    const type = BUILT_IN_TYPES.find((each) => each.name === column.typeName);
    return attribute(shape.id, index + 1, column.name, column.type, {
      attnotnull: !column.nullable,
      ...(type === undefined
        ? {}
        : { atttypid: type.id, attlen: type.length, attbyval: type.byValue, attalign: type.align }),
    });
  });
}

let systemAttributeRows: readonly RowValues[] | null = null;

function* attributeRows(context: CatalogContext): Iterable<RowValues> {
  for (const table of context.catalog.tables) yield* tableAttributes(context.catalog, table);
  for (const view of context.catalog.views) {
    for (const [index, column] of view.columns.entries()) {
      yield attribute(view.id, index + 1, column.name, column.type, {});
    }
  }
  for (const sequence of context.catalog.sequences) {
    for (const [index, [name, type]] of SEQUENCE_COLUMNS.entries()) {
      yield attribute(sequence.id, index + 1, name, type, { attnotnull: true });
    }
  }
  systemAttributeRows ??= [...CATALOG_SHAPES.values()].flatMap(systemAttributes);
  yield* systemAttributeRows;
}

/** The number of a column's row in pg_attrdef. */
export function defaultId(tableId: number, columnId: number): number {
  return (tableId * 2048 + columnId) % 0x7fff_ffff;
}

function* defaultRows(context: CatalogContext): Iterable<RowValues> {
  for (const table of context.catalog.tables) {
    for (const column of shownColumns(table)) {
      const text = defaultTextOf(context.catalog, column);
      if (text === null) continue;
      yield { oid: defaultId(table.id, column.id), adrelid: table.id, adnum: column.id, adbin: text };
    }
  }
}

function indexRow(index: IndexEntry): RowValues {
  const { table } = index;
  const keys = index.columns.map((column) => keyNumber(table, column.columnId));
  const expressions = index.columns.flatMap((column) => keyExpression(table, column.columnId) ?? []);
  const typeOf = (columnId: number): SqlType =>
    table.columns.find((column) => column.id === columnId)?.type ?? { kind: "text" };
  return {
    indexrelid: index.id,
    indrelid: table.id,
    indnatts: index.columns.length + index.includes.length,
    indnkeyatts: index.columns.length,
    indisunique: index.unique,
    indnullsnotdistinct: index.nullsNotDistinct,
    indisprimary: index.primary,
    indimmediate: true,
    indisvalid: true,
    indisready: true,
    indislive: true,
    indkey: vector([...keys, ...index.includes]),
    indcollation: vector(
      index.columns.map((column) => Number(attributeTypeValues(typeOf(column.columnId)).attcollation)),
    ),
    indclass: vector(index.columns.map((column) => operatorClassOf(typeOf(column.columnId)))),
    indoption: vector(
      index.columns.map((column) => (column.descending ? 1 : 0) | (column.nullsFirst ? 2 : 0)),
    ),
    indexprs: expressions.length === 0 ? null : expressions.join(", "),
    indpred: index.predicateText,
  };
}

/** Providers of the relations about relations. */
export const CLASS_RELATIONS: RelationProviders = {
  pg_namespace: catalogRows((context) =>
    context.catalog.schemas.map((schema) => ({
      oid: schema.id,
      nspname: schema.name,
      nspowner: OWNER_ID,
      // Tools that dump the database write down what differs from these.
      nspacl: schema.id === NAMESPACE.public
        ? SqlArray.of([
          `${context.user}=UC/${context.user}`,
          `=U/${context.user}`,
        ])
        : null,
    }))
  ),
  pg_class: {
    lifetime: "catalog",
    rows: classRows,
    refresh(context, rows, shape) {
      const id = shape.positions.get("oid") ?? 0;
      const kind = shape.positions.get("relkind") ?? 0;
      const tuples = shape.positions.get("reltuples") ?? 0;
      const pages = shape.positions.get("relpages") ?? 0;
      for (const row of rows) {
        if (row[kind] !== "r" || Number(row[id]) < 16384) continue;
        row[tuples] = rowEstimate(context, Number(row[id]));
        row[pages] = sizeInBlocks(context, Number(row[id]));
      }
    },
  },
  pg_attribute: catalogRows(attributeRows),
  pg_attrdef: catalogRows(defaultRows),
  pg_index: catalogRows((context) =>
    context.catalog.tables.flatMap((table) => indexesOf(table).map(indexRow))
  ),
  pg_sequence: catalogRows((context) =>
    context.catalog.sequences.map((sequence) => ({
      seqrelid: sequence.id,
      seqtypid: sequence.type === "i16" ? 21 : sequence.type === "i32" ? 23 : 20,
      seqstart: sequence.start,
      seqincrement: sequence.increment,
      seqmax: sequence.maximum,
      seqmin: sequence.minimum,
      seqcache: sequence.cache,
      seqcycle: sequence.cycle,
    }))
  ),
  pg_am: fixedRows(() => [
    { oid: ACCESS_METHOD.heap, amname: "heap", amhandler: 0, amtype: "t" },
    { oid: ACCESS_METHOD.btree, amname: "btree", amhandler: 0, amtype: "i" },
  ]),
  pg_tablespace: fixedRows(() => [
    { oid: 1663, spcname: "pg_default", spcowner: OWNER_ID },
    { oid: 1664, spcname: "pg_global", spcowner: OWNER_ID },
  ]),
};
