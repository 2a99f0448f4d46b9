/**
 * `dbd verify [DATA_DIR]`: reads a whole database that no server runs on, and names what is wrong with it. `dbd
 * --verify-against DIR [DATA_DIR]`: says where two of them differ.
 */
import { DatabaseError } from "../../engine/base/errors.ts";
import type { Host } from "../../engine/host/host.ts";
import { compareDatabases } from "../../engine/storage/directory_comparison.ts";
import { type Verification, verifyDatabase } from "../../engine/storage/verification.ts";
import { requireFolders, shardCountOf } from "../../engine/sharding/open_sharded.ts";
import { StartError } from "./start_error.ts";

/** What the command needs of the world. */
export interface VerifyWorld {
  readonly host: Host;
  /** Writes one line of the report. */
  print(line: string): void;
}

/** Prints the report; returns the exit code. Raises {@link StartError} for damage and for what cannot be opened. */
export async function verify(directory: string, { host, print }: VerifyWorld): Promise<number> {
  const found = await named(directory, () => verifyDatabase(host, directory, shardsOf(host, directory)));
  for (const line of reportLines(directory, found)) print(line);
  return found.wrongValues.length === 0 ? 0 : 1;
}

/**
 * Compares two databases; returns the exit code: 0 when nothing differs. Raises {@link StartError} for damage and for
 * what cannot be opened.
 */
export async function verifyAgainst(
  directory: string,
  other: string,
  { host, print }: VerifyWorld,
): Promise<number> {
  const { differences, notes } = await named(directory, () => compareDatabases(host, directory, other));
  for (const line of notes) print(`compared: ${line}`);
  for (const line of differences) print(`different: ${line}`);
  if (differences.length === 0) print(`"${directory}" and "${other}" are equal as far as both go`);
  return differences.length === 0 ? 0 : 1;
}

/** How many shards it is to have. Raises XX001 when its folders are not those of so many. */
function shardsOf(host: Host, directory: string): number {
  const count = shardCountOf({ host, directory, shardCount: null });
  requireFolders(host, directory, count);
  return count;
}

async function named<T>(directory: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    throw new StartError(`Cannot verify "${directory}": ${error.message}`);
  }
}

function reportLines(directory: string, found: Verification): string[] {
  const { tables, wrongValues } = found;
  const lines = tables.map(({ name, rows, segments, fileBytes, part }) =>
    `table "${name}"${part === null ? "" : ` at shard ${part}`}: ${counted(rows, "row")} in ${
      counted(segments, "segment")
    }, ${counted(fileBytes, "byte")}`
  );
  lines.push(
    `log: ${counted(found.entries, "entry", "entries")} after the checkpoint of op ${found.checkpointOp}`,
  );
  for (const { table, column, type, rowId, value, op } of wrongValues) {
    const where = op === null ? "" : ` (written by op ${op})`;
    lines.push(
      `wrong value: ${table}, column "${column}", row ${rowId}: ${value} is not of type ${type}${where}`,
    );
  }
  if (wrongValues.length === 0) {
    lines.push(
      `"${directory}" is whole: every byte is as it was written, every value one of its column's type`,
    );
  } else {
    lines.push(
      `${
        counted(wrongValues.length, "wrong value")
      } in "${directory}": the bytes are as they were written, but an older build ` +
        "wrote values out of range (see CHANGELOG.md); start the server and UPDATE or DELETE these rows",
    );
  }
  return lines;
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
