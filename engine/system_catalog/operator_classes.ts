/**
 * Index operator classes: every type is indexed in its one order, under the name and number that PostgreSQL gives the
 * default B-tree class of the type.
 */
import type { SqlType } from "../types/sql_type.ts";
import { ACCESS_METHOD, NAMESPACE, OWNER_ID } from "./object_ids.ts";
import { fixedRows, type RelationProviders } from "./relation_provider.ts";
import { catalogTypeId } from "./type_catalog.ts";

/** Type id, class, its number, its family's number. */
const CLASSES: readonly (readonly [typeId: number, name: string, id: number, family: number])[] = [
  [2277, "array_ops", 10000, 397],
  [16, "bool_ops", 10003, 424],
  [1042, "bpchar_ops", 10004, 426],
  [17, "bytea_ops", 10006, 428],
  [18, "char_ops", 10007, 429],
  [1082, "date_ops", 3122, 434],
  [700, "float4_ops", 10012, 1970],
  [701, "float8_ops", 3123, 1970],
  [21, "int2_ops", 1979, 1976],
  [23, "int4_ops", 1978, 1976],
  [20, "int8_ops", 3124, 1976],
  [1186, "interval_ops", 10022, 1982],
  [19, "name_ops", 10028, 1994],
  [1700, "numeric_ops", 3125, 1988],
  [26, "oid_ops", 1981, 1989],
  [2249, "record_ops", 10034, 2994],
  [25, "text_ops", 3126, 1994],
  [1083, "time_ops", 10038, 1996],
  [1184, "timestamptz_ops", 3127, 434],
  [1114, "timestamp_ops", 3128, 434],
  [2950, "uuid_ops", 10065, 2968],
  [3500, "enum_ops", 10069, 3522],
  [3802, "jsonb_ops", 10088, 4033],
  [9501, "i8_ops", 9521, 1976],
  [9502, "u8_ops", 9522, 1976],
  [9503, "u16_ops", 9523, 1976],
  [9504, "u32_ops", 9524, 1976],
  [9505, "u64_ops", 9525, 1976],
  [9506, "bytes_ops", 9526, 428],
];

const byType = new Map(CLASSES.map(([typeId, , id]) => [typeId, id]));

/** The default class of a type. */
export function operatorClassOf(type: SqlType): number {
  if (type.kind === "array") return byType.get(2277) ?? 0;
  if (type.kind === "varchar") return byType.get(25) ?? 0;
  return byType.get(catalogTypeId(type)) ?? 0;
}

const FAMILY_NAMES: ReadonlyMap<number, string> = new Map([
  [434, "datetime_ops"],
  [1970, "float_ops"],
  [1976, "integer_ops"],
  [1994, "text_ops"],
]);

/** Providers of pg_opclass and pg_opfamily. */
export const OPERATOR_CLASS_RELATIONS: RelationProviders = {
  pg_opclass: fixedRows(() =>
    CLASSES.map(([typeId, name, id, family]) => ({
      oid: id,
      opcmethod: ACCESS_METHOD.btree,
      opcname: name,
      opcnamespace: NAMESPACE.pgCatalog,
      opcowner: OWNER_ID,
      opcfamily: family,
      opcintype: typeId,
      opcdefault: true,
      opckeytype: 0,
    }))
  ),
  pg_opfamily: fixedRows(() => {
    const names = new Map<number, string>();
    for (const [, name, , family] of CLASSES) {
      if (!names.has(family)) names.set(family, FAMILY_NAMES.get(family) ?? name);
    }
    return [...names].map(([oid, name]) => ({
      oid,
      opfmethod: ACCESS_METHOD.btree,
      opfname: name,
      opfnamespace: NAMESPACE.pgCatalog,
      opfowner: OWNER_ID,
    }));
  }),
};
