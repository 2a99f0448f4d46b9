/** The digest of a history: the values of earlier releases, which checkpoints hold, and chaining from any point. */
import { notStrictEqual, strictEqual } from "node:assert/strict";
import { digestAfter, EMPTY_HISTORY, HistoryDigest } from "./history_digest.ts";

Deno.test("HistoryDigest gives the digests of earlier releases", () => {
  const digest = new HistoryDigest();
  strictEqual(digest.hex, "01000193811c9dc5");
  strictEqual(digest.value, EMPTY_HISTORY);
  digest.mix(0xdeadbeef, 1);
  strictEqual(digest.hex, "cd419ce301e0150a");
  digest.mix(7, 2 ** 40 + 2);
  strictEqual(digest.hex, "8a49a399509fcb09");
});

Deno.test("HistoryDigest goes on from any digest, and names order and place of entries", () => {
  const whole = new HistoryDigest();
  let chained = EMPTY_HISTORY;
  for (let op = 1; op <= 100; op++) {
    const checksum = Math.imul(op, 0x9e3779b1) >>> 0;
    whole.mix(checksum, op);
    chained = digestAfter(chained, checksum, op);
    strictEqual(chained, whole.value);
    strictEqual(BigInt(`0x${whole.hex}`), chained);
    strictEqual(new HistoryDigest(chained).hex, whole.hex);
  }
  notStrictEqual(digestAfter(1n, 5, 1), digestAfter(1n, 5, 2));
  notStrictEqual(digestAfter(1n, 5, 1), digestAfter(2n, 5, 1));
});
