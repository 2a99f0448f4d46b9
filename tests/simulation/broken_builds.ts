/**
 * Builds that are broken on purpose, one way each: the simulation must catch every one of them, or it proves nothing.
 *
 * A broken build is the sources with a few lines of one file changed. The changed file is in a temporary folder,
 * and an import map puts it in the place of the original, so the sources themselves are never touched. Text that is
 * to be changed must be there: a build that cannot be broken in this way any more is an error.
 */
import { projectRoot, run } from "../../tools/project.ts";

/** How to break a build. */
export interface BrokenBuild {
  readonly name: string;
  /** Path of the file in the project. */
  readonly file: string;
  /** What is there and what is put in its place, everywhere in the file. */
  readonly changes: readonly (readonly [from: string, to: string])[];
}

/** One with a seed that catches it; `docs/testing.md` lists them. */
export interface SeededBuild extends BrokenBuild {
  readonly seed: number;
}

/** All of them. */
export const BROKEN_BUILDS: readonly BrokenBuild[] = [
  {
    name: "the log is not synced",
    file: "engine/storage/log_tail.ts",
    changes: [
      [
        "return ahead === null ? this.#file.syncData() : ahead.then(() => this.#file.syncData());",
        "return Promise.resolve();",
      ],
      ["this.#file.syncDataNow();", ""],
      ["this.#secondDescriptor.syncDataNow();", ""],
    ],
  },
  {
    name: "commits are acknowledged before they are durable",
    file: "engine/session/engine.ts",
    changes: [[
      "return this.#state.horizon.whenDurable(op);",
      "return op > 0 ? Promise.resolve() : Promise.resolve();",
    ]],
  },
  {
    name: "a failed sync is tried again",
    file: "engine/storage/group_commit.ts",
    changes: [[
      "      } catch (error) {\n        log.fail(error);\n      }",
      '      } catch (error) {\n        if (!(error instanceof Error && "code" in error)) log.fail(error);\n      }',
    ]],
  },
  {
    name: "the last log file is not synced when the next is begun",
    file: "engine/storage/log.ts",
    changes: [["    this.#syncNow();\n    const last", "    this.#tail.writeOut();\n    const last"]],
  },
  {
    name: "the name of a new log file is not made durable",
    file: "engine/storage/log_files.ts",
    changes: [["    disk.syncDirectory(directory);\n", ""]],
  },
  {
    name: "a torn tail of the log is not cut",
    file: "engine/storage/log_recovery.ts",
    changes: [["  reader.file.truncate(end);\n", ""]],
  },
  {
    name: "what recovery has read is not synced",
    file: "engine/storage/log_recovery.ts",
    changes: [["    file.syncDataNow();\n", ""]],
  },
  {
    name: "checksums of log records are not compared",
    file: "engine/storage/log_file_reader.ts",
    changes: [["!== checksum) return undefined", "!== checksum && position < 0) return undefined"]],
  },
  {
    name: "the directory is not synced after the manifest's rename",
    file: "engine/host/disk.ts",
    changes: [[
      "  disk.rename(temporary, path);\n  disk.syncDirectory(directoryOf(path));",
      "  disk.rename(temporary, path);",
    ]],
  },
  {
    name: "the manifest is not synced before its rename",
    file: "engine/host/disk.ts",
    changes: [["    file.syncDataNow();\n", ""]],
  },
  {
    name: "segments are not synced before the manifest names them",
    file: "engine/storage/checkpoint.ts",
    changes: [["await file.syncData();", ""], ["file.syncDataNow();", ""]],
  },
  {
    name: "the directory of segments is not synced before the manifest names them",
    file: "engine/storage/checkpoint.ts",
    changes: [["    disk.syncDirectory(tablesDirectory);\n", ""]],
  },
  {
    name: "the log is cut further than the checkpoint reaches",
    file: "engine/storage/checkpoint.ts",
    changes: [["log.truncateBefore(this.op + 1)", "log.truncateBefore(log.lastOp + 1)"]],
  },
  {
    name: "checksums of segments are not compared",
    file: "engine/storage/table/chunk_file.ts",
    changes: [["!== this.#chunks.checksums[chunk]", "=== -1"]],
  },
  {
    name: "deletion vectors are not read again",
    file: "engine/storage/table/part_set.ts",
    changes: [["    if (piece.deletions !== null) this.#readDeletions(piece.deletions, piece.op);\n", ""]],
  },
  {
    name: "rows that end while a segment is built are forgotten",
    file: "engine/storage/table/part_job.ts",
    changes: [["output.markEnd(at, source.endOp(row));", "void at;"]],
  },
  {
    name: "replies to exactly-once requests are not restored",
    file: "engine/state_machine/state_machine.ts",
    changes: [["    this.clients.restore(state.clients);\n", ""]],
  },
  {
    name: "replies to exactly-once requests are not replayed",
    file: "engine/state_machine/state_machine.ts",
    changes: [["if (entry.client !== null) this.clients.apply(entry.client);", ""]],
  },
  {
    name: "two that have waited take the turn of a commit at once",
    file: "engine/session/commit_turns.ts",
    changes: [["    return await act();\n", "    await null;\n    return await act();\n"]],
  },
  {
    name: "sequences are not restored",
    file: "engine/state_machine/state_machine.ts",
    changes: [["    this.sequences.restore(state.sequences);\n", ""]],
  },
];

/** What became of a broken build: the seed that caught it, or null. */
export interface Caught {
  readonly seed: number | null;
  /** What the simulation said, its first line. */
  readonly message: string;
}

/** Runs up to so many seeds of a broken build in a process of its own; the program is a simulation. */
export async function catchBroken(
  build: BrokenBuild,
  seeds: number,
  program = "tests/simulation/main.ts",
  first = 1,
): Promise<Caught> {
  const folder = await Deno.makeTempDir({ prefix: "broken-build-" });
  try {
    await writeBroken(build, folder);
    const { code, stdout, stderr } = await run(Deno.execPath(), [
      "run",
      "-A",
      "--no-check",
      "--lock",
      `${folder}/deno.lock`,
      "--config",
      `${folder}/deno.json`,
      `${projectRoot}/${program}`,
      "--seeds",
      String(seeds),
      "--first",
      String(first),
      "--once",
      "--sound",
    ]);
    if (code === 0) return { seed: null, message: stdout };
    const message = stderr.split("\n").find((line) => line.startsWith("seed ")) ?? stderr.trim();
    const seed = /--seed (\d+)/.exec(stderr)?.[1];
    if (seed === undefined) throw new Error(`Cannot run the build in which ${build.name}: ${stderr.trim()}`);
    return { seed: Number(seed), message };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function writeBroken(build: BrokenBuild, folder: string): Promise<void> {
  const original = new URL(build.file, `file://${projectRoot}/`);
  const source = (await brokenSource(build)).replaceAll(
    /from "(\.[^"]+)"/g,
    (_, path: string) => `from "${new URL(path, original).href}"`,
  );
  await Deno.writeTextFile(`${folder}/broken.ts`, source);
  // Packages of the same versions, which are there already.
  await Deno.copyFile(`${projectRoot}/deno.lock`, `${folder}/deno.lock`);
  const { imports, compilerOptions } = JSON.parse(await Deno.readTextFile(`${projectRoot}/deno.json`));
  await Deno.writeTextFile(
    `${folder}/deno.json`,
    JSON.stringify({
      imports: { ...imports, [original.href]: "./broken.ts" },
      compilerOptions,
      nodeModulesDir: "none",
    }),
  );
}

/** The file as it is in a broken build. Raises when the file no longer has what is to be broken. */
export async function brokenSource({ name, file, changes }: BrokenBuild): Promise<string> {
  let source = await Deno.readTextFile(new URL(file, `file://${projectRoot}/`));
  for (const [from, to] of changes) {
    if (!source.includes(from)) {
      throw new Error(`Cannot break ${file} so that ${name}: ${from.trim()} is not there`);
    }
    source = source.replaceAll(from, to);
  }
  return source;
}
