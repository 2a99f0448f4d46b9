/**
 * pg_type and what belongs to it: every type of the engine with PostgreSQL's numbers, their array types, the native
 * types with numbers of their own, pseudo-types, enumerated types, and how a column's type is shown in pg_attribute.
 *
 * Native types (`u32` …) carry numbers below 16384 that PostgreSQL leaves free. Results on the wire name the next wider
 * PostgreSQL type instead (see `engine/types/type_names.ts`), because drivers know no others.
 */
import { assertDefined } from "../base/assert.ts";
import type { EnumDefinition } from "../catalog/definitions.ts";
import type { SqlType } from "../types/sql_type.ts";
import {
  catalogTypeName,
  ENUM_ARRAY_OFFSET,
  formatType,
  typeByOid,
  typeModifier,
  typeOid,
} from "../types/type_names.ts";
import type { CatalogContext } from "./catalog_context.ts";
import { COLLATION, NAMESPACE, OWNER_ID } from "./object_ids.ts";
import { catalogRows, fixedRows, type RelationProviders } from "./relation_provider.ts";
import type { RowValues } from "./relation_shape.ts";

/** A row of pg_type in short. */
export interface TypeEntry {
  readonly id: number;
  readonly name: string;
  /** SQL's spelling, as format_type prints it. */
  readonly display: string;
  readonly length: number;
  readonly byValue: boolean;
  /** `b`: base, `p`: pseudo, `e`: enumerated. */
  readonly kind: "b" | "p" | "e";
  readonly category: string;
  readonly preferred: boolean;
  readonly elementId: number;
  readonly arrayId: number;
  /** The stem of its input and output functions, such as `int4` of `int4in`; arrays share `array_`. */
  readonly functions: string;
  readonly modifierFunctions: boolean;
  readonly align: string;
  readonly storage: string;
  readonly collation: number;
  readonly schemaId: number;
}

/** Name, id, array id, length, by value, category, functions' stem, alignment, storage, then flags. */
type Line = readonly [
  name: string,
  id: number,
  arrayId: number,
  length: number,
  category: string,
  functions: string,
  align: string,
  storage: string,
  flags?: "preferred" | "modifier" | "preferred modifier",
];

const BASE: readonly Line[] = [
  ["bool", 16, 1000, 1, "B", "bool", "c", "p", "preferred"],
  ["bytea", 17, 1001, -1, "U", "bytea", "i", "x"],
  ["char", 18, 1002, 1, "Z", "char", "c", "p"],
  ["name", 19, 1003, 64, "S", "name", "c", "p"],
  ["int8", 20, 1016, 8, "N", "int8", "d", "p"],
  ["int2", 21, 1005, 2, "N", "int2", "s", "p"],
  ["int4", 23, 1007, 4, "N", "int4", "i", "p"],
  ["regproc", 24, 1008, 4, "N", "regproc", "i", "p"],
  ["text", 25, 1009, -1, "S", "text", "i", "x", "preferred"],
  ["oid", 26, 1028, 4, "N", "oid", "i", "p", "preferred"],
  ["tid", 27, 1010, 6, "U", "tid", "s", "p"],
  ["xid", 28, 1011, 4, "U", "xid", "i", "p"],
  ["cid", 29, 1012, 4, "U", "cid", "i", "p"],
  ["json", 114, 199, -1, "U", "json_", "i", "x"],
  ["float4", 700, 1021, 4, "N", "float4", "i", "p"],
  ["float8", 701, 1022, 8, "N", "float8", "d", "p", "preferred"],
  ["inet", 869, 1041, -1, "I", "inet_", "i", "m", "preferred"],
  ["aclitem", 1033, 1034, 12, "U", "aclitem", "i", "p"],
  ["bpchar", 1042, 1014, -1, "S", "bpchar", "i", "x", "modifier"],
  ["varchar", 1043, 1015, -1, "S", "varchar", "i", "x", "modifier"],
  ["date", 1082, 1182, 4, "D", "date_", "i", "p"],
  ["time", 1083, 1183, 8, "D", "time_", "d", "p", "modifier"],
  ["timestamp", 1114, 1115, 8, "D", "timestamp_", "d", "p", "modifier"],
  ["timestamptz", 1184, 1185, 8, "D", "timestamptz_", "d", "p", "preferred modifier"],
  ["interval", 1186, 1187, 16, "T", "interval_", "d", "p", "preferred modifier"],
  ["numeric", 1700, 1231, -1, "N", "numeric_", "i", "m", "modifier"],
  ["regclass", 2205, 2210, 4, "N", "regclass", "i", "p"],
  ["regtype", 2206, 2211, 4, "N", "regtype", "i", "p"],
  ["uuid", 2950, 2951, 16, "U", "uuid_", "c", "p"],
  ["pg_lsn", 3220, 3221, 8, "U", "pg_lsn_", "d", "p"],
  ["jsonb", 3802, 3807, -1, "U", "jsonb_", "i", "x"],
  ["jsonpath", 4072, 4073, -1, "U", "jsonpath_", "i", "x"],
  ["regnamespace", 4089, 4090, 4, "N", "regnamespace", "i", "p"],
  ["pg_node_tree", 194, 0, -1, "Z", "pg_node_tree_", "i", "x"],
  ["i8", 9501, 9511, 1, "N", "i8", "c", "p"],
  ["u8", 9502, 9512, 1, "N", "u8", "c", "p"],
  ["u16", 9503, 9513, 2, "N", "u16", "s", "p"],
  ["u32", 9504, 9514, 4, "N", "u32", "i", "p"],
  ["u64", 9505, 9515, 8, "N", "u64", "d", "p"],
  ["bytes", 9506, 9516, -1, "U", "bytes", "i", "x", "modifier"],
];

const PSEUDO: readonly Line[] = [
  ["unknown", 705, 0, -2, "X", "unknown", "c", "p"],
  ["record", 2249, 2287, -1, "P", "record_", "d", "x"],
  ["cstring", 2275, 1263, -2, "P", "cstring_", "c", "p"],
  ["any", 2276, 0, 4, "P", "any_", "i", "p"],
  ["anyarray", 2277, 0, -1, "P", "anyarray_", "d", "x"],
  ["void", 2278, 0, 4, "P", "void_", "i", "p"],
  ["trigger", 2279, 0, 4, "P", "trigger_", "i", "p"],
  ["internal", 2281, 0, 8, "P", "internal_", "d", "p"],
  ["anyelement", 2283, 0, 4, "P", "anyelement_", "i", "p"],
  ["anynonarray", 2776, 0, 4, "P", "anynonarray_", "i", "p"],
  ["anyenum", 3500, 0, 4, "P", "anyenum_", "i", "p"],
  ["event_trigger", 3838, 0, 4, "P", "event_trigger_", "i", "p"],
];

const VECTORS: readonly (readonly [name: string, id: number, elementId: number])[] = [
  ["int2vector", 22, 21],
  ["oidvector", 30, 26],
];

const BY_REFERENCE = new Set(["name", "tid", "interval", "uuid", "aclitem"]);
const COLLATIONS: ReadonlyMap<string, number> = new Map([
  ["name", COLLATION.c],
  ["text", COLLATION.default],
  ["bpchar", COLLATION.default],
  ["varchar", COLLATION.default],
  ["pg_node_tree", COLLATION.default],
]);

function entry(line: Line, kind: "b" | "p"): TypeEntry {
  const [name, id, arrayId, length, category, functions, align, storage, flags = ""] = line;
  const known = typeByOid(id);
  return {
    id,
    name,
    display: name === "any"
      ? '"any"'
      : name === "bpchar"
      ? "character"
      : known === undefined
      ? name
      : formatType(known),
    length,
    byValue: length > 0 && length <= 8 && !BY_REFERENCE.has(name),
    kind,
    category,
    preferred: flags.includes("preferred"),
    elementId: name === "name" ? 18 : 0,
    arrayId,
    functions,
    modifierFunctions: flags.includes("modifier"),
    align,
    storage,
    collation: COLLATIONS.get(name) ?? 0,
    schemaId: NAMESPACE.pgCatalog,
  };
}

/** The array type of a type that has one. */
function arrayOf(element: TypeEntry): TypeEntry {
  return {
    ...element,
    id: element.arrayId,
    name: `_${element.name}`,
    display: `${element.display}[]`,
    length: -1,
    byValue: false,
    kind: element.name === "record" || element.name === "cstring" ? "p" : "b",
    category: element.kind === "p" ? "P" : "A",
    preferred: false,
    elementId: element.id,
    arrayId: 0,
    functions: "array_",
    align: element.align === "d" ? "d" : "i",
    storage: "x",
  };
}

function builtInTypes(): TypeEntry[] {
  const scalars = [...BASE.map((line) => entry(line, "b")), ...PSEUDO.map((line) => entry(line, "p"))];
  const vectors = VECTORS.map(([name, id, elementId]): TypeEntry => ({
    ...entry([name, id, 0, -1, "A", name, "i", "p"], "b"),
    display: name,
    elementId,
  }));
  const arrays = scalars.filter((each) => each.arrayId !== 0).map(arrayOf);
  return [...scalars, ...vectors, ...arrays].sort((left, right) => left.id - right.id);
}

/** All types that every database has, by number. */
export const BUILT_IN_TYPES: readonly TypeEntry[] = builtInTypes();

const builtInById = new Map(BUILT_IN_TYPES.map((each) => [each.id, each]));
const builtInByName = new Map(BUILT_IN_TYPES.map((each) => [each.name, each]));

/** The number of a type by its name in pg_type. */
export function builtInTypeId(name: string): number {
  return assertDefined(builtInByName.get(name), `type ${name}`).id;
}

/** Numbers of the native types; other types have PostgreSQL's. */
const NATIVE = new Set(["i8", "u8", "u16", "u32", "u64", "bytes"]);

/** The number under which the catalog shows a column's type: native types have their own. */
export function catalogTypeId(type: SqlType): number {
  if (type.kind === "array" && type.vector !== true) {
    const element = builtInById.get(catalogTypeId(type.element));
    return element === undefined ? typeOid(type) : element.arrayId;
  }
  return NATIVE.has(type.kind) ? builtInTypeId(type.kind) : typeOid(type);
}

/** `atttypmod`: bytes(n) too has its length there. */
export function catalogTypeModifier(type: SqlType): number {
  if (type.kind === "bytes") return type.length + 4;
  return type.kind === "char" && type.length >= 10_485_760 ? -1 : typeModifier(type);
}

/** The name of a column's type in pg_type, `udt_name` of the information schema. */
export function catalogTypeNameOf(type: SqlType): string {
  return builtInById.get(catalogTypeId(type))?.name ?? catalogTypeName(type);
}

/** The values of pg_attribute that follow from a type. */
export function attributeTypeValues(type: SqlType): RowValues {
  const known = builtInById.get(catalogTypeId(type));
  const isEnum = type.kind === "enum";
  return {
    atttypid: catalogTypeId(type),
    attlen: known?.length ?? (isEnum ? 4 : -1),
    attndims: type.kind === "array" ? 1 : 0,
    atttypmod: catalogTypeModifier(type),
    attbyval: known?.byValue ?? isEnum,
    attalign: known?.align ?? "i",
    attstorage: known?.storage ?? (isEnum ? "p" : "x"),
    attcollation: known?.collation ?? 0,
  };
}

function enumEntry(context: CatalogContext, definition: EnumDefinition): TypeEntry {
  return {
    id: definition.id,
    name: definition.name,
    display: definition.name,
    length: 4,
    byValue: true,
    kind: "e",
    category: "E",
    preferred: false,
    elementId: 0,
    arrayId: definition.id + ENUM_ARRAY_OFFSET,
    functions: "enum_",
    modifierFunctions: false,
    align: "i",
    storage: "p",
    collation: 0,
    schemaId: context.catalog.schema(definition.schema)?.id ?? 0,
  };
}

/** All types that the session can name, enumerated ones included. */
export function allTypes(context: CatalogContext): TypeEntry[] {
  const enums = context.catalog.enums.flatMap((definition) => {
    const own = enumEntry(context, definition);
    return [own, arrayOf(own)];
  });
  return enums.length === 0 ? [...BUILT_IN_TYPES] : [...BUILT_IN_TYPES, ...enums];
}

/** The type of a number. */
export function typeEntryById(context: CatalogContext, id: number): TypeEntry | undefined {
  return builtInById.get(id) ?? allTypes(context).find((each) => each.id === id);
}

/** The names of the input, output, receive and send functions of a type. */
export function typeFunctionNames(type: TypeEntry): readonly [string, string, string, string] {
  const stem = type.functions;
  return [`${stem}in`, `${stem}out`, `${stem}recv`, `${stem}send`];
}

/** Built-in functions that only types refer to; they have rows in pg_proc, and cannot be called. */
export const TYPE_FUNCTION_NAMES: readonly string[] = [
  ...new Set([
    ...BUILT_IN_TYPES.flatMap((type) => [
      ...typeFunctionNames(type),
      ...(type.modifierFunctions ? [`${modifierStem(type)}typmodin`, `${modifierStem(type)}typmodout`] : []),
    ]),
    "enum_in",
    "enum_out",
    "enum_recv",
    "enum_send",
    "array_subscript_handler",
    "raw_array_subscript_handler",
    "jsonb_subscript_handler",
    "array_typanalyze",
    "heap_tableam_handler",
    "bthandler",
  ]),
];

function modifierStem(type: TypeEntry): string {
  return (type.name.startsWith("_") ? type.name.slice(1) : type.name);
}

/** The first number of {@link TYPE_FUNCTION_NAMES} in pg_proc. */
export const FIRST_TYPE_FUNCTION_ID = 8700;

const functionIds = new Map(TYPE_FUNCTION_NAMES.map((name, index) => [name, FIRST_TYPE_FUNCTION_ID + index]));

/** The number of one of {@link TYPE_FUNCTION_NAMES}, or 0. */
export function typeFunctionId(name: string): number {
  return functionIds.get(name) ?? 0;
}

function subscriptHandler(type: TypeEntry): string {
  if (type.elementId === 0) return type.name === "jsonb" ? "jsonb_subscript_handler" : "";
  return type.length > 0 ? "raw_array_subscript_handler" : "array_subscript_handler";
}

function typeRow(type: TypeEntry): RowValues {
  const [input, output, receive, send] = typeFunctionNames(type);
  const modifier = type.modifierFunctions ? modifierStem(type) : null;
  return {
    oid: type.id,
    typname: type.name,
    typnamespace: type.schemaId,
    typowner: OWNER_ID,
    typlen: type.length,
    typbyval: type.byValue,
    typtype: type.kind,
    typcategory: type.category,
    typispreferred: type.preferred,
    typisdefined: true,
    typdelim: ",",
    typsubscript: typeFunctionId(subscriptHandler(type)),
    typelem: type.elementId,
    typarray: type.arrayId,
    typinput: typeFunctionId(input),
    typoutput: typeFunctionId(output),
    typreceive: typeFunctionId(receive),
    typsend: typeFunctionId(send),
    typmodin: modifier === null ? 0 : typeFunctionId(`${modifier}typmodin`),
    typmodout: modifier === null ? 0 : typeFunctionId(`${modifier}typmodout`),
    typanalyze: type.functions === "array_" ? typeFunctionId("array_typanalyze") : 0,
    typalign: type.align,
    typstorage: type.storage,
    typtypmod: -1,
    typcollation: type.collation,
  };
}

/** Providers of the relations about types. */
export const TYPE_RELATIONS: RelationProviders = {
  pg_type: catalogRows((context) => allTypes(context).map(typeRow)),
  pg_enum: catalogRows((context) =>
    context.catalog.enums.flatMap((definition) =>
      definition.labels.map((label, index) => ({
        oid: definition.id * 1000 % 0x7fff_ffff + index,
        enumtypid: definition.id,
        enumsortorder: index + 1,
        enumlabel: label,
      }))
    )
  ),
  pg_collation: fixedRows(() =>
    ([["default", COLLATION.default, "d", null], ["C", COLLATION.c, "c", "C"], [
      "POSIX",
      COLLATION.posix,
      "c",
      "POSIX",
    ]] as const).map(([name, oid, provider, locale]) => ({
      oid,
      collname: name,
      collnamespace: NAMESPACE.pgCatalog,
      collowner: OWNER_ID,
      collprovider: provider,
      collisdeterministic: true,
      collencoding: -1,
      collcollate: locale,
      collctype: locale,
    }))
  ),
};
