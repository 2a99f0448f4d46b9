/** Servers that are to end by themselves, with one line and without a trace in their directories. */
import { createHash } from "node:crypto";
import { runProgram } from "../support/programs.ts";

/**
 * Runs a server that is to end by itself; answers its exit code and what it has said, but for that it was ready, and,
 * on a machine that starves it, without others.
 */
export async function misfit(dbd: string, args: readonly string[]): Promise<[number, string]> {
  const { code, stderr } = await runProgram(dbd, args);
  return [
    code,
    stderr.replaceAll(
      /^dbd: (?:(?:binary protocol|HTTP|PostgreSQL protocol) on \S+|data in \S+|ready|there is no primary.*)\n/gm,
      "",
    )
      .trim(),
  ];
}

/** Each file of the directories, with a hash of its bytes. */
export async function contentsOf(directories: readonly string[]): Promise<string[]> {
  const files: string[] = [];
  for (const directory of directories) {
    for await (const { name, isDirectory } of Deno.readDir(directory)) {
      const path = `${directory}/${name}`;
      if (isDirectory) files.push(...await contentsOf([path]));
      else files.push(`${path} ${createHash("sha256").update(await Deno.readFile(path)).digest("hex")}`);
    }
  }
  return files.sort();
}
