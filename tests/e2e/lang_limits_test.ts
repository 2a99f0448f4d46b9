/**
 * The compiled `lang` with programs and tests that do not end: threads from the one file, limits of time, and Ctrl-C.
 */
import { match, ok, strictEqual } from "node:assert/strict";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { runProgram } from "../support/programs.ts";

const source = `pub fn main() -> Int uses Log {
  print("begun")
  spin()
}

fn spin() -> Int {
  var n = 0
  while n >= 0 { n = (n + 1) % 1000 }
  n
}

test "spins" { expect(spin() == 0) }
test "holds" { expect(1 + 1 == 2) }
property "does not end for most" (x: Int) {
  if x > 100 { expect(spin() == 0) }
}
`;

async function withPackage(work: (folder: string, lang: string) => Promise<void>): Promise<void> {
  const { lang } = await compiledPrograms();
  const folder = await Deno.makeTempDir({ prefix: "lang-" });
  try {
    await Deno.mkdir(`${folder}/src`);
    await Deno.writeTextFile(`${folder}/project.toml`, 'name = "sample"\n');
    await Deno.writeTextFile(`${folder}/src/main.lang`, source);
    await work(folder, lang);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("the compiled lang stops tests and programs that take too long", async () => {
  await withPackage(async (directory, lang) => {
    const tested = await runProgram(lang, ["test", "--timeout", "0.2", "--seed", "7"], { directory });
    strictEqual(tested.code, 1);
    match(
      tested.stdout,
      /^FAIL test "spins" src\/main.lang:12:6\n {2}Cannot go on: the test was stopped after 0.2 seconds\n\nFAIL property "does not end for most" src\/main.lang:14:10\n {2}with x = \d+\n.*`lang test --seed 7` repeats it\n\n1 passed, 2 failed\n$/s,
    );
    const run = await runProgram(lang, ["run", "--timeout", "0.2"], { directory });
    strictEqual(run.code, 1);
    strictEqual(run.stdout, "begun\n");
    match(run.stderr, /^trap: Cannot go on: the program was stopped after 0.2 seconds\n/);
  });
});

Deno.test("Ctrl-C ends lang at once, in this thread and in another", async () => {
  await withPackage(async (directory, lang) => {
    for (const more of [[], ["--timeout", "600"]]) {
      const child = new Deno.Command(lang, {
        args: ["run", ...more],
        cwd: directory,
        stdout: "piped",
        stderr: "null",
      }).spawn();
      const reader = child.stdout.getReader();
      const { value } = await reader.read();
      strictEqual(new TextDecoder().decode(value), "begun\n");
      child.kill("SIGINT");
      const { code, signal } = await child.status;
      ok(signal === "SIGINT" && code === 130, `${signal} ${code}`);
      await reader.cancel();
    }
  });
});
