/**
 * The shape of a system relation: its name, its object identifier and its columns with their types, read from the
 * compact lists next to this file; and the turning of named values into rows of that shape.
 *
 * Invariant: a row has a value for each column. Values that a provider leaves out are NULL where the column may be
 * NULL, and the type's zero otherwise, so that a client never meets a NULL that PostgreSQL rules out.
 */
import { assert, assertDefined } from "../base/assert.ts";
import { SqlArray } from "../types/sql_array.ts";
import type { SqlType } from "../types/sql_type.ts";
import type { SqlValue } from "../types/value.ts";
import { CATALOG_TABLE_SHAPES } from "./catalog_table_shapes.ts";
import { CATALOG_VIEW_SHAPES } from "./catalog_view_shapes.ts";
import { INFORMATION_SCHEMA_SHAPES } from "./information_schema_shapes.ts";

/** By relation name: the fixed object identifier (0: none), and the columns as text. */
export type RelationShapes = Readonly<Record<string, readonly [id: number, columns: string]>>;

/** A column of a system relation. */
export interface CatalogColumn {
  readonly name: string;
  readonly type: SqlType;
  /** Name of the type in pg_type, which may be one that the engine has no kind of its own for. */
  readonly typeName: string;
  readonly nullable: boolean;
}

/** A system relation without its rows. */
export interface CatalogShape {
  readonly id: number;
  readonly schema: "pg_catalog" | "information_schema";
  readonly name: string;
  readonly kind: "r" | "v";
  readonly columns: readonly CatalogColumn[];
  readonly positions: ReadonlyMap<string, number>;
}

/** Values of a row by column name. */
export type RowValues = Readonly<Record<string, SqlValue>>;

/** Object identifiers of relations without a fixed one begin here; PostgreSQL too numbers them when it is installed. */
const FIRST_VIEW_ID = 12000;

const TYPES: Readonly<Record<string, SqlType>> = {
  oid: { kind: "oid" },
  xid: { kind: "oid" },
  name: { kind: "name" },
  bool: { kind: "bool" },
  int2: { kind: "i16" },
  int4: { kind: "i32" },
  int8: { kind: "i64" },
  float4: { kind: "f32" },
  float8: { kind: "f64" },
  numeric: { kind: "numeric" },
  char: { kind: "internal_char" },
  text: { kind: "text" },
  varchar: { kind: "varchar" },
  bytea: { kind: "bytea" },
  interval: { kind: "interval" },
  timestamptz: { kind: "timestamptz" },
  regproc: { kind: "regproc" },
  regtype: { kind: "regtype" },
  int2vector: { kind: "array", element: { kind: "i16" }, vector: true },
  oidvector: { kind: "array", element: { kind: "oid" }, vector: true },
  inet: { kind: "text" },
  pg_lsn: { kind: "text" },
  pg_node_tree: { kind: "text" },
  pg_ndistinct: { kind: "text" },
  pg_dependencies: { kind: "text" },
  pg_mcv_list: { kind: "text" },
  anyarray: { kind: "array", element: { kind: "text" } },
  _aclitem: { kind: "array", element: { kind: "text" } },
  _pg_statistic: { kind: "array", element: { kind: "text" } },
};

function columnType(name: string): SqlType {
  const known = TYPES[name];
  if (known !== undefined) return known;
  assert(name.startsWith("_"), `catalog type ${name} is known`);
  return { kind: "array", element: columnType(name.slice(1)) };
}

function parseColumns(text: string, kind: "r" | "v"): CatalogColumn[] {
  return text.trim().split(/,\s+/).map((column) => {
    const [name = "", written = ""] = column.split(" ");
    const typeName = written.replace("?", "");
    return {
      name,
      typeName,
      type: columnType(typeName),
      nullable: kind === "v" || written.endsWith("?"),
    };
  });
}

function readShapes(): Map<string, CatalogShape> {
  const shapes = new Map<string, CatalogShape>();
  const lists = [
    ["pg_catalog", "r", CATALOG_TABLE_SHAPES],
    ["pg_catalog", "v", CATALOG_VIEW_SHAPES],
    ["information_schema", "v", INFORMATION_SCHEMA_SHAPES],
  ] as const;
  let nextId = FIRST_VIEW_ID;
  for (const [schema, kind, list] of lists) {
    for (const [name, [fixed, text]] of Object.entries(list)) {
      const columns = parseColumns(text, kind);
      shapes.set(`${schema}.${name}`, {
        id: fixed === 0 ? nextId++ : fixed,
        schema,
        name,
        kind,
        columns,
        positions: new Map(columns.map((column, index) => [column.name, index])),
      });
    }
  }
  return shapes;
}

/** All system relations by `schema.name`. */
export const CATALOG_SHAPES: ReadonlyMap<string, CatalogShape> = readShapes();

const byId = new Map([...CATALOG_SHAPES.values()].map((shape) => [shape.id, shape]));

/** The system relation with this object identifier. */
export function shapeById(id: number): CatalogShape | undefined {
  return byId.get(id);
}

/** The shape of a relation that must be there. */
export function shapeOf(name: string): CatalogShape {
  return assertDefined(CATALOG_SHAPES.get(name), `system relation ${name}`);
}

/** The values of a column that a provider left out. */
function blankValue(column: CatalogColumn): SqlValue {
  if (column.nullable) return null;
  switch (column.type.kind) {
    case "bool":
      return false;
    case "text":
    case "name":
    case "varchar":
    case "internal_char":
      return "";
    case "array":
      return SqlArray.EMPTY;
    case "interval":
    case "bytea":
    case "numeric":
      return null;
    default:
      return 0;
  }
}

const blankRows = new WeakMap<CatalogShape, readonly SqlValue[]>();

/** A row of the shape with these values; the others are blank (see the file's head). */
export function toRow(shape: CatalogShape, values: RowValues): SqlValue[] {
  let blank = blankRows.get(shape);
  if (blank === undefined) {
    blank = shape.columns.map(blankValue);
    blankRows.set(shape, blank);
  }
  const row = blank.slice();
  for (const name in values) {
    const position = shape.positions.get(name);
    assert(position !== undefined, `${shape.name} has a column ${name}`);
    const value = values[name];
    if (value !== undefined) row[position] = value;
  }
  return row;
}

/** An int2vector or oidvector: an array whose first index is 0. */
export function vector(numbers: readonly number[]): SqlArray {
  return numbers.length === 0 ? SqlArray.EMPTY : new SqlArray(numbers, [numbers.length], [0]);
}
