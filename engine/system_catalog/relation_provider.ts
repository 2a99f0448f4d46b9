/**
 * How the rows of system relations come about. A provider makes rows as named values; what it may look at decides how
 * long its rows are kept:
 *
 * - `fixed`: nothing but the program. Made once.
 * - `catalog`: the catalog, the session's user, database and search path. Kept as long as that catalog value (which
 *   is immutable) is in use, so that a query that scans pg_attribute for each row of another relation does not make
 *   it anew each time.
 * - `live`: anything. Made at each scan.
 *
 * Nothing is computed before the first scan.
 */
import type { Catalog } from "../catalog/catalog.ts";
import type { SqlValue } from "../types/value.ts";
import { type CatalogContext, catalogContextOf } from "./catalog_context.ts";
import type { EvaluationContext } from "../sql/functions/definition.ts";
import { type CatalogShape, type RowValues, toRow } from "./relation_shape.ts";

/** See the file's head. */
export interface RelationProvider {
  readonly lifetime: "fixed" | "catalog" | "live";
  rows(context: CatalogContext): Iterable<RowValues>;
  /** Brings values that change without the catalog up to date, in rows that were kept. */
  refresh?(context: CatalogContext, rows: SqlValue[][], shape: CatalogShape): void;
}

/** Providers by relation name, all of one schema. */
export type RelationProviders = Readonly<Record<string, RelationProvider>>;

/** Rows that never change. */
export function fixedRows(rows: () => Iterable<RowValues>): RelationProvider {
  return { lifetime: "fixed", rows };
}

/** Rows made from the catalog. */
export function catalogRows(rows: (context: CatalogContext) => Iterable<RowValues>): RelationProvider {
  return { lifetime: "catalog", rows };
}

/** Rows made from the state of the moment. */
export function liveRows(rows: (context: CatalogContext) => Iterable<RowValues>): RelationProvider {
  return { lifetime: "live", rows };
}

const fixedCache = new Map<string, SqlValue[][]>();
const catalogCache = new WeakMap<Catalog, Map<string, SqlValue[][]>>();

/** The rows of a relation for the session whose statement is running. */
export function provideRows(
  shape: CatalogShape,
  provider: RelationProvider | undefined,
  evaluation: EvaluationContext,
): Iterable<readonly SqlValue[]> {
  if (provider === undefined) return [];
  const context = catalogContextOf(evaluation);
  switch (provider.lifetime) {
    case "fixed":
      return kept(fixedCache, `${shape.schema}.${shape.name}`, shape, provider, context);
    case "catalog": {
      let rows = catalogCache.get(context.catalog);
      if (rows === undefined) {
        rows = new Map();
        catalogCache.set(context.catalog, rows);
      }
      const { user, database, searchPath } = context;
      const key = [shape.schema, shape.name, user, database, ...searchPath].join("\u0000");
      return kept(rows, key, shape, provider, context);
    }
    case "live":
      return liveIteration(shape, provider, context);
  }
}

function* liveIteration(
  shape: CatalogShape,
  provider: RelationProvider,
  context: CatalogContext,
): Iterable<readonly SqlValue[]> {
  for (const values of provider.rows(context)) yield toRow(shape, values);
}

function kept(
  cache: Map<string, SqlValue[][]>,
  key: string,
  shape: CatalogShape,
  provider: RelationProvider,
  context: CatalogContext,
): SqlValue[][] {
  let rows = cache.get(key);
  if (rows === undefined) {
    rows = [];
    for (const values of provider.rows(context)) rows.push(toRow(shape, values));
    cache.set(key, rows);
  }
  provider.refresh?.(context, rows, shape);
  return rows;
}
