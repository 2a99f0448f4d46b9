/**
 * `deno task release [--dry-run] [--targets a,b] [--output DIR]`: makes what a release consists of, in `dist/release/`:
 * an archive for each machine with `dbd`, `dbcli`, `lang`, the container file, the license and the changelog; the notes
 * from the changelog; `SHA256SUMS`.
 *
 * The same sources and executables give the same bytes: archives have their entries in order, one time for all, and no
 * names of users. With `--dry-run` a machine whose executables cannot be made here is named, and that of this machine
 * gets those that `deno task compile` can make; the notes are then those of the changes that are not released yet.
 *
 * Exit codes: 0 done, 1 failed, 2 bad usage. Limits: the executables of other machines need `deno compile`'s base
 * binaries, which it downloads; nothing is published here, the workflow does that.
 */
import { parseArgs } from "node:util";
import { version } from "../cli/shared/version.ts";
import { packTree } from "../registry/archive/pack.ts";
import { projectRoot, run } from "./project.ts";

/** The machines that a release is for, by the names of `deno compile --target`. */
export const TARGETS = [
  "x86_64-unknown-linux-gnu",
  "aarch64-unknown-linux-gnu",
  "x86_64-apple-darwin",
  "aarch64-apple-darwin",
  "x86_64-pc-windows-msvc",
] as const;

const PROGRAMS = ["dbcli", "dbd", "lang"];
const DOCUMENTS = ["CHANGELOG.md", "Containerfile", "LICENSE"];

const usage = `Usage: deno task release [--dry-run] [--targets LIST] [--output DIR]

  --dry-run       name the machines whose executables cannot be made here, and go on
  --targets LIST  machines, separated by commas (default: ${TARGETS.join(",")})
  --output DIR    where to put everything (default: dist/release)`;

/** The part of the changelog about a version, without its heading; null when there is none. */
export function notesOf(changelog: string, wanted: string): string | null {
  const sections = changelog.split(/^## /m).slice(1);
  const found = sections.find((section) => section.startsWith(`[${wanted}]`));
  return found === undefined ? null : `${found.slice(found.indexOf("\n") + 1).trim()}\n`;
}

/** The archive of a folder that holds the executables, as bytes in pieces. */
export function bundle(
  folder: string,
  executables: readonly string[],
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const files = [
    ...executables.map((path) => ({ path, size: 0, isExecutable: true, from: `${folder}/${path}` })),
    ...DOCUMENTS.map((path) => ({ path, size: 0, isExecutable: false, from: `${projectRoot}/${path}` })),
  ].sort((left, right) => left.path < right.path ? -1 : 1);
  return packTree(
    { name: "db", version },
    files,
    (path) => Deno.readFile(files.find((file) => file.path === path)?.from ?? path),
  );
}

async function write(path: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  using file = await Deno.open(path, { write: true, create: true, truncate: true });
  for await (const piece of pieces) {
    for (let written = 0; written < piece.length;) written += await file.write(piece.subarray(written));
  }
}

/** Makes the executables of a machine in a folder; returns why they cannot be had. */
async function compileFor(target: string, folder: string): Promise<string | null> {
  const isHere = target === Deno.build.target;
  const parameters = ["run", "-A", "tools/compile.ts", "--output", folder];
  const { code, stderr } = await run(
    Deno.execPath(),
    isHere ? parameters : [...parameters, "--target", target],
  );
  return code === 0 ? null : stderr.trim().split("\n").at(0) ?? "deno compile failed";
}

/** Makes a release; returns the exit code. */
export async function release(options: {
  readonly dryRun: boolean;
  readonly targets: readonly string[];
  readonly output: string;
  print(line: string): void;
  readonly compile?: (target: string, folder: string) => Promise<string | null>;
}): Promise<number> {
  const { dryRun, output, print } = options;
  const changelog = await Deno.readTextFile(`${projectRoot}/CHANGELOG.md`);
  const notes = notesOf(changelog, dryRun ? "Unreleased" : version) ??
    (dryRun ? notesOf(changelog, version) : null);
  if (notes === null) {
    print(`Cannot release ${version}: CHANGELOG.md has no section [${version}]`);
    return 1;
  }
  await Deno.remove(output, { recursive: true }).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  await Deno.mkdir(output, { recursive: true });
  await Deno.writeTextFile(`${output}/NOTES.md`, notes);
  const sums: string[] = [];
  let missing = 0;
  for (const target of options.targets) {
    const folder = await Deno.makeTempDir({ prefix: "release-" });
    try {
      const reason = await (options.compile ?? compileFor)(target, folder);
      if (reason !== null) {
        print(`NOT MADE: ${target} (${reason})`);
        missing++;
        continue;
      }
      const suffix = target.includes("windows") ? ".exe" : "";
      const name = `db-${version}-${target}.tar.gz`;
      await write(`${output}/${name}`, bundle(folder, PROGRAMS.map((program) => `${program}${suffix}`)));
      const digest = await crypto.subtle.digest("SHA-256", await Deno.readFile(`${output}/${name}`));
      sums.push(`${new Uint8Array(digest).toHex()}  ${name}\n`);
      print(`${output}/${name}`);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  }
  await Deno.writeTextFile(`${output}/SHA256SUMS`, sums.join(""));
  return missing === 0 || (dryRun && sums.length > 0) ? 0 : 1;
}

if (import.meta.main) {
  let values;
  try {
    ({ values } = parseArgs({
      options: {
        "dry-run": { type: "boolean", default: false },
        targets: { type: "string", default: TARGETS.join(",") },
        output: { type: "string", default: `${projectRoot}/dist/release` },
        help: { type: "boolean", short: "h", default: false },
      },
    }));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`);
    Deno.exit(2);
  }
  if (values.help) {
    console.log(usage);
    Deno.exit(0);
  }
  Deno.exit(
    await release({
      dryRun: values["dry-run"],
      targets: values.targets.split(",").filter((target) => target !== ""),
      output: values.output,
      print: (line) => console.log(line),
    }),
  );
}
