/**
 * `build`: compiles a package into `target/main.wasm` and `target/main.wasm.map`.
 *
 * A package without entry points is a library: its public functions are compiled as they are, which shows that they can be.
 */
import { findEntryPoints } from "../check/entry_points.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { PackageTarget } from "../package/manifest.ts";
import type { TypedFunction, TypedProgram } from "../typed/tree.ts";
import { compile, type CompiledModule, type Target } from "../wasm/compile.ts";
import { CommandError } from "./command_error.ts";
import type { Workspace } from "./workspace.ts";

/** Where the module goes. */
export const MODULE_PATH = "target/main.wasm";
const SOURCE_MAP_PATH = "target/main.wasm.map";
const IR_PATH = "target/main.ir";

/** What is asked of `build`. */
export interface BuildOptions {
  readonly target?: PackageTarget;
  readonly isRelease?: boolean;
  readonly hasGas?: boolean;
  /** Writes the intermediate representation as well. */
  readonly emitIr?: boolean;
}

/** What a build gives. */
export interface BuildOutcome {
  readonly diagnostics: readonly Diagnostic[];
  /** Null when there are errors. */
  readonly built: {
    /** Null for a library. */
    readonly target: PackageTarget | null;
    readonly bytes: Uint8Array<ArrayBuffer>;
    /** Files that were written. */
    readonly paths: readonly string[];
    /** The intermediate representation, when it was wanted. */
    readonly ir: string | null;
  } | null;
}

/** Compiles a package and writes what comes out. */
export function build(workspace: Workspace, options: BuildOptions = {}): BuildOutcome {
  const checked = workspace.check();
  const { program } = checked;
  if (program === null) return { diagnostics: checked.diagnostics, built: null };
  const target = options.target ?? checked.target;
  // The manifest's target has been looked at by `check`.
  const entries = target === null || options.target === undefined && checked.manifest?.target === target
    ? []
    : findEntryPoints(program, target).diagnostics;
  const diagnostics = [...checked.diagnostics, ...entries];
  if (entries.some(({ severity }) => severity === "error")) return { diagnostics, built: null };
  const compiled = compileProgram(program, target, options);
  const paths = write(workspace, compiled);
  return { diagnostics, built: { target, bytes: compiled.bytes, paths, ir: compiled.text } };
}

function write(workspace: Workspace, compiled: CompiledModule): string[] {
  const outputs: [string, string | Uint8Array][] = [
    [MODULE_PATH, compiled.bytes],
    [SOURCE_MAP_PATH, compiled.sourceMap("main.wasm")],
  ];
  if (compiled.text !== null) outputs.push([IR_PATH, compiled.text]);
  for (const [path, content] of outputs) {
    try {
      workspace.files.write(path, content);
    } catch (error) {
      throw new CommandError(
        `Cannot write ${path}: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
  return outputs.map(([path]) => path);
}

/** The module of a program for a target, or of its public functions. */
export function compileProgram(
  program: TypedProgram,
  target: PackageTarget | null,
  options: BuildOptions = {},
): CompiledModule {
  const chosen: Target = target ?? "core";
  return compile(program, {
    target: chosen,
    ...(target === null ? { exports: publicFunctions(program) } : {}),
    hasGas: options.hasGas ?? false,
    wantsText: options.emitIr ?? false,
  });
}

/** What a library offers, without type parameters; a name that two modules have is taken once. */
function publicFunctions(program: TypedProgram): TypedFunction[] {
  const byName = new Map<string, TypedFunction>();
  for (const module of program.modules) {
    if (module.isLibrary) continue;
    for (const each of module.functions) {
      const isPlain = each.isPublic && each.typeParameters.length === 0 && each.owner === null &&
        each.body !== null;
      if (isPlain && !byName.has(each.name)) byName.set(each.name, each);
    }
  }
  return [...byName.values()];
}
