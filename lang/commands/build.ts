/**
 * `build`: compiles a package into `target/main.wasm` and `target/main.wasm.map`, and a source that stands alone,
 * `hello.lang`, into `hello.wasm`.
 *
 * A package without entry points is a library: its public functions are compiled as they are, which shows that they
 * can be.
 */
import { isExported } from "../check/column_types.ts";
import { findEntryPoints } from "../check/entry_points.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { PackageTarget } from "../package/manifest.ts";
import { exportName } from "../ir/lower/entry.ts";
import type { TypedFunction, TypedProgram } from "../typed/tree.ts";
import { compile, compileComponent, type CompiledModule, type CompileOptions } from "../compiler/compile.ts";
import type { PageFiles } from "./archive.ts";
import type { Workspace } from "./workspace.ts";

/** What is asked of `build`. */
export interface BuildOptions {
  readonly target?: PackageTarget;
  readonly isRelease?: boolean;
  readonly hasGas?: boolean;
  /** Whether a command's exit codes above 1 leave its component. */
  readonly hasExitCodes?: boolean;
  /** Writes the intermediate representation as well. */
  readonly emitIr?: boolean;
  /** Files of the page, when they are to be packed with the module into `target/<name>.zip`. */
  readonly pages?: PageFiles;
  /** Called before each step that may take long. */
  readonly onStep?: (step: string) => void;
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
    /** The archive, when it was wanted, and its size. */
    readonly archive: { readonly path: string; readonly bytes: number } | null;
    /** The intermediate representation, when it was wanted. */
    readonly ir: string | null;
  } | null;
}

/** Compiles a package and writes what comes out. */
export async function build(workspace: Workspace, options: BuildOptions = {}): Promise<BuildOutcome> {
  const checked = workspace.check();
  const { program } = checked;
  if (program === null) return { diagnostics: checked.diagnostics, built: null };
  const target = options.target ?? checked.target;
  const entries = target === null || checked.checkedTarget === target
    ? []
    : findEntryPoints(program, target).diagnostics;
  const diagnostics = [...checked.diagnostics, ...entries];
  if (entries.some(({ severity }) => severity === "error")) return { diagnostics, built: null };
  const pack = options.pages === undefined ? null : await packer(options.pages, target);
  options.onStep?.("compiling");
  const name = workspace.modulePath.slice(workspace.modulePath.lastIndexOf("/") + 1);
  const made = await makeModule(program, target, { ...options, name });
  const paths = write(workspace, made);
  let archive: { readonly path: string; readonly bytes: number } | null = null;
  if (pack !== null) {
    const packed = await pack(made.bytes);
    archive = { path: `target/${checked.manifest?.name ?? name}.zip`, bytes: packed.length };
    workspace.files.write(archive.path, packed);
    paths.push(archive.path);
  }
  return { diagnostics, built: { target, bytes: made.bytes, paths, archive, ir: made.ir } };
}

/** Packs a module with its page; what cannot be packed is refused before anything is built. */
async function packer(
  pages: PageFiles,
  target: PackageTarget | null,
): Promise<(module: Uint8Array<ArrayBuffer>) => Promise<Uint8Array>> {
  // Loaded for archives only.
  const { archive, checkArchive } = await import("./archive.ts");
  checkArchive(pages, target);
  return (module) => archive(pages, module);
}

interface MadeModule {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly sourceMap: string;
  readonly ir: string | null;
}

/** The module as it is written: for page and command in a component's envelope, for a release optimized. */
async function makeModule(
  program: TypedProgram,
  target: PackageTarget | null,
  options: BuildOptions & { readonly name: string },
): Promise<MadeModule> {
  const isComponent = target === "wasm32-web" || target === "wasm32-wasi";
  const compiled = isComponent
    ? compileComponent(program, compileOptions(program, target, options))
    : { ...compileProgram(program, target, options), wrap: null };
  if (options.isRelease === true) options.onStep?.("optimizing");
  const fileName = `${options.name}.wasm`;
  const { bytes: core, sourceMap } = options.isRelease === true
    ? await optimized(compiled, target, fileName)
    : { bytes: compiled.bytes, sourceMap: compiled.sourceMap(fileName) };
  return {
    bytes: compiled.wrap === null ? core : compiled.wrap(core),
    sourceMap,
    ir: compiled.text,
  };
}

async function optimized(
  compiled: CompiledModule,
  target: PackageTarget | null,
  fileName: string,
): Promise<Pick<MadeModule, "bytes" | "sourceMap">> {
  // Loaded for releases only, because the optimizer is large.
  const { optimizeLocated } = await import("../wasm/release.ts");
  return await optimizeLocated(compiled, { isSmall: target === "wasm32-web" }, fileName);
}

function write(workspace: Workspace, made: MadeModule): string[] {
  const path = workspace.modulePath;
  const outputs: [string, string | Uint8Array][] = [
    [`${path}.wasm`, made.bytes],
    [`${path}.wasm.map`, made.sourceMap],
  ];
  if (made.ir !== null) outputs.push([`${path}.ir`, made.ir]);
  for (const [path, content] of outputs) workspace.files.write(path, content);
  return outputs.map(([path]) => path);
}

/** The core module of a program for a target, or of a library's public functions. */
export function compileProgram(
  program: TypedProgram,
  target: PackageTarget | null,
  options: BuildOptions = {},
): CompiledModule {
  return compile(program, compileOptions(program, target, options));
}

function compileOptions(
  program: TypedProgram,
  target: PackageTarget | null,
  options: BuildOptions,
): CompileOptions {
  return {
    target: target ?? "core",
    ...(target === null ? { exports: publicFunctions(program) } : {}),
    hasGas: options.hasGas ?? false,
    hasExitCodes: options.hasExitCodes ?? false,
    wantsText: options.emitIr ?? false,
  };
}

/**
 * What a library offers, functions and methods of its public types, without type parameters; a name that two modules
 * have is taken once.
 */
function publicFunctions(program: TypedProgram): TypedFunction[] {
  const byName = new Map<string, TypedFunction>();
  for (const module of program.modules) {
    if (module.isLibrary) continue;
    for (const each of module.functions) {
      const isPlain = isExported(module, each) && each.typeParameters.length === 0 && each.body !== null;
      const name = exportName(each);
      if (isPlain && !byName.has(name)) byName.set(name, each);
    }
  }
  return [...byName.values()];
}
