// Messages through rings that they do not fit into.
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { ByteRing } from "../host/byte_ring.ts";
import { Doorbell } from "../host/doorbell.ts";
import { RingChannel } from "./ring_channel.ts";

/** Two ends in this thread; `deliver` lets both work until nothing is on its way. */
function channel(bytes: number, onMessage: (message: unknown) => void) {
  const [there, back] = [ByteRing.memory(bytes), ByteRing.memory(bytes)];
  const [bell, otherBell] = [new Doorbell(), new Doorbell()];
  const near = new RingChannel<unknown, unknown>({ writes: there, reads: back, bell, otherBell, onMessage });
  const far = new RingChannel<unknown, unknown>({
    writes: back,
    reads: there,
    bell: otherBell,
    otherBell: bell,
    onMessage: (message) => far.send(message),
  });
  const deliver = (): void => {
    for (const each of [near, far]) each.work();
  };
  const close = (): void => {
    for (const each of [near, far]) each.close();
  };
  return { near, far, deliver, close };
}

Deno.test("RingChannel carries messages of all sizes in order, larger ones in pieces", () => {
  const came: unknown[] = [];
  const { near, far, deliver, close } = channel(1 << 10, (message) => came.push(message));
  const messages = [1, 0, 1000, 1020, 1024, 5000, 3, 70_000, 200_000, 2].map((length, index) => ({
    index,
    bytes: new Uint8Array(length).fill(index),
  }));
  for (const message of messages) near.send(message);
  for (let turn = 0; turn < 2_000 && came.length < messages.length; turn++) deliver();
  deepStrictEqual(came, messages);
  strictEqual(near.drained() ?? far.drained(), null);
  close();
});

Deno.test("RingChannel.send() takes a message as it is, though it has to wait", () => {
  const came: unknown[] = [];
  const { near, deliver, close } = channel(1 << 6, (message) => came.push(message));
  const bytes = new Uint8Array(500).fill(1);
  near.send(bytes);
  bytes.fill(2);
  while (came.length === 0) deliver();
  deepStrictEqual(came, [new Uint8Array(500).fill(1)]);
  close();
});

Deno.test("RingChannel.drained() resolves when the reader has made room for all", async () => {
  const came: unknown[] = [];
  const { near, deliver, close } = channel(1 << 6, (message) => came.push(message));
  near.send(1);
  strictEqual(near.drained(), null);
  near.send("x".repeat(300));
  near.send(2);
  const drained = near.drained();
  ok(drained !== null);
  let isDrained = false;
  void drained.then(() => isDrained = true);
  await Promise.resolve();
  strictEqual(isDrained, false);
  while (near.drained() !== null) deliver();
  await drained;
  while (came.length < 3) deliver();
  deepStrictEqual(came, [1, "x".repeat(300), 2]);
  close();
});
