/** When a primary makes a version the active one, and what it tells the others. */
import { deepStrictEqual } from "node:assert/strict";
import { VersionWatch } from "./version_watch.ts";

/** A member with index 1 of three, that speaks the versions; the others speak at most what is given. */
function watched(versions: { oldest: number; newest: number }, spoken: Record<0 | 2, number | null>) {
  const lines: string[] = [], required: number[] = [];
  const peers = {
    versions,
    spokenVersion: (index: number) => spoken[index as 0 | 2],
    requireVersion: (version: number) => void required.push(version),
  };
  const engine = {
    /** Of the newest entry that is committed. */
    committed: 1,
    writtenVersion: 1,
    get clusterVersion() {
      return Math.max(versions.oldest, this.committed);
    },
    raiseClusterVersion(version: number) {
      this.writtenVersion = version;
    },
  };
  const watch = new VersionWatch(peers, { index: 1, memberCount: 3 }, (line) => lines.push(line));
  return { watch, engine, spoken, lines, required };
}

Deno.test("VersionWatch raises the version when all members are connected and speak it, and tells when it is committed", () => {
  const { watch, engine, spoken, lines, required } = watched({ oldest: 1, newest: 3 }, { 0: 3, 2: null });
  watch.look(engine, true);
  spoken[2] = 1;
  watch.look(engine, true);
  deepStrictEqual([engine.writtenVersion, required, lines], [1, [1], []]);
  spoken[2] = 2;
  watch.look(engine, false);
  deepStrictEqual(engine.writtenVersion, 1, "a backup raises nothing");
  watch.look(engine, true);
  deepStrictEqual([engine.writtenVersion, required], [2, [1]], "it may not come to be committed");
  engine.committed = 2;
  watch.look(engine, true);
  watch.look(engine, true);
  deepStrictEqual([required, lines], [[1, 2], ["version 2 of the cluster's protocol is active"]]);
  spoken[2] = 4;
  watch.look(engine, true);
  deepStrictEqual(engine.writtenVersion, 3);
});

Deno.test("VersionWatch writes the oldest version of a release, which the others may not take for granted", () => {
  const { watch, engine, required } = watched({ oldest: 2, newest: 2 }, { 0: 2, 2: 3 });
  watch.look(engine, true);
  deepStrictEqual([engine.writtenVersion, required], [2, [2]]);
});
