/** Edges between shards: turns, credits, and what must not wait for each other. */
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import type { GatheredBatch } from "../execution/runtime/execution.ts";
import { CREDITS, ExchangeEnds, type PeerMessage } from "./exchange_ends.ts";

function batchOf(value: number): GatheredBatch {
  return { rowCount: 1, columns: [[value]] };
}

Deno.test("batches are read in turns, and out of turn of who has used up its credits", () => {
  const sent: (readonly [to: number, message: PeerMessage])[] = [];
  const ends = new ExchangeEnds({ run: 1, count: 3, place: 0 }, (to, message) => sent.push([to, message]));
  const source = ends.source("e");
  const come = (from: number, value: number, isLast = false): void =>
    ends.receive({ run: 1, edge: "e", from, batch: batchOf(value), isLast });
  const read = (): unknown => {
    const batch = source();
    return batch === null || batch === undefined ? batch : batch.columns[0]?.[0];
  };
  // Nobody else is read while the first has nothing.
  for (let value = 1; value < CREDITS; value++) come(1, value);
  strictEqual(read(), null);
  come(1, CREDITS);
  strictEqual(read(), 1);
  deepStrictEqual(sent, [[1, { run: 1, edge: "e", from: 0, batch: null, isLast: false }]]);
  strictEqual(read(), null);
  come(0, 10);
  come(2, 20, true);
  deepStrictEqual([read(), read(), read(), read()], [10, 2, 20, null]);
  come(0, 11, true);
  come(1, 5, true);
  deepStrictEqual([read(), read(), read(), read(), read()], [11, 3, 4, 5, undefined]);
});

Deno.test("two shards that send to two, each to one of them only, do not wait for each other", () => {
  const places = [0, 1].map((place) =>
    new ExchangeEnds(
      { run: 1, count: 2, place },
      (to, message) => places[to]?.receive(message),
    )
  ) as ExchangeEnds[];
  const sources = places.map((ends) => ends.source("e"));
  const left = [20, 20];
  const got = [0, 0];
  for (let round = 0; round < 100; round++) {
    places.forEach((ends, place) => {
      // The place sends to the other one first, and to itself at the end.
      while ((left[place] ?? 0) > 0 && ends.send("e", 1 - place, batchOf(place), left[place] === 1)) {
        left[place] = (left[place] ?? 0) - 1;
      }
      if (left[place] === 0 && ends.send("e", place, { rowCount: 0, columns: [[]] }, true)) left[place] = -1;
      for (let batch = sources[place]?.(); batch; batch = sources[place]?.()) {
        got[place] = (got[place] ?? 0) + batch.rowCount;
      }
    });
  }
  deepStrictEqual(got, [20, 20]);
  deepStrictEqual(sources.map((source) => source()), [undefined, undefined]);
});
