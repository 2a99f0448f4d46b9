/** The version, the `lang` command and the table of build features. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { featureNames, servedFeatureNames, withImpliedFeatures } from "../../cli/features/feature_names.ts";
import { version } from "../../cli/shared/version.ts";
import {
  featureModules,
  featureModuleSource,
  writeConfiguration,
} from "../../tools/compile/feature_module.ts";
import { projectRoot, run } from "../../tools/project.ts";

Deno.test("version is the one of deno.json", async () => {
  const project = JSON.parse(await Deno.readTextFile(`${projectRoot}/deno.json`)) as {
    readonly version: string;
  };
  strictEqual(version, project.version);
});

Deno.test("lang prints its version and help, and refuses the rest with exit code 2", async () => {
  const lang = (...parameters: string[]) => run(Deno.execPath(), ["run", "-A", "cli/lang.ts", ...parameters]);
  const shown = await lang("--version");
  deepStrictEqual([shown.code, shown.stdout, shown.stderr], [0, `lang ${version}\n`, ""]);
  const help = await lang("--help");
  strictEqual(help.code, 0);
  match(help.stdout, /^Usage: lang /);
  const unknown = await lang("chek");
  deepStrictEqual([unknown.code, unknown.stdout], [2, ""]);
  match(unknown.stderr, /^error: unknown command 'chek'\n\(Did you mean check\?\)\n/);
});

Deno.test("withImpliedFeatures() adds what a feature brings with it", () => {
  deepStrictEqual(withImpliedFeatures([]), []);
  deepStrictEqual(withImpliedFeatures(["tls", "pg-gateway", "tls"]), ["pg-gateway", "tls"]);
  deepStrictEqual(withImpliedFeatures(["external-sources-objstore"]), [
    "external-sources",
    "external-sources-tls",
    "external-sources-objstore",
  ]);
  deepStrictEqual(withImpliedFeatures(featureNames), [...featureNames]);
});

Deno.test("featureModuleSource() lists the chosen features and loads only their modules", () => {
  const none = featureModuleSource([], "file:///cli/");
  match(none, /enabled: \[\],/);
  ok(!none.includes("import("));
  const pg = featureModuleSource(["pg-gateway"], "file:///cli/");
  match(
    pg,
    /enabled: \["pg-gateway"\],\n {2}pgGateway: \(\) => import\("file:\/\/\/cli\/features\/pg_gateway\.ts"\),/,
  );
  ok(!pg.includes("http_gateway"));
});

Deno.test("featureModuleSource() with all features has the loaders of cli/features.ts", async () => {
  const source = await Deno.readTextFile(`${projectRoot}/cli/features.ts`);
  const loaders = [...source.matchAll(/^ {2}(\w+): \(\) => import\("\.\/(.*)"\),$/gm)].map((
    [, loader, path],
  ) => ({ loader, path }));
  deepStrictEqual(Object.values(featureModules), loaders);
});

Deno.test("writeConfiguration() makes a build that holds the modules of its features only", async () => {
  const root = await Deno.makeTempDir({ prefix: "features-" });
  try {
    const files: Readonly<Record<string, string>> = {
      "deno.json": `{ "imports": { "aliased": "./gateways/aliased.ts" } }`,
      "cli/main.ts":
        `import { features } from "./features.ts"; console.log(features.enabled, Object.keys(features));`,
      "cli/features.ts": "throw new Error('not replaced');",
      "cli/features/pg_gateway.ts": `export { pg } from "../../gateways/pg.ts";`,
      "cli/features/http_gateway.ts": `export { http } from "../../gateways/http.ts";`,
      "cli/features/tls.ts": `export { tls } from "../../gateways/tls.ts";`,
      "gateways/tls.ts": `export const tls = "code of tls";`,
      "gateways/pg.ts": `export const pg = "code of pg";`,
      "gateways/http.ts": `export const http = "code of http";`,
    };
    for (const folder of ["cli/features", "gateways", "generated"]) {
      await Deno.mkdir(`${root}/${folder}`, { recursive: true });
    }
    for (const [path, text] of Object.entries(files)) await Deno.writeTextFile(`${root}/${path}`, text);
    for (
      const features of [[], ["pg-gateway"], ["http-gateway", "tls"], ["pg-gateway", "http-gateway"]] as const
    ) {
      const config = await writeConfiguration({ root, folder: `${root}/generated`, features });
      const bundle = await run(Deno.execPath(), [
        "bundle",
        "--quiet",
        "--platform",
        "deno",
        "--config",
        config,
        "--no-lock",
        `${root}/cli/main.ts`,
      ]);
      strictEqual(bundle.code, 0, bundle.stderr);
      ok(!bundle.stdout.includes("not replaced"));
      for (
        const [name, feature] of [["pg", "pg-gateway"], ["http", "http-gateway"], ["tls", "tls"]] as const
      ) {
        strictEqual(bundle.stdout.includes(`code of ${name}`), features.some((each) => each === feature));
      }
    }
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

/** Features that have a name and, in this version, no modules. */
const UNSERVED = featureNames.filter((name) => !servedFeatureNames.includes(name));

Deno.test("compile refuses unknown names with exit code 2", async () => {
  for (
    const parameters of [
      ["--features", "ftp"],
      ["--features", UNSERVED.join(",") || "ftp"],
      ["--only", "psql"],
      ["--fast"],
      ["more"],
    ]
  ) {
    const { code, stderr } = await run(Deno.execPath(), ["run", "-A", "tools/compile.ts", ...parameters]);
    strictEqual(code, 2, parameters.join(" "));
    match(stderr, /Usage: deno task compile/);
  }
});
