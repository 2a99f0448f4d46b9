/**
 * Damaged tarballs and indexes: whatever the bytes are, unpacking ends with a whole package or with a refusal that
 * leaves nothing, nothing outside of its folder is touched, and reading an index gives entries that are safe or none.
 * A seed gives the same inputs again.
 */
import { gzipSync } from "node:zlib";
import { packTar, type TarEntry } from "modern-tar";
import { SeededRandom } from "../../../engine/base/random.ts";
import { pathProblem } from "../../../registry/archive/tree.ts";
import { installArchive } from "../../../registry/client/install.ts";
import { isPackageName } from "../../../registry/names.ts";
import { parseReleasesPage } from "../../../registry/protocol/responses.ts";
import { formatIndex, readIndex } from "../../../registry/registry_index.ts";
import { RegistryError } from "../../../registry/registry_error.ts";
import { isVersion } from "../../../registry/requirement.ts";
import { DISK } from "../../../registry/host/disk.ts";
import { Machine } from "../../registry/machine.ts";

/** What came of it. */
export interface PackageCampaign {
  readonly installed: number;
  readonly refused: number;
  readonly readIndexes: number;
  readonly refusedIndexes: number;
  /** What went wrong, with the command that shows it again; null when nothing did. */
  readonly failure: string | null;
}

const RELEASE = { name: "fx", version: "0.3.2" };
const API = "https://api.example";

const EVIL_NAMES = [
  "../evil",
  "/evil",
  "fx-0.3.2/../../evil",
  "fx-0.3.2/./a",
  "C:\\evil",
  "fx-0.3.2",
  "fx-0.3.2/",
  "",
  "fx-0.3.2/src/MAIN.lang",
  "fx-0.3.2/nul",
  "fx-0.3.2/a\u0000b",
] as const;

const TYPES = [
  "file",
  "directory",
  "symlink",
  "link",
  "fifo",
  "character-device",
  "pax-header",
  "gnu-long-name",
] as const;

/** Sends mutated archives and indexes through. */
export async function runPackageCampaign(
  options: { readonly seed: number; readonly count: number },
): Promise<PackageCampaign> {
  const folder = await Deno.makeTempDir({ prefix: "packages-" });
  const tally = { installed: 0, refused: 0, readIndexes: 0, refusedIndexes: 0 };
  try {
    const { host } = new Machine(folder, API);
    await DISK.write(`${folder}/outside/kept.txt`, "kept");
    for (let round = 0; round < options.count; round++) {
      const random = new SeededRandom(options.seed + round);
      const failure = await unpackOne(random, folder, host, tally) ?? readOne(random, tally);
      if (failure === null) continue;
      const again = `deno task soak:packages --seed ${options.seed + round} --count 1`;
      return { ...tally, failure: `${failure}\n${again}` };
    }
    return { ...tally, failure: null };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function unpackOne(
  random: SeededRandom,
  folder: string,
  host: Machine["host"],
  tally: { installed: number; refused: number },
): Promise<string | null> {
  const bytes = await mutatedTarball(random);
  const parent = `${folder}/packages`;
  let wasInstalled = false;
  try {
    const tarball = new Blob([bytes]).stream();
    await installArchive(host, { release: RELEASE, tarball, parent });
    wasInstalled = true;
  } catch (error) {
    if (!(error instanceof RegistryError)) return `installArchive() throws ${String(error)}`;
  }
  const left = (await DISK.walk(folder, () => false)).filter(({ kind }) => kind !== "folder");
  const isInside = (path: string) => path.startsWith("packages/fx-0.3.2/") || path === "outside/kept.txt";
  const stray = left.find(({ path, kind }) => kind !== "file" || !isInside(path));
  if (stray !== undefined) return `${stray.path} was left`;
  const names = await DISK.names(parent);
  if (names.join() !== (wasInstalled ? "fx-0.3.2" : "")) {
    return `${names.join()} is in the folder of packages`;
  }
  if (await Deno.readTextFile(`${folder}/outside/kept.txt`) !== "kept") return "a file outside was changed";
  await DISK.remove(parent);
  if (wasInstalled) tally.installed++;
  else tally.refused++;
  return null;
}

async function mutatedTarball(random: SeededRandom): Promise<Uint8Array<ArrayBuffer>> {
  const entries: TarEntry[] = [
    entry("fx-0.3.2/project.toml", 'name = "fx"\nversion = "0.3.2"\n'),
    entry("fx-0.3.2/src/main.lang", "pub fn one() -> Int {\n  1\n}\n".repeat(1 + random.below(200))),
    entry("fx-0.3.2/docs/long/path/to/page.md", "# Page\n"),
  ];
  if (random.chance(0.3)) {
    const name = random.pick(EVIL_NAMES);
    const type = random.pick(TYPES);
    entries.splice(random.below(entries.length + 1), 0, {
      header: { name, size: 0, type, mtime: new Date(0), linkname: "../../outside/kept.txt" },
    });
  }
  let tar = await packTar(entries).catch(() => new Uint8Array(1024));
  if (random.chance(0.5)) tar = mutateHeader(random, mutate(random, tar));
  const packed = new Uint8Array(gzipSync(tar));
  return random.chance(0.3) ? mutate(random, packed) : packed;
}

function entry(name: string, body: string): TarEntry {
  return { header: { name, size: body.length, type: "file", mtime: new Date(0) }, body };
}

/** Some bytes changed, cut out, doubled, or the end cut off. */
function mutate(random: SeededRandom, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(bytes);
  switch (random.below(4)) {
    case 0:
      for (let count = 1 + random.below(8); count > 0; count--) {
        copy[random.below(copy.length)] = random.below(256);
      }
      return copy;
    case 1:
      return copy.slice(0, random.below(copy.length));
    case 2: {
      const at = random.below(copy.length);
      return new Uint8Array([
        ...copy.subarray(0, at),
        ...copy.subarray(Math.min(copy.length, at + 1 + random.below(600))),
      ]);
    }
    default: {
      const at = random.below(copy.length);
      return new Uint8Array([...copy.subarray(0, at), ...copy.subarray(Math.max(0, at - random.below(600)))]);
    }
  }
}

/** Changes a field of a header and makes its checksum right again, so that the change is not found by that alone. */
function mutateHeader(random: SeededRandom, tar: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const start = 512 * random.below(Math.max(1, Math.floor(tar.length / 512)));
  const header = tar.subarray(start, start + 512);
  if (header.length < 512) return tar;
  const [from, to] = random.pick([[0, 100], [124, 136], [156, 157], [157, 257], [345, 500]] as const);
  for (let count = 1 + random.below(4); count > 0; count--) {
    header[from + random.below(to - from)] = random.pick([0, 46, 47, 48, 53, 55, 92, 128, 255]);
  }
  header.fill(32, 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.set(new TextEncoder().encode(`${sum.toString(8).padStart(6, "0")}\0 `), 148);
  return tar;
}

function readOne(
  random: SeededRandom,
  tally: { readIndexes: number; refusedIndexes: number },
): string | null {
  const page = releasesPage(random);
  let entries;
  try {
    entries = parseReleasesPage(random.chance(0.5) ? mutateText(random, page) : page, API).entries;
  } catch (error) {
    if (error instanceof RegistryError) return null;
    return `parseReleasesPage() throws ${String(error)}`;
  }
  const index = { slug: "o/r", fetchedAt: 1, lastModified: null, etag: null, releases: entries };
  const isDamaged = random.chance(0.7);
  const text = isDamaged ? mutateText(random, formatIndex(index)) : formatIndex(index);
  try {
    const read = readIndex(text, "o/r");
    if (read === null && !isDamaged && new Set(entries.map(({ tag }) => tag)).size === entries.length) {
      return "readIndex() refuses what formatIndex() has written";
    }
    for (const each of read?.releases ?? []) {
      const isSafe = isPackageName(each.name) && isVersion(each.version) && pathProblem(each.tag) === null;
      if (!isSafe) return `readIndex() gives ${JSON.stringify(each)}`;
    }
    if (read === null) tally.refusedIndexes++;
    else tally.readIndexes++;
    return null;
  } catch (error) {
    return `readIndex() throws ${String(error)}`;
  }
}

function releasesPage(random: SeededRandom): string {
  const tags = [
    "fx-0.3.2",
    "noise-1.0.0-beta.1",
    "../evil-1.0.0",
    "fx-1",
    "con-1.0.0",
    "a/b-1.0.0",
    "fx-0.3.2\u0000",
  ];
  const urls = [
    "https://files.example/x",
    "file:///etc/passwd",
    "http://other.example/x",
    "javascript:1",
    "https://u:p@h/x",
  ];
  return JSON.stringify(Array.from({ length: random.below(6) }, () => {
    const tag = random.pick(tags);
    const asset = (name: string) => ({
      name,
      url: random.pick(urls),
      browser_download_url: random.pick(urls),
      state: "uploaded",
    });
    return {
      tag_name: tag,
      html_url: random.pick(urls),
      draft: random.chance(0.1),
      body: random.pick([
        "",
        'name = "fx"\n[dependencies]\nnoise = "^1"\n',
        "name = ",
        '[package]\nyanked = "x"\nname = "fx"',
        null,
      ]),
      assets: [asset(`${tag}.tar.gz`), asset(`${tag}.tar.gz.sha256`)],
    };
  }));
}

function mutateText(random: SeededRandom, text: string): string {
  const values = [
    "null",
    "-1",
    "1e999",
    '""',
    "[]",
    "{}",
    '"__proto__"',
    '"../x"',
    "true",
    "9".repeat(400),
    "[".repeat(2000),
  ];
  switch (random.below(3)) {
    case 0:
      return text.slice(0, random.below(text.length + 1));
    case 1: {
      // A value in place of another.
      const places = [...text.matchAll(/:\s*("[^"]*"|\d+|null)/g)];
      const place = places[random.below(Math.max(1, places.length))];
      return place === undefined
        ? text
        : `${text.slice(0, place.index)}: ${random.pick(values)}${text.slice(place.index + place[0].length)}`;
    }
    default: {
      const at = random.below(text.length + 1);
      return text.slice(0, at) + random.pick(['"', "{", "}", ",", "\\", "\u0000", "\ud800"]) +
        text.slice(at + random.below(3));
    }
  }
}
