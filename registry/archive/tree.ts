/** The files of a package that are published: which they are, and the hash of all of them. */
import { createHash } from "node:crypto";
import { REGISTRY_LIMITS } from "../limits.ts";
import type { FolderEntry } from "../ports.ts";
import { RegistryError } from "../registry_error.ts";

/** A file of a package's folder; the path is relative and has `/`. */
export interface TreeFile {
  readonly path: string;
  readonly size: number;
  readonly isExecutable: boolean;
}

/** Folders at the top that are never published. */
const EXCLUDED: readonly string[] = [".git", "target", ".lang"];

/** Whether a path is left out of tarball and hash, and what is below it as well. */
export function isExcluded(path: string): boolean {
  return EXCLUDED.includes(path.split("/")[0] ?? "");
}

/** The files to publish, sorted by the bytes of their paths; links and devices are refused. */
export function publishedFiles(entries: readonly FolderEntry[]): TreeFile[] {
  const files: TreeFile[] = [];
  let size = 0;
  const folded = new Map<string, string>();
  for (const entry of entries) {
    if (isExcluded(entry.path) || entry.kind === "folder") continue;
    if (entry.kind !== "file") {
      throw refused(entry.path, entry.kind === "link" ? "it is a link" : "it is neither file nor folder");
    }
    const reason = pathProblem(entry.path);
    if (reason !== null) throw refused(entry.path, reason);
    const fold = foldPath(entry.path);
    const twin = folded.get(fold);
    if (twin !== undefined) throw refused(entry.path, `on some systems it is the same file as ${twin}`);
    folded.set(fold, entry.path);
    size += entry.size;
    files.push({ path: entry.path, size: entry.size, isExecutable: entry.isExecutable });
  }
  if (files.length >= REGISTRY_LIMITS.archiveEntries) {
    throw new RegistryError("too-large", `Cannot pack the package: it has ${files.length} files`, {
      hint: `A tarball has at most ${REGISTRY_LIMITS.archiveEntries} entries.`,
    });
  }
  if (size > REGISTRY_LIMITS.unpackedBytes) {
    throw new RegistryError("too-large", `Cannot pack the package: it has ${size} bytes`, {
      hint: `A tarball holds at most ${REGISTRY_LIMITS.unpackedBytes} bytes.`,
    });
  }
  return files.sort((left, right) => comparePaths(left.path, right.path));
}

function refused(path: string, reason: string): RegistryError {
  return new RegistryError("bad-tree", `Cannot pack ${JSON.stringify(path)}: ${reason}`, {
    hint: "Remove it, or move it to target/, which is not published.",
  });
}

/** The order of UTF-8 bytes, which is that of code points. */
function comparePaths(left: string, right: string): number {
  const [a, b] = [encoder.encode(left), encoder.encode(right)];
  for (let index = 0; index < a.length && index < b.length; index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

const encoder = new TextEncoder();

/** What a file system that ignores case and forms of letters takes for the same path. */
export function foldPath(path: string): string {
  return path.normalize("NFC").toLowerCase().normalize("NFC");
}

const RESERVED = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)/i;

/** Why a relative path may not be in a tarball; null when it may. */
export function pathProblem(path: string): string | null {
  if (path === "") return "its name is empty";
  if (encoder.encode(path).length > REGISTRY_LIMITS.pathBytes) return "its name is too long";
  if (path.startsWith("/")) return "its name begins at the root";
  if (/^[A-Za-z]:/.test(path)) return "its name begins with a drive";
  // deno-lint-ignore no-control-regex
  if (/[\u0000-\u001f\u007f]/.test(path)) return "its name has a control character";
  if (/[\\:*?"<>|]/.test(path)) return "its name has a character that is not allowed everywhere";
  if (path.includes("\ufffd") || !path.isWellFormed()) return "its name is not UTF-8";
  for (const part of path.split("/")) {
    if (part === "" || part === ".") return "its name has an empty part";
    if (part === "..") return "its name leaves the folder";
    if (/[. ]$/.test(part)) return "a part of its name ends with a dot or a space";
    if (RESERVED.test(part)) return "a part of its name is that of a device";
    if (encoder.encode(part).length > 255) return "a part of its name is too long";
  }
  return null;
}

/** SHA-256 over a line `<sha256>  <path>` for each file, in their order: what `sha256sum` prints. */
export function treeHash(files: readonly { readonly path: string; readonly hash: string }[]): string {
  const hash = createHash("sha256");
  for (const { path, hash: digest } of files.toSorted((a, b) => comparePaths(a.path, b.path))) {
    hash.update(`${digest}  ${path}\n`);
  }
  return hash.digest("hex");
}

/** SHA-256 of bytes, in hexadecimal digits. */
export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
