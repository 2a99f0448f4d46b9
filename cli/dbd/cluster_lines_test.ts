/** The lines of a log about the cluster. */
import { deepStrictEqual } from "node:assert/strict";
import { quickTimers } from "../../tests/support/quick_timers.ts";
import { ClusterLines } from "./cluster_lines.ts";

Deno.test("ClusterLines says each change once, and nothing of what is over within a second", async () => {
  using _ = quickTimers();
  const lines: string[] = [];
  const connected = [true, true, true];
  let primary: { index: number; view: number } | null = { index: 1, view: 4 };
  const said = new ClusterLines({
    index: 0,
    memberCount: 3,
    connected: (index) => connected[index] ?? false,
    primary: () => primary,
  }, (line) => lines.push(line));
  const gathered = async (milliseconds = 1100): Promise<string[]> => {
    said.changed();
    said.changed();
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    return lines.splice(0);
  };
  try {
    deepStrictEqual(await gathered(3100), [
      "member 1 is connected",
      "member 2 is connected",
      "member 1 is the primary, in view 4",
    ]);
    connected[1] = false;
    primary = null;
    said.changed();
    primary = { index: 0, view: 6 };
    deepStrictEqual(await gathered(), [
      "member 1 is not connected any more",
      "this member is the primary, in view 6",
    ]);
    deepStrictEqual(await gathered(), []);
    connected[2] = false;
    primary = null;
    deepStrictEqual(await gathered(), [
      "member 2 is not connected any more",
      "there is no primary: 1 of 3 members reach each other here, and 2 are needed",
    ]);
    connected[2] = true;
    deepStrictEqual(await gathered(), ["member 2 is connected", "there is no primary at the moment"]);
    said.changed();
  } finally {
    said.close();
  }
});
