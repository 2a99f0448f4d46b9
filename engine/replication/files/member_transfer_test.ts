/** Which checkpoint a member asks for, and is given. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { MemoryDisk, memoryHost } from "../../host/memory_host.ts";
import { type Manifest, proofOfCheckpoint, readManifest } from "../../storage/manifest.ts";
import { openLoneMember } from "../../../tests/support/lone_member.ts";
import { runSql } from "../../../tests/support/run_sql.ts";
import type { PeerMessage, TransferMessage } from "../protocol/message.ts";
import { MemberTransfer } from "./member_transfer.ts";

/** The life of a member that makes a checkpoint behind each of these rows. */
async function live(
  disk: MemoryDisk,
  directory: string,
  checkpoints: readonly number[],
  onCheckpoint: (manifest: Manifest) => void,
): Promise<void> {
  const engine = await openLoneMember(disk, directory);
  const session = engine.openSession();
  await runSql(session, "CREATE TABLE t (a int PRIMARY KEY)");
  for (let row = 1; row <= 5; row++) {
    await runSql(session, `INSERT INTO t VALUES (${row})`);
    if (!checkpoints.includes(row)) continue;
    await engine.checkpoint();
    const { manifest } = readManifest(disk, directory);
    ok(manifest !== null);
    onCheckpoint(manifest);
  }
  session.close();
  await engine.close();
}

Deno.test("a member with another history gets the primary's newest checkpoint, whichever the primary gives to others", async () => {
  const disk = new MemoryDisk();
  const host = { ...memoryHost(), disk };
  let manifest: Manifest | null = null;
  const transfers: MemberTransfer[] = [];
  const offers: number[] = [];
  const installed: number[] = [];
  const sendTo = (to: number, message: PeerMessage): void => {
    if (message.kind === "checkpoint_files") offers.push(message.op);
    if (to < 2) queueMicrotask(() => transfers[to]?.onMessage(message as TransferMessage));
  };
  const ended = Promise.withResolvers<void>();
  const open = (index: number, directory: string, own: () => Manifest | null) =>
    new MemberTransfer(host, directory, sendTo, {
      index,
      view: 0,
      get manifest() {
        return own();
      },
      // The log here begins behind the older checkpoint.
      continuesLog: ({ op }) => op >= newest.op,
      wantsCheckpoint: () => true,
      mayGoBackTo: () => true,
      replaceState: (_, replace) => Promise.resolve(replace()),
      onTransferred: ({ op }) => {
        installed.push(op);
        ended.resolve();
      },
      onDiskFull: (error) => ended.reject(error),
      onTransferFailed: () => ended.reject(new Error("it was not given")),
      onWrongFile: () => {},
      onTransferBroken: (error) => ended.reject(error),
      log: () => {},
    });
  transfers.push(open(0, "a", () => manifest));
  const primary = transfers[0] as MemberTransfer;
  await live(disk, "a", [2, 5], (made) => {
    // While the first checkpoint is the newest, a third member begins to fetch it.
    if (manifest === null) {
      manifest = made;
      primary.onMessage({ kind: "request_checkpoint", from: 2, view: 0, op: 0 });
    }
    manifest = made;
  });
  const newest = manifest as unknown as Manifest;
  let own: Manifest | null = null;
  await live(disk, "b", [1, 5], (made) => own = made);
  const backup = open(1, "b", () => own);
  transfers.push(backup);
  const proof = proofOfCheckpoint(newest);
  ok(proof !== null);
  backup.compare(proof, 0);
  await ended.promise;
  strictEqual(offers.at(-1), newest.op);
  deepStrictEqual(installed, [newest.op]);
  for (const each of transfers) each.close();
  await host.timers.close();
});
