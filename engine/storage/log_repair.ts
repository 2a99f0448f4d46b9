/** Writes the entries of a damaged range of a member's log in their places again. */
import { assert } from "../base/assert.ts";
import { crc32c } from "../base/checksum.ts";
import type { Disk } from "../host/disk.ts";
import { HistoryDigest } from "../operations/history_digest.ts";
import { detachedHead, logDamage, MEMBER_FORMAT } from "./log_file.ts";
import type { LogFileEntry } from "./log_files.ts";
import type { StoredEntry } from "./log_history.ts";
import { sealOf } from "./log_recovery.ts";
import type { DamagedRange } from "./log_scan.ts";

/**
 * Writes them, durably, and answers the offset of the seal that went behind them, or null. Raises XX001 if they do
 * not fill the place.
 */
export function rewriteRange(
  disk: Disk,
  entry: LogFileEntry,
  range: DamagedRange,
  entries: readonly StoredEntry[],
): number | null {
  const { firstOp, path } = entry;
  const { headBytes } = MEMBER_FORMAT;
  const end = entries.reduce((sum, { payload }) => sum + headBytes + payload.length, range.start);
  // A seal may have been among them.
  const seal = range.end !== null && range.end - end === headBytes ? end : null;
  if (range.end !== null && range.end !== end && seal === null) {
    throw logDamage(path, range.start, `ops ${range.from} to ${range.to} do not fit their place`);
  }
  const file = disk.openFile(path, { create: false, write: true });
  try {
    let position = range.start;
    let digest = 0n;
    for (const { op, payload, view, previousDigest, ...entry } of entries) {
      const head = detachedHead(MEMBER_FORMAT, {
        op,
        durableOp: range.from - 1,
        payloadBytes: payload.length,
        checksum: crc32c(payload),
        firstOp,
        position,
        view,
        digest: new HistoryDigest(previousDigest),
      });
      file.writeAt(position, head);
      file.writeAt(position + headBytes, payload);
      position += headBytes + payload.length;
      ({ digest } = entry);
    }
    assert(position === end, "all entries are written");
    if (seal !== null) file.writeAt(seal, sealOf(range.to, { firstOp, position: seal, digest }));
    // What is behind them was never whole again.
    if (range.end === null) file.truncate(end);
    file.syncDataNow();
  } finally {
    file.close();
  }
  if (seal !== null) entry.seals = [...entry.seals, seal];
  if (range.end === null) entry.bytes = end;
  return seal;
}
