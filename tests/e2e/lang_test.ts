/** The toolchain command as a process: from a new package to its module as typed, exit codes, streams. What is told is in `cli/lang/program_test.ts`. */
import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { projectRoot } from "../../tools/project.ts";
import { type ProgramOptions, type ProgramResult, runProgram } from "../support/programs.ts";

function lang(
  directory: string,
  parameters: readonly string[],
  options: ProgramOptions = {},
): Promise<ProgramResult> {
  return runProgram(Deno.execPath(), ["run", "-A", `${projectRoot}/cli/lang.ts`, ...parameters], {
    directory,
    ...options,
  });
}

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "lang-" });
  try {
    await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const manifest = 'name = "sample"\nversion = "0.1.0"\n';

/** A package of one source. */
async function makePackage(folder: string, source: string): Promise<void> {
  await Deno.mkdir(`${folder}/src`, { recursive: true });
  await Deno.writeTextFile(`${folder}/project.toml`, manifest);
  await Deno.writeTextFile(`${folder}/src/main.lang`, source);
}

Deno.test("lang new pong, check, test, build: as typed", async () => {
  await withFolder(async (folder) => {
    const made = await lang(folder, ["new", "pong", "--template", "game"]);
    deepStrictEqual([made.code, made.stderr], [0, ""]);
    const home = `${folder}/pong`;
    const checked = await lang(home, ["check"]);
    deepStrictEqual([checked.code, checked.stdout, checked.stderr], [0, "no mistakes\n", ""]);
    const tested = await lang(home, ["test"]);
    deepStrictEqual([tested.code, tested.stderr], [0, ""]);
    match(tested.stdout, /^\d+ passed, 0 failed\n$/);
    const built = await lang(`${home}/src`, ["build"]);
    deepStrictEqual([built.code, built.stderr], [0, ""]);
    match(built.stdout, /^target\/main.wasm {2}[\d.]+ KiB, wasm32-web\n$/);
    const bytes = await Deno.readFile(`${home}/target/main.wasm`);
    deepStrictEqual([...bytes.subarray(0, 4)], [0, 0x61, 0x73, 0x6d]);
    strictEqual(JSON.parse(await Deno.readTextFile(`${home}/target/main.wasm.map`)).version, 3);
  });
});

Deno.test("lang run: arguments, standard input, output and the exit code go through", async () => {
  await withFolder(async (folder) => {
    await makePackage(
      folder,
      `use host.process

pub fn main(args: List[String]) -> Int uses Input, Log {
  for arg in args { print(arg) }
  print(process.read_text())
  let numbers = [1, 2]
  if args.len() > 3 { return numbers[args.len()] }
  args.len() * 100
}
`,
    );
    const two = await lang(folder, ["run", "--", "a b", "--help"], { input: "typed" });
    deepStrictEqual([two.code, two.stdout, two.stderr], [200, "a b\n--help\ntyped\n", ""]);
    strictEqual((await lang(folder, ["run", "--", "a", "b", "c"])).code, 1);
    const trapped = await lang(folder, ["run", ".", "--", "1", "2", "3", "4"]);
    deepStrictEqual([trapped.code, trapped.stdout], [1, "1\n2\n3\n4\n\n"]);
    strictEqual(
      trapped.stderr,
      `trap: Cannot take the element: index 4 of a list of 2 elements
  --> src/main.lang:7:30
7 |   if args.len() > 3 { return numbers[args.len()] }
`,
    );
  });
});

Deno.test("lang: bad usage has exit code 2, on standard error", async () => {
  await withFolder(async (folder) => {
    const { code, stdout, stderr } = await lang(folder, ["check"]);
    deepStrictEqual([code, stdout], [2, ""]);
    match(
      stderr,
      /^error: Cannot find a package: there is no project\.toml in this folder or above it\nhint: /,
    );
  });
});
