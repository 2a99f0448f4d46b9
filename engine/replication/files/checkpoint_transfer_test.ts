/** A checkpoint goes from one directory to another: pieces that are lost or damaged, and a crash at every point. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { type Disk, joinPath, readWholeFile, writeWholeFile } from "../../host/disk.ts";
import { MemoryDisk, memoryHost } from "../../host/memory_host.ts";
import { decodeManifest, readManifest } from "../../storage/manifest.ts";
import { openLoneMember } from "../../../tests/support/lone_member.ts";
import { CheckpointDonor, type CheckpointOffer } from "./checkpoint_donor.ts";
import { CheckpointTransfer, installTransfer } from "./checkpoint_transfer.ts";
import { runSql } from "../../../tests/support/run_sql.ts";

const QUERY = "SELECT count(*), sum(a), max(b) FROM t UNION ALL SELECT count(*), sum(a), max(b) FROM u";

/** Two directories with a common beginning; `a` has gone on. Answers what `a` says. */
async function twoDirectories(disk: MemoryDisk, count = 20_000): Promise<unknown[][]> {
  let answer: unknown[][] = [];
  for (const directory of ["a", "b"]) {
    const engine = await openLoneMember(disk, directory);
    const session = engine.openSession();
    await runSql(session, "CREATE TABLE t (a int PRIMARY KEY, b text)");
    await runSql(session, "CREATE TABLE u (a int PRIMARY KEY, b text)");
    await runSql(session, `INSERT INTO t SELECT n, 'row ' || n FROM generate_series(1, ${count}) n`);
    await engine.checkpoint();
    if (directory === "a") {
      await runSql(session, `INSERT INTO u SELECT n, 'row ' || n FROM generate_series(1, ${count - 10}) n`);
      await engine.checkpoint();
      answer = await runSql(session, QUERY);
    }
    session.close();
    await engine.close();
  }
  return answer;
}

/** Transfers from `a` to `b`; `spoil` changes pieces, or answers null for those that get lost. */
async function transfer(
  disk: Disk,
  spoil: (bytes: Uint8Array, count: number) => Uint8Array | null = (bytes) => bytes,
): Promise<{ isComplete: boolean; requests: number; names: Set<string>; offer: CheckpointOffer }> {
  const host = { ...memoryHost(), disk };
  const donor = new CheckpointDonor(host, "a");
  const offer = donor.offer(readManifest(disk, "a").manifest, 1);
  ok(offer !== null);
  let requests = 0;
  const names = new Set<string>();
  const fetching = new CheckpointTransfer({
    host,
    directory: "b",
    offer,
    request: ({ name, hash }, offset) => {
      const piece = donor.read({ name, hash }, offset, null);
      ok(piece !== null);
      names.add(name);
      const bytes = spoil(piece, ++requests);
      if (bytes !== null) setTimeout(() => fetching.onPiece(name, hash, offset, bytes), 0);
    },
  });
  const ticks = setInterval(() => fetching.onTick(), 100);
  const isComplete = await fetching.run();
  clearInterval(ticks);
  strictEqual(fetching.progress.bytes, fetching.progress.totalBytes);
  donor.close();
  await host.timers.close();
  return { isComplete, requests, names, offer };
}

async function answerOf(disk: Disk, directory: string): Promise<unknown[][]> {
  const engine = await openLoneMember(disk, directory);
  const session = engine.openSession();
  const answer = await runSql(session, QUERY);
  session.close();
  await engine.close();
  return answer;
}

Deno.test("a checkpoint is fetched whole, though pieces are lost or damaged", async () => {
  const disk = new MemoryDisk();
  const expected = await twoDirectories(disk);
  const { isComplete, requests } = await transfer(disk, (bytes, count) => {
    if (count === 1) return null;
    if (count === 2) bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    return bytes;
  });
  ok(isComplete && requests > 3, `${requests} requests`);
  strictEqual(installTransfer(disk, "b"), true);
  deepStrictEqual(await answerOf(disk, "b"), expected);
  strictEqual(installTransfer(disk, "b"), false);
});

Deno.test("files that are there already are not fetched", async () => {
  const disk = new MemoryDisk();
  await twoDirectories(disk);
  const { names, offer } = await transfer(disk);
  deepStrictEqual([decodeManifest(offer.manifest, 0, "").group?.files.length, names.size], [3, 2]);
});

/** A disk that refuses everything that changes it after so many changes. */
function failingAfter(disk: Disk, changes: number): Disk {
  let left = changes;
  const count = () => {
    if (left-- <= 0) throw new Error("the power is gone");
  };
  return new Proxy(disk, {
    get(target, name) {
      const member = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      const isChange = ["rename", "remove", "link", "syncDirectory", "createDirectory"].includes(
        String(name),
      );
      return (...parameters: unknown[]) => {
        const [, options] = parameters as [unknown, { write?: boolean }?];
        if (isChange || (name === "openFile" && options?.write === true)) count();
        return Reflect.apply(member, target, parameters);
      };
    },
  });
}

function copyOf(disk: MemoryDisk): MemoryDisk {
  const copy = new MemoryDisk();
  const copyFolder = (folder: string): void => {
    copy.createDirectory(folder);
    for (const name of disk.list(folder)) {
      const path = joinPath(folder, name);
      if (disk.list(path).length > 0) copyFolder(path);
      else writeWholeFile(copy, path, readWholeFile(disk, path));
    }
  };
  copyFolder("b");
  return copy;
}

Deno.test("a transfer is carried through after a crash at any point of it", async () => {
  let crashes = 0;
  const whole = new MemoryDisk();
  const expected = await twoDirectories(whole, 100);
  await transfer(whole);
  for (let changes = 0;; changes++) {
    const disk = copyOf(whole);
    try {
      installTransfer(failingAfter(disk, changes), "b");
    } catch {
      crashes++;
      installTransfer(disk, "b");
      deepStrictEqual(await answerOf(disk, "b"), expected);
      continue;
    }
    break;
  }
  ok(crashes > 8, `${crashes} crashes`);
});
