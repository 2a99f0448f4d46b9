/**
 * The DDL effects: each names one object and its whole new definition, so that applying one is total and needs no
 * knowledge of the statement. Storage finds out by comparison which columns and indexes came or went.
 */
import type {
  EnumDefinition,
  SchemaDefinition,
  SequenceDefinition,
  TableDefinition,
  UserFunctionDefinition,
  ViewDefinition,
} from "./definitions.ts";
import type { LastRefresh } from "./external_source.ts";

/** One change of the catalog. */
export type CatalogChange =
  | { readonly kind: "put_table"; readonly table: TableDefinition }
  | { readonly kind: "drop_table"; readonly tableId: number }
  | { readonly kind: "put_sequence"; readonly sequence: SequenceDefinition }
  | { readonly kind: "drop_sequence"; readonly sequenceId: number }
  | { readonly kind: "put_view"; readonly view: ViewDefinition }
  | { readonly kind: "drop_view"; readonly viewId: number }
  | { readonly kind: "put_schema"; readonly schema: SchemaDefinition }
  | { readonly kind: "drop_schema"; readonly schemaId: number }
  | { readonly kind: "put_enum"; readonly enumeration: EnumDefinition }
  | { readonly kind: "drop_enum"; readonly enumId: number }
  | { readonly kind: "put_function"; readonly function: UserFunctionDefinition }
  | { readonly kind: "drop_function"; readonly functionId: number }
  /** On an object without a definition of its own, such as `database`. */
  | { readonly kind: "set_comment"; readonly object: string; readonly comment: string | null }
  /** An external source has been read to its end. */
  | { readonly kind: "note_refresh"; readonly tableId: number; readonly refresh: LastRefresh }
  | { readonly kind: "set_setting"; readonly name: string; readonly value: string | null };
