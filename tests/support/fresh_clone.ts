/**
 * The project as somebody finds it who has just cloned it: `git clone` into a new folder, an empty home folder, and
 * an `npx` that runs this very Deno, so that nothing is fetched.
 *
 * What is changed or new in the work tree and not yet committed is copied on top, so that a test judges the tree at
 * hand. Where the project is no git work tree, as in an unpacked archive, its files are copied.
 */
import { projectRoot, run, sourceFiles } from "../../tools/project.ts";
import { denoCacheFolder } from "./programs.ts";

/** A clone and what is needed to run commands in it. */
export interface FreshClone extends AsyncDisposable {
  /** The project's folder. */
  readonly directory: string;
  /** A folder at the front of the PATH; programs may be put into it. */
  readonly programs: string;
  /** The whole environment for commands. */
  readonly environment: Readonly<Record<string, string>>;
}

const git = ["-c", "safe.directory=*"];

/** One after the other they are at the same place, where Deno knows the sources that it has compiled before. */
let root: string | null = null;

/** Makes one in a temporary folder, which goes away with it; there is one at a time. */
export async function freshClone(): Promise<FreshClone> {
  root ??= await Deno.makeTempDir({ prefix: "clone-" });
  const clone = root;
  await Deno.mkdir(clone, { recursive: true });
  const [directory, home, programs] = [`${clone}/db`, `${clone}/home`, `${clone}/programs`];
  await Deno.mkdir(home);
  await Deno.mkdir(programs);
  await cloneTo(directory);
  await writeProgram(`${programs}/npx`, [
    "# npx -y deno@<version> …: this very Deno, whatever the version.",
    `[ "$1" = -y ] && shift`,
    `case "$1" in deno@*) shift; exec "${Deno.execPath()}" "$@" ;; esac`,
    `echo "npx: only deno is here, not $1" >&2`,
    "exit 1",
  ]);
  const environment: Record<string, string> = {
    PATH: `${programs}:${Deno.env.get("PATH") ?? "/usr/local/bin:/usr/bin:/bin"}`,
    HOME: home,
    DENO_DIR: await denoCacheFolder(),
    LANG: "C.UTF-8",
    NO_COLOR: "1",
  };
  return {
    directory,
    programs,
    environment,
    [Symbol.asyncDispose]: () => Deno.remove(clone, { recursive: true }),
  };
}

/** Writes a shell script that can be run. */
export async function writeProgram(path: string, lines: readonly string[]): Promise<void> {
  await Deno.writeTextFile(path, `#!/bin/sh\n${lines.join("\n")}\n`, { mode: 0o755 });
}

async function cloneTo(directory: string): Promise<void> {
  const { code } = await run("git", [...git, "rev-parse", "--git-dir"]).catch(() => ({ code: 127 }));
  if (code !== 0) {
    await copyFiles(await sourceFiles(projectRoot), directory);
    return;
  }
  const clone = await run("git", [...git, "clone", "--quiet", projectRoot, directory]);
  if (clone.code !== 0) throw new Error(`git clone: ${clone.stderr}`);
  await copyFiles(await listed("--modified", "--others", "--exclude-standard"), directory);
  for (const path of await listed("--deleted")) {
    await Deno.remove(`${directory}/${path}`).catch(ignoreNotFound);
  }
}

async function listed(...parameters: readonly string[]): Promise<string[]> {
  const { code, stdout, stderr } = await run("git", [...git, "ls-files", "-z", ...parameters]);
  if (code !== 0) throw new Error(`git ls-files: ${stderr}`);
  return stdout.split("\0").filter((path) => path !== "");
}

async function copyFiles(paths: readonly string[], directory: string): Promise<void> {
  for (const path of paths) {
    const target = `${directory}/${path}`;
    await Deno.mkdir(target.replace(/\/[^/]*$/, ""), { recursive: true });
    // A file that is listed as modified may be a deleted one.
    await Deno.copyFile(`${projectRoot}/${path}`, target).catch(ignoreNotFound);
  }
}

function ignoreNotFound(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}
