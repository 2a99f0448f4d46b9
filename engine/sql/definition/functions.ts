/**
 * CREATE FUNCTION … LANGUAGE WASM, ALTER FUNCTION … RENAME and DROP FUNCTION.
 *
 * A name may have several functions, which differ in the types of their parameters; it may not be the name of a
 * built-in function. The module is decoded and checked here, once, so that what the catalog holds can be called.
 */
import { SQLSTATE } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import type { UserFunctionDefinition } from "../../catalog/definitions.ts";
import { isPassable } from "../../functions/function_signature.ts";
import { signatureText } from "../../functions/function_text.ts";
import { callableOf } from "../../functions/user_function.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { equalTypes, formatTypeFamily } from "../../types/type_names.ts";
import { DatabaseError } from "../../base/errors.ts";
import { evaluate } from "../binder/evaluate.ts";
import { foldingContext } from "../binder/folding_context.ts";
import { allFunctionNames } from "../functions/registry.ts";
import { typeKey, typeOfKey } from "../functions/type_family.ts";
import type { CreateFunction, DropObject, ObjectName, TypeName } from "../parser/ast.ts";
import { dropColumn } from "./alter_table.ts";
import type { DefinitionBinder } from "./definition_binder.ts";
import { brokenViews, requireCascade } from "./dependencies.ts";
import { findFunction, hasTypes, requireFunction, shownCall } from "./function_names.ts";
import { type FunctionUser, removeUser, usersOf } from "./function_uses.ts";

/** Languages that PostgreSQL has and this database does not. */
const OTHER_LANGUAGES: ReadonlySet<string> = new Set(["sql", "plpgsql", "c", "internal"]);

/** How dumps of pg_dump say GAS: as a setting of the function, see `pg_proc.proconfig`. */
const DUMPED_GAS = /^set gas (?:to|=) '?(\d+)'?$/;

/** CREATE [OR REPLACE] FUNCTION. */
export function createFunction(binder: DefinitionBinder, ast: CreateFunction): string {
  const tag = "CREATE FUNCTION";
  refuseOthers(binder, ast);
  const schema = binder.schemaFor(ast.name);
  const { name } = ast.name;
  if (allFunctionNames().includes(name)) {
    throw binder.error(
      SQLSTATE.duplicateFunction,
      `function ${name} is built in and cannot be defined anew`,
      ast.name.position,
      { hint: "Choose another name." },
    );
  }
  const parameters = ast.parameters.map((each) => {
    if (each.mode !== "in") {
      throw binder.unsupported(`a parameter with ${each.mode.toUpperCase()}`, each.position);
    }
    if (each.default !== null) throw binder.unsupported("a parameter with DEFAULT", each.position);
    return { name: each.name, type: passedType(binder, each.type) };
  });
  refuseDoubleNames(binder, ast);
  if (parameters.length > LIMITS.maximumIndexColumns * 3) {
    throw binder.error(
      SQLSTATE.tooManyArguments,
      "functions cannot have more than 96 arguments",
      ast.position,
    );
  }
  const { returns } = ast;
  if (returns === null) {
    throw ast.returnsTable.length > 0 ? binder.unsupported("RETURNS TABLE", ast.position) : binder.error(
      SQLSTATE.invalidFunctionDefinition,
      "function result type must be specified",
      ast.position,
    );
  }
  if (returns.setOf) throw binder.unsupported("RETURNS SETOF", returns.position);
  const existing = sameSignature(binder, schema, name, parameters.map(({ type }) => type));
  const definition: UserFunctionDefinition = {
    id: existing?.id ?? binder.newId(),
    schema,
    name,
    parameters,
    returns: passedType(binder, returns),
    strict: ast.nullInput !== "called",
    module: moduleBytes(binder, ast).toBase64(),
    exportName: ast.exportName ?? name,
    gas: gasOf(binder, ast),
    ...(existing?.comment === undefined ? {} : { comment: existing.comment }),
  };
  if (existing !== undefined) requireReplaceable(binder, ast, existing, definition);
  checkModule(binder, ast, definition);
  if (ast.volatility === "stable" || ast.volatility === "volatile") {
    binder.notice(
      SQLSTATE.successfulCompletion,
      `function ${signatureText(definition)} is immutable: ${ast.volatility.toUpperCase()} has no effect`,
    );
  }
  binder.change({ kind: "put_function", function: definition });
  return tag;
}

function refuseOthers(binder: DefinitionBinder, ast: CreateFunction): void {
  if (ast.procedure) throw binder.unsupported("CREATE PROCEDURE", ast.position);
  if (ast.language !== "wasm") {
    if (!OTHER_LANGUAGES.has(ast.language)) {
      throw binder.error(
        SQLSTATE.undefinedObject,
        `language "${ast.language}" does not exist`,
        ast.position,
        {
          hint: "Functions are written in WebAssembly: LANGUAGE WASM.",
        },
      );
    }
    throw binder.error(
      SQLSTATE.featureNotSupported,
      `functions in language ${ast.language} are not supported`,
      ast.position,
      { hint: "Functions are written in WebAssembly: LANGUAGE WASM." },
    );
  }
  const option = ast.otherOptions.find((each) =>
    !/^(?:parallel|cost|not leakproof|security invoker)/.test(each) && !DUMPED_GAS.test(each)
  );
  if (option === undefined) return;
  throw binder.unsupported(`${option.toUpperCase()} in CREATE FUNCTION`, ast.position);
}

function refuseDoubleNames(binder: DefinitionBinder, ast: CreateFunction): void {
  const seen = new Set<string>();
  for (const { name, position } of ast.parameters) {
    if (name === null) continue;
    if (seen.has(name)) {
      throw binder.error(
        SQLSTATE.invalidFunctionDefinition,
        `parameter name "${name}" used more than once`,
        position,
      );
    }
    seen.add(name);
  }
}

/** A type of a parameter or result; lengths and scales say nothing there, as in PostgreSQL. */
function passedType(binder: DefinitionBinder, name: TypeName): SqlType {
  const written = binder.type(name);
  const type = typeOfKey(typeKey(written)) ?? written;
  if (isPassable(type)) return type;
  throw binder.error(
    SQLSTATE.invalidFunctionDefinition,
    `WASM functions cannot accept or return type ${formatTypeFamily(type)}`,
    name.position,
    {
      hint: "They take numbers, booleans, dates and times, text and what has a text form, bytea, " +
        "and arrays of numbers, booleans, dates and times.",
    },
  );
}

function moduleBytes(binder: DefinitionBinder, ast: CreateFunction): Uint8Array {
  if (ast.body === null) {
    throw binder.error(SQLSTATE.invalidFunctionDefinition, "no function body specified", ast.position);
  }
  const { expression } = binder.bind(ast.body, null, "DEFAULT expressions", {
    type: { kind: "bytea" },
    column: "AS",
  });
  const value = evaluate(expression, binder.environment.evaluation ?? foldingContext);
  if (value instanceof Uint8Array) return value;
  throw binder.error(
    SQLSTATE.invalidFunctionDefinition,
    "the module of a function must not be NULL",
    ast.body.position,
  );
}

function gasOf(binder: DefinitionBinder, ast: CreateFunction): number {
  const dumped = ast.otherOptions.map((each) => DUMPED_GAS.exec(each)?.[1]).find((each) =>
    each !== undefined
  );
  const written = ast.gas ?? dumped;
  if (written === undefined) return LIMITS.wasmGas;
  const gas = Number(written);
  if (gas >= 1 && gas <= LIMITS.maximumWasmGas) return gas;
  throw binder.error(
    SQLSTATE.invalidParameterValue,
    `GAS must be from 1 to ${LIMITS.maximumWasmGas} instructions, not ${written}`,
    ast.position,
  );
}

/** Raises 42P13 with the statement's position when the module or its export is refused. */
function checkModule(
  binder: DefinitionBinder,
  ast: CreateFunction,
  definition: UserFunctionDefinition,
): void {
  binder.environment.awaitModule?.(definition.module);
  try {
    callableOf(definition);
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    const { code, message, detail, hint } = error;
    throw binder.error(code, message, ast.body?.position ?? ast.position, {
      ...(detail === undefined ? {} : { detail }),
      ...(hint === undefined ? {} : { hint }),
      cause: error,
    });
  }
}

function sameSignature(
  binder: DefinitionBinder,
  schema: string,
  name: string,
  types: readonly SqlType[],
): UserFunctionDefinition | undefined {
  return binder.catalog.functions.find((each) =>
    each.schema === schema && each.name === name && hasTypes(each, types)
  );
}

/** What CREATE OR REPLACE must leave as it is. */
function requireReplaceable(
  binder: DefinitionBinder,
  ast: CreateFunction,
  old: UserFunctionDefinition,
  next: UserFunctionDefinition,
): void {
  if (!ast.orReplace) {
    throw binder.error(
      SQLSTATE.duplicateFunction,
      `function "${old.name}" already exists with same argument types`,
      ast.name.position,
    );
  }
  if (!equalTypes(old.returns, next.returns)) {
    throw binder.error(
      SQLSTATE.invalidFunctionDefinition,
      "cannot change return type of existing function",
      ast.position,
      { hint: `Use DROP FUNCTION ${signatureText(old)} first.` },
    );
  }
  for (const [index, { name }] of old.parameters.entries()) {
    if (name === null || name === next.parameters[index]?.name) continue;
    throw binder.error(
      SQLSTATE.invalidFunctionDefinition,
      `cannot change name of input parameter "${name}"`,
      ast.position,
      { hint: `Use DROP FUNCTION ${signatureText(old)} first.` },
    );
  }
  const isSame = old.module === next.module && old.exportName === next.exportName &&
    old.strict === next.strict;
  if (isSame) return;
  const stored = usersOf(binder, old).filter(({ kind }) => kind === "index" || kind === "generated");
  if (stored.length === 0) return;
  throw binder.error(
    SQLSTATE.dependentObjectsStillExist,
    `cannot replace function ${signatureText(old)} because values that it computed are stored`,
    ast.name.position,
    {
      detail: stored.map(({ name }) => `${name} depends on function ${signatureText(old)}`).join("\n"),
      hint: "Drop these first, and create them anew after the function.",
    },
  );
}

/** DROP FUNCTION. */
export function dropFunctions(binder: DefinitionBinder, ast: DropObject): void {
  for (const [index, name] of ast.names.entries()) {
    const types = ast.argumentTypes[index] ?? null;
    if (ast.ifExists && findFunction(binder, name, types) === undefined) {
      binder.notice(
        SQLSTATE.successfulCompletion,
        `function ${shownCall(binder, name, types)} does not exist, skipping`,
      );
      continue;
    }
    dropFunction(binder, requireFunction(binder, name, types), ast.cascade, name.position);
  }
}

/** Drops a function; with `cascade` all that calls it, else 2BP01 when something does. */
export function dropFunction(
  binder: DefinitionBinder,
  target: UserFunctionDefinition,
  cascade: boolean,
  position: number,
): void {
  const users = usersOf(binder, target);
  requireCascade(
    binder,
    `function ${signatureText(target)}`,
    users.map((each) => each.name),
    cascade,
    position,
  );
  for (const user of users) dropUser(binder, user, position);
  binder.change({ kind: "drop_function", functionId: target.id });
}

function dropUser(binder: DefinitionBinder, user: FunctionUser, position: number): void {
  switch (user.kind) {
    case "view": {
      const before = binder.catalog;
      if (!before.views.some((each) => each.id === user.view.id)) return;
      const above = brokenViews(binder, before, before.apply({ kind: "drop_view", viewId: user.view.id }));
      for (const each of [...above, user.view]) binder.change({ kind: "drop_view", viewId: each.id });
      return;
    }
    case "generated": {
      const table = binder.catalog.table(user.tableId);
      const column = table?.columns.find((each) => each.id === user.id);
      if (table === undefined || column === undefined) return;
      dropColumn(binder, table, {
        kind: "drop_column",
        column: column.name,
        ifExists: true,
        cascade: true,
        position,
      });
      return;
    }
    default:
      removeUser(binder, user);
  }
}

/** ALTER FUNCTION … RENAME TO. */
export function renameFunction(
  binder: DefinitionBinder,
  name: ObjectName,
  types: readonly TypeName[] | null,
  newName: string,
): void {
  const target = requireFunction(binder, name, types);
  if (allFunctionNames().includes(newName)) {
    throw binder.error(SQLSTATE.duplicateFunction, `function ${newName} is built in`, name.position);
  }
  if (
    sameSignature(binder, target.schema, newName, target.parameters.map(({ type }) => type)) !== undefined
  ) {
    throw binder.error(
      SQLSTATE.duplicateFunction,
      `function ${signatureText({ ...target, name: newName })} already exists in schema "${target.schema}"`,
      name.position,
    );
  }
  const [user] = usersOf(binder, target);
  if (user !== undefined) {
    throw binder.unsupported(`renaming a function that a ${user.kind} uses`, name.position);
  }
  binder.change({ kind: "put_function", function: { ...target, name: newName } });
}
