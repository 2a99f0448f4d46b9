/** Messages as bytes: each kind there and back, damage of every byte, and the worked example of the page. */
import { deepStrictEqual, ok, strictEqual, throws } from "node:assert/strict";
import { crc32c } from "../../base/checksum.ts";
import { DatabaseError } from "../../base/errors.ts";
import type { EntryHeader } from "../protocol/entry_header.ts";
import type { PeerMessage } from "../protocol/message.ts";
import { decodeMessage, encodeMessage, FRAME_LENGTH_BYTES } from "./message_codec.ts";

const sent = { from: 2, view: 7 };
const HASH = "0a".repeat(32);
const whole: EntryHeader = { op: 300, view: 6, digest: 0xfedc_ba98_7654_3210n, previousDigest: 1n };
const named: EntryHeader = { op: 301, view: null, digest: 2n, previousDigest: null };
const entry = { header: whole, payload: Uint8Array.of(1, 2, 3) };
const summed = { bytes: new Uint8Array([1, 2]), checksum: crc32c(new Uint8Array([1, 2])) };
const large = { header: whole, payload: new Uint8Array(0), largeBytes: 2 ** 29 };

const MESSAGES: readonly PeerMessage[] = [
  {
    kind: "prepare",
    ...sent,
    previousOp: 299,
    previousDigest: 1n,
    commit: 298,
    stamp: 9,
    clock: 2 ** 41,
    entries: [entry, entry],
  },
  { kind: "prepare_ok", ...sent, op: 300, stamp: 9 },
  { kind: "commit", ...sent, op: 2 ** 40, digest: 5n, commit: 0, stamp: 0, clock: 1.7e12, checkpoint: null },
  {
    kind: "commit",
    ...sent,
    op: 1,
    digest: 5n,
    commit: 0,
    stamp: 0,
    clock: 0,
    checkpoint: { op: 2 ** 40, history: "0123456789abcdef", id: HASH },
  },
  { kind: "start_view_change", ...sent, reachedView: 6 },
  {
    kind: "do_view_change",
    ...sent,
    round: 2 ** 32,
    logView: 5,
    commit: 299,
    commitDigest: 1n,
    slots: [
      { kind: "present", header: whole },
      { kind: "missing", header: named, isLost: true },
      { kind: "missing", header: named, isLost: false },
      { kind: "unreadable" },
      { kind: "absent" },
    ],
  },
  { kind: "do_view_change", ...sent, round: 0, logView: 0, commit: 0, commitDigest: null, slots: [] },
  { kind: "start_view", ...sent, commit: 300, previousOp: 299, previousDigest: 1n, headers: [whole, named] },
  { kind: "request_start_view", ...sent, commit: 12 },
  { kind: "request_prepare", ...sent, wanted: [{ op: 301, header: named }, { op: 302, header: null }] },
  { kind: "repair_entries", ...sent, entries: [{ entry, isCommitted: true }, { entry, isCommitted: false }] },
  { kind: "hand_over", ...sent, releasedView: 6 },
  { kind: "request_vote", ...sent, round: 77 },
  { kind: "checkpoint", ...sent, oldestOp: 200, op: 300, digest: 5n },
  { kind: "repair_entries", ...sent, entries: [{ entry: large, isCommitted: true }] },
  { kind: "request_entry", ...sent, op: 300, digest: 7n, offset: 2 ** 29 },
  { kind: "entry_piece", ...sent, op: 300, digest: 7n, offset: 0, ...summed },
  { kind: "request_checkpoint", ...sent, op: 300 },
  { kind: "checkpoint_files", ...sent, op: 300, manifest: new Uint8Array([1, 2]) },
  { kind: "request_file", ...sent, name: "tables/1.seg", hash: HASH, offset: 2 ** 33 },
  { kind: "file_piece", ...sent, name: "tables/1.seg", hash: HASH, offset: 0, bytes: new Uint8Array([9]) },
  { kind: "recovery", ...sent, nonce: 2 ** 32 - 1 },
  { kind: "recovery_response", ...sent, nonce: 1, op: 0 },
  { kind: "recovery_response", ...sent, nonce: 1, op: null },
];

for (const message of MESSAGES) {
  Deno.test(`encodeMessage() writes what decodeMessage() reads: ${message.kind}`, () => {
    const bytes = encodeMessage(3, message);
    const frame = bytes.subarray(FRAME_LENGTH_BYTES);
    strictEqual(new DataView(bytes.buffer).getUint32(0, true), frame.length);
    deepStrictEqual(decodeMessage(frame), { group: 3, message });
    for (let at = 0; at < frame.length; at++) {
      const damaged = frame.slice();
      damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8));
      if (message.kind === "file_piece") deepStrictEqual(kindOfDamaged(damaged), "file_piece", `byte ${at}`);
      else throws(() => decodeMessage(damaged), DatabaseError);
      throws(() => decodeMessage(frame.subarray(0, at)), DatabaseError);
    }
  });
}

/** What a piece of a file reads as that is damaged: its file's hash finds that out. Others are refused. */
function kindOfDamaged(frame: Uint8Array): PeerMessage["kind"] {
  try {
    return decodeMessage(frame).message.kind;
  } catch (error) {
    ok(error instanceof DatabaseError, String(error));
    return "file_piece";
  }
}

Deno.test("docs/replication.md shows the bytes of a message", async () => {
  const page = await Deno.readTextFile(new URL("../../../docs/replication.md", import.meta.url));
  const example = /```\n((?:[0-9a-f]{2} .*\n)+)```/.exec(page)?.[1];
  ok(example !== undefined, "the page has an example");
  const hex = example.split("\n").flatMap((line) =>
    /^((?:[0-9a-f]{2} )+)/.exec(line)?.[1]?.trim().split(" ") ?? []
  );
  const bytes = Uint8Array.from(hex, (byte) => parseInt(byte, 16));
  deepStrictEqual(decodeMessage(bytes.subarray(FRAME_LENGTH_BYTES)), {
    group: 0,
    message: { kind: "prepare_ok", from: 2, view: 7, op: 300, stamp: 9 },
  });
});
