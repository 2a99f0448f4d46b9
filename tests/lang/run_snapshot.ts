/** Programs that must run: a snapshot's `output` is what `main` prints. */
import { formatSnapshot, SnapshotFolder } from "./snapshot.ts";

/** The programs that must run. */
export const runCases: SnapshotFolder = new SnapshotFolder(new URL("./run/", import.meta.url));

/** The text of a program's snapshot, given its output. */
export function runSnapshot(program: string, output: string): string {
  return formatSnapshot({ program, expected: new Map([["output", output]]) });
}
