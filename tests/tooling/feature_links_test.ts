/** What a build of `dbd` holds: the code of its features, and nothing of the others. */
import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import type { FeatureName } from "../../cli/features/feature_names.ts";
import { writeConfiguration } from "../../tools/compile/feature_module.ts";
import { projectRoot, run } from "../../tools/project.ts";

/** A text that only the modules of a feature have. */
const MARKS: readonly (readonly [FeatureName, string])[] = [
  ["pg-gateway", "SCRAM-SHA-256"],
  ["http-gateway", "db_http_requests_total"],
  ["tls", "dbd development CA"],
  ["tls", "_tlsError"],
  ["external-sources", "is not valid gzip, or breaks off"],
  ["external-sources-tls", "not a connection of this machine"],
  ["external-sources-objstore", "AWS4-HMAC-SHA256"],
];

const BUILDS: readonly (readonly FeatureName[])[] = [
  [],
  ["tls", "pg-gateway", "external-sources", "external-sources-tls"],
  ["external-sources", "external-sources-tls", "external-sources-objstore"],
];

Deno.test("a build of dbd holds the code of its features only, and names the others that it is asked for", async () => {
  const folder = await Deno.makeTempDir({ prefix: "links-" });
  try {
    for (const features of BUILDS) {
      const config = await writeConfiguration({ root: projectRoot, folder, features });
      const output = `${folder}/dbd.js`;
      const bundle = await run(Deno.execPath(), [
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
        output,
        `${projectRoot}/cli/dbd.ts`,
      ]);
      strictEqual(bundle.code, 0, bundle.stderr);
      const text = await Deno.readTextFile(output);
      deepStrictEqual(
        MARKS.filter(([, mark]) => text.includes(mark)),
        MARKS.filter(([feature]) => features.includes(feature)),
      );
      // The statements are there in every build, and say what is missing.
      strictEqual(text.includes("need the build feature"), true);
      if (features.length > 0) continue;
      const { code, stderr } = await run(Deno.execPath(), ["run", "-A", "--no-config", output, "--dev-tls"]);
      strictEqual(code, 2);
      match(stderr, /^dbd: --dev-tls needs a build with the feature tls, which this one does not have/);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
