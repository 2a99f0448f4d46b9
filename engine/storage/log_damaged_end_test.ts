/** A member's log whose end cannot be read: it is cut there, or makes place for other entries. */
import { deepStrictEqual as equal, ok, strictEqual, throws } from "node:assert/strict";
import { SeededRandom } from "../base/random.ts";
import { Log } from "./log.ts";
import type { StoredEntry } from "./log_history.ts";
import { compare, filled, MEMBER, payloadOf, repairAll } from "./member_log_model_for_test.ts";

Deno.test("Log.forgetEnd() makes place for another entry at a damaged end, and stores what was given before it", async () => {
  const random = new SeededRandom(11);
  let others = 0;
  for (let round = 0; round < 40; round++) {
    const { host, log, model } = await filled(40);
    await host.settle(log.close());
    const from = random.between(33, 40);
    for (const name of host.disk.list("log")) {
      const path = `log/${name}`;
      const text = host.disk.contentOf(path).toHex();
      for (let op = from; op <= 40; op++) {
        const at = text.indexOf(model.entries[op - 1]?.payload.subarray(0, 16).toHex() ?? "") / 2;
        if (at >= 0) host.disk.flipBit(path, at, 0);
      }
    }
    const again = Log.open(host, "log", { op: 0 }, MEMBER);
    model.entries.length = 39;
    const other = model.add(9, payloadOf(77, random.between(20, 900)));
    const given = Array.from({ length: 40 - from }, (_, index) => from + index);
    if (random.below(2) === 0) given.reverse();
    for (const op of given) {
      if (again.damaged.every((range) => op < range.from || op > range.to)) continue;
      const { payload, view, previousDigest } = model.entries[op - 1] as StoredEntry;
      again.repair(op, payload, view, previousDigest);
    }
    if (!again.endsOtherwise(40, other.digest)) continue;
    others++;
    again.forgetEnd();
    again.appendAs(40, other.payload, 9);
    await host.settle(again.whenDurable(40));
    equal(compare(again, model), []);
    host.crash();
    const last = Log.open(host, "log", { op: 0 }, MEMBER);
    equal(compare(last, model), []);
    last.verify();
  }
  ok(others > 10, `${others} logs ended otherwise`);
});

Deno.test("Log.truncateAfter() into damage leaves it known as damage, also after a crash", async () => {
  const random = new SeededRandom(8);
  let cut = 0;
  for (let round = 0; round < 25; round++) {
    const { host, log, model } = await filled(40);
    await host.settle(log.close());
    const from = random.between(5, 30);
    for (const name of host.disk.list("log")) {
      const path = `log/${name}`;
      const text = host.disk.contentOf(path).toHex();
      for (let op = from; op < from + 4; op++) {
        const at = text.indexOf(model.entries[op - 1]?.payload.subarray(0, 16).toHex() ?? "") / 2;
        if (at >= 0) host.disk.flipBit(path, at, 0);
      }
    }
    const damaged = Log.open(host, "log", { op: 0 }, MEMBER);
    equal(compare(damaged, model), [from, from + 1, from + 2, from + 3]);
    const left = from + random.between(-1, 4);
    damaged.truncateAfter(left);
    model.entries.length = left;
    const expected = [from, from + 1, from + 2, from + 3].filter((op) => op <= left);
    equal(compare(damaged, model), expected);
    if (damaged.digest !== null && random.below(2) === 0) {
      damaged.appendAs(left + 1, model.add(4, payloadOf(left, 90)).payload, 4);
      equal(compare(damaged, model), expected);
      damaged.syncNow();
    }
    host.crash();
    const again = Log.open(host, "log", { op: 0 }, MEMBER);
    equal(compare(again, model), expected, `cut after ${left} of damage from ${from}`);
    const end = model.lastOp + 1;
    if (again.digest === null) throws(() => again.append(end, payloadOf(1, 9)), /cannot be read/);
    cut += expected.length;
    repairAll(again, model, random);
    again.appendAs(end, model.add(11, payloadOf(left, 90)).payload, 11);
    equal(compare(again, model), []);
    strictEqual(again.appendedBytes, model.bytesAfter(0));
    again.verify();
    await host.settle(again.close());
    equal(compare(Log.open(host, "log", { op: 0 }, MEMBER), model), []);
  }
  ok(cut > 15, `${cut}`);
});
