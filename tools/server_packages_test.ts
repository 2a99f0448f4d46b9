/** The configuration of the server alone names the packages that it needs, and no others. */
import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { denoCacheFolder } from "../tests/support/programs.ts";
import { projectRoot, run } from "./project.ts";
import { outdatedFiles } from "./server_packages.ts";

Deno.test("deno task server-packages has been run", async () => {
  deepStrictEqual(await outdatedFiles(), []);
});

Deno.test("the server starts with cli/server.json where only its own packages are cached", async () => {
  const folder = await Deno.makeTempDir({ prefix: "cache-" });
  try {
    const lock = JSON.parse(await Deno.readTextFile(`${projectRoot}/cli/server.lock`)) as { npm: object };
    const cache = await denoCacheFolder();
    const [host] = [...Deno.readDirSync(`${cache}/npm`)].filter(({ isDirectory }) => isDirectory);
    const registry = `npm/${host?.name}`;
    for (const id of Object.keys(lock.npm)) {
      const at = id.lastIndexOf("@");
      const package_ = `${registry}/${id.slice(0, at)}`;
      await Deno.mkdir(`${folder}/${package_}`, { recursive: true });
      for (const path of ["registry.json", id.slice(at + 1)]) {
        const from = `${cache}/${package_}/${path}`;
        const { code } = await run("cp", ["-r", from, `${folder}/${package_}/${path}`]);
        strictEqual(code === 0 || path === "registry.json", true, from);
      }
    }
    const parameters = [
      "run",
      "-A",
      "--cached-only",
      "--no-check",
      "--config",
      "cli/server.json",
      "cli/dbd.ts",
      "--version",
    ];
    const { code, stdout, stderr } = await run(Deno.execPath(), parameters, {
      environment: { DENO_DIR: folder },
    });
    strictEqual(code, 0, stderr);
    match(stdout, /^dbd \d/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
