/**
 * pg_proc, pg_operator, pg_aggregate, pg_cast and pg_language, from the registry of built-in functions.
 *
 * Numbers are given in the order of the registry, so that they hold for one version of the program only; nothing is
 * stored with them. Equality operators have PostgreSQL's numbers, because drivers look for them in foreign keys.
 */
import { DatabaseError } from "../base/errors.ts";
import type { AggregateDefinition, FunctionDefinition } from "../sql/functions/definition.ts";
import { allDefinitions } from "../sql/functions/registry.ts";
import { castContextOf, displayName, typeOfKey } from "../sql/functions/type_family.ts";
import { SqlArray } from "../types/sql_array.ts";
import type { SqlType } from "../types/sql_type.ts";
import { LANGUAGE, NAMESPACE, OWNER_ID } from "./object_ids.ts";
import { fixedRows, type RelationProviders } from "./relation_provider.ts";
import { type RowValues, vector } from "./relation_shape.ts";
import {
  BUILT_IN_TYPES,
  builtInTypeId,
  catalogTypeId,
  TYPE_FUNCTION_NAMES,
  typeFunctionId,
} from "./type_catalog.ts";

/** A function, aggregate or window function as pg_proc shows it. */
export interface RoutineEntry {
  readonly id: number;
  readonly name: string;
  /** `f`: function, `a`: aggregate, `w`: window function. */
  readonly kind: "f" | "a" | "w";
  /** Type keys of the parameters; the last one of a variadic one is an array, or `any`. */
  readonly signature: readonly string[];
  readonly returns: string;
  readonly variadic: boolean;
  readonly returnsSet: boolean;
  readonly volatility: "i" | "s" | "v";
  readonly strict: boolean;
  readonly summary: string;
}

const FIRST_ROUTINE_ID = 10_000;
const FIRST_OPERATOR_ID = 10_000;
const FIRST_CAST_ID = 10_000;

const PATTERNS: Readonly<Record<string, string>> = {
  any: "any",
  anyelement: "anyelement",
  anyarray: "anyarray",
  anynonarray: "anynonarray",
  anyenum: "anyenum",
};

/** The number of the type that a key of the registry stands for. */
function keyTypeId(key: string): number {
  const type = typeOfKey(key);
  if (type !== undefined) return catalogTypeId(type);
  return builtInTypeId(PATTERNS[key] ?? (key.includes("array") ? "anyarray" : "anyelement"));
}

/** What binding the overload to its own parameters says about it. */
function properties(
  definition: FunctionDefinition,
): Pick<RoutineEntry, "volatility" | "strict" | "returnsSet"> {
  const types = definition.signature.map((key): SqlType =>
    typeOfKey(key) ?? (key.includes("array") ? { kind: "array", element: { kind: "i32" } } : { kind: "i32" })
  );
  const isSet = definition.category === "set-returning";
  let bound;
  try {
    bound = definition.bind(types)?.bound;
  } catch (error) {
    // Some overloads refuse the stand-ins for their patterns; nothing more is known of them then.
    if (!(error instanceof DatabaseError)) throw error;
  }
  if (bound === undefined) return { volatility: "s", strict: true, returnsSet: isSet };
  return {
    volatility: bound.volatility === "immutable" ? "i" : bound.volatility === "stable" ? "s" : "v",
    strict: bound.strict,
    returnsSet: bound.rows !== undefined || isSet,
  };
}

const WINDOW_FUNCTIONS: readonly (readonly [name: string, signature: readonly string[], returns: string])[] =
  [
    ["row_number", [], "i64"],
    ["rank", [], "i64"],
    ["dense_rank", [], "i64"],
    ["percent_rank", [], "f64"],
    ["cume_dist", [], "f64"],
    ["ntile", ["i32"], "i32"],
    ["lag", ["anyelement"], "anyelement"],
    ["lag", ["anyelement", "i32"], "anyelement"],
    ["lag", ["anyelement", "i32", "anyelement"], "anyelement"],
    ["lead", ["anyelement"], "anyelement"],
    ["lead", ["anyelement", "i32"], "anyelement"],
    ["lead", ["anyelement", "i32", "anyelement"], "anyelement"],
    ["first_value", ["anyelement"], "anyelement"],
    ["last_value", ["anyelement"], "anyelement"],
    ["nth_value", ["anyelement", "i32"], "anyelement"],
  ];

let routineList: readonly RoutineEntry[] | null = null;
let byId: ReadonlyMap<number, RoutineEntry> | null = null;
let byName: ReadonlyMap<string, readonly RoutineEntry[]> | null = null;

/** All functions that can be called, aggregates and window functions. */
export function routines(): readonly RoutineEntry[] {
  routineList ??= listRoutines();
  return routineList;
}

function listRoutines(): RoutineEntry[] {
  const { functions, aggregates } = allDefinitions();
  const seen = new Set<string>();
  const result: RoutineEntry[] = [];
  const add = (entry: Omit<RoutineEntry, "id">): void => {
    const key = `${entry.name}(${entry.signature.map(keyTypeId).join()})${entry.variadic}`;
    if (seen.has(key)) return;
    seen.add(key);
    result.push({ id: FIRST_ROUTINE_ID + result.length, ...entry });
  };
  for (const definition of functions) {
    add({
      name: definition.name,
      kind: "f",
      signature: definition.spread?.signature ?? definition.signature,
      returns: definition.returns,
      variadic: definition.variadic === true,
      summary: definition.summary,
      ...properties(definition),
    });
  }
  for (const definition of aggregates) add(aggregateEntry(definition));
  for (const [name, signature, returns] of WINDOW_FUNCTIONS) {
    add({
      name,
      kind: "w",
      signature,
      returns,
      variadic: false,
      returnsSet: false,
      volatility: "i",
      strict: false,
      summary: "A window function.",
    });
  }
  return result;
}

function aggregateEntry(definition: AggregateDefinition): Omit<RoutineEntry, "id"> {
  return {
    name: definition.name,
    kind: "a",
    signature: definition.signature,
    returns: definition.returns,
    variadic: false,
    returnsSet: false,
    volatility: "i",
    strict: false,
    summary: definition.summary,
  };
}

/** The routine of a number. */
export function routineById(id: number): RoutineEntry | undefined {
  byId ??= new Map(routines().map((each) => [each.id, each]));
  return byId.get(id);
}

/** All routines of a name. */
export function routinesNamed(name: string): readonly RoutineEntry[] {
  byName ??= Map.groupBy(routines(), (each) => each.name);
  return byName.get(name) ?? [];
}

/** The name of a function by number, those of types included. */
export function routineName(id: number): string | undefined {
  return routineById(id)?.name ?? TYPE_FUNCTION_NAMES.find((name) => typeFunctionId(name) === id);
}

/** The arguments of a routine as `\df` shows them. */
export function argumentsText(routine: RoutineEntry): string {
  return routine.signature.map((key, index) =>
    routine.variadic && index === routine.signature.length - 1
      ? `VARIADIC ${displayName(key)}`
      : displayName(key)
  ).join(", ");
}

/** The result of a routine as `\df` shows it. */
export function resultText(routine: RoutineEntry): string {
  return `${routine.returnsSet ? "SETOF " : ""}${displayName(routine.returns)}`;
}

function routineRow(routine: RoutineEntry): RowValues {
  const { signature } = routine;
  const last = signature.at(-1) ?? "any";
  return {
    oid: routine.id,
    proname: routine.name,
    pronamespace: NAMESPACE.pgCatalog,
    proowner: OWNER_ID,
    prolang: LANGUAGE.internal,
    procost: 1,
    prorows: routine.returnsSet ? 1000 : 0,
    provariadic: routine.variadic ? keyTypeId(last.replace(/\[\]$/, "")) : 0,
    prokind: routine.kind,
    proisstrict: routine.strict,
    proretset: routine.returnsSet,
    provolatile: routine.volatility,
    proparallel: "s",
    pronargs: routine.signature.length,
    prorettype: keyTypeId(routine.returns),
    proargtypes: vector(signature.map(keyTypeId)),
    proallargtypes: routine.variadic ? SqlArray.of(signature.map(keyTypeId)) : null,
    proargmodes: routine.variadic
      ? SqlArray.of(signature.map((_, index) => index === signature.length - 1 ? "v" : "i"))
      : null,
    prosrc: routine.name,
  };
}

function typeFunctionRow(name: string): RowValues {
  const isInput = name.endsWith("in") || name.endsWith("recv");
  return {
    oid: typeFunctionId(name),
    proname: name,
    pronamespace: NAMESPACE.pgCatalog,
    proowner: OWNER_ID,
    prolang: LANGUAGE.internal,
    procost: 1,
    prokind: "f",
    proisstrict: true,
    provolatile: "i",
    proparallel: "s",
    pronargs: 1,
    prorettype: builtInTypeId(isInput ? "internal" : "cstring"),
    proargtypes: vector([builtInTypeId(isInput ? "cstring" : "internal")]),
    prosrc: name,
  };
}

/** `=` of a type: type id and operator number, as in PostgreSQL. */
const EQUALITY: ReadonlyMap<number, number> = new Map([
  [16, 91],
  [17, 1955],
  [18, 92],
  [19, 93],
  [20, 410],
  [21, 94],
  [23, 96],
  [25, 98],
  [26, 607],
  [700, 620],
  [701, 670],
  [1042, 1054],
  [1082, 1093],
  [1083, 1108],
  [1114, 2060],
  [1184, 1320],
  [1186, 1330],
  [1700, 1752],
  [2249, 2988],
  [2277, 1070],
  [2950, 2972],
  [3802, 3240],
]);

/** The number of `=` between two values of a type. */
export function equalityOperatorId(type: SqlType): number {
  const id = type.kind === "varchar" ? 25 : type.kind === "array" ? 2277 : catalogTypeId(type);
  return EQUALITY.get(id) ?? operatorIds().get(`=\u0000${id}\u0000${id}`) ?? 0;
}

interface OperatorEntry {
  readonly id: number;
  readonly name: string;
  readonly left: number;
  readonly right: number;
  readonly result: number;
}

let operatorList: readonly OperatorEntry[] | null = null;

function listOperators(): readonly OperatorEntry[] {
  if (operatorList !== null) return operatorList;
  const result = new Map<string, OperatorEntry>();
  for (const definition of allDefinitions().operators) {
    const [first = "any", second] = definition.signature;
    const left = second === undefined ? 0 : keyTypeId(first);
    const right = keyTypeId(second ?? first);
    const key = `${definition.name}\u0000${left}\u0000${right}`;
    if (result.has(key)) continue;
    const known = definition.name === "=" && left === right ? EQUALITY.get(left) : undefined;
    result.set(key, {
      id: known ?? FIRST_OPERATOR_ID + result.size,
      name: definition.name,
      left,
      right,
      result: keyTypeId(definition.returns),
    });
  }
  operatorList = [...result.values()];
  return operatorList;
}

let operatorNumbers: ReadonlyMap<string, number> | null = null;

function operatorIds(): ReadonlyMap<string, number> {
  operatorNumbers ??= new Map(
    listOperators().map((each) => [`${each.name}\u0000${each.left}\u0000${each.right}`, each.id]),
  );
  return operatorNumbers;
}

function* castRows(): Iterable<RowValues> {
  const keys = new Map<string, number>();
  for (const type of BUILT_IN_TYPES) {
    if (type.kind === "p" || type.elementId !== 0) continue;
    const key = REGISTRY_KEYS[type.name] ?? type.name;
    if (typeOfKey(key) !== undefined) keys.set(key, type.id);
  }
  const textual = new Set(["text", "varchar", "char", "name"]);
  let id = FIRST_CAST_ID;
  for (const [from, source] of keys) {
    for (const [to, target] of keys) {
      if (from === to || (textual.has(from) !== textual.has(to))) continue;
      const context = castContextOf(from, to);
      if (context === undefined) continue;
      yield {
        oid: id++,
        castsource: source,
        casttarget: target,
        castcontext: context === "implicit" ? "i" : context === "assignment" ? "a" : "e",
        castmethod: textual.has(from) ? "b" : "f",
      };
    }
  }
}

/** Keys of the registry for names of pg_type that differ from them. */
const REGISTRY_KEYS: Readonly<Record<string, string>> = {
  int2: "i16",
  int4: "i32",
  int8: "i64",
  float4: "f32",
  float8: "f64",
  bpchar: "char",
  char: "internal_char",
};

let builtInRows: readonly RowValues[] | null = null;

/** Rows of pg_proc that are built in. */
export function builtInRoutineRows(): readonly RowValues[] {
  return builtInRows ??= [...routines().map(routineRow), ...TYPE_FUNCTION_NAMES.map(typeFunctionRow)];
}

/** Providers of the relations about routines. */
export const ROUTINE_RELATIONS: RelationProviders = {
  pg_aggregate: fixedRows(() =>
    routines().filter((each) => each.kind === "a").map((each) => ({
      aggfnoid: each.id,
      aggkind: "n",
      aggfinalmodify: "r",
      aggmfinalmodify: "r",
      aggtranstype: builtInTypeId("internal"),
    }))
  ),
  pg_operator: fixedRows(() =>
    listOperators().map((each) => ({
      oid: each.id,
      oprname: each.name,
      oprnamespace: NAMESPACE.pgCatalog,
      oprowner: OWNER_ID,
      oprkind: each.left === 0 ? "l" : "b",
      oprcanmerge: each.name === "=",
      oprcanhash: each.name === "=",
      oprleft: each.left,
      oprright: each.right,
      oprresult: each.result,
    }))
  ),
  pg_cast: fixedRows(castRows),
  pg_language: fixedRows(() =>
    ([["internal", LANGUAGE.internal, false], ["c", LANGUAGE.c, false], ["sql", LANGUAGE.sql, true], [
      "wasm",
      LANGUAGE.wasm,
      true,
    ]] as const).map(([lanname, oid, trusted]) => ({
      oid,
      lanname,
      lanowner: OWNER_ID,
      lanispl: lanname === "wasm",
      lanpltrusted: trusted,
    }))
  ),
};

/** SQL text that would be a built-in function's definition. */
export function functionDefinition(routine: RoutineEntry): string {
  const volatility = routine.volatility === "i" ? " IMMUTABLE" : routine.volatility === "s" ? " STABLE" : "";
  return `CREATE OR REPLACE FUNCTION pg_catalog.${routine.name}(${argumentsText(routine)})\n RETURNS ${
    resultText(routine)
  }\n LANGUAGE internal\n${volatility} PARALLEL SAFE${
    routine.strict ? " STRICT" : ""
  }\nAS $function$${routine.name}$function$\n`;
}
