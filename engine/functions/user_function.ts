/**
 * User-defined functions as JavaScript: a function of SQL values for each definition, made when it is first needed
 * and kept as long as the definition is.
 */
import { assert } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import type { UserFunctionDefinition } from "../catalog/definitions.ts";
import type { SqlType } from "../types/sql_type.ts";
import type { SqlValue } from "../types/value.ts";
import { arrayBytes, arrayOfBytes, elementLayout } from "./array_passing.ts";
import { type PassedSignature, type PassedValue, passSignature } from "./function_signature.ts";
import { loadModule, type ModuleCall, ModuleRefusal } from "./loaded_module.ts";
import { trapError } from "./trap_error.ts";
import {
  argumentCode,
  bytesOf,
  dateNumber,
  scalarResult,
  timestampNumber,
  valueOfBytes,
  type WasmType,
} from "./value_passing.ts";

/** A user-defined function as it is called: with SQL values of its parameters' types. */
export interface CallableFunction {
  readonly call: (...args: readonly SqlValue[]) => SqlValue;
  /** Whether the result can be NULL although no argument is. */
  readonly mayReturnNull: boolean;
}

const callables = new WeakMap<UserFunctionDefinition, CallableFunction>();

/**
 * The function of a definition.
 *
 * @throws {DatabaseError} 42P13 when the module is refused or its export does not fit the signature.
 */
export function callableOf(definition: UserFunctionDefinition): CallableFunction {
  let callable = callables.get(definition);
  if (callable === undefined) callables.set(definition, callable = makeCallable(definition));
  return callable;
}

function makeCallable(definition: UserFunctionDefinition): CallableFunction {
  const { exportName, gas } = definition;
  const loaded = load(Uint8Array.fromBase64(definition.module));
  const passed = passSignature(definition, loaded.functions, exportName);
  if ("message" in passed) {
    throw new DatabaseError(SQLSTATE.invalidFunctionDefinition, passed.message, passed);
  }
  const module = loaded.instantiate(exportName, gas);
  requireMemory(passed, module);
  const call = compile(definition, passed, module);
  return { call, mayReturnNull: passed.result.hasFlag || passed.result.scalar === null };
}

function load(bytes: Uint8Array<ArrayBuffer>): ReturnType<typeof loadModule> {
  if (bytes.length > LIMITS.maximumModuleBytes) {
    throw new DatabaseError(
      SQLSTATE.programLimitExceeded,
      `the module has ${bytes.length} bytes, more than ${LIMITS.maximumModuleBytes}`,
    );
  }
  try {
    return loadModule(bytes);
  } catch (error) {
    if (!(error instanceof ModuleRefusal)) throw error;
    throw new DatabaseError(
      SQLSTATE.invalidFunctionDefinition,
      `invalid WebAssembly module: ${error.message} at byte ${error.offset}`,
      { cause: error },
    );
  }
}

/** Values through memory need the module's memory, and arguments its `allocate`. */
function requireMemory({ parameters, result }: PassedSignature, module: ModuleCall): void {
  const needsRoom = parameters.some(({ scalar }) => scalar === null);
  if (!needsRoom && result.scalar !== null) return;
  const missing = module.memory() === null
    ? "memory"
    : needsRoom && module.allocate === null
    ? "allocate"
    : null;
  if (missing === null) return;
  throw new DatabaseError(
    SQLSTATE.invalidFunctionDefinition,
    `the module does not export "${missing}", through which such values go`,
    { hint: "See the calling convention in docs/user-functions.md." },
  );
}

/** The calling function as JavaScript, made for the signature so that scalars need no arrays and no dispatch. */
function compile(
  definition: UserFunctionDefinition,
  { parameters, result }: PassedSignature,
  module: ModuleCall,
): CallableFunction["call"] {
  const names = parameters.map((_, index) => `a${index}`);
  const before: string[] = [];
  const args = parameters.flatMap((parameter, index) => argumentsOf(parameter, `a${index}`, index, before));
  const lines = [
    `return function user_function(${names.join(", ")}) {`,
    "  let r;",
    "  try {",
    "    begin();",
    ...before.map((line) => `    ${line}`),
    `    r = f(${args.join(", ")});`,
    "  } catch (error) { throw failure(error); }",
    `  return ${resultCode(result)};`,
    "};",
  ];
  const known = {
    begin: module.begin,
    f: module.call,
    failure: (error: unknown) => trapError(definition, module, error),
    put: (index: number, value: SqlValue) => putArgument(module, typeAt(parameters, index), value),
    take: (address: number) => takeResult(module, result.type, address),
    scalar: (raw: number | bigint) => scalarResult(result.type, result.scalar ?? "i32", raw),
    lengthOf: () => lastLength,
    dateNumber,
    timestampNumber,
  };
  // The text is made by this program alone; nothing of the user's enters it.
  const make = new Function(...Object.keys(known), `"use strict";\n${lines.join("\n")}`);
  return make(...Object.values(known)) as CallableFunction["call"];
}

function typeAt(parameters: readonly PassedValue[], index: number): SqlType {
  const parameter = parameters[index];
  assert(parameter !== undefined, `parameter ${index}`);
  return parameter.type;
}

/** The JavaScript of what one argument becomes; `before` gets what must run first. */
function argumentsOf(parameter: PassedValue, name: string, index: number, before: string[]): string[] {
  const { type, scalar, hasFlag } = parameter;
  const flag = hasFlag ? [`${name} === null ? 0 : 1`] : [];
  if (scalar !== null) {
    const code = argumentCode(type, scalar, name);
    return [...flag, hasFlag ? `${name} === null ? ${scalar === "i64" ? "0n" : "0"} : ${code}` : code];
  }
  const empty = hasFlag ? `${name} === null ? 0 : ` : "";
  before.push(`const p${index} = ${empty}put(${index}, ${name});`);
  before.push(`const l${index} = ${empty}lengthOf();`);
  return [...flag, `p${index}`, `l${index}`];
}

function resultCode({ type, scalar, hasFlag }: PassedValue): string {
  if (scalar === null) return "take(r)";
  if (hasFlag) return `r[0] === 0 ? null : ${scalarResultCode(type, scalar, "r[1]")}`;
  return scalarResultCode(type, scalar, "r");
}

/** The JavaScript of a scalar result; all but the plainest call the full check. */
function scalarResultCode(type: SqlType, scalar: WasmType, raw: string): string {
  if (type.kind === "f64" || type.kind === "f32" || (type.kind === "i32" && scalar === "i32")) return raw;
  return `scalar(${raw})`;
}

/** What `put` wrote last: bytes, or elements of an array. */
let lastLength = 0;

/** Writes an argument into memory that the module gives, and answers its address. */
function putArgument(module: ModuleCall, type: SqlType, value: SqlValue): number {
  let bytes: Uint8Array;
  if (type.kind === "array") {
    const array = arrayBytes(type.element, value);
    bytes = array.bytes;
    lastLength = array.count;
  } else {
    bytes = bytesOf(type, value);
    lastLength = bytes.length;
  }
  const address = (module.allocate?.(bytes.length) ?? 0) >>> 0;
  const memory = module.memory();
  if (memory === null || address + bytes.length > memory.length) {
    throw outOfBounds(`allocate(${bytes.length}) returned address ${address}`, memory);
  }
  memory.set(bytes, address);
  return address;
}

function outOfBounds(what: string, memory: Uint8Array | null): DatabaseError {
  return new DatabaseError(SQLSTATE.externalRoutineException, `${what}, outside of the module's memory`, {
    detail: `The memory has ${memory?.length ?? 0} bytes.`,
  });
}

/** Reads the pair at an address, and what it names; address 0 is NULL. */
function takeResult(module: ModuleCall, type: SqlType, written: number): SqlValue {
  const address = written >>> 0;
  if (address === 0) return null;
  const memory = module.memory();
  if (memory === null || address + 8 > memory.length) {
    throw outOfBounds(`the function returned address ${address}`, memory);
  }
  const view = new DataView(memory.buffer, memory.byteOffset + address, 8);
  const start = view.getUint32(0, true);
  const length = view.getUint32(4, true);
  const width = type.kind === "array" ? elementLayout(type.element)?.bytes ?? 1 : 1;
  if (start + length * width > memory.length) {
    throw outOfBounds(`the function returned ${length * width} bytes at address ${start}`, memory);
  }
  const bytes = memory.subarray(start, start + length * width);
  return type.kind === "array" ? arrayOfBytes(type.element, bytes) : valueOfBytes(type, bytes);
}
