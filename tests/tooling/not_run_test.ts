/** What a test reports as not run is named at the end of the whole run, and a failing file is counted. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { isInstalled } from "../../tools/not_run.ts";
import { runGroup } from "../../tools/test_runner.ts";
import { projectRoot } from "../../tools/project.ts";

async function runSource(
  source: string,
): Promise<{ passed: number; failed: number; notRun: string[]; output: string }> {
  const folder = await Deno.makeTempDir({ prefix: "runner-" });
  try {
    await Deno.writeTextFile(`${folder}/sample_test.ts`, source);
    const notRun: string[] = [];
    const chunks: string[] = [];
    const target = {
      write: (bytes: Uint8Array) => {
        chunks.push(new TextDecoder().decode(bytes));
        return Promise.resolve(bytes.length);
      },
    };
    const { passed, failed } = await runGroup(
      { name: "sample", parameters: ["--no-lock"], files: [`${folder}/sample_test.ts`] },
      { notRun, stdout: target, stderr: target },
    );
    return { passed, failed, notRun, output: chunks.join("") };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("runGroup() counts, and collects what was reported as not run", async () => {
  const { passed, failed, notRun, output } = await runSource(`
    import { reportNotRun } from ${JSON.stringify(`${projectRoot}/tools/not_run.ts`)};
    Deno.test("a", () => reportNotRun("copy through psql", "psql is not installed"));
    Deno.test("b", () => { throw new Error("wrong"); });
    Deno.test({ name: "c", ["ig" + "nore"]: true, fn() {} });
  `);
  deepStrictEqual({ passed, failed }, { passed: 1, failed: 1 });
  deepStrictEqual(notRun, ["copy through psql (psql is not installed)", "c (ignored)"]);
  match(output, /Error: wrong/);
});

Deno.test("runGroup() counts a file that cannot be loaded as one failure", async () => {
  const { passed, failed } = await runSource(`const n = ; Deno.test("a", () => {});`);
  deepStrictEqual({ passed, failed }, { passed: 0, failed: 1 });
});

Deno.test("runGroup() goes on when a test hangs, and says so", async () => {
  const { passed, failed, output } = await runSource(`
    Deno.env.set("TEST_LIMIT_MILLISECONDS", "300");
    Deno.test("a", () => {});
    Deno.test("b", async (context) => {
      await context.step("c", () => new Promise((resolve) => setTimeout(resolve, 60_000)));
    });
  `);
  deepStrictEqual({ passed, failed }, { passed: 1, failed: 2 });
  match(output, /b \.\.\. cance[l]+ed[^]*a test hangs: it is not over after 0\.3 seconds/);
});

Deno.test("isInstalled() tells a program that is there from one that is not", async () => {
  ok(await isInstalled(Deno.execPath()));
  strictEqual(await isInstalled("no-such-program-anywhere"), false);
});
