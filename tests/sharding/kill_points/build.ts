/** Makes the server that can be killed, as the executables are made: one file, with the code of its threads in it. */
import { servedFeatureNames } from "../../../cli/features/feature_names.ts";
import { writeConfiguration } from "../../../tools/compile/feature_module.ts";
import { substituteThreads, threadText } from "../../../tools/compile/thread_module.ts";
import { madeOnce } from "../../../tools/compiled_programs.ts";
import { projectRoot, run } from "../../../tools/project.ts";
import type { ServerProgram } from "../../cluster/cluster_processes.ts";

const BUNDLE = "server.js";

/** Made once for each state of the sources; `heapMebibytes`: what each of its threads may have, if not the usual. */
export async function killableServer(heapMebibytes?: number): Promise<Required<ServerProgram>> {
  const folder = await madeOnce({
    name: "killable",
    files: [BUNDLE],
    sources: ["tests/sharding/kill_points/"],
    make: bundleServer,
  });
  const flags = heapMebibytes === undefined ? [] : [`--v8-flags=--max-old-space-size=${heapMebibytes}`];
  return {
    dbd: Deno.execPath(),
    programArguments: ["run", "-A", "--no-config", ...flags, `${folder}/${BUNDLE}`],
  };
}

async function bundleServer(folder: string): Promise<void> {
  const linkParameters = (configuration: string): string[] => [
    ...["--config", configuration, "--lock", `${projectRoot}/deno.lock`, "--frozen"],
  ];
  const configuration = await substituteThreads({
    configuration: await writeConfiguration({ root: projectRoot, folder, features: servedFeatureNames }),
    folder,
    threads: [{
      source: "engine/sharding/thread_source.ts",
      main: "tests/sharding/kill_points/shard_thread.ts",
      features: [],
    }],
    features: servedFeatureNames,
    linkParameters,
    sourceOf: threadText,
  });
  const { code, stderr } = await run(Deno.execPath(), [
    ...[
      "bundle",
      "--quiet",
      "--platform",
      "deno",
      ...linkParameters(configuration),
      "--output",
      `${folder}/${BUNDLE}`,
    ],
    `${projectRoot}/tests/sharding/kill_points/server.ts`,
  ]);
  if (code !== 0) throw new Error(`Cannot bundle the server: ${stderr.trim()}`);
}
