/** Who gets entries at once, and how that changes. */
import { deepStrictEqual as equal, ok, strictEqual } from "node:assert/strict";
import { EagerBackups } from "./eager_backups.ts";

/** The eager ones of a turn. */
function turn(eager: EagerBackups): number[] {
  eager.turn();
  return eager.order.filter((backup) => eager.isEager(backup));
}

Deno.test("EagerBackups has as many as a quorum needs, and tries all now and then", () => {
  const eager = new EagerBackups([0, 2, 3, 4], 2);
  const turns = Array.from({ length: 640 }, () => turn(eager).join());
  strictEqual(turns.filter((each) => each === "0,2").length, 630);
  strictEqual(turns.filter((each) => each === "0,2,3,4").length, 10);
});

Deno.test("EagerBackups puts a spare one that is quicker in the place of the slowest", () => {
  const eager = new EagerBackups([0, 2, 3, 4], 2);
  const acknowledged = new Map([[0, 7], [2, 5], [3, 7], [4, -1]]);
  const has = (backup: number) => acknowledged.get(backup) ?? -1;
  eager.acknowledged(0, 7, has);
  equal(turn(eager), [0, 2], "an eager one's word changes nothing");
  eager.acknowledged(3, 7, has);
  equal(turn(eager), [0, 3]);
  eager.acknowledged(2, 6, has);
  equal(turn(eager), [0, 3], "who is behind them stays a spare one");
  equal(eager.order.toSorted(), [0, 2, 3, 4]);
});

Deno.test("EagerBackups sends to all once when entries are late, and longer when this member's sync is", () => {
  const eager = new EagerBackups([1, 2], 1);
  turn(eager);
  eager.late(false);
  ok(eager.isEager(2), "in the turn that found out");
  equal(turn(eager), [1]);
  eager.late(true);
  eager.late(false);
  const turns = Array.from({ length: 100 }, () => turn(eager).length);
  strictEqual(turns.findIndex((count) => count === 1), 63, `${turns}`);
});
