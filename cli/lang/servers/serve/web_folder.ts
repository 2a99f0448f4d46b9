/**
 * The folder `web/` of a package on disk, for pages and for archives. Scripts of the page runtime that it does not
 * have are supplied when its page uses them.
 *
 * Links are followed as far as they stay in the package. Files up to a size are kept in memory with a tag of their
 * contents, for as long as size and time of change are the same; a file that was changed just before it was read is
 * not trusted, because times on disk are coarse.
 */
import { CommandError } from "../../../../lang/commands/command_error.ts";
import type { PageFiles } from "../../../../lang/commands/archive.ts";
import { PAGE_RUNTIME, usesPageRuntime } from "../../../../lang/page_runtime/page_runtime.ts";
import type { WebFile, WebFiles } from "../../../../lang/servers/serve/site.ts";
import { CLI_LIMITS } from "../../../shared/limits.ts";
import { messageOf } from "../../shared/disk_files.ts";

/** A change within this time before reading may be followed by another with the same time. */
const COARSE_MILLISECONDS = 2_000;
const PART_BYTES = 256 * 1024;

interface Kept {
  readonly identity: string;
  readonly readAt: number;
  readonly changedAt: number;
  readonly file: WebFile & { readonly bytes: Uint8Array<ArrayBuffer> };
}

/** A package's `web/`. */
export class WebFolder implements WebFiles, PageFiles {
  readonly #root: string;
  readonly #kept = new Map<string, Kept>();
  #keptBytes = 0;

  /** `root` is the package's folder. */
  constructor(root: string) {
    this.#root = Deno.realPathSync(root);
  }

  async find(path: string): Promise<WebFile | null> {
    let real: string;
    let info: Deno.FileInfo;
    try {
      real = Deno.realPathSync(`${this.#root}/web/${path}`);
      if (!real.startsWith(`${this.#root}/`) && !real.startsWith(`${this.#root}\\`)) return null;
      info = Deno.statSync(real);
    } catch (error) {
      if (isAbsent(error)) return await this.#runtimeFile(path);
      throw error;
    }
    if (!info.isFile) return null;
    const modified = info.mtime?.getTime() ?? null;
    const identity = `${info.dev} ${info.ino} ${info.size} ${modified}`;
    if (info.size > CLI_LIMITS.maximumKeptFileBytes) {
      return largeFile(real, { size: info.size, modified, identity });
    }
    const known = this.#kept.get(real);
    if (
      known !== undefined && known.identity === identity &&
      known.readAt - known.changedAt > COARSE_MILLISECONDS
    ) {
      return known.file;
    }
    return await this.#read(real, { identity, modified });
  }

  /** A script of the page runtime, for a page that uses it; null for any other path. */
  async #runtimeFile(path: string): Promise<WebFile | null> {
    const text = PAGE_RUNTIME.get(path);
    if (text === undefined || !this.#usesPageRuntime()) return null;
    const bytes = new TextEncoder().encode(text);
    return { bytes, size: bytes.length, modified: null, etag: await this.tag(bytes) };
  }

  #usesPageRuntime(): boolean {
    try {
      return usesPageRuntime(Deno.readTextFileSync(`${this.#root}/web/index.html`));
    } catch (error) {
      if (isAbsent(error)) return false;
      throw error;
    }
  }

  async #read(
    real: string,
    { identity, modified }: { identity: string; modified: number | null },
  ): Promise<WebFile | null> {
    const readAt = Date.now();
    let bytes: Uint8Array<ArrayBuffer>;
    try {
      bytes = Deno.readFileSync(real);
    } catch (error) {
      if (isAbsent(error)) return null;
      throw error;
    }
    const file = { bytes, size: bytes.length, modified, etag: await this.tag(bytes) };
    this.#drop(real);
    this.#kept.set(real, { identity, readAt, changedAt: modified ?? readAt, file });
    this.#keptBytes += bytes.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#keptBytes <= CLI_LIMITS.keptFileBytes) break;
      this.#drop(oldest);
    }
    return file;
  }

  #drop(real: string): void {
    const known = this.#kept.get(real);
    if (known === undefined) return;
    this.#keptBytes -= known.file.size;
    this.#kept.delete(real);
  }

  async tag(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    return `"${digest.subarray(0, 12).toHex()}"`;
  }

  list(): readonly string[] {
    const paths: string[] = [];
    this.#walk("", (path) => paths.push(path));
    const supplied = this.#usesPageRuntime() ? [...PAGE_RUNTIME.keys()] : [];
    return [...new Set([...paths, ...supplied])].sort();
  }

  read(path: string): Uint8Array<ArrayBuffer> {
    try {
      return Deno.readFileSync(`${this.#root}/web/${path}`);
    } catch (error) {
      const supplied = PAGE_RUNTIME.get(path);
      if (supplied !== undefined && isAbsent(error)) return new TextEncoder().encode(supplied);
      throw new CommandError(`Cannot read web/${path}: ${messageOf(error)}`);
    }
  }

  /** A text that differs when a file was added, changed or taken away. */
  fingerprint(): string {
    const lines: string[] = [];
    this.#walk("", (path) => {
      try {
        const { size, mtime, ino } = Deno.statSync(`${this.#root}/web/${path}`);
        lines.push(`${path} ${size} ${mtime?.getTime()} ${ino}`);
      } catch (error) {
        // Taken away meanwhile, of which another event tells.
        if (!isAbsent(error)) throw error;
      }
    });
    return lines.sort().join("\n");
  }

  /** Files that are served, links to files among them; what is hidden is no part of the page. */
  #walk(folder: string, found: (path: string) => void): void {
    let entries: Deno.DirEntry[];
    try {
      entries = [...Deno.readDirSync(`${this.#root}/web/${folder}`)];
    } catch (error) {
      if (isAbsent(error)) return;
      throw new CommandError(`Cannot read the folder web/${folder}: ${messageOf(error)}`);
    }
    for (const { name, isDirectory, isFile } of entries) {
      if (name.startsWith(".") && name !== ".well-known") continue;
      if (isDirectory) this.#walk(`${folder}${name}/`, found);
      else if (isFile) found(`${folder}${name}`);
    }
  }
}

function isAbsent(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory ||
    error instanceof Deno.errors.FilesystemLoop || error instanceof Deno.errors.PermissionDenied ||
    error instanceof Error && "code" in error && (error.code === "ENAMETOOLONG" || error.code === "EINVAL");
}

/** A file that is read as it is sent. Its tag is weak, because nobody has looked at its contents. */
function largeFile(
  real: string,
  { size, modified, identity }: {
    readonly size: number;
    readonly modified: number | null;
    readonly identity: string;
  },
): WebFile {
  return {
    bytes: null,
    size,
    modified,
    etag: `W/"${identity.replaceAll(" ", "-")}"`,
    read: (first, last) => readPart(real, first, last),
  };
}

function readPart(real: string, first: number, last: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  let file: Deno.FsFile | null = null;
  let rest = last - first + 1;
  const close = () => {
    file?.close();
    file = null;
  };
  return new ReadableStream({
    async pull(controller) {
      if (file === null) {
        file = await Deno.open(real);
        await file.seek(first, Deno.SeekMode.Start);
      }
      const buffer = new Uint8Array(Math.min(PART_BYTES, rest));
      const count = await file.read(buffer);
      if (count === null) {
        close();
        // It has become shorter: an answer that breaks off is distinguished from a whole one.
        controller.error(new Error(`Cannot send ${real}: it has become shorter`));
        return;
      }
      rest -= count;
      controller.enqueue(buffer.subarray(0, count));
      if (rest > 0) return;
      close();
      controller.close();
    },
    cancel: close,
  }, { highWaterMark: 2 });
}
