/**
 * Reads an untrusted tarball and hands its files on, or refuses it.
 *
 * Refused: names with `..`, a root or a drive, names that some system cannot have, links, devices, an entry twice or
 * one that another system takes for the same, a file where a folder is, another folder at the top than
 * `<name>-<version>/`, more than 10 000 entries or 256 MiB, checksums of headers that do not hold, an archive that
 * ends too early or goes on behind its end. Memory does not grow with the archive: it is unpacked and read in pieces.
 */
import { createTarDecoder, type ParsedTarEntry, type TarHeader } from "modern-tar";
import { REGISTRY_LIMITS } from "../limits.ts";
import { type PackageVersion, tagOf } from "../names.ts";
import { RegistryError } from "../registry_error.ts";
import { foldPath, pathProblem } from "./tree.ts";

/** Where files go. */
export interface UnpackTarget {
  /** Called for each folder, those above first. */
  folder(path: string): Promise<void>;
  /** Takes the pieces of one file; the paths are relative to the folder at the top. */
  file(path: string, options: { readonly isExecutable: boolean }): Promise<FileTarget>;
}

/** Where the bytes of a file go. */
export interface FileTarget {
  write(bytes: Uint8Array): Promise<void> | void;
  /** Called in every case. */
  close(): void;
}

/** Room for headers and padding in addition to the files' bytes. */
const OVERHEAD_BYTES = REGISTRY_LIMITS.archiveEntries * 2048;

/** Reads the tarball of a release to its end. */
export async function unpack(
  release: PackageVersion,
  tarball: ReadableStream<Uint8Array<ArrayBuffer>>,
  target: UnpackTarget,
): Promise<void> {
  const rules = new EntryRules(release);
  const counted = tarball.pipeThrough(new DecompressionStream("gzip")).pipeThrough(countingStream(rules));
  const entries = counted.pipeThrough(createTarDecoder({ strict: true }));
  try {
    for await (const entry of entries) await unpackEntry(entry, rules, target);
  } catch (error) {
    if (error instanceof RegistryError) throw error;
    if (isSystemError(error)) throw error;
    const reason = error instanceof Error ? error.message.replace(/\.$/, "") : String(error);
    throw rules.refuse(null, `it is damaged (${reason})`);
  }
  rules.finish();
}

/** Whether it is the disk's failure and not the archive's. */
function isSystemError(error: unknown): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "string" &&
    /^E[A-Z]+$/.test(error.code);
}

function countingStream(rules: EntryRules): TransformStream<Uint8Array, Uint8Array<ArrayBuffer>> {
  return new TransformStream({
    transform(chunk, controller) {
      rules.count(chunk.length);
      controller.enqueue(new Uint8Array(chunk));
    },
  });
}

async function unpackEntry(
  { header, body }: ParsedTarEntry,
  rules: EntryRules,
  target: UnpackTarget,
): Promise<void> {
  const accepted = rules.accept(header);
  for (const folder of accepted.newFolders) await target.folder(folder);
  if (accepted.file === null) {
    await body.cancel();
    return;
  }
  const file = await target.file(accepted.file, { isExecutable: ((header.mode ?? 0) & 0o100) !== 0 });
  try {
    for await (const bytes of body) await file.write(bytes);
  } finally {
    file.close();
  }
}

interface Accepted {
  /** Null for a folder. */
  readonly file: string | null;
  readonly newFolders: readonly string[];
}

/** Decides on entries, one after the other. */
class EntryRules {
  readonly #top: string;
  readonly #release: PackageVersion;
  /** By folded path, what is there. */
  readonly #files = new Set<string>();
  readonly #folders = new Map<string, string>();
  #entries = 0;
  #declared = 0;
  #unpacked = 0;

  constructor(release: PackageVersion) {
    this.#release = release;
    this.#top = tagOf(release);
  }

  /** Counts what comes out of the compression, before it is read. */
  count(bytes: number): void {
    this.#unpacked += bytes;
    if (this.#unpacked > REGISTRY_LIMITS.unpackedBytes + OVERHEAD_BYTES) throw this.#tooLarge();
  }

  accept(header: TarHeader): Accepted {
    this.#entries++;
    if (this.#entries > REGISTRY_LIMITS.archiveEntries) {
      throw this.refuse(null, `it has more than ${REGISTRY_LIMITS.archiveEntries} entries`);
    }
    const { name, type = "file", size } = header;
    if (type === "symlink" || type === "link") throw this.refuse(name, "it is a link");
    if (type !== "file" && type !== "directory") {
      throw this.refuse(name, `it is a ${type.replaceAll("-", " ")}`);
    }
    if (!Number.isSafeInteger(size) || size < 0) throw this.refuse(name, "it has no size");
    this.#declared += size;
    if (this.#declared > REGISTRY_LIMITS.unpackedBytes) throw this.#tooLarge();
    const path = type === "directory" ? name.replace(/\/$/, "") : name;
    const problem = pathProblem(path);
    if (problem !== null) throw this.refuse(name, problem);
    const [top, ...rest] = path.split("/");
    if (top !== this.#top) throw this.refuse(name, `it is not in the folder ${this.#top}/`);
    const relative = rest.join("/");
    if (relative === "" && type === "file") throw this.refuse(name, "it is a file where the folder belongs");
    return this.#enter(name, relative, type === "file");
  }

  #enter(name: string, path: string, isFile: boolean): Accepted {
    const parts = path === "" ? [] : path.split("/");
    const newFolders: string[] = [];
    for (let depth = 1; depth <= parts.length - (isFile ? 1 : 0); depth++) {
      const folder = parts.slice(0, depth).join("/");
      const fold = foldPath(folder);
      const known = this.#folders.get(fold);
      if (known === folder) continue;
      if (known !== undefined || this.#files.has(fold)) throw this.#collision(name);
      this.#folders.set(fold, folder);
      newFolders.push(folder);
    }
    if (!isFile) return { file: null, newFolders };
    const fold = foldPath(path);
    if (this.#files.has(fold) || this.#folders.has(fold)) throw this.#collision(name);
    this.#files.add(fold);
    return { file: path, newFolders };
  }

  finish(): void {
    if (this.#files.size === 0) throw this.refuse(null, "it has no files");
  }

  refuse(entry: string | null, reason: string): RegistryError {
    const where = entry === null ? "" : ` ${JSON.stringify(entry.slice(0, 200))}:`;
    return new RegistryError(
      "bad-archive",
      `Cannot unpack ${this.#release.name} ${this.#release.version}:${where} ${reason}`,
      { hint: "Nothing of it was kept. Tell those who publish the package." },
    );
  }

  #collision(name: string): RegistryError {
    return this.refuse(name, "another entry has this name, on some systems at least");
  }

  #tooLarge(): RegistryError {
    return this.refuse(null, `it has more than ${REGISTRY_LIMITS.unpackedBytes / 1024 / 1024} MiB`);
  }
}
