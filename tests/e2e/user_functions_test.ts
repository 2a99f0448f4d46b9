/**
 * Runs the commands of docs/user-functions.md with the compiled files, block after block in one shell, and compares
 * what they print with what the page shows; then how `lang deploy` fails, and a restart.
 */
import { match, ok, strictEqual } from "node:assert/strict";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { blocksOf, matchesOutput } from "../support/document_blocks.ts";
import { ShellSession } from "../support/shell_session.ts";

const PAGE = new URL("../../docs/user-functions.md", import.meta.url);

Deno.test("docs/user-functions.md: its commands, with the compiled files, and what lang deploy refuses", async () => {
  const { dbd } = await compiledPrograms();
  const directory = await Deno.makeTempDir({ prefix: "user-functions-" });
  try {
    await using shell = await ShellSession.start({
      directory,
      environment: { PATH: `${dbd.replace(/\/[^/]*$/, "")}:/usr/bin:/bin`, HOME: directory },
    });
    const start = async (token = ""): Promise<string> => {
      const from = shell.stderr.length;
      await shell.run(`dbd --dev 127.0.0.1:0 ${directory}/data ${token} & server=$!`);
      await shell.waitForStderr(/dbd: ready/, from);
      const port = /binary protocol on \S+:(\d+)/.exec(shell.stderr.slice(from))?.[1];
      ok(port !== undefined, shell.stderr);
      await shell.run(`export DB_ADDR=127.0.0.1:${port}`);
      return port;
    };
    const port = await start();
    for (const { language, text, expected, line } of blocksOf(await Deno.readTextFile(PAGE))) {
      if (language !== "sh") continue;
      const { code, stdout, stderr } = await shell.run(text.replaceAll("7878", port));
      const place =
        `docs/user-functions.md, line ${line}:\n${text}\n--- printed:\n${stdout}\n--- errors:\n${stderr}`;
      strictEqual(code, 0, place);
      // What `lang new` says next has the page's port.
      if (expected === null) continue;
      const wanted = text.includes("lang new") ? expected : expected.replaceAll("7878", port);
      ok(matchesOutput(stdout, wanted), `${place}\n--- the page says:\n${wanted}`);
    }
    const deploy = async (parameters: string) => await shell.run(`lang deploy ${parameters} 2>&1`);
    const closed = await deploy("--db 127.0.0.1:1");
    strictEqual(closed.code, 1);
    match(closed.stdout, /error: Cannot deploy to 127.0.0.1:1: .*\nhint: Is dbd running/s);
    const wrong = await deploy("--db nonsense:port");
    ok(wrong.code !== 0 && wrong.stdout.includes("nonsense:port"), wrong.stdout);
    await shell.run("echo 'pub fn pair(n: Int) -> (Int, Int) { (n, n) }' >> src/main.lang");
    const unfit = await deploy("");
    strictEqual(unfit.code, 2);
    match(unfit.stdout, /Cannot deploy `pair` of src\/main.lang: its result has the type `\(Int, Int\)`/);
    await shell.run("kill $server; wait $server");
    await start("--token secret");
    await shell.run("sed -i '$d' src/main.lang");
    const denied = await deploy("--token other");
    strictEqual(denied.code, 1);
    match(denied.stdout, /Cannot deploy to .*token/s);
    strictEqual((await deploy("--token secret")).code, 0, "the same module again");
    await shell.run("sed -i 's/count >= 100 /count >= 99 /' src/main.lang");
    const stored = await deploy("--token secret");
    match(stored.stdout, /cannot replace function price_in_cents.*values that it computed are stored/s);
    const kept = await shell.run(
      "dbcli --token secret \"SELECT address, total, obj_description('slug'::regproc, 'pg_proc') FROM item\"",
    );
    match(kept.stdout, /c-rust +\| 88000 \| A title as it stands in an address/);
    await shell.run("kill $server; wait $server");
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
