/** Files are fetched while this member does other work, and a disk without space ends that. */
import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { MemoryDisk, memoryHost } from "../../host/memory_host.ts";
import { Sha256 } from "../../host/sha256.ts";
import type { HashedFile } from "../../storage/file_hashes.ts";
import { FILE_PIECE_BYTES } from "./checkpoint_donor.ts";
import { FileFetch } from "./file_fetch.ts";

const BYTES = new Uint8Array(1000).fill(7);

function fileOf(name: string, bytes = BYTES): HashedFile {
  const hash = new Sha256();
  hash.update(bytes);
  return { name, size: bytes.length, hash: hash.digest() };
}

Deno.test("FileFetch gives a donor up that is silent, and none that was not asked yet", async () => {
  for (const answers of [true, false]) {
    let now = 0;
    const disk = new MemoryDisk();
    const fetch = new FileFetch({
      host: { ...memoryHost(), disk, clock: { now: () => now, wall: () => now, monotonic: () => now } },
      folder: "f",
      request: ({ name, hash }, offset) => {
        if (answers) queueMicrotask(() => fetch.onPiece(name, hash, offset, BYTES));
      },
    });
    const passTime = (): void => {
      for (let second = 0; second < 20; second++) {
        now += 1_000_000;
        fetch.onTick();
      }
    };
    // So long it takes this member to hash what it has.
    passTime();
    const isComplete = fetch.run([fileOf("a")]);
    if (!answers) passTime();
    strictEqual(await isComplete, answers);
  }
});

Deno.test("FileFetch does not forget a file that the disk has no space for", async () => {
  const disk = new MemoryDisk();
  const openFile = disk.openFile.bind(disk);
  disk.openFile = (path, options) => {
    if (path.endsWith("/b")) throw new DatabaseError(SQLSTATE.diskFull, "no space left");
    return openFile(path, options);
  };
  const bytes = new Uint8Array(9 * FILE_PIECE_BYTES).fill(7);
  const fetch = new FileFetch({
    host: { ...memoryHost(), disk },
    folder: "f",
    request: ({ name, hash }, offset) =>
      void Promise.resolve(bytes.slice(offset, offset + FILE_PIECE_BYTES))
        .then((piece) => fetch.onPiece(name, hash, offset, piece)).catch(() => {}),
  });
  // A piece of the first file makes room for the second, and the rest of the first comes all the same.
  await rejects(fetch.run([fileOf("a", bytes), fileOf("b", bytes)]), { code: SQLSTATE.diskFull });
});

Deno.test("FileFetch tells a donor that its file is another one, when it has come twice", async () => {
  const asked: number[] = [];
  const fetch = new FileFetch({
    host: { ...memoryHost(), disk: new MemoryDisk() },
    folder: "f",
    request: ({ name, hash }, offset) => {
      asked.push(offset);
      if (offset === 0) {
        queueMicrotask(() => fetch.onPiece(name, hash, offset, BYTES.map((byte) => byte ^ 1)));
      }
    },
  });
  strictEqual(await fetch.run([fileOf("a")]), false);
  deepStrictEqual(asked, [0, 0, BYTES.length]);
});
