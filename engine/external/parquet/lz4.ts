/**
 * LZ4's block format (lz4/lz4, `doc/lz4_Block_format.md`), which Parquet calls LZ4_RAW, into a buffer of the size that
 * the page's header says.
 *
 * Invariant: nothing is read or written outside of the two buffers, whatever the input is; the result fills its buffer.
 */

/** Compressed bytes are damaged. */
export class CodecError extends Error {}

/** Copies what was written `offset` bytes before; the two ranges may overlap. The caller has checked the range. */
export function copyMatch(target: Uint8Array, to: number, offset: number, length: number): void {
  if (offset >= length && length > 32) target.copyWithin(to, to - offset, to - offset + length);
  else if (offset === 1) target.fill(target[to - 1] as number, to, to + length);
  else for (let from = to - offset, last = to + length; to < last;) target[to++] = target[from++] as number;
}

/** Decompresses into `target`, which the result fills. Raises {@link CodecError}. */
export function decompressLz4(source: Uint8Array, target: Uint8Array): void {
  const end = source.length, limit = target.length;
  let from = 0, to = 0;
  const extended = (length: number): number => {
    if (length < 15) return length;
    for (;;) {
      const byte = source[from++];
      if (byte === undefined) throw new CodecError("it ends too early");
      length += byte;
      if (byte < 255) return length;
      if (length > limit) throw new CodecError("a length is too long");
    }
  };
  while (from < end) {
    const token = source[from++] as number;
    const literals = extended(token >> 4);
    if (literals > end - from || literals > limit - to) throw new CodecError("a literal is too long");
    if (literals < 24) {
      for (const last = to + literals; to < last;) target[to++] = source[from++] as number;
    } else {
      target.set(source.subarray(from, from + literals), to);
      from += literals;
      to += literals;
    }
    // The last sequence has literals only.
    if (from === end) break;
    if (from + 2 > end) throw new CodecError("it ends too early");
    const offset = (source[from] as number) | (source[from + 1] as number) << 8;
    from += 2;
    const length = extended(token & 15) + 4;
    if (offset === 0 || offset > to || length > limit - to) throw new CodecError("a copy is out of range");
    copyMatch(target, to, offset, length);
    to += length;
  }
  if (to !== limit) throw new CodecError("it is shorter than the page's header says");
}
