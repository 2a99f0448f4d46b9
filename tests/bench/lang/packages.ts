/** How fast packages are resolved and unpacked: 500 dependencies from indexes of 5 000 releases, a tarball of 50 MB. */
import { createHash } from "node:crypto";
import { SeededRandom } from "../../../engine/base/random.ts";
import { packTree } from "../../../registry/archive/pack.ts";
import { installArchive } from "../../../registry/client/install.ts";
import { cachedIndexes, indexPath } from "../../../registry/client/indexes.ts";
import { resolveProject } from "../../../registry/client/resolve_project.ts";
import { DISK } from "../../../registry/host/disk.ts";
import { readPackageManifest } from "../../../registry/manifest/package_manifest.ts";
import { formatIndex, type IndexEntry } from "../../../registry/registry_index.ts";
import { Machine, SLUG } from "../../registry/machine.ts";
import { compareWorkers, type Comparison, type Scale } from "../benchmark.ts";
import type { LanguageOptions } from "./options.ts";

/** Packages, each with ten versions. */
const PACKAGES: Readonly<Record<Scale, number>> = { smoke: 20, full: 500 };
const VERSIONS = 10;
/** Bytes that are packed. */
const BYTES: Readonly<Record<Scale, number>> = { smoke: 1024 * 1024, full: 50 * 1024 * 1024 };
const FILES = 200;

const RESOLVE = { name: "resolve 500 dependencies, 5 000 releases", unit: "ms", bar: "≤ 100" };
const UNPACK = { name: "unpack a tarball of 50 MB", unit: "MB/s", bar: "≥ 100" };
const MEMORY = { name: "memory that grows while unpacking 50 MB", unit: "MB", bar: "flat" };

/** Names of what {@link measurePackages} gives. */
export const PACKAGE_NAMES: readonly string[] = [RESOLVE, UNPACK, MEMORY].map(({ name }) => name);

/** Measures `lang pkg`. */
export async function measurePackages(
  options: LanguageOptions,
  tell: (result: Comparison) => void,
): Promise<readonly Comparison[]> {
  const folder = await Deno.makeTempDir({ prefix: "bench-packages-" });
  try {
    const machine = new Machine(folder, "https://api.example");
    const results: Comparison[] = [];
    const measure = async (what: typeof RESOLVE, work: () => Promise<number>) => {
      // Once for nothing, so that the code is warm and the file is in memory.
      const worker = { name: "lang", prepare: async () => void await work(), measure: work };
      const result = await compareWorkers(what, [worker], options.rounds);
      tell(result);
      results.push(result);
    };
    const manifest = await writeIndex(machine, PACKAGES[options.scale]);
    await measure(RESOLVE, () => resolveOnce(machine, manifest, PACKAGES[options.scale]));
    const tarball = await writeTarball(folder, BYTES[options.scale]);
    const unpackings: Unpacking[] = [];
    await measure(UNPACK, async () => {
      const unpacking = await unpackOnce(machine, tarball, BYTES[options.scale]);
      unpackings.push(unpacking);
      return unpacking.megabytesPerSecond;
    });
    await measure(MEMORY, () => Promise.resolve(unpackings.shift()?.grownMegabytes ?? 0));
    return results;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** An index in which each package needs up to three others, and a manifest that names all. */
async function writeIndex(machine: Machine, count: number): Promise<string> {
  const random = new SeededRandom(1);
  const names = Array.from({ length: count }, (_, index) => `package${index}`);
  const releases = names.flatMap((name, index) =>
    Array.from({ length: VERSIONS }, (_, minor): IndexEntry => {
      const needed = Array.from({ length: Math.min(3, index) }, () => names[random.below(index)] ?? "");
      const url = `https://files.example/${name}-1.${minor}.0`;
      return {
        name,
        version: `1.${minor}.0`,
        tag: `${name}-1.${minor}.0`,
        tarballUrl: `${url}.tar.gz`,
        sidecarUrl: `${url}.tar.gz.sha256`,
        pageUrl: url,
        tarballApiUrl: `${url}/1`,
        sidecarApiUrl: `${url}/2`,
        yanked: null,
        description: "A package of the benchmark",
        dependencies: new Map(needed.map((each) => [each, `^1.${random.below(VERSIONS)}`])),
      };
    })
  );
  const index = { slug: SLUG, fetchedAt: 1, lastModified: null, etag: null, releases };
  await DISK.write(indexPath(`${machine.home}/app`, SLUG), formatIndex(index));
  const needs = names.map((name) => `${name} = "^1"\n`).join("");
  return `name = "app"\n[registry]\ndefault = "${SLUG}"\n[dependencies]\n${needs}`;
}

/** Reads manifest and index, and resolves. */
async function resolveOnce({ host, home }: Machine, text: string, count: number): Promise<number> {
  const start = performance.now();
  const manifest = readPackageManifest(text);
  const indexes = await cachedIndexes(host, `${home}/app`, manifest.registries);
  const { packages } = resolveProject({
    manifest,
    indexes,
    locals: new Map(),
    locked: [],
    fallback: [],
    known: new Map(),
  });
  const milliseconds = performance.now() - start;
  if (packages.length !== count) throw new Error(`Cannot measure: ${packages.length} packages were chosen`);
  return milliseconds;
}

async function writeTarball(folder: string, size: number): Promise<string> {
  const random = new SeededRandom(2);
  const words = Array.from({ length: 500 }, () => random.below(2 ** 30).toString(36));
  const manifest = new TextEncoder().encode('name = "large"\nversion = "1.0.0"\n');
  const paths = ["project.toml", ...Array.from({ length: FILES }, (_, index) => `src/part${index}.lang`)]
    .sort();
  const body = () => {
    let text = "";
    while (text.length < size / FILES) text += `${random.pick(words)}${random.chance(0.1) ? "\n" : " "}`;
    return new TextEncoder().encode(text);
  };
  const files = paths.map((path) => ({ path, size: 0, isExecutable: false }));
  const read = (path: string) => Promise.resolve(path === "project.toml" ? manifest : body());
  const target = `${folder}/large.tar.gz`;
  using file = await Deno.open(target, { write: true, create: true });
  for await (const piece of packTree({ name: "large", version: "1.0.0" }, files, read)) {
    for (let rest: Uint8Array = piece; rest.length > 0;) rest = rest.subarray(file.writeSync(rest));
  }
  return target;
}

interface Unpacking {
  readonly megabytesPerSecond: number;
  readonly grownMegabytes: number;
}

/** Hashes and unpacks, as `fetch` does. */
async function unpackOnce({ host, home }: Machine, path: string, size: number): Promise<Unpacking> {
  const before = Deno.memoryUsage();
  const start = performance.now();
  const hash = createHash("sha256");
  const stream = (await Deno.open(path)).readable.pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        hash.update(chunk);
        controller.enqueue(chunk);
      },
    }),
  );
  const release = { name: "large", version: "1.0.0" };
  await installArchive(host, { release, tarball: stream, parent: `${home}/packages` });
  const seconds = (performance.now() - start) / 1000;
  const { rss } = Deno.memoryUsage();
  return { megabytesPerSecond: size / 1e6 / seconds, grownMegabytes: Math.max(0, rss - before.rss) / 1e6 };
}
