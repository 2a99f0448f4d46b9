/**
 * User-defined functions as JavaScript: a function of SQL values for each definition, made when it is first needed
 * and kept as long as the definition is.
 *
 * What a call takes counts as steps (see `engine/base/gas.ts`), so that rows whose functions take long let others in. A
 * function whose code shows that it is short has a number of steps that is known, and is called without a look at it.
 */
import { assert, assertDefined } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { gas } from "../base/gas.ts";
import type { UserFunctionDefinition } from "../catalog/definitions.ts";
import { isIntegerKind } from "../types/number_or_bigint.ts";
import type { SqlType } from "../types/sql_type.ts";
import type { SqlValue } from "../types/value.ts";
import { expressionSteps, FunctionInstance } from "../wasm/function_instance.ts";
import { valueTypeName } from "../wasm/module_structure.ts";
import type { PreparedModule } from "../wasm/prepared_module.ts";
import type { StraightCode } from "../wasm/straight_code.ts";
import { arrayBytes, arrayOfBytes, elementLayout } from "./array_passing.ts";
import {
  type ExportType,
  type PassedSignature,
  type PassedValue,
  passSignature,
} from "./function_signature.ts";
import { signatureText } from "./function_text.ts";
import { languageError } from "./language_traps.ts";
import { isModuleReady, preparedModule, prepareInTurns, type TurnTaker } from "./module_store.ts";
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
  /** Steps of each call; null: they differ, and a call counts them itself. */
  readonly steps: number | null;
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

/** Prepares a function for its first call, in turns; one whose module is refused is refused when it is called. */
export async function prepareCallable(
  definition: UserFunctionDefinition,
  taker: TurnTaker,
): Promise<void> {
  if (callables.has(definition) || isModuleReady(definition.module)) return;
  if (await prepareInTurns(definition.module, taker)) callableOf(definition);
}

function makeCallable(definition: UserFunctionDefinition): CallableFunction {
  const { exportName } = definition;
  const module = preparedModule(definition.module);
  const passed = passSignature(definition, exportTypes(module), exportName);
  if ("message" in passed) {
    throw new DatabaseError(SQLSTATE.invalidFunctionDefinition, passed.message, passed);
  }
  requireMemory(passed, module);
  const name = signatureText(definition);
  const instance = new FunctionInstance(module, exportName, { gas: definition.gas, name });
  const bound = module.bounds.get(exportName);
  const isShort = bound !== undefined && bound <= definition.gas && isScalar(passed);
  return {
    call: compile(new Call(name, instance), passed, {
      isShort,
      straight: isShort ? module.straight.get(exportName) : undefined,
    }),
    mayReturnNull: passed.result.hasFlag || passed.result.scalar === null,
    steps: isShort ? expressionSteps(bound) : null,
  };
}

function exportTypes({ functions }: PreparedModule): Map<string, ExportType> {
  return new Map([...functions].map(([name, { parameters, results }]) => [
    name,
    { parameters: parameters.map(valueTypeName), results: results.map(valueTypeName) },
  ]));
}

function isScalar({ parameters, result }: PassedSignature): boolean {
  return result.scalar !== null && parameters.every(({ scalar }) => scalar !== null);
}

/** Values through memory need the module's memory, and arguments its `allocate`. */
function requireMemory(passed: PassedSignature, { memory, functions }: PreparedModule): void {
  if (isScalar(passed)) return;
  const needsRoom = passed.parameters.some(({ scalar }) => scalar === null);
  const allocate = functions.get("allocate");
  const canAllocate = allocate !== undefined &&
    [allocate.parameters, allocate.results].every((types) =>
      types.length === 1 && types.every((type) => valueTypeName(type) === "i32")
    );
  const missing = memory?.exportName !== "memory"
    ? 'its memory as "memory"'
    : needsRoom && !canAllocate
    ? 'a function "allocate" of type (i32) -> i32'
    : null;
  if (missing === null) return;
  throw new DatabaseError(
    SQLSTATE.invalidFunctionDefinition,
    `the module does not export ${missing}, through which such values go`,
    { hint: "See the calling convention in docs/user-functions.md." },
  );
}

/** The calling function as JavaScript, made for the signature so that scalars need no arrays and no dispatch. */
function compile(
  call: Call,
  { parameters, result }: PassedSignature,
  { isShort, straight }: { readonly isShort: boolean; readonly straight: StraightCode | undefined },
): CallableFunction["call"] {
  const names = parameters.map((_, index) => `a${index}`);
  const puts: string[] = [];
  const args = parameters.flatMap((parameter, index) => argumentsOf(parameter, `a${index}`, index, puts))
    .join(", ");
  const isPlain = puts.length === 0 && result.scalar !== null;
  const withNumbers = isPlain && takesNumbers(parameters, result);
  const count = isShort ? [] : ["    call.count();"];
  const lines = [
    // Taken anew after a trap, which may have left its instance in disorder; never another function otherwise, so that
    // the call stays one that V8 knows.
    ...isPlain ? ["let f = call.raw;"] : [],
    ...withNumbers ? ["let n = call.numbers;"] : [],
    `return function user_function(${names.join(", ")}) {`,
    "  let r;",
    ...straight === undefined ? [] : straightLines(parameters, result, straight),
    ...withNumbers ? numberLines(parameters, result, count) : [],
    "  try {",
    ...isPlain
      ? [`    r = f(${args});`]
      : ["    call.begin();", ...puts.map((line) => `    ${line}`), `    r = call.run(${args});`],
    `  } catch (error) { const failure = call.failure(error); ${
      isPlain ? "f = call.raw; " : ""
    }throw failure; }`,
    ...count,
    `  return ${resultCode(result)};`,
    "};",
  ];
  const known = {
    call,
    put: (index: number, value: SqlValue) => call.put(typeAt(parameters, index), value),
    take: (address: number) => call.take(result.type, address),
    scalar: (raw: number | bigint) => scalarResult(result.type, result.scalar ?? "i32", raw),
    dateNumber,
    timestampNumber,
  };
  // The text is made by this program alone; nothing of the user's enters it.
  const make = new Function(...Object.keys(known), `"use strict";\n${lines.join("\n")}`);
  return make(...Object.values(known)) as CallableFunction["call"];
}

/** Whether an export over i64 can be called with numbers: infinite times have none. */
function takesNumbers(parameters: readonly PassedValue[], result: PassedValue): boolean {
  const all = [...parameters, result];
  return all.some(({ scalar }) => scalar === "i64") &&
    all.every(({ type, scalar, hasFlag }) =>
      !hasFlag && (scalar !== "i64" || isIntegerKind(type.kind) || type.kind === "time")
    );
}

/** The way that makes no bigint of values that are safe integers. */
function numberLines(
  parameters: readonly PassedValue[],
  result: PassedValue,
  count: readonly string[],
): readonly string[] {
  const test = parameters.flatMap(({ scalar }, index) =>
    scalar === "i64" ? [`typeof a${index} === "number"`] : []
  );
  const args = parameters.map(({ type, scalar }, index) =>
    scalar === "i64" ? `a${index}` : argumentCode(type, scalar ?? "i32", `a${index}`)
  );
  const isWide = result.scalar === "i64";
  return [
    `  if (${test.length === 0 ? "true" : test.join(" && ")}) {`,
    "    try {",
    `      r = n(${args.join(", ")});`,
    "    } catch (error) { const failure = call.failure(error); n = call.numbers; throw failure; }",
    ...count,
    ...isWide ? ["    if (r !== r) return scalar(call.wide);"] : [],
    `    return ${numberResultCode(result)};`,
    "  }",
  ];
}

/** The way without WebAssembly, for the usual case; empty where values have another form. */
function straightLines(
  parameters: readonly PassedValue[],
  result: PassedValue,
  { statements, result: code }: StraightCode,
): readonly string[] {
  const all = [...parameters, result];
  if (all.some(({ hasFlag }) => hasFlag)) return [];
  if (all.some(({ scalar }) => scalar === "i64") && !takesNumbers(parameters, result)) return [];
  const wide = parameters.flatMap(({ scalar }, index) =>
    scalar === "i64" ? [`typeof a${index} !== "number"`] : []
  );
  const variables = parameters.map(({ type, scalar }, index) => {
    if (scalar !== "i32") return `l${index} = a${index}`;
    // Larger than 2147483647, it is a negative number there.
    return `l${index} = ${argumentCode(type, scalar, `a${index}`)} | 0`;
  });
  return [
    "  straight: {",
    ...wide.length === 0 ? [] : [`    if (${wide.join(" || ")}) break straight;`],
    ...variables.length === 0 ? [] : [`    let ${variables.join(", ")};`],
    ...statements.map((statement) => `    ${statement}`),
    `    r = ${code};`,
    ...result.scalar === "f64" ? ["    if (r !== r) break straight;"] : [],
    `    return ${numberResultCode(result)};`,
    "  }",
  ];
}

/** The SQL value of a result `r` that is a number, be it an i64. */
function numberResultCode({ type, scalar }: PassedValue): string {
  return scalar === "i64" && type.kind === "i64" ? "r" : scalarResultCode(type, scalar ?? "i32", "r");
}

function typeAt(parameters: readonly PassedValue[], index: number): SqlType {
  const parameter = parameters[index];
  assert(parameter !== undefined, `parameter ${index}`);
  return parameter.type;
}

/** The JavaScript of what one argument becomes; `puts` gets what must run first. */
function argumentsOf(parameter: PassedValue, name: string, index: number, puts: string[]): string[] {
  const { type, scalar, hasFlag } = parameter;
  const flag = hasFlag ? [`${name} === null ? 0 : 1`] : [];
  if (scalar !== null) {
    const code = argumentCode(type, scalar, name);
    return [...flag, hasFlag ? `${name} === null ? ${scalar === "i64" ? "0n" : "0"} : ${code}` : code];
  }
  const empty = hasFlag ? `${name} === null ? 0 : ` : "";
  puts.push(`const p${index} = ${empty}put(${index}, ${name});`);
  puts.push(`const l${index} = ${empty}call.lastLength;`);
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

/** What the steps of one call work with. */
class Call {
  /** What {@link put} wrote last: bytes, or elements of an array. */
  lastLength = 0;
  readonly #name: string;
  readonly #instance: FunctionInstance;

  constructor(name: string, instance: FunctionInstance) {
    this.#name = name;
    this.#instance = instance;
  }

  /** The export, which makes everything as at the start by itself. */
  get raw(): FunctionInstance["raw"] {
    return this.#instance.raw;
  }

  /** The same over numbers, see {@link FunctionInstance.numbers}. */
  get numbers(): FunctionInstance["raw"] {
    return assertDefined(this.#instance.numbers, "the entry over numbers");
  }

  /** The last i64 that {@link numbers} has given. */
  get wide(): bigint {
    return this.#instance.wide;
  }

  /** Makes everything as at the start, and fills up the gas. */
  begin(): void {
    this.#instance.reset();
  }

  /** Calls the export on what {@link begin} and {@link put} have left. */
  run(...args: (number | bigint)[]): unknown {
    return this.#instance.next(this.#instance.exportName, ...args);
  }

  /** Counts what the call has taken. */
  count(): void {
    gas.chargeDone(expressionSteps(this.#instance.gasUsed));
  }

  /** The error of what a call threw; what is no end of a call is returned as it is. */
  failure(error: unknown): unknown {
    if (error instanceof DatabaseError && error.code !== SQLSTATE.externalRoutineException) return error;
    const explained = this.#instance.explain(error);
    if (!(explained instanceof DatabaseError)) return explained;
    const own = explained.code === SQLSTATE.externalRoutineException
      ? languageError(this.#name, this.#instance)
      : undefined;
    return own ?? explained;
  }

  /** Writes an argument into memory that the module gives, and answers its address. */
  put(type: SqlType, value: SqlValue): number {
    let bytes: Uint8Array;
    if (type.kind === "array") {
      const array = arrayBytes(type.element, value);
      bytes = array.bytes;
      this.lastLength = array.count;
    } else {
      bytes = bytesOf(type, value);
      this.lastLength = bytes.length;
    }
    // What a large value costs before the module sees it counts as well.
    gas.chargeDone(bytes.length / COPIED_BYTES_PER_STEP);
    const address = Number(this.#instance.next("allocate", bytes.length)) >>> 0;
    if (!this.#instance.write(address, bytes)) {
      throw this.#outOfBounds(`allocate(${bytes.length}) returned address ${address}`);
    }
    return address;
  }

  /** Reads the pair at an address, and what it names; address 0 is NULL. */
  take(type: SqlType, written: number): SqlValue {
    const address = written >>> 0;
    if (address === 0) return null;
    const pair = this.#instance.read(address, 8);
    if (pair === undefined) throw this.#outOfBounds(`the function returned address ${address}`);
    const view = new DataView(pair.buffer);
    const start = view.getUint32(0, true);
    const width = type.kind === "array" ? elementLayout(type.element)?.bytes ?? 1 : 1;
    const length = view.getUint32(4, true) * width;
    const bytes = this.#instance.read(start, length);
    if (bytes === undefined) {
      throw this.#outOfBounds(`the function returned ${length} bytes at address ${start}`);
    }
    gas.chargeDone(length / COPIED_BYTES_PER_STEP);
    return type.kind === "array" ? arrayOfBytes(type.element, bytes) : valueOfBytes(type, bytes);
  }

  #outOfBounds(what: string): DatabaseError {
    return new DatabaseError(
      SQLSTATE.invalidExternalResult,
      `${what}, outside of the module's memory`,
      { detail: `The memory has ${this.#instance.memory.length} bytes.` },
    );
  }
}

/** Bytes of a value that are encoded and copied in one step. */
const COPIED_BYTES_PER_STEP = 64;
