/**
 * Unpacks packages into a folder of their own: first into a temporary one next to it, then one rename, so that a half
 * one is never seen.
 */
import { createHash } from "node:crypto";
import { sha256 } from "../archive/tree.ts";
import { unpack } from "../archive/unpack.ts";
import { type PackageManifest, readPackageManifest } from "../manifest/package_manifest.ts";
import { type PackageVersion, tagOf } from "../names.ts";
import { printable } from "../printable.ts";
import { type RegistryHost, TEMPORARY_FOLDER } from "../ports.ts";
import { RegistryError } from "../registry_error.ts";

/** SHA-256 of the files by their paths. */
export type FileHashes = ReadonlyMap<string, string>;

/** Unpacks a tarball, whose hash has been looked at, into `<parent>/<name>-<version>`. */
export async function installArchive(
  host: RegistryHost,
  { release, tarball, parent }: {
    readonly release: PackageVersion;
    readonly tarball: ReadableStream<Uint8Array<ArrayBuffer>>;
    readonly parent: string;
  },
): Promise<FileHashes> {
  return await inTemporary(host, `${parent}/${tagOf(release)}`, async (folder) => {
    const hashes = new Map<string, string>();
    await unpack(release, tarball, {
      folder: (path) => host.files.makeFolder(`${folder}/${path}`),
      async file(path, { isExecutable }) {
        const file = await host.files.open(`${folder}/${path}`, { append: false, isExecutable });
        const hash = createHash("sha256");
        return {
          write(bytes) {
            hash.update(bytes);
            file.write(bytes);
          },
          close() {
            file.close();
            hashes.set(path, hash.digest("hex"));
          },
        };
      },
    });
    await checkManifest(host, folder, release);
    return hashes;
  });
}

/** Copies files of another folder into `<parent>/<name>-<version>`. */
export async function installCopy(
  host: RegistryHost,
  { release, from, paths, parent }: {
    readonly release: PackageVersion;
    readonly from: string;
    readonly paths: Iterable<string>;
    readonly parent: string;
  },
): Promise<FileHashes> {
  return await inTemporary(host, `${parent}/${tagOf(release)}`, async (folder) => {
    const hashes = new Map<string, string>();
    for (const path of paths) {
      const bytes = await host.files.readBytes(`${from}/${path}`);
      if (bytes === null) throw new RegistryError("disk", `Cannot copy ${from}/${path}: it is gone`);
      await host.files.write(`${folder}/${path}`, bytes);
      hashes.set(path, sha256(bytes));
    }
    return hashes;
  });
}

async function inTemporary(
  host: RegistryHost,
  target: string,
  fill: (folder: string) => Promise<FileHashes>,
): Promise<FileHashes> {
  const folder = await host.files.makeTemporary(target);
  try {
    const hashes = await fill(folder);
    await host.files.remove(target);
    await host.files.rename(folder, target);
    return hashes;
  } catch (error) {
    await host.files.remove(folder);
    throw error;
  }
}

async function checkManifest(host: RegistryHost, folder: string, release: PackageVersion): Promise<void> {
  const text = await host.files.readText(`${folder}/project.toml`);
  const refuse = (reason: string) =>
    new RegistryError("bad-archive", `Cannot unpack ${release.name} ${release.version}: ${reason}`, {
      hint: "Nothing of it was kept. Tell those who publish the package.",
    });
  if (text === null) throw refuse("it has no project.toml");
  const manifest = readForeignManifest(text, refuse);
  if (manifest.name !== release.name || manifest.version !== release.version) {
    throw refuse(`its manifest is of ${manifest.name} ${manifest.version}`);
  }
}

/**
 * Reads the manifest of a package from outside: what is wrong in it is no error of the one who
 * fetches it.
 */
function readForeignManifest(text: string, refuse: (reason: string) => RegistryError): PackageManifest {
  try {
    return readPackageManifest(text);
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error;
    throw refuse(printable(error.message.replace(/^Cannot read project\.toml: /, "project.toml: ")));
  }
}

/** Takes away what is no longer used, and what an interrupted run has left. */
export async function removeOthers(
  host: RegistryHost,
  parent: string,
  used: readonly PackageVersion[],
): Promise<void> {
  const keep = new Set(used.map(tagOf));
  for (const name of await host.files.names(parent)) {
    if (!keep.has(name) && (name.startsWith(TEMPORARY_FOLDER) || /^[a-z]/.test(name))) {
      await host.files.remove(`${parent}/${name}`);
    }
  }
}
