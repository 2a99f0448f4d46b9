/**
 * `deno task server-packages [--check]`: writes `cli/server.json` and `cli/server.lock`, the configuration of the
 * server alone: the packages of `deno.json` that `cli/dbd.ts` can load, and their hashes from `deno.lock`. A start
 * with it fetches these and nothing else; with `deno.json` Deno fetches all that `deno.lock` lists.
 *
 * With `--check` it writes nothing and exits with code 1 when they are outdated.
 */
import { projectRoot, run } from "./project.ts";

interface Lock {
  readonly version: string;
  readonly specifiers: Readonly<Record<string, string>>;
  readonly npm: Readonly<
    Record<string, { readonly integrity: string; readonly dependencies?: readonly string[] }>
  >;
}

/** The packages that the server's modules import, as `NAME@VERSION`, dynamic imports included. */
async function importedPackages(): Promise<Set<string>> {
  const { stdout } = await run(Deno.execPath(), ["info", "--json", "cli/dbd.ts"]);
  const { modules } = JSON.parse(stdout) as { readonly modules: readonly { readonly specifier: string }[] };
  return new Set(
    modules.flatMap(({ specifier }) => {
      const name = /^npm:\/?((?:@[^@/]+\/)?[^@/]+@[^/]+)/.exec(specifier)?.[1];
      return name === undefined ? [] : [name];
    }),
  );
}

/** Both files, by name. */
export async function serverPackages(): Promise<Record<"server.json" | "server.lock", string>> {
  const project = JSON.parse(await Deno.readTextFile(`${projectRoot}/deno.json`)) as {
    readonly imports: Readonly<Record<string, string>>;
    readonly compilerOptions: unknown;
    readonly tasks: Readonly<Record<string, { readonly description: string }>>;
  };
  const lock = JSON.parse(await Deno.readTextFile(`${projectRoot}/deno.lock`)) as Lock;
  const packages = await importedPackages();
  const imports = Object.fromEntries(
    Object.entries(project.imports).filter(([, address]) =>
      packages.has(address.replace(/^npm:\/?/, "").replace(/\/$/, ""))
    ),
  );
  const wanted = Object.values(imports).map((address) =>
    address.replace(/^npm:\/?/, "npm:").replace(/\/$/, "")
  );
  const npm: Record<string, Lock["npm"][string]> = {};
  const add = (id: string): void => {
    const found = lock.npm[id];
    if (found === undefined) throw new Error(`Cannot find ${id} in deno.lock`);
    if (id in npm) return;
    npm[id] = found;
    for (const dependency of found.dependencies ?? []) {
      add(dependency in lock.npm ? dependency : `${dependency}@${lock.specifiers[`npm:${dependency}`]}`);
    }
  };
  const specifiers: Record<string, string> = {};
  for (const specifier of wanted.toSorted()) {
    const version = lock.specifiers[specifier];
    if (version === undefined) {
      throw new Error(`Cannot find ${specifier} in deno.lock; run deno install --frozen=false`);
    }
    specifiers[specifier] = version;
    add(`${specifier.slice("npm:".length, specifier.lastIndexOf("@"))}@${version}`);
  }
  const configuration = {
    nodeModulesDir: "none",
    lock: { path: "server.lock", frozen: true },
    imports,
    tasks: {
      start: {
        description: project.tasks.start?.description,
        command: "cd .. && deno run -A --config cli/server.json cli/dbd.ts --dev 127.0.0.1:7878 ./data",
      },
    },
  };
  const sorted = Object.fromEntries(Object.entries(npm).sort(([left], [right]) => left < right ? -1 : 1));
  return {
    "server.json": `${JSON.stringify(configuration, null, 2)}\n`,
    "server.lock": `${
      JSON.stringify(
        { version: lock.version, specifiers, npm: sorted, workspace: { dependencies: wanted.toSorted() } },
        null,
        2,
      )
    }\n`,
  };
}

/** The files that are not what they would be written as. */
export async function outdatedFiles(): Promise<string[]> {
  const outdated: string[] = [];
  for (const [name, text] of Object.entries(await serverPackages())) {
    if (await Deno.readTextFile(`${projectRoot}/cli/${name}`) !== text) outdated.push(`cli/${name}`);
  }
  return outdated;
}

if (import.meta.main) {
  if (Deno.args.includes("--check")) {
    const outdated = await outdatedFiles();
    for (const path of outdated) {
      console.error(`Cannot use ${path}: packages changed; run deno task server-packages`);
    }
    Deno.exit(outdated.length === 0 ? 0 : 1);
  }
  for (const [name, text] of Object.entries(await serverPackages())) {
    await Deno.writeTextFile(`${projectRoot}/cli/${name}`, text);
  }
}
