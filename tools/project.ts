/**
 * What every tool needs to know of the project: where it is, which files belong to it, how to run a program.
 *
 * Limits: the files are those that git knows or would add (`git ls-files`); outside a work tree, as in the
 * fixtures of the tools' tests, all files below the folder.
 */

/** Absolute path of the project's root folder, without a trailing slash. */
export const projectRoot: string = new URL("..", import.meta.url).pathname.replace(/\/$/, "");

/** What a finished program left behind. */
export interface RunResult {
  /** Exit code. */
  readonly code: number;
  /** Everything it wrote to standard output. */
  readonly stdout: string;
  /** Everything it wrote to standard error, without color codes. */
  readonly stderr: string;
  /** Whether it was stopped because its time was up. */
  readonly timedOut: boolean;
}

/** Options of {@link run}. */
export interface RunOptions {
  /** Working directory; the project's root when absent. */
  readonly directory?: string;
  /** Environment variables on top of the own ones. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Time after which the program is stopped. */
  readonly timeoutMilliseconds?: number;
}

/** Removes terminal color codes. */
export function withoutColor(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replace(/\x1b\[[0-9;]*[A-Za-z]/g, "");
}

/** Runs a program to its end and returns what it wrote. */
export async function run(
  program: string,
  parameters: readonly string[],
  { directory = projectRoot, environment = {}, timeoutMilliseconds }: RunOptions = {},
): Promise<RunResult> {
  const timeout = timeoutMilliseconds === undefined ? undefined : AbortSignal.timeout(timeoutMilliseconds);
  const output = await new Deno.Command(program, {
    args: [...parameters],
    cwd: directory,
    env: { NO_COLOR: "1", ...environment },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    ...(timeout === undefined ? {} : { signal: timeout }),
  }).output();
  const decoder = new TextDecoder();
  return {
    code: output.code,
    stdout: decoder.decode(output.stdout),
    stderr: withoutColor(decoder.decode(output.stderr)),
    timedOut: output.signal !== null && timeout?.aborted === true,
  };
}

async function walk(root: string, folder: string, found: string[]): Promise<void> {
  for await (const entry of Deno.readDir(`${root}/${folder}`)) {
    const path = `${folder}${entry.name}`;
    if (entry.isDirectory && entry.name !== ".git" && entry.name !== "node_modules") {
      await walk(root, `${path}/`, found);
    } else if (entry.isFile) found.push(path);
  }
}

/** The paths of all files of a project, relative to its root and sorted. */
export async function sourceFiles(root: string): Promise<string[]> {
  const hasGit = await Deno.stat(`${root}/.git`).then(() => true, () => false);
  if (hasGit) {
    const git = await run("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
      directory: root,
    });
    if (git.code === 0) {
      const listed = [...new Set(git.stdout.split("\0").filter((path) => path !== ""))];
      const present = await Promise.all(
        listed.map((path) => Deno.lstat(`${root}/${path}`).then((info) => info.isFile, () => false)),
      );
      return listed.filter((_, index) => present[index]).sort();
    }
  }
  const found: string[] = [];
  await walk(root, "", found);
  return found.sort();
}
