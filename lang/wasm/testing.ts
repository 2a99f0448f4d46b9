/**
 * Helpers for tests of the back end: a source as a program, its module in the engine at hand, and what the
 * interpreter says to the same.
 */
import { type TrapPosition, trapSitesOf } from "../host/trap_sites.ts";
import { PackageAnalyzer } from "../check/package_analysis.ts";
import type { TypedFunction, TypedModule, TypedProgram } from "../typed/tree.ts";
import { expectValid } from "./validity.ts";
import { compile, type CompiledModule, type CompileOptions } from "../compiler/compile.ts";

/** A checked program of one module. */
export interface CheckedSource {
  readonly program: TypedProgram;
  readonly root: TypedModule;
  /** Public functions that can be called from outside. */
  readonly exports: readonly TypedFunction[];
}

/** Checks a source, which has to be right. */
export function checkSource(text: string): CheckedSource {
  const { program, diagnostics } = new PackageAnalyzer().analyze(new Map([["src/main.lang", text]]));
  const root = program?.modules.find((each) => each.name === "main");
  if (program === null || root === undefined) {
    const first = diagnostics.find((each) => each.severity === "error");
    throw new Error(`Cannot use the source of a test: ${first?.code} ${first?.message}`);
  }
  const exports = root.functions.filter((each) => each.isPublic && each.typeParameters.length === 0);
  return { program, root, exports };
}

/** A module that runs. */
export class RunningModule {
  readonly exports: WebAssembly.Exports;
  /** What was written by the host's log functions. */
  readonly log: string[] = [];
  readonly #sites: readonly TrapPosition[];

  constructor(module: Pick<CompiledModule, "bytes">) {
    expectValid(module.bytes);
    const compiled = new WebAssembly.Module(module.bytes);
    const imports: Record<string, Record<string, WebAssembly.ImportValue>> = {};
    for (const { module: from, name } of WebAssembly.Module.imports(compiled)) {
      (imports[from] ??= {})[name] = (...args: unknown[]) => this.#import(name, args);
    }
    this.exports = new WebAssembly.Instance(compiled, imports).exports;
    this.#sites = trapSitesOf(compiled);
  }

  #import(name: string, args: readonly unknown[]): number {
    const [pointer, length] = args.map(Number);
    if (name === "write" && pointer !== undefined && length !== undefined) {
      this.log.push(new TextDecoder().decode(new Uint8Array(this.memory.buffer, pointer, length)));
    }
    return 0;
  }

  /** The linear memory. */
  get memory(): WebAssembly.Memory {
    const { memory } = this.exports;
    if (!(memory instanceof WebAssembly.Memory)) {
      throw new Error("Cannot read the memory: it is not exported");
    }
    return memory;
  }

  /** Calls an exported function. */
  call(name: string, ...args: (number | bigint)[]): unknown {
    const target = this.exports[name];
    if (typeof target !== "function") throw new Error(`Cannot call ${name}: it is not exported`);
    return target(...args);
  }

  /** The value of an exported global. */
  global(name: string): number | bigint {
    const global = this.exports[name];
    if (!(global instanceof WebAssembly.Global)) throw new Error(`Cannot read ${name}: it is not exported`);
    return global.value;
  }

  /** Calls a function and gives why and where it trapped, as `kind line:column`, or null. */
  trapOf(name: string, ...args: (number | bigint)[]): string | null {
    try {
      this.call(name, ...args);
      return null;
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
      const site = this.#sites[Number(this.global("trap_site"))];
      if (site === undefined) return "unknown";
      return `${site.kind} ${site.place?.line ?? 0}:${site.place?.column ?? 0}`;
    }
  }

  /** The text that a global points to. */
  textOf(name: string): string {
    const pointer = Number(this.global(name));
    if (pointer === 0) return "";
    const length = new DataView(this.memory.buffer).getInt32(pointer + 4, true);
    return new TextDecoder().decode(new Uint8Array(this.memory.buffer, pointer + 16, length));
  }

  /** Bytes of the heap in use. */
  get heapBytes(): number {
    return Number(this.global("heap_bytes"));
  }
}

/** Compiles a source and starts it. */
export function runSource(text: string, options: Partial<CompileOptions> = {}): RunningModule {
  const { program, exports } = checkSource(text);
  return new RunningModule(compile(program, { target: "core", exports, ...options }));
}
