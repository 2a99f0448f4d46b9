/**
 * Entries that take and give numbers of JavaScript in the place of i64: to make a bigint of each argument and result
 * takes longer than most functions do.
 *
 * An argument is a safe integer. A result that is none is NaN, and the global `wide` has the i64.
 */
import type { WasmByteWriter } from "../base/wasm_byte_writer.ts";
import { body, refill } from "./helper_functions.ts";
import { InstructionWriter } from "./instruction_writer.ts";
import type { Layout } from "./layout.ts";
import { F64, type FunctionType, I64, isFloat, type ValueType } from "./module_structure.ts";

const LARGEST = 9_007_199_254_740_991n;

/** Whether a function has such an entry: it takes or gives an i64, and gives one value at most. */
export function hasNumberEntry({ parameters, results }: FunctionType): boolean {
  return results.length <= 1 && [...parameters, ...results].includes(I64);
}

function asNumber(type: ValueType): ValueType {
  return type === I64 ? F64 : type;
}

/** The type of the entry of a function of this type. */
export function numberEntryType({ parameters, results }: FunctionType): FunctionType {
  return { parameters: parameters.map(asNumber), results: results.map(asNumber) };
}

/** The entry, which resets everything first. */
export function numberEntryFunction(
  { target, type: { parameters, results }, mustReset, layout }: {
    readonly target: number;
    readonly type: FunctionType;
    readonly mustReset: boolean;
    readonly layout: Layout;
  },
): WasmByteWriter {
  const code = new InstructionWriter();
  if (mustReset) code.call(layout.resetFunction);
  else refill(code, layout);
  for (const [index, type] of parameters.entries()) {
    if (isFloat(type)) code.canonical(type, index);
    else {
      code.localGet(index);
      // i64.trunc_f64_s
      if (type === I64) code.byte(0xb0);
    }
  }
  code.call(target);
  const [result] = results;
  if (result === undefined) return body([], code);
  const local = parameters.length;
  if (result === I64) {
    code.localSet(local);
    code.localGet(local);
    code.globalSet(layout.wideGlobal);
    // f64.convert_i64_s, or NaN unless local + LARGEST <= 2 * LARGEST without signs
    code.localGet(local);
    code.byte(0xb9);
    code.byte(0x44);
    code.float64(NaN);
    code.localGet(local);
    code.byte(0x42);
    code.signed64(LARGEST);
    code.byte(0x7c);
    code.byte(0x42);
    code.signed64(2n * LARGEST);
    code.byte(0x58);
    code.byte(0x1b);
    return body([I64], code);
  }
  if (!isFloat(result)) return body([], code);
  code.localSet(local);
  code.canonical(result, local);
  return body([result], code);
}
