/**
 * The toolchain command as a process, compiled as it ships: from a new package to its module as typed, errors and
 * their fixes, exit codes, streams. What is reported is in `cli/lang/program_test.ts`.
 */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { type ProgramOptions, type ProgramResult, runProgram } from "../support/programs.ts";

const programs = await compiledPrograms();

/** Runs `lang`; whatever happens, nobody is shown a stack of calls. */
async function lang(
  directory: string,
  parameters: readonly string[],
  options: ProgramOptions = {},
): Promise<ProgramResult> {
  const result = await runProgram(programs.lang, parameters, { directory, ...options });
  ok(
    !/^\s+at .*:\d+:\d+|internal error/m.test(result.stdout + result.stderr),
    `${result.stderr}${result.stdout}`,
  );
  return result;
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
    deepStrictEqual([checked.code, checked.stdout, checked.stderr], [0, "no errors or warnings\n", ""]);
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

for (const template of ["tool", "library", "db-function"]) {
  Deno.test(`lang new --template ${template}: checks, tests, builds and is formatted`, async () => {
    await withFolder(async (folder) => {
      strictEqual((await lang(folder, ["new", "sample", "--template", template])).code, 0);
      const home = `${folder}/sample`;
      const runs = await Promise.all(
        [["check"], ["test"], ["build"], ["fmt", "--check"]].map((words) => lang(home, words)),
      );
      deepStrictEqual(runs.map(({ code, stderr }) => [code, stderr]), Array(4).fill([0, ""]));
      if (template !== "tool") return;
      const input = await runProgram("sh", ["-c", "printf 'name,age\\nann,3\\n'"]);
      const counted = await lang(home, ["run"], { input: input.stdout });
      deepStrictEqual([counted.code, counted.stderr], [0, ""]);
    });
  });
}

Deno.test("lang: from an error over its page and its fix to a package without", async () => {
  await withFolder(async (folder) => {
    await makePackage(
      folder,
      'pub fn main() -> Int uses Log {\n  let mut count = 1\n  count += 1\n  print("{count}")\n  0\n}\n',
    );
    const wrong = await lang(folder, ["check"]);
    deepStrictEqual([wrong.code, wrong.stdout], [1, ""]);
    match(wrong.stderr, /SY0020/);
    const page = await lang(folder, ["explain", "SY0020"]);
    strictEqual(page.code, 0);
    match(page.stdout, /var/);
    strictEqual((await lang(folder, ["fix", "SY0020"])).code, 0);
    strictEqual((await lang(folder, ["check"])).code, 1);
    strictEqual((await lang(folder, ["fix", "SY0020", "--write"])).code, 0);
    deepStrictEqual(await lang(folder, ["check"]), {
      code: 0,
      stdout: "no errors or warnings\n",
      stderr: "",
    });
    deepStrictEqual(await lang(folder, ["run"]), { code: 0, stdout: "2\n", stderr: "" });
    const found = await lang(folder, ["find", "count +="]);
    match(found.stdout, /src\/main\.lang:3/);
    match((await lang(folder, ["inspect", "--cost"])).stdout, /main/);
    await Deno.writeTextFile(`${folder}/src/main.lang`, "pub fn main(){}\n");
    strictEqual((await lang(folder, ["fmt", "--check"])).code, 1);
    strictEqual((await lang(folder, ["fmt"])).code, 0);
    strictEqual((await lang(folder, ["fmt", "--check"])).code, 0);
  });
});

Deno.test("lang: a source outside of a package is checked, tested, formatted, run and built by its name", async () => {
  await withFolder(async (folder) => {
    await Deno.writeTextFile(
      `${folder}/hello.lang`,
      'pub fn main(args: List[String]) -> Int uses Log {\n  print("hello {args}")\n  args.len()\n}\n\ntest "one" {\n  expect(1 + 1 == 2)\n}\n',
    );
    deepStrictEqual(await lang(folder, ["check", "hello.lang"]), {
      code: 0,
      stdout: "no errors or warnings\n",
      stderr: "",
    });
    deepStrictEqual(await lang(folder, ["run", "hello.lang", "--", "a", "b"]), {
      code: 2,
      stdout: 'hello ["a", "b"]\n',
      stderr: "",
    });
    deepStrictEqual(await lang(folder, ["test", "hello.lang"]), {
      code: 0,
      stdout: "1 passed, 0 failed\n",
      stderr: "",
    });
    strictEqual((await lang(folder, ["fmt", "--check", "hello.lang"])).code, 0);
    strictEqual((await lang(folder, ["build", "hello.lang"])).code, 0);
    deepStrictEqual([...Deno.readDirSync(folder)].map(({ name }) => name).sort(), [
      "hello.lang",
      "hello.wasm",
      "hello.wasm.map",
    ]);
    await Deno.writeTextFile(`${folder}/wrong.lang`, "fn main( {\n}\n");
    const wrong = await lang(folder, ["check", "wrong.lang"]);
    strictEqual(wrong.code, 1);
    match(wrong.stderr, /wrong\.lang:1:8/);
  });
});

Deno.test("lang: every --help, and completions that their shells take", async () => {
  await withFolder(async (folder) => {
    const { stdout } = await lang(folder, ["--help"]);
    const names = [...stdout.matchAll(/^ {2}([a-z]+) /gm)].map(([, name = ""]) => name).filter((name) =>
      name !== "help"
    );
    ok(names.length >= 11, names.join(" "));
    await Promise.all(names.map(async (name) => {
      const help = await lang(folder, [name, "--help"]);
      deepStrictEqual([help.code, help.stderr], [0, ""], name);
      match(help.stdout, new RegExp(`^Usage: lang ${name}`));
    }));
    for (const shell of ["bash", "zsh", "fish"]) {
      const script = await lang(folder, ["completions", shell]);
      strictEqual(script.code, 0);
      await Deno.writeTextFile(`${folder}/${shell}`, script.stdout);
      if (shell === "fish") continue;
      deepStrictEqual(await runProgram("bash", ["-n", `${folder}/${shell}`]), {
        code: 0,
        stdout: "",
        stderr: "",
      });
    }
  });
});

Deno.test("lang: what cannot be read or written is told, with exit code 2", async () => {
  await withFolder(async (folder) => {
    await makePackage(folder, "pub fn main() -> Int {\n  0\n}\n");
    const refused = async (parameters: readonly string[], reason: RegExp) => {
      const { code, stdout, stderr } = await lang(folder, parameters);
      deepStrictEqual([code, stdout], [2, ""], parameters.join(" "));
      match(stderr, reason);
    };
    await refused(["check", "--nonsense"], /unknown option '--nonsense'/);
    await refused(["chekc"], /unknown command 'chekc'/);
    await refused(["check", "missing"], /Cannot open missing: there is no such file or folder/);
    await refused(["explain", "TY9999"], /Cannot find the code TY9999/);
    await Deno.writeTextFile(`${folder}/target`, "in the way");
    await refused(["build"], /Cannot write target\/main\.wasm: /);
    await Deno.writeFile(`${folder}/src/main.lang`, new Uint8Array([0x66, 0xff, 0xfe]));
    await refused(["check"], /Cannot read src\/main\.lang: it is not UTF-8/);
    await lang(folder, ["new", "pong"]);
    const { code, stderr } = await lang(`${folder}/pong`, ["run"]);
    strictEqual(code, 2);
    match(stderr, /Cannot run the package here: it is a game for a page/);
  });
});
