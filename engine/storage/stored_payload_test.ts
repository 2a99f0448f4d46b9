/** Payloads in files: what proves a block, and what is made of damage. */
import { deepStrictEqual as equal, strictEqual, throws } from "node:assert/strict";
import { crc32c } from "../base/checksum.ts";
import { DatabaseError } from "../base/errors.ts";
import { SeededRandom } from "../base/random.ts";
import { digestAfter } from "../operations/history_digest.ts";
import { BlockChecksums, PAYLOAD_BLOCK_BYTES, StoredPayload } from "./stored_payload.ts";

const isDamage = (error: unknown) => error instanceof DatabaseError && error.code === "XX001";
const HEAD = 77;

function randomBytes(count: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(count);
  new SeededRandom(seed).fill(bytes);
  return bytes;
}

function checksumsOf(bytes: Uint8Array, pieceBytes: number): BlockChecksums {
  const blocks = new BlockChecksums();
  for (let at = 0; at < bytes.length; at += pieceBytes) blocks.add(bytes.subarray(at, at + pieceBytes));
  return blocks;
}

/** A payload behind a head in a file that can be damaged, and the arrays that it was read into. */
function stored(
  bytes: Uint8Array,
  blocks?: BlockChecksums,
): { file: Uint8Array; payload: StoredPayload; targets: ArrayBufferLike[] } {
  const targets: ArrayBufferLike[] = [];
  const file = new Uint8Array(HEAD + bytes.length + 5);
  file.set(bytes, HEAD);
  const digest = digestAfter(9n, crc32c(bytes), 4);
  const place = {
    op: 4,
    path: "log/1.log",
    position: HEAD,
    bytes: bytes.length,
    digests: { previousDigest: 9n, digest },
  };
  const readAt = (position: number, target: Uint8Array) => {
    const piece = file.subarray(position, position + target.length);
    target.set(piece);
    targets.push(target.buffer);
    return piece.length;
  };
  return { file, payload: new StoredPayload(place, readAt, blocks), targets };
}

Deno.test("BlockChecksums are the same however the bytes come, and tell the checksum of all", () => {
  for (const length of [1, PAYLOAD_BLOCK_BYTES - 1, PAYLOAD_BLOCK_BYTES, 2 * PAYLOAD_BLOCK_BYTES + 3]) {
    const bytes = randomBytes(length);
    for (const pieceBytes of [999, PAYLOAD_BLOCK_BYTES, PAYLOAD_BLOCK_BYTES + 1, 3 * PAYLOAD_BLOCK_BYTES]) {
      const blocks = checksumsOf(bytes, pieceBytes);
      strictEqual(blocks.checksum, crc32c(bytes), `${length} bytes by ${pieceBytes}`);
      strictEqual(blocks.bytes, length);
      for (let index = 0; index * PAYLOAD_BLOCK_BYTES < length; index++) {
        const block = bytes.subarray(index * PAYLOAD_BLOCK_BYTES, (index + 1) * PAYLOAD_BLOCK_BYTES);
        strictEqual(blocks.of(index), crc32c(block));
      }
    }
  }
  strictEqual(new BlockChecksums().checksum, 0);
});

Deno.test("StoredPayload of what was just written proves each block, and names the damaged one", () => {
  const bytes = randomBytes(2 * PAYLOAD_BLOCK_BYTES + 100);
  const { file, payload } = stored(bytes, checksumsOf(bytes, 1000));
  strictEqual(payload.isProven, true);
  strictEqual(payload.checksum, crc32c(bytes));
  equal(payload.read(0, bytes.length + 1), bytes);
  equal(payload.read(2 * PAYLOAD_BLOCK_BYTES, PAYLOAD_BLOCK_BYTES), bytes.subarray(2 * PAYLOAD_BLOCK_BYTES));
  file[HEAD + PAYLOAD_BLOCK_BYTES + 7] = (file[HEAD + PAYLOAD_BLOCK_BYTES + 7] as number) ^ 1;
  equal(payload.read(0, PAYLOAD_BLOCK_BYTES), bytes.subarray(0, PAYLOAD_BLOCK_BYTES));
  throws(() => payload.read(PAYLOAD_BLOCK_BYTES, PAYLOAD_BLOCK_BYTES), {
    message: `file "log/1.log" is damaged at byte offset ${HEAD + PAYLOAD_BLOCK_BYTES}: ` +
      "the record of op 4 does not verify",
  });
});

Deno.test("StoredPayload that nothing is known of is proven by the name of its entry once all was read in order", () => {
  const bytes = randomBytes(3 * PAYLOAD_BLOCK_BYTES - 9);
  const { file, payload } = stored(bytes);
  strictEqual(payload.isProven, false);
  // A part of a block says nothing of the whole, nor does one that others come before.
  equal(payload.read(0, 10), bytes.subarray(0, 10));
  equal(payload.read(0, PAYLOAD_BLOCK_BYTES), bytes.subarray(0, PAYLOAD_BLOCK_BYTES));
  equal(payload.read(PAYLOAD_BLOCK_BYTES, 10), bytes.subarray(PAYLOAD_BLOCK_BYTES, PAYLOAD_BLOCK_BYTES + 10));
  strictEqual([...payload.prove()].length > 0, true);
  strictEqual(payload.isProven, true);
  strictEqual(payload.checksum, crc32c(bytes));

  const other = stored(bytes);
  other.file[HEAD + 5] = (other.file[HEAD + 5] as number) ^ 1;
  for (let times = 0; times < 2; times++) {
    throws(() => [...other.payload.prove()], isDamage);
    strictEqual(other.payload.isProven, false, "it is not taken for what it is");
  }
  other.file[HEAD + 5] = (other.file[HEAD + 5] as number) ^ 1;
  equal([...other.payload.prove()].length, 3);
  strictEqual(other.payload.isProven, true);
  strictEqual(new Set(other.targets.slice(-3)).size, 1, "all are read into one array");

  const short = new StoredPayload(
    {
      op: 4,
      path: "log/1.log",
      position: HEAD,
      bytes: bytes.length,
      digests: { previousDigest: 9n, digest: 1n },
    },
    (position, target) => Math.min(target.length, file.length - 1000 - position),
  );
  throws(() => [...short.prove()], isDamage);
});
