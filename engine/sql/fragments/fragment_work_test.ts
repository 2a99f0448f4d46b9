/** Which statements over six million rows are worth to be shared out. */
import assert from "node:assert/strict";
import { environmentOf, plan, TPCH } from "../planner/fixture_for_test.ts";
import { TPCH_QUERIES } from "../planner/tpch_queries_for_test.ts";
import { fragmentWork, gainOf } from "./fragment_work.ts";

const ROWS = 6_000_000;

Deno.test("fragmentWork() tells what is worth to be shared out from what is read as quickly as workers answer", () => {
  const environment = environmentOf(TPCH);
  const workOf = (sql: string) => {
    const planned = plan(environment, sql);
    return fragmentWork({ plan: planned.plan, columns: planned.columns }, ROWS);
  };
  const [q1, q6] = [workOf(TPCH_QUERIES.q1 ?? ""), workOf(TPCH_QUERIES.q6 ?? "")];
  assert.ok(q1.here > 70e6, `${q1.here}`);
  assert.ok(q6.here < 30e6, `${q6.here}`);
  assert.ok(gainOf(q1, 2) > 0 && gainOf(q1, 4) > gainOf(q1, 2));
  const pattern = workOf("SELECT count(*) FROM lineitem WHERE l_comment LIKE '%special%requests%'");
  assert.ok(pattern.here > 300e6, `${pattern.here}`);
  const all = workOf("SELECT l_orderkey, l_partkey, l_quantity FROM lineitem");
  assert.ok(gainOf(all, 8) < 0, "rows travel for longer than they are read");
  const sorted = workOf("SELECT l_orderkey FROM lineitem ORDER BY l_comment, l_orderkey");
  assert.ok(gainOf(sorted, 2) > 0);
});
