/** User-defined functions as pg_proc, information_schema and the functions on functions show them. */
import { LIMITS } from "../base/limits.ts";
import type { UserFunctionDefinition } from "../catalog/definitions.ts";
import { typeKey } from "../sql/functions/type_family.ts";
import { quoteIdentifier } from "../sql/parser/keywords.ts";
import { SqlArray } from "../types/sql_array.ts";
import { formatTypeFamily } from "../types/type_names.ts";
import type { CatalogContext } from "./catalog_context.ts";
import { LANGUAGE, OWNER_ID } from "./object_ids.ts";
import { type RowValues, vector } from "./relation_shape.ts";
import { routineById, type RoutineEntry, routineName, routinesNamed } from "./routine_catalog.ts";
import { catalogTypeId, typeFunctionId } from "./type_catalog.ts";

/** The user-defined function of a number. */
export function userFunctionById(
  { catalog }: Pick<CatalogContext, "catalog">,
  id: number,
): UserFunctionDefinition | undefined {
  return catalog.functions.find((each) => each.id === id);
}

/** Rows of pg_proc. */
export function userRoutineRows({ catalog }: CatalogContext): RowValues[] {
  return catalog.functions.map((each) => ({
    oid: each.id,
    proname: each.name,
    pronamespace: catalog.schema(each.schema)?.id ?? 0,
    proowner: OWNER_ID,
    prolang: LANGUAGE.wasm,
    procost: 1,
    prokind: "f",
    proisstrict: each.strict,
    provolatile: "i",
    proparallel: "s",
    pronargs: each.parameters.length,
    prorettype: catalogTypeId(each.returns),
    proargtypes: vector(each.parameters.map(({ type }) => catalogTypeId(type))),
    proargnames: each.parameters.every(({ name }) => name === null)
      ? null
      : SqlArray.of(each.parameters.map(({ name }) => name ?? "")),
    // So that dumps keep it: pg_dump writes settings of a function, and knows nothing of GAS.
    proconfig: each.gas === LIMITS.wasmGas ? null : SqlArray.of([`gas=${each.gas}`]),
    prosrc: each.exportName,
    probin: moduleText(each),
  }));
}

function moduleText({ module }: UserFunctionDefinition): string {
  return `\\x${Uint8Array.fromBase64(module).toHex()}`;
}

/** The arguments of a function as `\df` shows them. */
export function userArgumentsText({ parameters }: UserFunctionDefinition): string {
  return parameters.map(({ name, type }) =>
    `${name === null ? "" : `${quoteIdentifier(name)} `}${formatTypeFamily(type)}`
  ).join(", ");
}

/** The statement that makes the function; it can be run as it is. */
export function userFunctionText(definition: UserFunctionDefinition): string {
  const { schema, name, returns, strict, exportName, gas } = definition;
  return `CREATE OR REPLACE FUNCTION ${quoteIdentifier(schema)}.${quoteIdentifier(name)}(${
    userArgumentsText(definition)
  })\n RETURNS ${formatTypeFamily(returns)}\n LANGUAGE wasm\n IMMUTABLE ${
    strict ? "STRICT" : "CALLED ON NULL INPUT"
  }\nAS '${moduleText(definition)}' EXPORT '${exportName.replaceAll("'", "''")}' GAS ${gas}\n`;
}

/** What is known of a routine by its number, built in or not. */
export function anyRoutine(
  context: Pick<CatalogContext, "catalog">,
  id: number,
): Pick<RoutineEntry, "name" | "signature" | "summary"> | undefined {
  const own = userFunctionById(context, id);
  if (own === undefined) return routineById(id);
  return {
    name: own.name,
    signature: own.parameters.map(({ type }) => typeKey(type)),
    summary: own.comment ?? "",
  };
}

/** All routines of a name along the search path, built in or not. */
export function anyRoutinesNamed(
  { catalog, searchPath }: CatalogContext,
  name: string,
  schema?: string,
): readonly Pick<RoutineEntry, "id" | "signature">[] {
  const own = catalog.functionsNamed(name, schema === undefined ? searchPath : [schema]).map((each) => ({
    id: each.id,
    signature: each.parameters.map(({ type }) => typeKey(type)),
  }));
  return schema === undefined || schema === "pg_catalog" ? [...routinesNamed(name), ...own] : own;
}

/** The name of a function by number, those of types included; with its schema when the path does not find it. */
export function anyRoutineName(context: CatalogContext, id: number): string | undefined {
  const own = userFunctionById(context, id);
  if (own === undefined) return routineName(id);
  const name = quoteIdentifier(own.name);
  return isFunctionVisible(context, id) === true ? name : `${quoteIdentifier(own.schema)}.${name}`;
}

/** Whether a function is found without its schema; null when there is no such function. */
export function isFunctionVisible(context: CatalogContext, id: number): boolean | null {
  const own = userFunctionById(context, id);
  if (own === undefined) return routineName(id) === undefined ? null : true;
  return context.catalog.functionsNamed(own.name, context.searchPath).some((each) => each.id === id);
}

/** The number of a type's own function (`textin`); undefined: the name is none of one. */
export function typeFunctionNamed(name: string): number | undefined {
  const known = typeFunctionId(name);
  return known === 0 ? undefined : known;
}
