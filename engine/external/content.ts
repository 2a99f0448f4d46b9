/**
 * The content of a page on its way to the reader of its format: unpacked when it is gzip, counted, and cut off with an
 * error where a cap is passed. What counts are the bytes after unpacking, so that a small answer cannot become a large
 * one.
 */
import { DatabaseError } from "../base/errors.ts";
import type { RefreshProgress } from "../statements/refresh/row_target.ts";
import { SOURCE_LIMITS } from "./limits.ts";
import { capError, sourceError } from "./source_errors.ts";

const MEBIBYTE = 1 << 20;

/** The caps that a source is read under; smaller ones in tests. */
export interface Caps {
  readonly pages: number;
  readonly pageBytes: number;
  readonly totalBytes: number;
}

/** The content, unpacked, counted and capped. */
export async function* pageContent(
  raw: AsyncIterable<Uint8Array>,
  options: { readonly name: string; readonly progress: RefreshProgress; readonly caps: Caps },
): AsyncGenerator<Uint8Array, void> {
  const { name, progress, caps } = options;
  let bytes = 0;
  for await (const piece of unpacked(raw, name)) {
    bytes += piece.length;
    progress.bytes += piece.length;
    if (bytes > caps.pageBytes) {
      throw capError(
        `${name} is larger than ${caps.pageBytes / MEBIBYTE} MiB`,
        "Split the source into pages.",
      );
    }
    if (progress.bytes > caps.totalBytes) {
      throw capError(`the source is larger than ${caps.totalBytes / MEBIBYTE} MiB in all`);
    }
    yield piece;
  }
}

/** Unpacks gzip, which is recognized by its first two bytes: no text that is read here begins so. */
async function* unpacked(raw: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array, void> {
  const source = raw[Symbol.asyncIterator]();
  try {
    let first = new Uint8Array(0);
    let isDone = false;
    while (first.length < 2 && !isDone) {
      const next = await source.next();
      if (next.done === true) isDone = true;
      else {
        const joined = new Uint8Array(first.length + next.value.length);
        joined.set(first);
        joined.set(next.value, first.length);
        first = joined;
      }
    }
    const rest = async function* (): AsyncGenerator<Uint8Array, void> {
      if (first.length > 0) yield first;
      while (!isDone) {
        const next = await source.next();
        if (next.done === true) return;
        yield next.value;
      }
    };
    if (first[0] === 0x1f && first[1] === 0x8b) yield* gunzip(rest(), name);
    else yield* rest();
  } finally {
    await source.return?.();
  }
}

async function* gunzip(packed: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array, void> {
  const stream = new DecompressionStream("gzip");
  const writer = stream.writable.getWriter();
  const reader = stream.readable.getReader();
  let failure: unknown = null;
  const writing = (async () => {
    for await (const piece of packed) {
      for (let at = 0; at < piece.length; at += SOURCE_LIMITS.compressedPieceBytes) {
        await writer.write(piece.slice(at, at + SOURCE_LIMITS.compressedPieceBytes));
      }
    }
    await writer.close();
  })().catch((thrown) => {
    failure = thrown;
    // Whoever reads learns of it; the stream may have failed before.
    return writer.abort(thrown).catch(() => undefined);
  });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      yield value;
    }
    await writing;
    if (failure !== null) throw failure;
  } catch (thrown) {
    const reason = failure ?? thrown;
    if (reason instanceof DatabaseError) throw reason;
    throw sourceError(`${name} is not valid gzip, or breaks off`);
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
