/**
 * From a typed program to a module: lowering, the passes, encoding.
 *
 * The same program and options give the same bytes, whatever was compiled before.
 */
import { LANG_LIMITS } from "../limits.ts";
import type { TypedFunction, TypedModule, TypedProgram, TypedTest } from "../typed/tree.ts";
import { RESERVED_EXPORTS } from "../check/entry_points.ts";
import { internally } from "../diagnostics/internal_error.ts";
import { limitDepth } from "../ir/depth.ts";
import { chargeGas } from "../ir/gas.ts";
import { databaseEntries } from "../ir/lower/database_entry.ts";
import { commandEntries, exportName, webEntries } from "../ir/lower/entry.ts";
import { lowerExpression } from "../ir/lower/expression.ts";
import { ProgramLowering } from "../ir/lower/program.ts";
import { type Exported, lowerTest } from "../ir/lower/test_entry.ts";
import type { IrFunction, IrGlobal, IrModule } from "../ir/node.ts";
import { optimize, optimizeCounted } from "../ir/optimize.ts";
import { insertCounts } from "../ir/ownership.ts";
import { printModule } from "../ir/print.ts";
import { reachable } from "../ir/reach.ts";
import { WasiHost } from "../ir/wasi_host.ts";
import { type EncodedModule, encodeModule } from "../wasm/module_encoder.ts";
import { wrapCommand, wrapPage } from "../wasm/envelope.ts";
import { sourceMap } from "../wasm/source_map.ts";
import { stateSection } from "../wasm/state_section.ts";

/** Where a module runs; `core` exports functions as they are, for tests of programs and of the compiler. */
export type Target = "wasm32-web" | "wasm32-wasi" | "wasm32-db" | "core";

/** What is asked of the compiler. */
export interface CompileOptions {
  readonly target: Target;
  /** Functions that are exported, for the target `core`. */
  readonly exports?: readonly TypedFunction[];
  /**
   * Tests that are exported: `test_0` and so on; of an eval `test_0_case_0`, `test_0_threshold`, which give an `f64`.
   */
  readonly tests?: readonly { readonly module: TypedModule; readonly test: TypedTest }[];
  readonly hasGas?: boolean;
  /** Whether no function of the package is lowered in place, so that each can be measured. */
  readonly keepsCalls?: boolean;
  /** Whether the module is to stand in a component: a command then calls WASI itself. */
  readonly isEnvelope?: boolean;
  /** Whether a command's exit codes above 1 leave its component, by a function that not every host of WASI has. */
  readonly hasExitCodes?: boolean;
  /** Most pages of memory, 64 KiB each. */
  readonly maximumPages?: number;
  /** Whether the intermediate representation is wanted as text. */
  readonly wantsText?: boolean;
}

/** A compiled module. */
export interface CompiledModule extends EncodedModule {
  /** The intermediate representation, when it was wanted. */
  readonly text: string | null;
  /** The source map as JSON, for a file of this name. */
  sourceMap(fileName: string): string;
}

/** Compiles a program. */
export function compile(program: TypedProgram, options: CompileOptions): CompiledModule {
  return internally("compiling", () => encode(lowerProgram(program, options), options));
}

/** Compiles a program for the web or as a command, and puts the core module into a component. */
export function compileComponent(program: TypedProgram, options: CompileOptions): CompiledModule & {
  /**
   * The component around a core module; an optimized one with the same imports and exports may take the first one's
   * place.
   */
  wrap(core: Uint8Array): Uint8Array<ArrayBuffer>;
} {
  const { module, compiled } = internally("compiling", () => {
    const module = lowerProgram(program, { ...options, isEnvelope: true });
    return { module, compiled: encode(module, options) };
  });
  return {
    ...compiled,
    wrap: (core) => options.target === "wasm32-wasi" ? wrapCommand(core, module) : wrapPage(core, module),
  };
}

function encode(module: IrModule, options: CompileOptions): CompiledModule {
  const encoded = encodeModule(module, {
    maximumPages: options.maximumPages ?? LANG_LIMITS.memoryPages,
    hasNames: true,
  });
  return {
    ...encoded,
    text: options.wantsText === true ? printModule(module) : null,
    sourceMap: (fileName) => sourceMap(encoded.places, encoded.functionStarts, fileName),
  };
}

/**
 * What modules export beside the program's functions; a library's function of that name gets `_` behind it, for a
 * database it is an error.
 */
const OWN_EXPORTS: ReadonlySet<string> = new Set([...RESERVED_EXPORTS, "cabi_realloc"]);

function entriesOf(lowering: ProgramLowering, options: CompileOptions): Exported[] {
  const { root } = lowering.program;
  switch (options.target) {
    case "wasm32-web":
      return root === null ? [] : webEntries(lowering, root);
    case "wasm32-wasi":
      return root === null ? [] : commandEntries(lowering, root, {
        isEnvelope: options.isEnvelope === true,
        hasExitCodes: options.hasExitCodes === true,
      });
    case "wasm32-db":
      return root === null ? [] : databaseEntries(lowering, root);
    case "core":
      return (options.exports ?? []).map((target) => ({
        name: exportName(target),
        function: lowering.instance(target, []),
      }));
  }
}

/** Lets the module call WASI for what its host would do; gives the functions of WASI. */
function implementWasi(lowering: ProgramLowering): readonly IrFunction[] {
  const host = new WasiHost({
    allocator: lowering.allocator,
    statics: lowering.statics,
    append: () => lowering.runtime.append(lowering.byteLayout),
    register: (target) => lowering.addFunction(target),
  });
  for (const imported of lowering.imports) host.implement(imported);
  return host.imports;
}

/** Lowers a program and runs the passes. */
export function lowerProgram(program: TypedProgram, options: CompileOptions): IrModule {
  const lowering = new ProgramLowering(program, {
    lower: lowerExpression,
    hasGas: options.hasGas === true,
    keepsCalls: options.keepsCalls === true,
  });
  const exports = entriesOf(lowering, options).map((each) =>
    OWN_EXPORTS.has(each.name) ? { ...each, name: `${each.name}_` } : each
  );
  for (const [index, { module, test }] of (options.tests ?? []).entries()) {
    exports.push(...lowerTest(lowering, module, test, `test_${index}`));
  }
  lowering.drain();
  const wasi = options.isEnvelope === true && options.target === "wasm32-wasi" ? implementWasi(lowering) : [];
  if (lowering.usesAllocate) {
    if (options.target !== "wasm32-wasi" || options.isEnvelope !== true) {
      exports.push({ name: "allocate", function: lowering.runtime.allocate() });
    }
    if (options.isEnvelope === true) {
      exports.push({ name: "cabi_realloc", function: lowering.runtime.reallocate() });
    }
  }
  const roots = [...exports.map((exported) => exported.function), ...lowering.table];
  for (const target of reachable(roots)) {
    optimize(target);
    insertCounts(target);
    optimizeCounted(target);
  }
  // What lets cells go is made when it is met.
  reachable(roots);
  lowering.cells.finish();
  const used = reachable(roots);
  const functions = lowering.functions.filter((target) => used.has(target));
  limitDepth(functions, {
    table: lowering.table,
    depth: () => lowering.global("call_depth", null),
    site: (target) => lowering.site("depth", target.place),
  });
  let gas: IrModule["gas"] = null;
  if (options.hasGas === true) {
    const global: IrGlobal = { name: "gas_left", type: "i64", initial: 0n, exportName: "gas_left" };
    lowering.globals.push(global);
    gas = { global, site: lowering.site("gas", null) };
    for (const target of functions) chargeGas(target);
  }
  const heapStart = Math.ceil(lowering.statics.end / 16) * 16;
  lowering.frontier.initial = heapStart;
  const data = lowering.statics.segments();
  const { stateLayout, stateAddress, table } = lowering;
  return {
    functions,
    imports: [...lowering.imports, ...wasi].filter((each) => each.imported !== null && used.has(each)),
    globals: lowering.globals,
    exports,
    table,
    data,
    sites: lowering.sites,
    heapStart,
    trapGlobal: lowering.trapGlobal,
    gas,
    customSections: stateLayout === null ? [] : [{
      name: "lang.state",
      bytes: stateSection({ address: stateAddress, layout: stateLayout }),
    }],
  };
}
