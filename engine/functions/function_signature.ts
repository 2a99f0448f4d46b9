/**
 * Which export of a module fits a function's SQL signature, and what is wrong when none does.
 */
import { closest } from "../base/suggest.ts";
import type { UserFunctionDefinition } from "../catalog/definitions.ts";
import type { SqlType } from "../types/sql_type.ts";
import { formatTypeFamily } from "../types/type_names.ts";
import { elementLayout } from "./array_passing.ts";
import { scalarTypes, type WasmType } from "./value_passing.ts";

/** The type of an exported function. */
export interface ExportType {
  readonly parameters: readonly WasmType[];
  readonly results: readonly WasmType[];
}

/** How one value travels. */
export interface PassedValue {
  readonly type: SqlType;
  /** The type of a scalar; null: through memory. */
  readonly scalar: WasmType | null;
  /** Whether a number before it says that it is not NULL; results through memory need none. */
  readonly hasFlag: boolean;
}

/** How the values of a function travel. */
export interface PassedSignature {
  readonly parameters: readonly PassedValue[];
  readonly result: PassedValue;
}

/** What is wrong with a signature: a message and what to do. */
export interface Misfit {
  readonly message: string;
  readonly detail?: string;
  readonly hint?: string;
}

/** What decides about the signature of an export. */
export type SqlSignature = Pick<UserFunctionDefinition, "parameters" | "returns" | "strict">;

/** Whether values of a type go through memory. */
export function goesThroughMemory(type: SqlType): boolean {
  switch (type.kind) {
    case "text":
    case "varchar":
    case "char":
    case "name":
    case "bytea":
    case "bytes":
    case "numeric":
    case "uuid":
    case "json":
    case "jsonb":
    case "interval":
    case "enum":
      return true;
    case "array":
      return type.vector !== true && elementLayout(type.element) !== null;
    default:
      return false;
  }
}

/** Whether functions can take and return values of a type. */
export function isPassable(type: SqlType): boolean {
  return scalarTypes(type) !== null || goesThroughMemory(type);
}

/** How the values of a function travel, or what is wrong. */
export function passSignature(
  signature: SqlSignature,
  exports: ReadonlyMap<string, ExportType>,
  name: string,
): PassedSignature | Misfit {
  const found = exports.get(name);
  if (found === undefined) return noExport(exports, name);
  const passed = fit(signature, found);
  if (passed !== null) return passed;
  return {
    message: `export "${name}" of the module does not fit the function's signature`,
    detail: `The export is ${exportText(found)}; ${sqlText(signature)} needs ${expectedText(signature)}.`,
  };
}

function noExport(exports: ReadonlyMap<string, ExportType>, name: string): Misfit {
  const names = [...exports.keys()];
  const message = `the module has no exported function "${name}"`;
  if (names.length === 0) return { message, detail: "It exports no functions." };
  const shown = names.slice(0, 10).map((each) => `"${each}"`).join(", ");
  const near = closest(name, names);
  return {
    message,
    detail: `It exports ${shown}${names.length > 10 ? " and others" : ""}.`,
    hint: near !== undefined ? `Did you mean EXPORT '${near}'?` : `Name one of them: EXPORT '${names[0]}'.`,
  };
}

function fit(signature: SqlSignature, found: ExportType): PassedSignature | null {
  let at = 0;
  const parameters: PassedValue[] = [];
  for (const { type } of signature.parameters) {
    const hasFlag = !signature.strict;
    if (hasFlag && found.parameters[at++] !== "i32") return null;
    const allowed = scalarTypes(type);
    const given = found.parameters[at++];
    if (given === undefined) return null;
    if (allowed === null) {
      if (given !== "i32" || found.parameters[at++] !== "i32") return null;
      parameters.push({ type, scalar: null, hasFlag });
    } else {
      if (!allowed.includes(given)) return null;
      parameters.push({ type, scalar: given, hasFlag });
    }
  }
  if (at !== found.parameters.length) return null;
  const { returns } = signature;
  const allowed = scalarTypes(returns);
  const [first, second] = found.results;
  if (allowed === null) {
    if (found.results.length !== 1 || first !== "i32") return null;
    return { parameters, result: { type: returns, scalar: null, hasFlag: false } };
  }
  const hasFlag = found.results.length === 2;
  if (hasFlag && first !== "i32" || found.results.length > 2) return null;
  const given = hasFlag ? second : first;
  if (given === undefined || !allowed.includes(given)) return null;
  return { parameters, result: { type: returns, scalar: given, hasFlag } };
}

/** `(i32, f64) -> f64`. */
export function exportText({ parameters, results }: ExportType): string {
  return `(${parameters.join(", ")}) -> ${results.length === 1 ? results[0] : `(${results.join(", ")})`}`;
}

function sqlText({ parameters, returns, strict }: SqlSignature): string {
  return `(${parameters.map(({ type }) => formatTypeFamily(type)).join(", ")}) RETURNS ${
    formatTypeFamily(returns)
  }${strict ? "" : " CALLED ON NULL INPUT"}`;
}

function expectedText(signature: SqlSignature): string {
  const parameters = signature.parameters.flatMap(({ type }) => [
    ...signature.strict ? [] : ["i32"],
    ...scalarTypes(type)?.slice(0, 1) ?? ["i32", "i32"],
  ]);
  const result = scalarTypes(signature.returns)?.[0] ?? "i32";
  return `(${parameters.join(", ")}) -> ${result}`;
}
