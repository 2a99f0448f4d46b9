/**
 * `deno task compile [--features a,b] [--only dbd,lang] [--output DIR] [--launcher | --target TRIPLE]`: makes the
 * single-file executables `dbd`, `dbcli` and `lang`, and `SHA256SUMS`, in `dist/`.
 *
 * The way is `deno compile`. It needs the base binary `denort`, downloaded from Deno's release host or named by
 * DENORT_BIN; where neither works the tool says so and makes a self-extracting file instead (see
 * `compile/launcher.ts`), so that a single file always comes out.
 *
 * Features are linked, not switched: a generated module, which lists the chosen features only, takes the place of
 * `cli/features.ts` through an import map, so a module that only an absent feature needs is not in the file.
 *
 * Exit codes: 0 done, 1 failed, 2 bad usage. Limits: self-extracting files are made for the machine that runs the tool.
 */
import { parseArgs } from "node:util";
import {
  type FeatureName,
  featureNames,
  servedFeatureNames,
  withImpliedFeatures,
} from "../cli/features/feature_names.ts";
import { version } from "../cli/shared/version.ts";
import { type CachedProgramRequest, ENGINE_FLAGS, packCachedProgram } from "./compile/cached_program.ts";
import { writeConfiguration } from "./compile/feature_module.ts";
import { type PackedFile, packFile, writeLauncher } from "./compile/launcher.ts";
import { substituteThreads, type ThreadCode, threadText } from "./compile/thread_module.ts";
import { projectRoot, run } from "./project.ts";

const programs = ["dbd", "dbcli", "lang"] as const;
type Program = typeof programs[number];

/** The code of threads, by program; only the features that are named are linked. */
const threadsOf: Readonly<Record<string, readonly ThreadCode[]>> = {
  dbd: [
    { source: "engine/sharding/thread_source.ts", main: "engine/sharding/shard_worker.ts", features: [] },
    { source: "engine/parallel/thread_source.ts", main: "engine/parallel/worker_main.ts", features: [] },
    { source: "cli/dbd/router_source.ts", main: "cli/dbd_router.ts", features: ["tls"] },
  ],
  lang: [{
    source: "cli/lang/threads/thread_source.ts",
    main: "cli/lang/threads/thread_main.ts",
    features: [],
  }],
};

/** Longest wait for `deno compile`, whose download may meet a network that swallows packets. */
const compileTimeoutMilliseconds = 5 * 60_000;

const usage =
  `Usage: deno task compile [--features LIST] [--only LIST] [--output DIR] [--launcher | --target TRIPLE]

  --features LIST  build features, separated by commas (default: all; "" for none):
                   ${servedFeatureNames.join(" ")}
  --only LIST      programs to make, separated by commas (default: ${programs.join(",")})
  --output DIR     where to put them (default: dist)
  --launcher       make self-extracting files without trying deno compile
  --target TRIPLE  for another machine, as deno compile --target takes it`;

/** An error in the command line. */
class UsageError extends Error {}

interface Request {
  readonly features: readonly FeatureName[];
  readonly programs: readonly Program[];
  readonly output: string;
  readonly launcher: boolean;
  /** Another machine to compile for. */
  readonly target: string | undefined;
}

function chosenNames<Name extends string>(
  text: string | undefined,
  known: readonly Name[],
  what: string,
): Name[] {
  if (text === undefined) return [...known];
  return text.split(",").map((name) => name.trim()).filter((name) => name !== "").map((name) => {
    const found = known.find((candidate) => candidate === name);
    if (found === undefined) throw new UsageError(`unknown ${what} "${name}"; known are ${known.join(", ")}`);
    return found;
  });
}

/** A build that is asked for a feature has it, or is not made. */
function requireServed(name: FeatureName): FeatureName {
  if (servedFeatureNames.includes(name)) return name;
  throw new UsageError(
    `this version has nothing to link for the feature "${name}"; known are ${servedFeatureNames.join(", ")}`,
  );
}

function parseRequest(parameters: readonly string[]): Request {
  try {
    const { values } = parseArgs({
      args: [...parameters],
      options: {
        features: { type: "string" },
        only: { type: "string" },
        output: { type: "string", default: `${projectRoot}/dist` },
        launcher: { type: "boolean", default: false },
        target: { type: "string" },
      },
    });
    return {
      features: values.features === undefined
        ? servedFeatureNames
        : withImpliedFeatures(chosenNames(values.features, featureNames, "feature")).map(requireServed),
      programs: chosenNames(values.only, programs, "program"),
      output: values.output,
      launcher: values.launcher,
      target: values.target,
    };
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message);
    throw error;
  }
}

/** Common parameters: the substituted configuration with the project's own frozen lock. */
function linkParameters(configuration: string): string[] {
  return ["--config", configuration, "--lock", `${projectRoot}/deno.lock`, "--frozen"];
}

/** Runs `deno compile`; returns why its base binary could not be had, or `undefined` when the file is made. */
async function compileProgram(
  program: Program,
  configuration: string,
  output: string,
  target?: string,
): Promise<string | undefined> {
  const { code, stderr, timedOut } = await run(Deno.execPath(), [
    "compile",
    "--no-check",
    "-A",
    ...linkParameters(configuration),
    ...(target === undefined ? [] : ["--target", target]),
    "--output",
    output,
    `${projectRoot}/cli/${program}.ts`,
  ], { timeoutMilliseconds: compileTimeoutMilliseconds });
  if (code === 0) return undefined;
  if (timedOut) return `no answer within ${compileTimeoutMilliseconds / 60_000} minutes`;
  const reason = /(?:^|\n)\s*1: (.*)/.exec(stderr)?.[1];
  if (reason !== undefined && /Setting up base binary/.test(stderr)) return reason;
  throw new Error(`Cannot compile ${program}: deno compile failed\n${stderr.trim()}`);
}

/**
 * What a program does while its functions are compiled. `lang` is started often and for short; `dbd` is to serve again
 * soon after a restart. The optimizer of releases, ten times as large as all the rest of `lang`, and what one command
 * alone needs are packed.
 */
function recordingOf(
  program: Program,
  features: readonly FeatureName[],
): Pick<CachedProgramRequest, "packed" | "commands" | "statements"> {
  const any = "127.0.0.1:0";
  const listens = (feature: FeatureName, flags: readonly string[]) => features.includes(feature) ? flags : [];
  const gateways = [
    ...listens("pg-gateway", ["--pg-addr", any, "--routers", "2"]),
    ...listens("http-gateway", ["--http-addr", "HTTP"]),
  ];
  switch (program) {
    case "dbd":
      return {
        packed: [],
        commands: [["--help"], [...gateways, any, "data"], ["--shards", "2", ...gateways, any, "shards"]],
        statements: FIRST_STATEMENTS,
      };
    case "dbcli":
      return { packed: [], commands: [["--help"]] };
    case "lang":
      return {
        packed: [
          { name: "binaryen", specifier: "binaryen", exports: "default" },
          {
            name: "mcp",
            specifier: new URL(`file://${projectRoot}/lang/servers/mcp/sdk.ts`).href,
            exports: "names",
          },
        ],
        commands: [
          ["new", "game"],
          ["build", "game"],
          ["check", "game"],
          ["fmt", "--check", "game"],
          ["new", "tool", "--template", "tool"],
          ["check", "tool"],
          ["run", "tool"],
          ["--help"],
        ],
      };
  }
}

/** What most servers are asked soon. */
const FIRST_STATEMENTS = [
  "CREATE TABLE item (id SERIAL PRIMARY KEY, name TEXT NOT NULL, price NUMERIC(9, 2), made DATE)",
  "CREATE INDEX item_name ON item (name)",
  "INSERT INTO item (name, price, made) VALUES ('a', 1.5, '2024-01-01'), ('b', NULL, NULL)",
  "INSERT INTO item (name, price) SELECT 'item ' || n, n FROM generate_series(1, 100) AS n",
  "BEGIN; UPDATE item SET price = price + 1 WHERE id = 3; DELETE FROM item WHERE name = 'b'; COMMIT",
  "SELECT id, name FROM item WHERE id = 1",
  "SELECT made, count(*), sum(price), max(name) FROM item WHERE price > 2 GROUP BY made ORDER BY 2 DESC LIMIT 5",
  "SELECT a.name, b.price FROM item a JOIN item b ON a.id = b.id ORDER BY b.price, a.name",
  "CHECKPOINT",
];

/** Starts what was made, so that a file that does not run, or runs something else, is never handed out. */
async function tryProgram(program: Program, target: string, folder: string): Promise<void> {
  const { code, stdout, stderr, timedOut } = await run(target, ["--help"], {
    environment: { XDG_CACHE_HOME: `${folder}/cache` },
    timeoutMilliseconds: 60_000,
  });
  if (code === 0) {
    if (new RegExp(`(^|\\s)${program}(\\s|$)`).test(stdout)) return;
    throw new Error(`Cannot use the compiled ${program}: it is another program; is DENORT_BIN a denort?`);
  }
  const outcome = timedOut ? "does not come to an end" : `ends with exit code ${code}`;
  throw new Error(
    `Cannot use the compiled ${program}: --help ${outcome}\n${stderr.trim()}`,
  );
}

async function sha256(path: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", await Deno.readFile(path));
  return new Uint8Array(digest).toHex();
}

/** Lists every executable of the folder, those of an earlier run included, in the form that `sha256sum -c` reads. */
async function writeChecksums(output: string): Promise<void> {
  const lines: string[] = [];
  for (const program of programs) {
    const exists = await Deno.stat(`${output}/${program}`).then(() => true, () => false);
    if (exists) lines.push(`${await sha256(`${output}/${program}`)}  ${program}\n`);
  }
  await Deno.writeTextFile(`${output}/SHA256SUMS`, lines.join(""));
}

async function compile({ features, programs, output, launcher, target: machine }: Request): Promise<void> {
  await Deno.mkdir(output, { recursive: true });
  const folder = await Deno.makeTempDir({ dir: await Deno.realPath(output), prefix: ".compile-" });
  try {
    const configuration = await writeConfiguration({ root: projectRoot, folder, features });
    let selfExtracting = launcher;
    let runtime: PackedFile | undefined;
    const threadsFor = (program: Program) => threadsOf[program] ?? [];
    // Those without threads first: they find out soonest whether there is a base binary.
    for (const program of programs.toSorted((a, b) => threadsFor(a).length - threadsFor(b).length)) {
      const suffix = machine?.includes("windows") ? ".exe" : "";
      const target = `${folder}/${program}${suffix}`;
      const threadsRequest = {
        ...{ configuration, folder, features, linkParameters },
        threads: threadsFor(program),
      };
      const reason = selfExtracting ? undefined : await compileProgram(
        program,
        await substituteThreads({ ...threadsRequest, sourceOf: threadText }),
        target,
        machine,
      );
      if (reason !== undefined && machine !== undefined) {
        throw new Error(`Cannot compile for ${machine}: no base binary (${reason}); name one in DENORT_BIN`);
      }
      if (reason !== undefined) {
        selfExtracting = true;
        console.error(`deno compile cannot get its base binary (${reason}).`);
        console.error(
          "Making self-extracting files instead. To use deno compile, name a copy of denort in DENORT_BIN.",
        );
      }
      if (selfExtracting) {
        runtime ??= await packFile(Deno.execPath(), { cacheFolder: `${projectRoot}/.cache/compile` });
        const parts = await packCachedProgram({
          ...{ program, ...threadsRequest },
          ...recordingOf(program, features),
        });
        const engineFlags = program === "lang" ? ENGINE_FLAGS : [];
        await writeLauncher({ path: target, program, version, runtime, engineFlags, ...parts });
      }
      if (machine === undefined) await tryProgram(program, target, folder);
      const made = `${output}/${program}${suffix}`;
      await Deno.rename(target, made);
      const { size } = await Deno.stat(made);
      const form = selfExtracting ? "self-extracting" : "deno compile";
      console.log(`${made}  ${(size / 1_048_576).toFixed(1)} MiB, ${form}`);
    }
    await writeChecksums(output);
    console.log(`features: ${features.join(" ") || "none"}`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

if (import.meta.main) {
  if (Deno.args.includes("--help") || Deno.args.includes("-h")) {
    console.log(usage);
    Deno.exit(0);
  }
  try {
    await compile(parseRequest(Deno.args));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    console.error(error instanceof UsageError ? `${message}\n\n${usage}` : message);
    Deno.exit(error instanceof UsageError ? 2 : 1);
  }
}
