/** Writes the entries of a damaged range of a member's log in their places again. */
import { assert } from "../base/assert.ts";
import { crc32c } from "../base/checksum.ts";
import type { Disk } from "../host/disk.ts";
import { HistoryDigest } from "../operations/history_digest.ts";
import { detachedHead, logDamage, MEMBER_FORMAT } from "./log_file.ts";
import type { LogFileEntry } from "./log_files.ts";
import type { StoredEntry } from "./log_history.ts";
import { sealOf } from "./log_recovery.ts";
import { type DamagedRange, sealPlaces } from "./log_scan.ts";

/**
 * Writes them, durably, and answers the offsets of the seals that went behind them. Raises XX001 if they do
 * not fill the place. If that fails they are damaged as before: what a failed sync has covered can be read, and is not
 * on the disk, and the next process must not take it for whole.
 */
export function rewriteRange(
  disk: Disk,
  entry: LogFileEntry,
  range: DamagedRange,
  entries: readonly StoredEntry[],
): readonly number[] {
  const { firstOp, path } = entry;
  const { headBytes } = MEMBER_FORMAT;
  const end = entries.reduce((sum, { payload }) => sum + headBytes + payload.length, range.start);
  // Seals may have been among them.
  const seals = range.end === null ? [] : sealPlaces(end, range.end);
  if (seals === null) {
    throw logDamage(path, range.start, `ops ${range.from} to ${range.to} do not fit their place`);
  }
  const file = disk.openFile(path, { create: false, write: true });
  const places: number[] = [];
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
      places.push(position);
      file.writeAt(position, head);
      file.writeAt(position + headBytes, payload);
      position += headBytes + payload.length;
      ({ digest } = entry);
    }
    assert(position === end, "all entries are written");
    for (const seal of seals) file.writeAt(seal, sealOf(range.to, { firstOp, position: seal, digest }));
    file.syncDataNow();
  } catch (error) {
    for (const place of places) file.writeAt(place, new Uint8Array(headBytes));
    throw error;
  } finally {
    file.close();
  }
  entry.seals = [...entry.seals, ...seals];
  if (range.end === null) entry.bytes = end;
  return seals;
}
