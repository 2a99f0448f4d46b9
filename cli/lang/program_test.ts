/** Command lines of `lang`, in this process: what each command prints and its exit code. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { runProgram } from "./program.ts";
import { Terminal } from "./shared/terminal.ts";

class Capture {
  readonly #parts: Uint8Array[] = [];
  writeSync(bytes: Uint8Array): number {
    this.#parts.push(bytes.slice());
    return bytes.length;
  }
  isTerminal(): boolean {
    return false;
  }
  get text(): string {
    return this.#parts.map((part) => new TextDecoder().decode(part)).join("");
  }
}

/** Runs a command line. */
async function lang(parameters: readonly string[]) {
  const [stdout, stderr] = [new Capture(), new Capture()];
  const code = await runProgram(parameters, new Terminal(stdout, stderr));
  return { code, stdout: stdout.text, stderr: stderr.text };
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

const templates = {
  "game": "wasm32-web",
  "tool": "wasm32-wasi",
  "library": "library",
  "db-function": "wasm32-db",
} as const;

for (const [template, target] of Object.entries(templates)) {
  Deno.test(`lang new --template ${template}: checks, tests, is formatted and builds as it is`, async () => {
    await withFolder(async (folder) => {
      const made = await lang(["new", `${folder}/sample`, "--template", template]);
      deepStrictEqual([made.code, made.stderr], [0, ""]);
      const home = `${folder}/sample`;
      const checked = await lang(["check", home]);
      deepStrictEqual([checked.code, checked.stdout, checked.stderr], [0, "no errors or warnings\n", ""]);
      const tested = await lang(["test", home]);
      strictEqual(tested.code, 0, tested.stdout);
      match(tested.stdout, /^\d+ passed, 0 failed\n$/);
      strictEqual((await lang(["fmt", "--check", home])).code, 0);
      const built = await lang(["build", home]);
      deepStrictEqual([built.code, built.stderr], [0, ""]);
      match(built.stdout, new RegExp(`^target/main.wasm  [\\d.]+ (bytes|KiB), ${target}\\n$`));
      const bytes = await Deno.readFile(`${home}/target/main.wasm`);
      deepStrictEqual([...bytes.subarray(0, 4)], [0, 0x61, 0x73, 0x6d]);
      strictEqual(JSON.parse(await Deno.readTextFile(`${home}/target/main.wasm.map`)).version, 3);
    });
  });
}

Deno.test("lang check and fix: an error is reported, and fixed by its fix", async () => {
  await withFolder(async (folder) => {
    await makePackage(
      folder,
      `type Phase = Playing | Over(score: Int)

pub fn points(phase: Phase) -> Int {
  match phase {
    Playing => 0
  }
}
`,
    );
    const told = await lang(["check", folder]);
    strictEqual(told.code, 1);
    match(told.stderr, /^error\[MX0001\]: Non-exhaustive `match`\n {2}--> src\/main\.lang:4:3\n/);
    const json = await lang(["check", "--format", "json", folder]);
    const report = JSON.parse(json.stdout);
    deepStrictEqual([json.code, report.ok, report.diagnostics[0].code], [1, false, "MX0001"]);
    const sarif = JSON.parse((await lang(["check", "--format", "sarif", folder])).stdout);
    deepStrictEqual([sarif.version, sarif.runs[0].results[0].ruleId], ["2.1.0", "MX0001"]);
    strictEqual((await lang(["test", folder])).code, 1);
    strictEqual((await lang(["build", folder])).code, 1);
    const before = await Deno.readTextFile(`${folder}/src/main.lang`);
    const shown = await lang(["fix", "MX0001", folder, "--alternative", "1"]);
    match(shown.stdout, /^\+ {4}_ => panic\("not handled yet"\)$/m);
    strictEqual(await Deno.readTextFile(`${folder}/src/main.lang`), before);
    strictEqual((await lang(["fix", "mx0001", folder, "--write"])).code, 0);
    match(await Deno.readTextFile(`${folder}/src/main.lang`), /Over\(_\) => panic\("not handled yet"\)/);
    strictEqual((await lang(["check", folder])).code, 0);
    strictEqual((await lang(["fix", "MX0001", folder, "--write"])).code, 1);
    const colored = await lang(["check", `${folder}/src`, "--color", "always"]);
    deepStrictEqual([colored.code, colored.stdout], [0, "no errors or warnings\n"]);
  });
});

Deno.test("lang find, explain, inspect and fmt answer in text and JSON", async () => {
  await withFolder(async (folder) => {
    await makePackage(folder, "/// One more.\npub fn next(x: Int) -> Int {  x+1 }\n");
    const found = await lang(["find", "ONE", "--format", "json", folder]);
    deepStrictEqual(JSON.parse(found.stdout), { ok: true, hits: [], total: 0 });
    match((await lang(["find", "one more", folder])).stdout, /^src\/main\.lang:1: \/\/\/ One more\.\n$/);
    match((await lang(["explain", "MX0001"])).stdout, /^MX0001: Non-exhaustive `match` \(error\)\n/);
    const inspected = await lang(["inspect", folder]);
    match(inspected.stdout, /\/\/\/ One more\.\n {2}fn next\(x: Int\) -> Int\n/);
    match((await lang(["inspect", "--cost", folder])).stdout, /^main\.next .* \d+\n/m);
    strictEqual((await lang(["fmt", "--check", folder])).code, 1);
    strictEqual((await lang(["fmt", folder])).stdout, "formatted src/main.lang\n");
    match(await Deno.readTextFile(`${folder}/src/main.lang`), /^pub fn next\(x: Int\) -> Int \{ x \+ 1 \}$/m);
    strictEqual((await lang(["fmt", "--check", folder])).code, 0);
  });
});

Deno.test("lang run --format json: what was written, the exit code and the trap are one object", async () => {
  await withFolder(async (folder) => {
    await makePackage(
      folder,
      `pub fn main(args: List[String]) -> Int uses Log {
  print("é {args}")
  if args.len() > 1 { panic("too many") }
  3
}
`,
    );
    const one = await lang(["run", folder, "--format", "json", "--", "a"]);
    deepStrictEqual([one.code, JSON.parse(one.stdout)], [3, {
      ok: false,
      diagnostics: [],
      exit_code: 3,
      stdout: 'é ["a"]\n',
      stderr: "",
      trap: null,
    }]);
    const trapped = JSON.parse((await lang(["run", folder, "--format", "json", "--", "a", "b"])).stdout);
    deepStrictEqual([trapped.exit_code, trapped.trap], [1, {
      kind: "panic",
      message: "too many",
      place: { file: "src/main.lang", line: 3, column: 23 },
      library: null,
      sides: null,
    }]);
  });
});

Deno.test("lang: errors of the command line have exit code 2, a reason and no stack", async () => {
  await withFolder(async (folder) => {
    await Deno.mkdir(`${folder}/full`);
    await Deno.writeTextFile(`${folder}/full/file`, "");
    const errors: [string[], RegExp][] = [
      [[], /^Usage: lang /],
      [["chek"], /^error: unknown command 'chek'\n\(Did you mean check\?\)\n$/],
      [["check", "--fromat", "json"], /^error: unknown option '--fromat'\n\(Did you mean --format\?\)\n$/],
      [["check", "--format", "xml"], /Allowed choices are human, json, sarif/],
      [
        ["check"],
        /^error: Cannot find a package: there is no project\.toml in this folder or above it\nhint: /,
      ],
      [["check", "no/where"], /^error: Cannot open no\/where: there is no such file or folder\n$/],
      [
        ["new", "My Game"],
        /^error: Cannot create the package: `My Game` is not a valid package name\nhint: .*`my_game`/,
      ],
      [["new", `${folder}/full`], /^error: Cannot create the package: the folder \S* is not empty\n$/],
      [["explain", "ZZ9999"], /^error: Cannot find the code ZZ9999: there is no such code\n/],
      [["test", "--seed", "x", folder], /^error: Cannot find a package/],
    ];
    for (const [parameters, expected] of errors) {
      const { code, stdout, stderr } = await lang(parameters);
      deepStrictEqual([code, stdout], [2, ""], parameters.join(" "));
      match(stderr, expected);
      ok(!/^ {4}at /m.test(stderr), stderr);
    }
    await makePackage(`${folder}/web`, "pub fn helper() -> Int { 1 }\n");
    const noMain = await lang(["run", `${folder}/web`]);
    deepStrictEqual([noMain.code, /has no function `main`/.test(noMain.stderr)], [2, true]);
    await Deno.writeTextFile(`${folder}/web/target`, "in the way");
    const blocked = await lang(["build", `${folder}/web`]);
    strictEqual(blocked.code, 2);
    match(blocked.stderr, /^error: Cannot write target\/main\.wasm: /);
  });
});

const ENDLESS = "var n = 0\n  while n >= 0 { n = (n + 1) % 1000 }";

Deno.test("lang test and lang run: limits of time and of gas", async () => {
  await withFolder(async (folder) => {
    await makePackage(
      folder,
      `pub fn main() -> Int {
  let found = [1, 2].slice(0, 3)
  found.len()
}
fn spin() {
  ${ENDLESS}
}
test "spins" { spin() }
test "holds" { expect([1].len() == 1) }
`,
    );
    const late = await lang(["test", folder, "--timeout", "0.1"]);
    deepStrictEqual([late.code, late.stderr], [1, ""]);
    strictEqual(
      late.stdout,
      `FAIL test "spins" src/main.lang:9:6
  Cannot go on: the test was stopped after 0.1 seconds

1 passed, 1 failed
`,
    );
    const spent = await lang(["test", folder, "--gas", "5000", "--timeout", "0"]);
    match(spent.stdout, /Cannot go on: the gas is used up \(src\/main.lang:7:3\)/);
    const trapped = await lang(["run", folder, "--timeout", "60", "--gas", "100000"]);
    deepStrictEqual([trapped.code, trapped.stdout], [1, ""]);
    match(
      trapped.stderr,
      /^trap: Cannot take the elements 0..3: the list has 2\n {2}--> src\/main.lang:2:15\n2 \| {3}let found = \[1, 2\].slice\(0, 3\)\n {2}in the library: std:list:\d+:\d+\n$/,
    );
    for (const given of [["--timeout", "soon"], ["--timeout", "-1"], ["--gas", "0"], ["--gas", "1.5"]]) {
      for (const command of ["test", "run"]) {
        const { code, stderr } = await lang([command, folder, ...given]);
        strictEqual(code, 2);
        match(stderr, /^error: /);
      }
    }
  });
});

Deno.test("lang ends quietly when nobody reads its output any more, also while a program runs", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/lines.lang`;
    await Deno.writeTextFile(path, 'fn main() -> Int {\n  while true { print("a line") }\n  0\n}\n');
    const entry = new URL("../lang.ts", import.meta.url).pathname;
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", entry, "run", path],
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const reader = child.stdout.getReader();
    ok(!(await reader.read()).done);
    await reader.cancel();
    const told = await new Response(child.stderr).text();
    deepStrictEqual([(await child.status).code, told], [141, ""]);
  });
});

Deno.test("lang check: the entry point of a source that stands alone is looked at, and fixed by its fix", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/hello.lang`;
    await Deno.writeTextFile(path, 'fn main() {\n  print("hello")\n}\n');
    const checked = await lang(["check", path]);
    strictEqual(checked.code, 1);
    match(checked.stderr, /^error\[TY0042\]/);
    strictEqual((await lang(["fix", "TY0042", path, "--write"])).code, 0);
    strictEqual(await Deno.readTextFile(path), 'fn main() -> Int {\n  print("hello")\n  0\n}\n');
    deepStrictEqual((await lang(["check", path])).code, 0);
    // A source without entry points is checked as a library.
    await Deno.writeTextFile(path, "pub fn half(n: Int) -> Int {\n  n / 2\n}\n");
    deepStrictEqual((await lang(["check", path])).code, 0);
  });
});
