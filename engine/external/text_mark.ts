/** The byte order mark that some writers put in front of UTF-8. */

/** The bytes without a mark at their beginning. */
export function withoutMark(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/** Pieces without a mark at the beginning of the first. */
export async function* piecesWithoutMark(
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  let head: Uint8Array | null = new Uint8Array(0);
  for await (const piece of pieces) {
    if (head === null) {
      yield piece;
      continue;
    }
    const joined: Uint8Array = new Uint8Array(head.length + piece.length);
    joined.set(head);
    joined.set(piece, head.length);
    head = joined.length < 3 ? joined : null;
    if (head === null) yield withoutMark(joined);
  }
  if (head !== null && head.length > 0) yield head;
}
