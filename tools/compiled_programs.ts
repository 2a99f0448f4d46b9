/**
 * The compiled executables, for tests that start them: made once per state of the sources, in `.cache/programs/`.
 *
 * A stamp over the path, size and time of change of every file that they are made of says whether they are still
 * right. A lock file lets test files run at the same time: the first one compiles, the others wait for it.
 * `DB_PROGRAMS` names a folder with executables to be used as they are, for instance those of a release.
 */
import { isProductFile } from "./layers.ts";
import { projectRoot, run, sourceFiles } from "./project.ts";

/** The absolute paths of the executables. */
export interface CompiledPrograms {
  /** The server. */
  readonly dbd: string;
  /** The client. */
  readonly dbcli: string;
  /** The toolchain command. */
  readonly lang: string;
}

function programsIn(folder: string): CompiledPrograms {
  return { dbd: `${folder}/dbd`, dbcli: `${folder}/dbcli`, lang: `${folder}/lang` };
}

/** What is made of sources, once for each state of them. */
interface Product {
  /** The folder in `.cache`. */
  readonly name: string;
  /** The files that show that it is there. */
  readonly files: readonly string[];
  /** Where the sources are that it is made of, besides those of the product and of what compiles. */
  readonly sources: readonly string[];
  /** Makes it in the folder. */
  make(folder: string): Promise<void>;
}

/** A text that changes whenever something that is compiled changes. */
async function sourceStamp(sources: readonly string[]): Promise<string> {
  const paths = (await sourceFiles(projectRoot)).filter((path) =>
    isProductFile(path) || path === "deno.json" || path === "deno.lock" || path.startsWith("tools/compile") ||
    sources.some((folder) => path.startsWith(folder))
  );
  const lines = await Promise.all(paths.map(async (path) => {
    const { size, mtime } = await Deno.stat(`${projectRoot}/${path}`);
    return `${path} ${size} ${mtime?.getTime() ?? 0}`;
  }));
  const text = new TextEncoder().encode([Deno.version.deno, ...lines].join("\n"));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", text)).toHex();
}

async function isCurrent(folder: string, files: readonly string[], stamp: string): Promise<boolean> {
  try {
    await Promise.all(files.map((name) => Deno.stat(`${folder}/${name}`)));
    return await Deno.readTextFile(`${folder}/stamp`) === stamp;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Makes something if the sources changed since the last time, and returns its folder. */
export async function madeOnce({ name, files, sources, make }: Product): Promise<string> {
  const folder = `${projectRoot}/.cache/${name}`;
  await Deno.mkdir(folder, { recursive: true });
  using lock = await Deno.open(`${folder}/lock`, { create: true, write: true });
  await lock.lock(true);
  const stamp = await sourceStamp(sources);
  if (await isCurrent(folder, files, stamp)) return folder;
  await make(folder);
  await Deno.writeTextFile(`${folder}/stamp`, stamp);
  return folder;
}

/** Compiles the programs if the sources changed since the last time, and returns where they are. */
export async function compiledPrograms(): Promise<CompiledPrograms> {
  const given = Deno.env.get("DB_PROGRAMS");
  if (given !== undefined && given !== "") return programsIn(await Deno.realPath(given));
  const make = async (folder: string): Promise<void> => {
    const { code, stderr } = await run(Deno.execPath(), [
      "run",
      "-A",
      "tools/compile.ts",
      "--output",
      folder,
    ]);
    if (code !== 0) throw new Error(`Cannot compile the programs: ${stderr.trim()}`);
  };
  return programsIn(
    await madeOnce({ name: "programs", files: ["dbd", "dbcli", "lang"], sources: [], make }),
  );
}
