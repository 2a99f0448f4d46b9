/**
 * `inspect`: what a package consists of: modules, public API with types, effects and documentation, imports, sizes;
 * with `cost` what its functions cost.
 */
import { moduleNameOf } from "../check/package_analysis.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { PackageTarget } from "../package/manifest.ts";
import { functionSignature, interfaceSignature, typeSignature } from "../typed/signature.ts";
import type { TypedConstant, TypedFunction, TypedModule } from "../typed/tree.ts";
import { EFFECTS } from "../types/type.ts";
import { typeText } from "../types/type_text.ts";
import { compileProgram } from "./build.ts";
import { type CostOptions, type CostReport, measureCost } from "./cost.ts";
import type { Workspace } from "./workspace.ts";

/** Something that a module offers. */
export interface ApiItem {
  readonly kind: "function" | "type" | "interface" | "constant";
  /** As it is called inside the package: `Ball.move`. */
  readonly name: string;
  /** As it would be declared, without a body. */
  readonly signature: string;
  readonly documentation: string | null;
  readonly line: number;
}

/** One module. */
export interface ModuleReport {
  readonly name: string;
  readonly file: string;
  readonly lines: number;
  /** Modules that it uses. */
  readonly uses: readonly string[];
  /** What its functions may do to the graph. */
  readonly effects: readonly string[];
  readonly api: readonly ApiItem[];
  readonly tests: number;
}

/** What inspecting gives. */
export interface InspectOutcome {
  readonly diagnostics: readonly Diagnostic[];
  /** Null when the package has errors. */
  readonly report: {
    readonly name: string;
    readonly version: string;
    readonly target: PackageTarget | null;
    readonly modules: readonly ModuleReport[];
    /** Imports of the core module. */
    readonly imports: readonly string[];
    /** Size of the core module in bytes, of a debug build. */
    readonly bytes: number;
    /** Size of each function, the largest first. */
    readonly functions: readonly { readonly name: string; readonly bytes: number }[];
    /** Null when it was not asked for. */
    readonly cost: CostReport | null;
  } | null;
}

/** What is asked of `inspect`. */
export interface InspectOptions extends Omit<CostOptions, "gas"> {
  readonly cost?: boolean;
  /** What each run of a test may use when cost is measured. */
  readonly gas?: number;
}

/** Looks into a package. */
export async function inspect(
  workspace: Workspace,
  { cost = false, gas, ...options }: InspectOptions = {},
): Promise<InspectOutcome> {
  const { diagnostics, program, manifest, target, analysis } = workspace.check();
  if (program === null || manifest === null) return { diagnostics, report: null };
  const compiled = compileProgram(program, target);
  const module = new WebAssembly.Module(compiled.bytes);
  const uses = new Map<string, readonly string[]>();
  for (const [path, { module }] of analysis.files) {
    uses.set(
      path,
      module.declarations.flatMap((each) =>
        each.kind === "use" ? [each.path.map((name) => name.text).join(".")] : []
      ),
    );
  }
  return {
    diagnostics,
    report: {
      name: manifest.name,
      version: manifest.version,
      target,
      modules: program.modules.filter((each) => !each.isLibrary).map((each) =>
        moduleReport(each, uses.get(each.file.path) ?? [])
      ).toSorted((left, right) => left.file < right.file ? -1 : 1),
      imports: WebAssembly.Module.imports(module).map((each) => `${each.module} ${each.name}`),
      bytes: compiled.bytes.length,
      functions: compiled.functionSizes.toSorted((left, right) =>
        right.bytes - left.bytes || (left.name < right.name ? -1 : 1)
      ),
      cost: cost
        ? await measureCost(program, { ...options, ...(gas === undefined ? {} : { gas: BigInt(gas) }) })
        : null,
    },
  };
}

function moduleReport(module: TypedModule, uses: readonly string[]): ModuleReport {
  const { file } = module;
  const effects = new Set(module.functions.flatMap((each) => [...each.effects]));
  const item = (
    kind: ApiItem["kind"],
    each: {
      readonly name: string;
      readonly documentation: string | null;
      readonly nameSpan: TypedFunction["nameSpan"];
    },
    signature: string,
  ): ApiItem => ({
    kind,
    name: each.name,
    signature,
    documentation: each.documentation?.trim() ?? null,
    line: file.positionOf(each.nameSpan).line,
  });
  const api = [
    ...module.types.filter((each) => each.isPublic).map((each) => item("type", each, typeSignature(each))),
    ...module.interfaces.filter((each) => each.isPublic).map((each) =>
      item("interface", each, interfaceSignature(each))
    ),
    ...module.constants.filter((each) => each.isPublic).map((each) => {
      const name = shortName(each);
      return item("constant", { ...placed(each), name }, `const ${name}: ${typeText(each.type)}`);
    }),
    ...module.functions.filter((each) => each.isPublic).map((each) => {
      const name = each.owner === null ? each.name : `${each.owner}.${each.name}`;
      return item("function", { ...placed(each), name }, functionSignature(each));
    }),
  ].toSorted((left, right) => left.line - right.line);
  return {
    name: module.name,
    file: file.path,
    lines: file.lineStarts.length - (file.text.endsWith("\n") ? 1 : 0),
    uses,
    effects: EFFECTS.filter((effect) => effects.has(effect)),
    api,
    tests: module.tests.length,
  };
}

function placed({ documentation, nameSpan }: Pick<TypedFunction, "documentation" | "nameSpan">) {
  return { documentation, nameSpan };
}

function shortName({ id, file }: TypedConstant): string {
  const module = moduleNameOf(file.path) ?? "";
  return id.startsWith(`${module}.`) ? id.slice(module.length + 1) : id;
}
