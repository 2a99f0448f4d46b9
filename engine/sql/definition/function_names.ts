/** Which user-defined function a statement names. */
import { SQLSTATE } from "../../base/errors.ts";
import type { UserFunctionDefinition } from "../../catalog/definitions.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { equalTypes, formatTypeFamily } from "../../types/type_names.ts";
import { allFunctionNames } from "../functions/registry.ts";
import { typeKey, typeOfKey } from "../functions/type_family.ts";
import type { ObjectName, TypeName } from "../parser/ast.ts";
import type { DefinitionBinder } from "./definition_binder.ts";

/** Whether a function's parameters have these types. */
export function hasTypes({ parameters }: UserFunctionDefinition, types: readonly SqlType[]): boolean {
  return parameters.length === types.length &&
    parameters.every(({ type }, index) => equalTypes(type, types[index] ?? { kind: "void" }));
}

/** The function of a name, perhaps with the types of its parameters. Raises 42883 and 42725. */
export function findFunction(
  binder: DefinitionBinder,
  name: ObjectName,
  argumentTypes: readonly TypeName[] | null,
): UserFunctionDefinition | undefined {
  const path = name.schema === null ? binder.environment.searchPath : [name.schema];
  const found = binder.catalog.functionsNamed(name.name, path);
  if (argumentTypes !== null) {
    const types = argumentTypes.map((each) => {
      const type = binder.type(each);
      return typeOfKey(typeKey(type)) ?? type;
    });
    return found.find((each) => hasTypes(each, types));
  }
  if (found.length > 1) {
    throw binder.error(
      SQLSTATE.ambiguousFunction,
      `function name "${name.name}" is not unique`,
      name.position,
      {
        hint: "Specify the argument list to select the function unambiguously.",
      },
    );
  }
  return found[0];
}

/** A function as a statement has named it. */
export function shownCall(
  binder: DefinitionBinder,
  name: ObjectName,
  types: readonly TypeName[] | null,
): string {
  const shown = name.schema === null ? name.name : `${name.schema}.${name.name}`;
  return `${shown}(${(types ?? []).map((each) => formatTypeFamily(binder.type(each))).join(",")})`;
}

/** The function that a statement names. Raises 42883. */
export function requireFunction(
  binder: DefinitionBinder,
  name: ObjectName,
  types: readonly TypeName[] | null,
): UserFunctionDefinition {
  const found = findFunction(binder, name, types);
  if (found !== undefined) return found;
  if (allFunctionNames().includes(name.name)) {
    throw binder.error(
      SQLSTATE.dependentObjectsStillExist,
      `function ${name.name} is required by the database system`,
      name.position,
    );
  }
  throw binder.error(
    SQLSTATE.undefinedFunction,
    types === null
      ? `could not find a function named "${name.name}"`
      : `function ${shownCall(binder, name, types)} does not exist`,
    name.position,
  );
}
