// What commits have changed of late: how long it is remembered, and that nothing is taken for unchanged that is not.
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { Catalog } from "../catalog/catalog.ts";
import type { Effect } from "../operations/effect.ts";
import { CommittedChanges } from "./committed_changes.ts";

const EMPTY = Catalog.initial();

function note(changes: CommittedChanges, op: number, ...ids: (number | bigint)[]): void {
  const effects = ids.map((id): Effect => ({ kind: "update", tableId: 7, id, values: [] }));
  changes.note({ op, effects, before: EMPTY, after: EMPTY });
}

Deno.test("CommittedChanges.hasChanged() knows rows by table, and by ids of any size", () => {
  const changes = new CommittedChanges();
  note(changes, 10, 1, -1, 2n ** 60n);
  const changed = (table: number, id: number | bigint, cut: number) => changes.hasChanged(table, id, cut);
  deepStrictEqual([changed(7, 1, 0), changed(7, -1, 0), changed(7, 2n ** 60n, 0)], [true, true, true]);
  deepStrictEqual([changed(7, 1, 1), changed(8, 1, 0), changed(7, 2, 0)], [false, false, false]);
  strictEqual(changes.lastOp(7), 10);
});

Deno.test("CommittedChanges.remembers() says no of a cut before what has been forgotten, and never too late", () => {
  const changes = new CommittedChanges();
  for (let commit = 1; commit <= 35_000; commit++) {
    note(changes, commit, commit);
    if (commit % 777 !== 0) continue;
    // Each row that has changed since a cut is known to have, if the cut is remembered.
    for (const age of [1, 500, 9_999, 12_000, 19_000, 25_000]) {
      const cut = commit - age;
      if (cut < 0 || !changes.remembers(cut)) continue;
      for (const row of [cut + 1, commit - 1, commit]) {
        strictEqual(changes.hasChanged(7, row, cut), row > cut, `row ${row} since ${cut} at ${commit}`);
      }
    }
    if (commit >= 10_000) strictEqual(changes.remembers(commit - 9_999), true);
  }
  strictEqual(changes.remembers(35_000 - 25_000), false);
});

Deno.test("CommittedChanges forgets all at a commit of very many rows", () => {
  const changes = new CommittedChanges();
  note(changes, 1, 1);
  note(changes, 2, ...Array.from({ length: 30_000 }, (_, id) => id));
  deepStrictEqual([changes.remembers(1), changes.remembers(2)], [false, true]);
  note(changes, 3, 5);
  deepStrictEqual([changes.hasChanged(7, 5, 2), changes.hasChanged(7, 6, 2)], [true, false]);
});
