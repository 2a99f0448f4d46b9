/** Locks: fairness, cycles, aborted waits. */
import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { DatabaseError } from "../base/errors.ts";
import { holdersFor, type Lock, LOCK_MODES, type LockKey, LockTable } from "./lock_table.ts";
import type { Transaction } from "./transaction.ts";

/** As much of a transaction as locks need. */
function fakeTransaction(): Transaction {
  const fake: { locks: LockKey[]; grants: number; waitsFor: Lock | null } = {
    locks: [],
    grants: 0,
    waitsFor: null,
  };
  return fake as unknown as Transaction;
}

const never = new AbortController().signal;

Deno.test("LockTable.acquire() gives a free lock and answers a held one", () => {
  const locks = new LockTable();
  const first = fakeTransaction(), second = fakeTransaction();
  strictEqual(locks.acquire(1, 10, first), undefined);
  strictEqual(locks.acquire(1, 10, first), undefined);
  const held = locks.acquire(1, 10, second);
  deepStrictEqual([...held?.owners.keys() ?? []], [first]);
  strictEqual(locks.acquire(2, 10, second), undefined);
  strictEqual(locks.count, 2);
});

Deno.test("LockTable.releaseAll() hands each lock to its longest waiter", async () => {
  const locks = new LockTable();
  const owner = fakeTransaction(), early = fakeTransaction(), late = fakeTransaction();
  locks.acquire(1, "key", owner);
  const lock = locks.acquire(1, "key", early);
  ok(lock);
  const order: string[] = [];
  const waits = [
    locks.wait(lock, early, never).then(() => order.push("early")),
    locks.wait(lock, late, never).then(() => order.push("late")),
  ];
  locks.releaseAll(owner);
  await waits[0];
  deepStrictEqual([...lock.owners.keys()], [early]);
  deepStrictEqual(order, ["early"]);
  locks.releaseAll(early);
  await waits[1];
  deepStrictEqual([...lock.owners.keys()], [late]);
  locks.releaseAll(late);
  strictEqual(locks.count, 0);
});

Deno.test("LockTable.wait() refuses the wait that would close a cycle", async () => {
  const locks = new LockTable();
  const first = fakeTransaction(), second = fakeTransaction(), third = fakeTransaction();
  locks.acquire(1, 1, first);
  locks.acquire(1, 2, second);
  locks.acquire(1, 3, third);
  const [one, two, three] = [1, 2, 3].map((key) => locks.heldByOther(1, key, fakeTransaction()));
  ok(one && two && three);
  const waiting = [locks.wait(two, first, never), locks.wait(three, second, never)];
  await rejects(
    locks.wait(one, third, never),
    (error) => error instanceof DatabaseError && error.code === "40P01",
  );
  strictEqual(third.waitsFor, null);
  locks.releaseAll(third);
  await waiting[1];
  locks.releaseAll(second);
  await waiting[0];
});

Deno.test("LockTable.wait() that is aborted leaves the queue", async () => {
  const locks = new LockTable();
  const owner = fakeTransaction(), waiter = fakeTransaction();
  locks.acquire(1, 1, owner);
  const lock = locks.heldByOther(1, 1, waiter);
  ok(lock);
  const abort = new AbortController();
  const waiting = locks.wait(lock, waiter, abort.signal);
  abort.abort(new Error("canceled"));
  await rejects(waiting, /canceled/);
  locks.releaseAll(owner);
  strictEqual(locks.count, 0);
});

Deno.test("LockTable.releaseAfter() keeps the locks taken before", () => {
  const locks = new LockTable();
  const owner = fakeTransaction(), other = fakeTransaction();
  locks.acquire(1, 1, owner);
  const mark = owner.locks.length;
  locks.acquire(1, 2, owner);
  locks.releaseAfter(owner, mark);
  ok(locks.heldByOther(1, 1, other));
  strictEqual(locks.heldByOther(1, 2, other), undefined);
});

Deno.test("LockTable holds more locks than a Map is good for, each until it is released", () => {
  const locks = new LockTable();
  const owner = fakeTransaction(), other = fakeTransaction();
  const count = 20_000;
  for (let key = 0; key < count; key++) strictEqual(locks.acquire(1, key * 3 - 500, owner), undefined);
  strictEqual(locks.count, count);
  ok(locks.heldByOther(1, -500, other)?.owners.has(owner));
  strictEqual(locks.heldByOther(1, -499, other), undefined);
  locks.releaseAfter(owner, count);
  strictEqual(locks.count, count / 2);
  for (let key = 0; key < count; key++) {
    const held = locks.heldByOther(1, key * 3 - 500, other);
    strictEqual(held?.owners.has(owner), key < count / 2 ? true : undefined);
  }
  ok(!locks.releaseSome(owner, 9_000));
  ok(locks.releaseSome(owner, 1_000));
  strictEqual(locks.count, 0);
});

Deno.test("LockTable lets those in together whose modes do not conflict, and others wait in their order", async () => {
  const locks = new LockTable();
  const { keyShare, share, noKeyUpdate, update } = LOCK_MODES;
  const modes = [keyShare, share, noKeyUpdate, update];
  const conflicting = modes.map((held) =>
    modes.filter((wanted) => {
      const own = fakeTransaction(), other = fakeTransaction();
      locks.acquire(1, 1, own, held);
      const lock = locks.acquire(1, 1, other, wanted);
      for (const each of [own, other]) locks.releaseAll(each);
      return lock !== undefined;
    }).length
  );
  deepStrictEqual(conflicting, [1, 2, 3, 4]);
  const [a, b, writer, late] = [1, 2, 3, 4].map(fakeTransaction) as [
    Transaction,
    Transaction,
    Transaction,
    Transaction,
  ];
  locks.acquire(2, 7, a, keyShare);
  locks.acquire(2, 7, b, keyShare);
  const lock = locks.acquire(2, 7, writer, update);
  ok(lock);
  const writing = locks.wait(lock, writer, never, update);
  // A shared lock that is free for it would let the writer starve.
  strictEqual(locks.acquire(2, 7, late, keyShare), lock);
  const reading = locks.wait(lock, late, never, keyShare);
  deepStrictEqual(holdersFor(late as never), [writer]);
  strictEqual(locks.acquire(2, 7, a, noKeyUpdate), undefined, "who has it passes those who have nothing yet");
  locks.releaseAll(a);
  locks.releaseAll(b);
  await writing;
  deepStrictEqual([...lock.owners], [[writer, update]]);
  locks.releaseAll(writer);
  await reading;
  locks.releaseAll(late);
});

Deno.test("LockTable: of two that share a lock and want more, the second is refused; one that gives up lets others in", async () => {
  const locks = new LockTable();
  const { share, update } = LOCK_MODES;
  const a = fakeTransaction(), b = fakeTransaction(), third = fakeTransaction(), reader = fakeTransaction();
  locks.acquire(1, 1, a, share);
  locks.acquire(1, 1, b, share);
  const lock = locks.acquire(1, 1, third, update);
  ok(lock);
  const abort = new AbortController();
  const thirdWaits = locks.wait(lock, third, abort.signal, update);
  const readerWaits = locks.wait(lock, reader, never, share);
  strictEqual(locks.acquire(1, 1, a, update), lock);
  const upgrade = locks.wait(lock, a, never, update);
  await rejects(
    locks.wait(lock, b, never, update),
    (error) => error instanceof DatabaseError && error.code === "40P01",
  );
  abort.abort(new Error("canceled"));
  await rejects(thirdWaits, /canceled/);
  locks.releaseAll(b);
  await upgrade;
  locks.releaseAll(a);
  await readerWaits;
  locks.releaseAll(reader);
  strictEqual(locks.count, 0);
});
