/** Tarballs: what is refused, what is taken, and what other tools say to ours. */
import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { packTar, type TarEntry } from "modern-tar";
import { installArchive } from "../client/install.ts";
import { publishPackage } from "../commands/publish.ts";
import { openSession } from "../client/project.ts";
import { DISK } from "../host/disk.ts";
import type { RegistryHost } from "../ports.ts";
import { parseSidecar } from "./sidecar.ts";
import { pathProblem, treeHash } from "./tree.ts";

const RELEASE = { name: "fx", version: "0.3.2" };
const MANIFEST = 'name = "fx"\nversion = "0.3.2"\n';
const manifest = file("fx-0.3.2/project.toml", MANIFEST);

function file(name: string, body: string, header: Partial<TarEntry["header"]> = {}): TarEntry {
  return { header: { name, size: body.length, type: "file", mtime: new Date(0), ...header }, body };
}

function stream(bytes: Uint8Array): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new Blob([new Uint8Array(bytes)]).stream();
}

async function tarball(entries: readonly TarEntry[]): Promise<Uint8Array> {
  return gzipSync(await packTar(entries));
}

function hostOf(folder: string): RegistryHost {
  const never = () => Promise.reject(new Error("not here"));
  return {
    files: DISK,
    fetch: never,
    clock: {
      now: () => 0,
      sleep: never,
      watchdog: () => ({ signal: new AbortController().signal, touch() {}, stop() {} }),
    },
    git: { run: never },
    reporter: { warn() {}, note() {}, progress() {} },
    surroundings: {
      apiUrl: "https://api.example",
      authFile: `${folder}/auth.toml`,
      cacheFolder: `${folder}/cache`,
      hostToken: null,
      proxy: null,
      userAgent: "lang/test",
    },
  };
}

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "archive-" });
  try {
    await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Everything below a folder. */
async function treeOf(folder: string): Promise<string[]> {
  return (await DISK.walk(folder, () => false)).map(({ path }) => path).sort();
}

/** Installing must fail, and nothing may be left. */
async function refuses(bytes: Uint8Array, expected: RegExp): Promise<void> {
  await withFolder(async (folder) => {
    await Deno.mkdir(`${folder}/packages`);
    const options = { release: RELEASE, tarball: stream(bytes), parent: `${folder}/packages` };
    await rejects(installArchive(hostOf(folder), options), expected);
    deepStrictEqual(await treeOf(folder), ["packages"]);
  });
}

const REFUSED: readonly (readonly [string, readonly TarEntry[], RegExp])[] = [
  ["..", [manifest, file("fx-0.3.2/../../evil", "x")], /leaves the folder/],
  [".. in front", [file("../evil", "x")], /leaves the folder/],
  ["a root", [manifest, file("/etc/evil", "x")], /begins at the root/],
  ["a drive", [manifest, file("C:/evil", "x")], /begins with a drive/],
  ["a drive below", [manifest, file("fx-0.3.2/C:evil", "x")], /not allowed everywhere/],
  ["a backslash", [manifest, file("fx-0.3.2\\..\\evil", "x")], /not allowed everywhere/],
  [
    "a symbolic link",
    [manifest, file("fx-0.3.2/a", "", { type: "symlink", linkname: "/etc" })],
    /it is a link/,
  ],
  [
    "a hard link",
    [manifest, file("fx-0.3.2/a", "", { type: "link", linkname: "/etc/passwd" })],
    /it is a link/,
  ],
  [
    "a character device",
    [manifest, file("fx-0.3.2/a", "", { type: "character-device" })],
    /character device/,
  ],
  ["a block device", [manifest, file("fx-0.3.2/a", "", { type: "block-device" })], /block device/],
  ["a pipe", [manifest, file("fx-0.3.2/a", "", { type: "fifo" })], /it is a fifo/],
  ["a file twice", [manifest, manifest], /another entry has this name/],
  ["names that differ in case", [manifest, file("fx-0.3.2/a", ""), file("fx-0.3.2/A", "")], /another entry/],
  [
    "folders that differ in case",
    [manifest, file("fx-0.3.2/a/b", ""), file("fx-0.3.2/A/c", "")],
    /another entry/,
  ],
  [
    "two forms of a letter",
    [manifest, file("fx-0.3.2/\u00e9", ""), file("fx-0.3.2/e\u0301", "")],
    /another entry/,
  ],
  ["a file as folder", [manifest, file("fx-0.3.2/a", ""), file("fx-0.3.2/a/b", "")], /another entry/],
  ["another top directory", [manifest, file("other-0.3.2/a", "x")], /not in the folder fx-0\.3\.2\//],
  ["a file at the top", [file("fx-0.3.2", "x")], /file where the folder belongs/],
  ["a name of a device", [manifest, file("fx-0.3.2/src/con.lang", "")], /that of a device/],
  ["a control character", [manifest, file("fx-0.3.2/a\u001b[2J", "")], /control character/],
  ["a long part", [manifest, file(`fx-0.3.2/${"x".repeat(256)}`, "")], /too long/],
  ["a long name", [manifest, file(`fx-0.3.2/${"long/".repeat(250)}x`, "")], /too long/],
  ["no manifest", [file("fx-0.3.2/a", "x")], /it has no project\.toml/],
  ["no files", [], /it has no files/],
  [
    "another package",
    [file("fx-0.3.2/project.toml", MANIFEST.replace("fx", "fy"))],
    /manifest is of fy 0\.3\.2/,
  ],
  [
    "more than 10 000 entries",
    [manifest, ...Array.from({ length: 10_000 }, (_, index) => file(`fx-0.3.2/${index}`, ""))],
    /more than 10000 entries/,
  ],
];

for (const [what, entries, expected] of REFUSED) {
  Deno.test(`unpack() refuses ${what}, and nothing is left`, async () => {
    await refuses(await tarball(entries), expected);
  });
}

Deno.test("unpack() refuses what is damaged: cut off, without an end, trailing bytes, no gzip, wrong checksums", async () => {
  const good = await packTar([manifest, file("fx-0.3.2/src/a.lang", "a".repeat(5000))]);
  const packed = gzipSync(good);
  await refuses(packed.subarray(0, packed.length - 20), /it is damaged/);
  await refuses(gzipSync(good.subarray(0, good.length - 1024)), /it is damaged/);
  await refuses(gzipSync(good.subarray(0, 1500)), /it is damaged/);
  await refuses(new Uint8Array([...packed, 1, 2, 3]), /it is damaged/);
  await refuses(new TextEncoder().encode("no archive"), /it is damaged/);
  await refuses(new Uint8Array(0), /it is damaged|no files/);
  const wrong = good.slice();
  wrong[100] = (wrong[100] ?? 0) ^ 1;
  await refuses(gzipSync(wrong), /it is damaged \(Invalid tar header checksum\)/);
});

Deno.test("unpack() refuses 10 GB of zeros before they are unpacked", async () => {
  const header = (await packTar([file("fx-0.3.2/zeros", "")])).slice(0, 512);
  const zeros = gzipSync(new Uint8Array(1024 * 1024));
  // Whoever declares it is refused by the header alone.
  const size = (10 * 1024 ** 3).toString(8).padStart(11, "0");
  header.set(new TextEncoder().encode(size), 124);
  header.fill(32, 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.set(new TextEncoder().encode(`${sum.toString(8).padStart(6, "0")}\0 `), 148);
  await refuses(gzipSync(header), /more than 256 MiB/);
  // Whoever hides it behind the end of the archive is stopped while it is unpacked.
  const end = gzipSync(await packTar([manifest]));
  ok(zeros.length < 2000);
  await refuses(new Uint8Array([...end, ...zeros]), /it is damaged|more than 256 MiB/);
});

Deno.test("installArchive() takes long names, executables and names of all languages, and replaces what was there", async () => {
  await withFolder(async (folder) => {
    const long = `fx-0.3.2/${"deep/".repeat(50)}end.txt`;
    const bytes = await tarball([
      { header: { name: "fx-0.3.2/", size: 0, type: "directory", mtime: new Date(0) } },
      manifest,
      file(long, "long"),
      file("fx-0.3.2/run.sh", "x", { mode: 0o755 }),
      file("fx-0.3.2/日本語 é.txt", ""),
    ]);
    const parent = `${folder}/packages`;
    await DISK.write(`${parent}/fx-0.3.2/old.txt`, "old");
    const hashes = await installArchive(hostOf(folder), { release: RELEASE, tarball: stream(bytes), parent });
    strictEqual(hashes.size, 4);
    strictEqual(await Deno.readTextFile(`${parent}/${long}`), "long");
    strictEqual(((await Deno.stat(`${parent}/fx-0.3.2/run.sh`)).mode ?? 0) & 0o100, 0o100);
    strictEqual(await DISK.size(`${parent}/fx-0.3.2/old.txt`), null);
    deepStrictEqual([...Deno.readDirSync(parent)].map(({ name }) => name), ["fx-0.3.2"]);
  });
});

/** Runs a tool of the system and gives what it prints. */
async function tool(folder: string, name: string, ...parameters: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(name, { args: parameters, cwd: folder })
    .output();
  const text = new TextDecoder();
  ok(success, text.decode(stderr));
  return text.decode(stdout) + text.decode(stderr);
}

Deno.test("GNU tar lists and unpacks the artifacts without a remark, sha256sum -c accepts them", async () => {
  await withFolder(async (folder) => {
    const root = `${folder}/fx`;
    const long = `${"a-long-folder-name/".repeat(15)}file.txt`;
    for (
      const [path, text] of [["project.toml", MANIFEST], ["src/main.lang", "x"], [long, "y"], [
        "ö.txt",
        "",
      ]] as const
    ) {
      await DISK.write(`${root}/${path}`, text);
    }
    await Deno.chmod(`${root}/src/main.lang`, 0o777);
    await publishPackage(openSession({ host: hostOf(folder), root }), { isDryRun: false });
    const published = `${root}/.lang/publish`;
    strictEqual(await tool(published, "sha256sum", "-c", "fx-0.3.2.tar.gz.sha256"), "fx-0.3.2.tar.gz: OK\n");
    const listing = await tool(published, "tar", "--utc", "-tvzf", "fx-0.3.2.tar.gz");
    match(listing, /^-rwxr-xr-x 0\/0 +1 2000-01-01 00:00 fx-0\.3\.2\/src\/main\.lang$/m);
    match(listing, /^-rw-r--r-- 0\/0 +30 2000-01-01 00:00 fx-0\.3\.2\/project\.toml$/m);
    strictEqual(await tool(published, "tar", "-xzf", "fx-0.3.2.tar.gz"), "");
    strictEqual(await Deno.readTextFile(`${published}/fx-0.3.2/${long}`), "y");
  });
});

Deno.test("parseSidecar(): three forms, and the name must be the tarball's", () => {
  const hash = "0123456789abcdef".repeat(4);
  for (
    const text of [
      hash,
      `${hash}\n`,
      `sha256:${hash}`,
      `${hash}  fx-0.3.2.tar.gz\n`,
      `${hash} *fx-0.3.2.tar.gz`,
    ]
  ) {
    strictEqual(parseSidecar(text, RELEASE), hash, text);
  }
  for (const text of ["", hash.slice(1), `${hash}  other.tar.gz`, `md5:${hash}`, `${hash}\n${hash}`]) {
    strictEqual(parseSidecar(text, RELEASE), null, text);
  }
});

Deno.test("treeHash() is that of sorted lines; pathProblem() of good names is null", () => {
  const [a, b] = [{ path: "a", hash: "1" }, { path: "b", hash: "2" }];
  strictEqual(treeHash([a, b]), treeHash([b, a]));
  for (const path of ["a", "src/main.lang", ".gitignore", "a b/c-d_e.txt", "..a"]) {
    strictEqual(pathProblem(path), null, path);
  }
});
