/**
 * A large package that a program needs seldom, kept as a packed text in its bundle and unpacked when it is imported.
 *
 * `deno bundle` makes one file, and a file of many megabytes of code delays every start by a third of a second, also when that code is never run. A text
 * costs its bytes only.
 */
import { gzipSync } from "node:zlib";
import { run } from "../project.ts";

/** What {@link packModule} needs to know. */
export interface PackedModuleRequest {
  /** The package as it is imported. */
  readonly name: string;
  /** The configuration of the build; the new one stands beside it. */
  readonly configuration: string;
  readonly folder: string;
  /** Parameters that name lock and configuration to deno. */
  readonly linkParameters: readonly string[];
}

/** Writes a configuration in which the package is a packed text, and returns its path. */
export async function packModule(request: PackedModuleRequest): Promise<string> {
  const { name, configuration, folder, linkParameters } = request;
  const entry = `${folder}/${name}_entry.ts`;
  const bundle = `${folder}/${name}_bundle.js`;
  await Deno.writeTextFile(entry, `export { default } from ${JSON.stringify(name)};\n`);
  const { code, stderr } = await run(Deno.execPath(), [
    "bundle",
    "--quiet",
    "--platform",
    "deno",
    ...linkParameters,
    "--output",
    bundle,
    entry,
  ]);
  if (code !== 0) throw new Error(`Cannot pack ${name}: deno bundle failed\n${stderr.trim()}`);
  // Unpacked, it stands at no place that node's functions know.
  const text = (await Deno.readTextFile(bundle)).replaceAll("import.meta.url", '"file:///packed.js"');
  const packed = gzipSync(text, { level: 9 }).toString("base64");
  await Deno.writeTextFile(`${folder}/${name}_packed.js`, packedSource(packed));
  const project = JSON.parse(await Deno.readTextFile(configuration)) as {
    readonly imports?: Readonly<Record<string, string>>;
  };
  const target = `${folder}/${name}_deno.json`;
  // The package itself stays listed, under another name, because the lock lists it.
  const imports = {
    ...project.imports,
    [`${name}-itself`]: project.imports?.[name],
    [name]: `./${name}_packed.js`,
  };
  await Deno.writeTextFile(target, JSON.stringify({ ...project, imports }));
  return target;
}

function packedSource(packed: string): string {
  return `import { gunzipSync } from "node:zlib";
const packed = "${packed}";
const text = gunzipSync(Uint8Array.fromBase64(packed));
const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
export default (await import(url)).default;
`;
}
