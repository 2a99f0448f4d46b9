/** A server built without a feature of external sources has none of its code. */
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import type { FeatureName } from "../../cli/features/feature_names.ts";
import { writeConfiguration } from "../../tools/compile/feature_module.ts";
import { projectRoot, run } from "../../tools/project.ts";

/** Texts that only the code of one feature has. */
const MARKS: Readonly<Record<string, string>> = {
  "external-sources": "is not valid gzip, or breaks off",
  "external-sources-tls": "not a connection of this machine",
  "external-sources-objstore": "AWS4-HMAC-SHA256",
};

Deno.test("a bundle of dbd holds the code of its features of external sources only", async () => {
  const folder = await Deno.makeTempDir({ prefix: "external-" });
  try {
    const builds: readonly (readonly FeatureName[])[] = [
      ["external-sources", "external-sources-tls"],
      ["external-sources", "external-sources-tls", "external-sources-objstore"],
    ];
    for (const features of builds) {
      const config = await writeConfiguration({ root: projectRoot, folder, features });
      const { code, stderr } = await run(Deno.execPath(), [
        "bundle",
        "--quiet",
        "--platform",
        "deno",
        "--config",
        config,
        "--lock",
        `${projectRoot}/deno.lock`,
        "--frozen",
        "--output",
        `${folder}/dbd.js`,
        `${projectRoot}/cli/dbd.ts`,
      ]);
      strictEqual(code, 0, stderr);
      const bundle = await Deno.readTextFile(`${folder}/dbd.js`);
      const found = Object.entries(MARKS).flatMap(([feature, mark]) =>
        bundle.includes(mark) ? [feature] : []
      );
      deepStrictEqual(found, features);
      // The statements are there in every build, and say what is missing.
      strictEqual(bundle.includes("need the build feature"), true);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
