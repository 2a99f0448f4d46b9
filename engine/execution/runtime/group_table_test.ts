/** Tables of groups: that they find their groups while they grow. */
import { ok, strictEqual } from "node:assert/strict";
import { GroupTable } from "./group_table.ts";
import { hashCode, hashMore, nearHash } from "./hashing.ts";

/** Finds or makes the group of a key, as generated code does. */
function groupOf(table: GroupTable, codes: readonly number[]): number {
  const [first = 0, second] = codes;
  let place = (second === undefined ? nearHash(first) : hashMore(hashCode(first), second)) & table.mask;
  for (;; place = (place + 1) & table.mask) {
    const group = table.table[place] ?? -1;
    if (group < 0) break;
    if (codes.every((code, key) => table.keys[key]?.[group] === code)) return group;
  }
  const group = table.insert(place);
  codes.forEach((code, key) => {
    const keys = table.keys[key];
    if (keys !== undefined) keys[group] = code;
  });
  table.link(group);
  return group;
}

Deno.test("A table of many groups grows a piece at a time, and finds all of them meanwhile", () => {
  for (const width of [1, 2]) {
    let charged = 0;
    const table = new GroupTable({ charge: (bytes: number) => charged += bytes }, width, ["float"]);
    const codesOf = (n: number) => width === 1 ? [Math.imul(n, 0x9e3779b1) >>> 0] : [n % 1000, n];
    const count = 230_000;
    for (let n = 0; n < count; n++) {
      strictEqual(groupOf(table, codesOf(n)), n);
      // Of those before, also while the next table is filled.
      if (n % 17 === 0) strictEqual(groupOf(table, codesOf(n >> 1)), n >> 1);
    }
    strictEqual(table.count, count);
    for (let n = 0; n < count; n += 31) strictEqual(groupOf(table, codesOf(n)), n);
    ok(table.longestMove <= 1 << 17, `${table.longestMove} groups were moved at once`);
    ok(charged >= count * (8 * width + 8) + 4 * table.table.length - 10_000);
    table.release();
    strictEqual(charged, 0);
  }
});
