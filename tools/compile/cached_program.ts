/**
 * A program that starts quickly: its code as one script, with the form that the engine compiles functions to when
 * they are first called.
 *
 * A bundled module is read, hashed and compiled function by function at every start, which takes longer than most
 * commands. Here a small module (`cached_start.js`) hands code and compiled form to the engine. The form is made by
 * running the program's commands once, with the same runtime and the same parameters of the engine; an engine that
 * does not know it compiles the code as ever. Threads of the program start in the same way.
 *
 * Limits: the code has no top-level `await` and no place of its own (`import.meta`), for it is a script.
 */
import { gzipSync } from "node:zlib";
import { projectRoot, run } from "../project.ts";
import { type PackedFile, packFile } from "./launcher.ts";
import { configureThread, substituteThreads, type ThreadCode } from "./thread_module.ts";
import type { FeatureName } from "../../cli/features/feature_names.ts";

/** Parameters of the engine: room for what a short command allocates, so that it is not collected meanwhile. */
export const ENGINE_FLAGS: readonly string[] = ["--min-semi-space-size=16"];

/** How long all commands together may take on a busy machine. */
const RECORDING_MILLISECONDS = 3 * 60_000;

/** A module that is needed seldom and kept packed; the program imports it with `import()` alone. */
export interface PackedModule {
  /** A name for it, of letters. */
  readonly name: string;
  /** A package as `deno.json` names it, or the address of a file. */
  readonly specifier: string;
  /** What it exports that is used: its default, or what has names. */
  readonly exports: "default" | "names";
}

/** What {@link packCachedProgram} needs to know. */
export interface CachedProgramRequest {
  readonly program: string;
  /** The configuration of the build; others are written next to it. */
  readonly configuration: string;
  readonly folder: string;
  /** Parameters that name lock and configuration to deno. */
  readonly linkParameters: (configuration: string) => readonly string[];
  readonly packed: readonly PackedModule[];
  /** What its threads run, and the features of the build. */
  readonly threads: readonly ThreadCode[];
  readonly features: readonly FeatureName[];
  /** Command lines that show which functions are needed; they run in an empty folder. */
  readonly commands: readonly (readonly string[])[];
  /** What a server is asked over HTTP, where it listens at the address `HTTP`, before it is stopped. */
  readonly statements?: readonly string[];
}

/** The module that starts the program, and the file that it reads. */
export interface CachedProgram {
  readonly bundle: PackedFile;
  readonly data: PackedFile;
}

/** Bundles a program, and compiles its functions by running it. */
export async function packCachedProgram(request: CachedProgramRequest): Promise<CachedProgram> {
  const { program, folder, threads } = request;
  const packed: Record<string, Uint8Array> = {};
  for (const each of request.packed) {
    packed[each.name] = gzipSync(await bundlePacked(request, each), { level: 9 });
  }
  const files: Record<string, Uint8Array> = { code: await bundleProgram(request), ...packed };
  for (const [index, thread] of threads.entries()) {
    files[threadName(index)] = await bundleThread(request, thread, threadName(index));
  }
  const home = `${folder}/${program}_start`;
  await Deno.mkdir(home, { recursive: true });
  await write(home, program, files);
  Object.assign(files, await runCommands(request, home));
  await write(home, program, files);
  return { bundle: await packFile(`${home}/${program}.js`), data: await packFile(`${home}/${program}.data`) };
}

async function write(
  home: string,
  program: string,
  files: Readonly<Record<string, Uint8Array>>,
): Promise<void> {
  const start = await Deno.readTextFile(new URL("cached_start.js", import.meta.url));
  const places: Record<string, readonly [offset: number, length: number]> = {};
  let offset = 0;
  for (const [name, bytes] of Object.entries(files)) {
    places[name] = [offset, bytes.length];
    offset += bytes.length;
  }
  await Deno.writeTextFile(
    `${home}/${program}.js`,
    start.replaceAll("@PROGRAM@", program).replace('"@PARTS@"', JSON.stringify(places)),
  );
  await Deno.writeFile(
    `${home}/${program}.data`,
    new Blob(Object.values(files).map((each) => each.slice())).stream(),
  );
}

async function bundle(parameters: readonly string[], entry: string, output: string): Promise<string> {
  const { code, stderr } = await run(Deno.execPath(), [
    "bundle",
    "--quiet",
    "--platform",
    "deno",
    ...parameters,
    "--output",
    output,
    entry,
  ]);
  if (code !== 0) throw new Error(`Cannot bundle ${entry}: deno bundle failed\n${stderr.trim()}`);
  return await Deno.readTextFile(output);
}

/** A packed module with all that it needs. */
async function bundlePacked(
  { folder, configuration, linkParameters }: CachedProgramRequest,
  { name, specifier, exports }: PackedModule,
): Promise<string> {
  const entry = `${folder}/${name}_entry.ts`;
  const exported = exports === "default" ? "{ default }" : "*";
  await Deno.writeTextFile(entry, `export ${exported} from ${JSON.stringify(specifier)};\n`);
  const text = await bundle(linkParameters(configuration), entry, `${folder}/${name}_bundle.js`);
  // Unpacked, it is at no place that node's functions know.
  return text.replaceAll("import.meta.url", '"file:///packed.js"');
}

function threadName(index: number): string {
  return `thread_${index}`;
}

async function bundleProgram(request: CachedProgramRequest): Promise<Uint8Array> {
  const { program, packed, folder } = request;
  const configuration = await substituteThreads({
    ...request,
    sourceOf: (_, index) => Promise.resolve(threadSource(threadName(index))),
  });
  const entry = `${folder}/${program}_entry.ts`;
  await Deno.writeTextFile(
    entry,
    `export * from ${JSON.stringify(`${projectRoot}/cli/${program}.ts`)};\n`,
  );
  const project = JSON.parse(await Deno.readTextFile(configuration)) as {
    readonly imports?: Readonly<Record<string, string>>;
  };
  const imports: Record<string, string | undefined> = { ...project.imports };
  for (const { name, specifier } of packed) {
    await Deno.writeTextFile(`${folder}/${name}_packed.ts`, packedSource(name));
    // A package stays listed, under another name, because the lock lists it.
    if (imports[specifier] !== undefined) imports[`${specifier}-itself`] = imports[specifier];
    imports[specifier] = `./${name}_packed.ts`;
  }
  const chosen = `${folder}/${program}_script_deno.json`;
  await Deno.writeTextFile(chosen, JSON.stringify({ ...project, imports }));
  return await bundleScript(request, chosen, { entry, name: program });
}

async function bundleThread(
  request: CachedProgramRequest,
  thread: ThreadCode,
  name: string,
): Promise<Uint8Array> {
  const { entry, configuration } = await configureThread(request, thread, name);
  return await bundleScript(request, configuration, { entry, name });
}

/** The code as a function of what a script has not: `require`, `module`, `exports`, and a loader of modules. */
async function bundleScript(
  { folder, linkParameters }: CachedProgramRequest,
  configuration: string,
  { entry, name }: { readonly entry: string; readonly name: string },
): Promise<Uint8Array> {
  const text = await bundle(
    ["--format", "cjs", ...linkParameters(configuration)],
    entry,
    `${folder}/${name}_script.js`,
  );
  const place = /\bimport_meta\d*\.\w+/.exec(text)?.[0];
  if (place !== undefined) {
    throw new Error(
      `Cannot compile ${name}: its code asks where it stands (${place}), and a script has no place`,
    );
  }
  const loaded = text.replaceAll(/\bimport\((?=\s*"node:)/g, "loader.importModule(");
  return new TextEncoder().encode(
    inAscii(`(function (require, module, exports, loader) {${loaded}\n})`),
  );
}

/**
 * The same code without letters beyond ASCII, which the engine reads and keeps in half the room. An escape means the
 * same in texts, templates, regular expressions and names; `String.raw` alone would see it.
 */
function inAscii(code: string): string {
  return code.replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** What stands in for a packed module: a module that is waited for gives what its `then` gives. */
function packedSource(name: string): string {
  return `declare const loader: { loadPacked(name: string): Promise<object> };
export function then(take: (module: object) => void, refuse: (error: unknown) => void): void {
  loader.loadPacked(${JSON.stringify(name)}).then((module) => take({ ...module }), refuse);
}
`;
}

/** What stands in for the module that says where a thread's code is. */
function threadSource(name: string): string {
  return `declare const loader: { addressOf(name: string): string };
export function threadSource(): string {
  return loader.addressOf(${JSON.stringify(name)});
}
`;
}

/** Runs the commands in one process, and gives the compiled forms of what they needed, by name. */
async function runCommands(
  { program, folder, commands, threads, statements = [] }: CachedProgramRequest,
  home: string,
): Promise<Readonly<Record<string, Uint8Array>>> {
  const work = `${folder}/${program}_work`, forms = `${folder}/${program}_forms`;
  for (const each of [work, forms]) await Deno.mkdir(each);
  const names = threads.map((_, index) => threadName(index));
  const plan = { program: new URL(`file://${home}/${program}.js`).href, forms, names, commands, statements };
  const recorder = `${folder}/${program}_record.js`;
  const text = await Deno.readTextFile(new URL("cached_record.js", import.meta.url));
  await Deno.writeTextFile(recorder, text.replace('"@PLAN@"', JSON.stringify(plan)));
  const { code, stdout, stderr } = await run(Deno.execPath(), [
    "run",
    "-A",
    `--v8-flags=${ENGINE_FLAGS.join(",")}`,
    "--no-config",
    "--no-lock",
    "--node-modules-dir=none",
    recorder,
  ], { directory: work, timeoutMilliseconds: RECORDING_MILLISECONDS });
  if (code !== 0) throw new Error(`Cannot compile ${program}: a command failed\n${stdout}${stderr.trim()}`);
  return Object.fromEntries(
    await Promise.all(
      ["cache", ...names.map((name) => `${name}_cache`)].map(async (name) =>
        [name, await Deno.readFile(`${forms}/${name}`)] as const
      ),
    ),
  );
}
