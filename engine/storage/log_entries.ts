/** Reads the entries of a log in order, file after file. */
import type { Disk } from "../host/disk.ts";
import { opNumber } from "../operations/effect.ts";
import type { LoggedEntry } from "./log_entry.ts";
import { LogFileReader, type LogRecord } from "./log_file_reader.ts";
import type { LogFileEntry } from "./log_files.ts";

/** Where the entries are. */
export interface EntriesPlace {
  readonly files: readonly LogFileEntry[];
  /** The last op of the log, which may grow meanwhile. */
  lastOp(): number;
  /** Where in which file a record is that one may begin with. */
  readonly start: { readonly firstOp: number; readonly op: number; readonly position: number };
}

/** The kept entries after an op, in order; files must not be dropped meanwhile. Raises XX001 for a damaged one. */
export function* readEntries(disk: Disk, after: number, place: EntriesPlace): Generator<LoggedEntry> {
  const { files, start } = place;
  for (const [index, { firstOp, path, format }] of files.entries()) {
    const next = files[index + 1];
    if (next !== undefined && next.firstOp <= after + 1) continue;
    const file = disk.openFile(path, { create: false, write: false });
    try {
      const reader = new LogFileReader(file, firstOp, format);
      const lastOp = next === undefined ? place.lastOp() : next.firstOp - 1;
      const skips = firstOp === start.firstOp && after + 1 >= start.op && start.op > firstOp;
      let position = skips ? start.position : format.recordsStart;
      let op = skips ? start.op : firstOp;
      while (op <= lastOp) {
        const record = reader.recordAt(position);
        const isSeal = record !== undefined && record.payloadBytes === 0;
        if (record === undefined || record.op !== (isSeal ? op - 1 : op)) {
          throw reader.damage(position, `the record of op ${op} does not verify`);
        }
        position = record.end;
        if (isSeal) continue;
        if (op > after) yield entryOf(record);
        op++;
      }
    } finally {
      file.close();
    }
  }
}

function entryOf(record: LogRecord): LoggedEntry {
  const { stored } = record, op = opNumber(record.op);
  if (stored === null) return { op, payload: record.payload, stored };
  return {
    op,
    stored,
    get payload() {
      return record.payload;
    },
  };
}
