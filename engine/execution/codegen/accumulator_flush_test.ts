/** Sums that are folded without a test in each row stay exact. */
import assert from "node:assert/strict";
import { TestDatabase } from "../testing/fixture.ts";
import { SeededRandom } from "../testing/seeded_random.ts";
import { compileStatement } from "../compile_statement.ts";
import { ExecutionState } from "../runtime/execution_state.ts";
import { FLUSH_ABOVE, GroupTable } from "../runtime/group_table.ts";

/** So many rows that sums of values of 38 bits pass 2^53 in each of two groups. */
const ROWS = 80_000;
const LARGEST = 2 ** 38 - 1;

function database(rows: number): TestDatabase {
  const random = new SeededRandom(5);
  const large = () => LARGEST - random.below(1000);
  return new TestDatabase([{
    name: "t",
    columns: ["id i64", "g integer", "up bigint", "down bigint", "small integer"],
    primaryKey: ["id"],
    count: rows,
    make: {
      g: () => random.below(2),
      up: large,
      down: () => random.chance(0.001) ? null : -large(),
      small: () => random.below(100) - 50,
    },
  }], random);
}

Deno.test("sum() of values of known bounds is exact beyond 2^53, in groups and without", () => {
  const tables = database(ROWS);
  const [table] = tables.tables.values();
  const expected = (keep: (g: number) => boolean): string[] => {
    const sums = [0n, 0n, 0n, 0n];
    for (const { values } of table?.rows ?? []) {
      const [, g, up, down, small] = values.map(Number);
      if (g === undefined || up === undefined || down === undefined || small === undefined) continue;
      if (!keep(g)) continue;
      const added = [up, down, small > 0 ? up : 0, small];
      added.forEach((value, index) => sums[index] = (sums[index] ?? 0n) + BigInt(value));
    }
    return sums.map(String);
  };
  const sums = "sum(up), sum(down), sum(up) filter (where small > 0), sum(small)";
  const check = (text: string, rows: readonly (readonly string[])[]): void =>
    assert.deepEqual(tables.compiled(tables.plan(text, false)), rows, text);
  check(`select ${sums} from t`, [expected(() => true)]);
  const groups = [0, 1].map((group) => [String(group), ...expected((g) => g === group)]);
  check(`select g, ${sums} from t group by g order by g`, groups);
  const sets = `select g, ${sums} from t group by grouping sets ((g), ()) order by g`;
  check(sets, [...groups, ["NULL", ...expected(() => true)]]);
  const [all] = groups;
  assert.ok(Number(all?.[1]) > 2 ** 53, "a sum beyond what a number holds exactly");
});

Deno.test("GroupTable.noteUnflushed() moves large numbers to their bigints in time", () => {
  const small = database(1);
  const execution = compileStatement(small.plan("select 1", false)).start(small.context());
  assert.ok(execution instanceof ExecutionState);
  const table = new GroupTable(execution, 1, ["float", "float", "object"]);
  const sums = [{ float: 1, object: 0 }];
  for (const low of [FLUSH_ABOVE + 2, -FLUSH_ABOVE - 2, FLUSH_ABOVE, -0]) {
    const group = table.insert(table.count);
    table.floats[group * 2 + 1] = low;
    table.objects[group] = 5n;
  }
  table.noteUnflushed(2 ** 50, sums);
  assert.equal(table.floats[1], FLUSH_ABOVE + 2, "nothing has to be done yet");
  table.noteUnflushed(1, sums);
  assert.deepEqual([1, 3, 5, 7].map((at) => table.floats[at]), [0, 0, FLUSH_ABOVE, -0]);
  assert.deepEqual(table.objects, [BigInt(FLUSH_ABOVE) + 7n, 3n - BigInt(FLUSH_ABOVE), 5n, 5n]);
  table.floats[1] = FLUSH_ABOVE * 2;
  table.noteUnflushed(1, sums);
  assert.equal(table.floats[1], FLUSH_ABOVE * 2, "it counts from 0 again");
  table.flushListed(Uint32Array.of(0, 0), 2, sums);
  assert.deepEqual([table.floats[1], table.objects[0]], [0, 3n * BigInt(FLUSH_ABOVE) + 7n]);
});

Deno.test("GroupTable.noteUnflushed() moves the sums of all kernels, not only of the one that asks", () => {
  const small = database(1);
  const execution = compileStatement(small.plan("select 1", false)).start(small.context());
  assert.ok(execution instanceof ExecutionState);
  const table = new GroupTable(execution, 1, ["float", "float", "object", "object"]);
  table.insert(0);
  table.floats.set([FLUSH_ABOVE * 2, 7]);
  table.objects.push(0n, 0n);
  table.noteUnflushed(2 ** 50, [{ float: 0, object: 0 }]);
  table.noteUnflushed(1, [{ float: 1, object: 1 }]);
  assert.deepEqual([...table.floats.slice(0, 2), ...table.objects], [0, 7, BigInt(FLUSH_ABOVE) * 2n, 0n]);
});
