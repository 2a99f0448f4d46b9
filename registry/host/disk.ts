/** Files on the disk. */
import { type Files, type FolderEntry, type OpenFile, TEMPORARY_FOLDER, TEMPORARY_SUFFIX } from "../ports.ts";
import { RegistryError } from "../registry_error.ts";

/** Whether the error says that there is no such file. */
function isMissing(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory;
}

/** What the disk says, in the project's words. */
function failed(doing: string, path: string, error: unknown): RegistryError {
  const said = error instanceof Error ? error.message.replace(/ ?\(os error \d+\).*/s, "") : String(error);
  return new RegistryError("disk", `Cannot ${doing} ${path}: ${said}`, { cause: error });
}

async function attempt<T>(doing: string, path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw failed(doing, path, error);
  }
}

async function orNull<T>(path: string, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (isMissing(error)) return null;
    throw failed("read", path, error);
  }
}

let temporaryNumber = 0;

/** The file that a path leads to in the end, so that a link stays one; the path itself when nothing is there. */
async function linkTarget(path: string): Promise<string> {
  try {
    return await Deno.realPath(path);
  } catch (error) {
    if (isMissing(error)) return path;
    throw error;
  }
}

/** The rights that a file has; null when there is none, or none are known. */
async function modeOf(path: string): Promise<number | null> {
  try {
    const { mode } = await Deno.stat(path);
    return mode === null ? null : mode & 0o7777;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** The disk, as Deno has it. */
export const DISK: Files = {
  readText: (path) => orNull(path, () => Deno.readTextFile(path)),
  readBytes: (path) => orNull(path, () => Deno.readFile(path)),
  readStream: (path) => orNull(path, async () => (await Deno.open(path)).readable),
  async write(path, content, options = {}) {
    await attempt("write", path, async () => {
      await Deno.mkdir(path.slice(0, path.lastIndexOf("/")) || "/", { recursive: true });
      const target = await linkTarget(path);
      const mode = options.mode ?? await modeOf(target);
      const temporary = `${target}.${Deno.pid}.${temporaryNumber++}${TEMPORARY_SUFFIX}`;
      const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
      try {
        // The mode at once, so that no other user can read meanwhile; again, because the mask may have taken bits away.
        await Deno.writeFile(temporary, bytes, mode === null ? {} : { mode });
        if (mode !== null && Deno.build.os !== "windows") await Deno.chmod(temporary, mode);
        await Deno.rename(temporary, target);
      } catch (error) {
        await Deno.remove(temporary).catch(() => {});
        throw error;
      }
    });
  },
  async open(path, { append, isExecutable = false }): Promise<OpenFile> {
    return await attempt("write", path, async () => {
      const file = await Deno.open(path, {
        create: true,
        write: true,
        append,
        truncate: !append,
        mode: isExecutable ? 0o755 : 0o644,
      });
      return {
        write(bytes) {
          try {
            for (let rest = bytes; rest.length > 0;) rest = rest.subarray(file.writeSync(rest));
          } catch (error) {
            throw failed("write", path, error);
          }
        },
        close: () => file.close(),
      };
    });
  },
  size: (path) => orNull(path, async () => (await Deno.stat(path)).size),
  isFolder: async (path) => (await orNull(path, () => Deno.stat(path)))?.isDirectory ?? false,
  async walk(root, skip) {
    const entries: FolderEntry[] = [];
    const visit = async (folder: string): Promise<void> => {
      for await (const { name } of Deno.readDir(folder === "" ? root : `${root}/${folder}`)) {
        const path = folder === "" ? name : `${folder}/${name}`;
        if (skip(path)) continue;
        const info = await Deno.lstat(`${root}/${path}`);
        const kind = info.isSymlink ? "link" : info.isDirectory ? "folder" : info.isFile ? "file" : "other";
        const isExecutable = kind === "file" && ((info.mode ?? 0) & 0o100) !== 0;
        entries.push({ path, kind, size: info.size, isExecutable });
        if (kind === "folder") await visit(path);
      }
    };
    await attempt("read", root, () => visit(""));
    return entries;
  },
  async names(path) {
    const names = await orNull(path, async () => {
      const found: string[] = [];
      for await (const { name } of Deno.readDir(path)) found.push(name);
      return found;
    });
    return names?.sort() ?? [];
  },
  makeFolder: (path) => attempt("make", path, () => Deno.mkdir(path, { recursive: true })),
  async remove(path) {
    await attempt("remove", path, async () => {
      await Deno.remove(path, { recursive: true }).catch((error) => {
        if (!isMissing(error)) throw error;
      });
    });
  },
  rename: (from, to) => attempt("rename", from, () => Deno.rename(from, to)),
  async lock(path, onWait) {
    const folder = path.slice(0, path.lastIndexOf("/"));
    return await attempt("write into", folder, async () => {
      await Deno.mkdir(folder, { recursive: true });
      const file = await Deno.open(path, { create: true, write: true });
      try {
        if (!await file.tryLock(true)) {
          onWait();
          await file.lock(true);
        }
      } catch (error) {
        file.close();
        throw error;
      }
      return { [Symbol.dispose]: () => file.close() };
    });
  },
  async makeTemporary(beside) {
    const parent = beside.slice(0, beside.lastIndexOf("/"));
    return await attempt("write into", parent, async () => {
      await Deno.mkdir(parent, { recursive: true });
      // Not with makeTempDir, whose folders are for their owner alone: what is unpacked is as readable as its package.
      const folder = `${parent}/${TEMPORARY_FOLDER}${crypto.randomUUID()}`;
      await Deno.mkdir(folder);
      return folder;
    });
  },
};
