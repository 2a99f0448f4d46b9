/**
 * The self-extracting executable: one file that holds a launcher, a bundled program and the Deno runtime.
 *
 * Format: a POSIX shell script padded with line feeds to {@link headerSize} bytes; then the program (one bundled
 * module), gzip; then, where there is one, the file that the program reads, gzip; then the Deno executable, gzip, to
 * the end of the file. The script (`launcher.sh` below) carries the lengths and the SHA-256 of the parts. On the
 * first start it unpacks them below the user's cache folder, under their hashes, so that the three programs of one
 * build share one runtime; later starts go straight to `exec`, so signals, exit codes and the standard streams are
 * the program's own.
 *
 * Invariants: a part appears under its final name only by a rename after its hash was verified; the program is hashed
 * on every start; the runtime and what the program reads are hashed again whenever their size, time of change or
 * inode are not the ones recorded after the last hash. Folders are made with mode 0700, and a folder that belongs to
 * another user is never used. Limits: needs sh, gzip, head, tail, stat, mktemp and sha256sum (or shasum), which every
 * Linux has.
 */
import { gzipSync } from "node:zlib";

/** Size of the script part in bytes; fixed, so that the offsets in it do not depend on its own length. */
export const headerSize = 8192;

/** A file in its packed form. */
export interface PackedFile {
  /** The gzip form of the file. */
  readonly packed: Uint8Array<ArrayBuffer>;
  /** SHA-256 of the file itself, lower-case hexadecimal. */
  readonly sha256: string;
}

/** Packs a file; with a cache folder, the packed form is kept there under the file's hash (the runtime is large). */
export async function packFile(
  path: string,
  options: { readonly cacheFolder?: string } = {},
): Promise<PackedFile> {
  const content = await Deno.readFile(path);
  const sha256 = new Uint8Array(await crypto.subtle.digest("SHA-256", content)).toHex();
  if (options.cacheFolder === undefined) return { packed: pack(content), sha256 };
  const cached = `${options.cacheFolder}/${sha256}.gz`;
  try {
    return { packed: await Deno.readFile(cached), sha256 };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const packed = pack(content);
  await Deno.mkdir(options.cacheFolder, { recursive: true });
  const temporary = await Deno.makeTempFile({ dir: options.cacheFolder });
  await Deno.writeFile(temporary, packed);
  await Deno.rename(temporary, cached);
  return { packed, sha256 };
}

/** Gzip without a time stamp, so that the same file always gives the same bytes. */
function pack(content: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(gzipSync(content, { level: 6 }));
}

/** What {@link writeLauncher} puts together. */
export interface LauncherParts {
  /** Where to write the executable. */
  readonly path: string;
  /** Name of the program, as its messages begin. */
  readonly program: string;
  /** Version of the program. */
  readonly version: string;
  /** The Deno executable. */
  readonly runtime: PackedFile;
  /** The bundled program. */
  readonly bundle: PackedFile;
  /** What the program reads; it lies next to it, as `NAME.data`. */
  readonly data?: PackedFile;
  /** Parameters of the engine, as `--v8-flags` takes them. */
  readonly engineFlags?: readonly string[];
}

/** Writes a self-extracting executable with mode 0755; an existing file is replaced in one step. */
export async function writeLauncher(
  { path, program, version, runtime, bundle, data, engineFlags = [] }: LauncherParts,
): Promise<void> {
  const script = await Deno.readTextFile(new URL("launcher.sh", import.meta.url));
  const dataPacked = data?.packed ?? new Uint8Array(0);
  const values: Readonly<Record<string, string | number>> = {
    PROGRAM: program,
    VERSION: version,
    PROGRAM_SHA256: bundle.sha256,
    PROGRAM_OFFSET: headerSize + 1,
    PROGRAM_PACKED: bundle.packed.length,
    DATA_SHA256: data?.sha256 ?? "none",
    DATA_OFFSET: headerSize + bundle.packed.length + 1,
    DATA_PACKED: dataPacked.length,
    RUNTIME_SHA256: runtime.sha256,
    RUNTIME_OFFSET: headerSize + bundle.packed.length + dataPacked.length + 1,
    RUNTIME_PACKED: runtime.packed.length,
    FLAGS: engineFlags.length === 0 ? "" : `--v8-flags=${engineFlags.join(",")} `,
  };
  const filled = script.replace(/@([A-Z0-9_]+)@/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`launcher.sh names an unknown value @${name}@`);
    return String(value);
  });
  const header = new TextEncoder().encode(filled);
  if (header.length > headerSize) {
    throw new Error(`launcher.sh is ${header.length} bytes, over ${headerSize}`);
  }
  const padding = new Uint8Array(headerSize - header.length).fill(0x0a);
  const temporary = `${path}.new`;
  const file = await Deno.open(temporary, { write: true, create: true, truncate: true, mode: 0o755 });
  try {
    for (const part of [header, padding, bundle.packed, dataPacked, runtime.packed]) {
      for (let written = 0; written < part.length;) written += await file.write(part.subarray(written));
    }
  } finally {
    file.close();
  }
  await Deno.chmod(temporary, 0o755);
  await Deno.rename(temporary, path);
}
