/**
 * Which effects the public functions of fetched packages use, and which are new since the packages were fetched
 * before.
 */
import { PackageAnalyzer } from "../../../lang/check/package_analysis.ts";
import type { Dependencies } from "../../../lang/package/dependencies.ts";
import { readDependencies } from "../../../lang/package/dependencies.ts";
import type { InstalledRecord } from "../../../registry/client/installed.ts";
import type { Session } from "../../../registry/client/project.ts";
import { DiskFiles } from "../shared/disk_files.ts";

/** Effects that a package did not use before. */
export interface EffectChange {
  readonly name: string;
  readonly version: string;
  readonly effects: readonly string[];
}

/** What is remembered from one fetch to the next, relative to the package. */
const EFFECTS_FILE = ".lang/registry/effects.json";

type Remembered = Readonly<Record<string, readonly string[]>>;

/** Compares the effects of all packages with those of the last time, and remembers them. */
export async function newEffects(session: Session, record: InstalledRecord): Promise<EffectChange[]> {
  const { host, root } = session;
  const path = `${root}/${EFFECTS_FILE}`;
  const state = record.packages.map(({ name, version, hash }) => `${name} ${version} ${hash}`).join("\n");
  const before = readRemembered(await host.files.readText(path));
  if (before !== null && before.state === state) return [];
  if (before === null && record.packages.length === 0) return [];
  const now = effectsOf(root);
  const changes = record.packages.flatMap(({ name, version }) => {
    const known = before?.effects[name];
    const fresh = (now.get(name) ?? []).filter((effect) => known !== undefined && !known.includes(effect));
    return fresh.length === 0 ? [] : [{ name, version, effects: fresh }];
  });
  const effects = { ...before?.effects, ...Object.fromEntries(now) };
  await host.files.write(path, `${JSON.stringify({ state, effects })}\n`);
  return changes;
}

function readRemembered(
  text: string | null,
): { readonly state: string; readonly effects: Remembered } | null {
  try {
    const value = JSON.parse(text ?? "null");
    return typeof value?.state === "string" && typeof value?.effects === "object" ? value : null;
  } catch {
    return null;
  }
}

/** Effects of the public functions, by package. */
function effectsOf(root: string): Map<string, string[]> {
  const files = new DiskFiles(root);
  const read = (path: string) => files.read(path);
  const dependencies = readDependencies(read);
  const found = new Map<string, string[]>();
  for (const { prefix, name } of dependencies.packages.values()) {
    const { program } = new PackageAnalyzer().analyze(
      new Map([["src/main.lang", usesAll(dependencies, prefix)]]),
      {
        dependencies: { ...dependencies, direct: new Map([["used_package", prefix]]) },
        read,
      },
    );
    const effects = new Set<string>(found.get(name) ?? []);
    for (const module of program?.modules ?? []) {
      if (module.name !== prefix && !module.name.startsWith(`${prefix}.`)) continue;
      for (const each of module.functions) {
        if (each.isPublic) { for (const effect of each.effects) effects.add(effect); }
      }
    }
    found.set(name, [...effects].sort());
  }
  return found;
}

/** A program that imports every module of a package. */
function usesAll(dependencies: Dependencies, prefix: string): string {
  const modules = [...dependencies.packages.get(prefix)?.modules.keys() ?? []];
  return modules.map((module, index) =>
    `use used_package${module === "main" ? "" : `.${module}`} as _module_${index}\n`
  ).join("");
}
