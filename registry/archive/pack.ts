/**
 * Makes the tarball of a package: the same files give the same bytes on every machine and every run.
 *
 * One folder at the top, `<name>-<version>/`, the files in the order of their paths' bytes, mode 0644 or 0755, user,
 * group and their names empty, one time for all. The gzip layer is plain code (fflate), is fed in pieces of one size,
 * and has neither name nor time.
 */
import { Gzip } from "fflate";
import { createTarPacker, type TarPackController } from "modern-tar";
import { type PackageVersion, tagOf } from "../names.ts";
import type { TreeFile } from "./tree.ts";

/** The time of all entries: the beginning of the year 2000, which no tool takes for an error. */
const ENTRY_TIME = new Date(Date.UTC(2000, 0, 1));
/** Pieces that the compressor gets; their size is part of what decides the bytes. */
const PIECE_BYTES = 65_536;

/** The tarball, in pieces. */
export async function* packTree(
  release: PackageVersion,
  files: readonly TreeFile[],
  read: (path: string) => Promise<Uint8Array>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const { readable, controller } = createTarPacker();
  const writing = writeEntries(controller, release, files, read).catch((error) => controller.error(error));
  let output: Uint8Array<ArrayBuffer>[] = [];
  const gzip = new Gzip({ level: 9, mtime: 0 }, (piece) => {
    if (piece.length > 0) output.push(piece.slice());
  });
  for await (const piece of inPieces(readable)) {
    gzip.push(piece);
    yield* output;
    output = [];
  }
  await writing;
  gzip.push(new Uint8Array(0), true);
  yield* output;
}

async function writeEntries(
  controller: TarPackController,
  release: PackageVersion,
  files: readonly TreeFile[],
  read: (path: string) => Promise<Uint8Array>,
): Promise<void> {
  const shared = { mtime: ENTRY_TIME, uid: 0, gid: 0, uname: "", gname: "" };
  for (const { path, isExecutable } of files) {
    const bytes = await read(path);
    const entry = controller.add({
      ...shared,
      name: `${tagOf(release)}/${path}`,
      size: bytes.length,
      type: "file",
      mode: isExecutable ? 0o755 : 0o644,
    });
    const writer = entry.getWriter();
    if (bytes.length > 0) await writer.write(bytes);
    await writer.close();
  }
  controller.finalize();
}

/** A stream in pieces of one size, the last shorter. */
async function* inPieces(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let piece = new Uint8Array(PIECE_BYTES);
  let filled = 0;
  for await (const chunk of stream) {
    for (let at = 0; at < chunk.length;) {
      const count = Math.min(chunk.length - at, PIECE_BYTES - filled);
      piece.set(chunk.subarray(at, at + count), filled);
      [at, filled] = [at + count, filled + count];
      if (filled < PIECE_BYTES) continue;
      yield piece;
      [piece, filled] = [new Uint8Array(PIECE_BYTES), 0];
    }
  }
  if (filled > 0) yield piece.slice(0, filled);
}
