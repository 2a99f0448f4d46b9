/**
 * From a typed program to a module: lowering, the passes, encoding.
 *
 * The same program and options give the same bytes, whatever was compiled before.
 */
import type { TypedFunction, TypedModule, TypedProgram, TypedTest } from "../typed/tree.ts";
import { ProgramLowering } from "../ir/lower/program.ts";
import { insertCounts } from "../ir/ownership.ts";
import type { IrFunction, IrModule } from "../ir/node.ts";
import { printModule } from "../ir/print.ts";
import { lowerTest } from "../ir/lower/test.ts";
import { reachable } from "../ir/reach.ts";
import { type EncodedModule, encodeModule } from "./module_encoder.ts";

/** Where a module runs; `core` exports functions as they are, for tests of the compiler. */
export type Target = "wasm32-web" | "wasm32-wasi" | "wasm32-db" | "core";

/** What is asked of the compiler. */
export interface CompileOptions {
  readonly target: Target;
  /** Functions that are exported, for the target `core`. */
  readonly exports?: readonly TypedFunction[];
  /** Tests that are exported: `test_0` and so on; of an eval `test_0_case_0`, `test_0_threshold`, which give an `f64`. */
  readonly tests?: readonly { readonly module: TypedModule; readonly test: TypedTest }[];
  readonly isRelease?: boolean;
  readonly hasGas?: boolean;
  /** Most pages of memory, 64 KiB each. */
  readonly maximumPages?: number;
  /** Whether the intermediate representation is wanted as text. */
  readonly wantsText?: boolean;
}

/** A compiled module. */
export interface CompiledModule extends EncodedModule {
  /** The intermediate representation, when it was wanted. */
  readonly text: string | null;
}

/** 256 MiB. */
const MAXIMUM_PAGES = 4096;

/** Compiles a program. */
export function compile(program: TypedProgram, options: CompileOptions): CompiledModule {
  const module = lowerProgram(program, options);
  const encoded = encodeModule(module, {
    maximumPages: options.maximumPages ?? MAXIMUM_PAGES,
    hasNames: true,
  });
  return { ...encoded, text: options.wantsText === true ? printModule(module) : null };
}

/** Lowers a program and runs the passes. */
export function lowerProgram(program: TypedProgram, options: CompileOptions): IrModule {
  const lowering = new ProgramLowering(program);
  const exports = (options.exports ?? []).map((target) => ({
    name: target.name,
    function: lowering.instance(target, []),
  }));
  for (const [index, { module, test }] of (options.tests ?? []).entries()) {
    exports.push(...lowerTest(lowering, module, test, `test_${index}`));
  }
  lowering.drain();
  for (const target of lowering.functions) insertCounts(target);
  const used = reachable([...exports.map((exported) => exported.function), ...lowering.table]);
  const functions: IrFunction[] = lowering.functions.filter((target) => used.has(target));
  const heapStart = Math.ceil(lowering.statics.end / 16) * 16;
  lowering.frontier.initial = heapStart;
  return {
    functions,
    imports: lowering.imports.filter((imported) => used.has(imported)),
    globals: lowering.globals,
    exports,
    table: lowering.table,
    data: lowering.statics.segments(),
    sites: lowering.sites,
    heapStart,
    trapGlobal: lowering.trapGlobal,
    gasGlobal: null,
  };
}
