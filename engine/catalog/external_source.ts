/**
 * What CREATE EXTERNAL SOURCE says of a table: where its rows come from and how they are read. Part of the table's
 * definition, so that it is logged, checkpointed and copied with it.
 *
 * Invariant: secrets are never part of it, only the names of environment variables.
 */

/** How the content of a source is written. */
export type SourceFormat = "json" | "ndjson" | "csv" | "parquet";

/** How the next page is found. */
export type SourcePaging =
  | { readonly kind: "next_json"; readonly path: string }
  | { readonly kind: "cursor_json"; readonly path: string; readonly parameter: string }
  | { readonly kind: "next_link" };

/** How requests prove who asks; the values are in environment variables of these names. */
export type SourceAuthentication =
  | { readonly kind: "bearer"; readonly variable: string }
  | { readonly kind: "header"; readonly header: string; readonly variable: string }
  | { readonly kind: "s3"; readonly keyIdVariable: string; readonly secretVariable: string }
  | { readonly kind: "azure"; readonly account: string; readonly keyVariable: string };

/** The field of a source that fills a column. */
export interface SourceField {
  readonly columnId: number;
  /** A path within the row (see `source_path.ts`); the column's header in CSV. */
  readonly from: string;
}

/** What the last REFRESH has done. */
export interface LastRefresh {
  /** Microseconds since 2000-01-01 UTC. */
  readonly at: number;
  /** Rows that the source had. */
  readonly rows: number;
  readonly pages: number;
  readonly bytes: number;
}

/** See the file's head. */
export interface ExternalSourceDefinition {
  readonly url: string;
  readonly format: SourceFormat;
  /** Id of the column whose value names a row. */
  readonly keyColumn: number;
  /** One for each column. */
  readonly fields: readonly SourceField[];
  /** Path to the rows within a page of JSON; null: the page is an array of rows. */
  readonly rows: string | null;
  readonly page: SourcePaging | null;
  readonly auth: SourceAuthentication | null;
  readonly region: string | null;
  readonly endpoint: string | null;
}
