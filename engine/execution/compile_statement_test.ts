/** Compiled statements against the interpreter, and what else the session relies on. */
import assert from "node:assert/strict";
import { DatabaseError } from "../base/errors.ts";
import type { Plan, PlannedStatement } from "../sql/plan/plan.ts";
import { mapInputs } from "../sql/plan/rewrite.ts";
import { markDependentGroups } from "../sql/planner/dependent_groups.ts";
import { compileRowProducer, compileStatement } from "./compile_statement.ts";
import { accelerate } from "./testing/accelerate.ts";
import { corpus, corpusDatabase } from "./testing/corpus.ts";
import { RowCollector, TestDatabase } from "./testing/fixture.ts";
import { SeededRandom } from "./testing/seeded_random.ts";

function accelerated(planned: PlannedStatement): PlannedStatement {
  return { ...planned, plan: markDependentGroups(accelerate(planned.plan)) };
}

/** Rows as texts; sorted unless the plan says in which order they come. */
function outcome(planned: PlannedStatement, run: () => string[][]): unknown {
  let top = planned.plan;
  while (top.kind === "project" || top.kind === "filter" || top.kind === "limit") top = top.input;
  try {
    const rows = run().map((row) => row.join("|"));
    return top.kind === "sort" ? rows : rows.sort();
  } catch (error) {
    if (error instanceof DatabaseError) return `${error.code} ${error.message}`;
    throw error;
  }
}

function check(database: TestDatabase, text: string, planned: PlannedStatement): void {
  const expected = outcome(planned, () => database.interpreted(planned));
  assert.deepEqual(outcome(planned, () => database.compiled(planned)), expected, text);
  const inSmallSteps = outcome(planned, () => database.compiled(planned, [], { inSmallSteps: true }));
  assert.deepEqual(inSmallSteps, expected, `in small steps: ${text}`);
}

for (const seed of [1]) {
  Deno.test(`compileStatement() gives the interpreter's rows for plans as bound, seed ${seed}`, () => {
    const database = corpusDatabase(seed);
    for (const text of corpus) check(database, text, database.plan(text, false));
  });

  Deno.test(`compileStatement() gives the interpreter's rows for hash joins, lookups and top-N sorts, seed ${seed}`, () => {
    const database = corpusDatabase(seed);
    for (const text of corpus) check(database, text, accelerated(database.plan(text, false)));
  });
}

Deno.test("compileStatement() gives the interpreter's rows over many blocks, with results cut into steps", () => {
  const database = corpusDatabase(7, 5000);
  const texts = [
    "select id, s from t where a > 3",
    "select s, count(*), sum(b) from t group by s",
    "select s, a, d, id, count(distinct b) from t group by s, a, d, id",
    "select s, count(distinct a), count(distinct id) from t group by s",
    "select id from t order by d, id limit 3000",
    "select id from t order by b desc, id limit 20",
    "select distinct d from t",
    "select g from generate_series(1, 10000) g where g % 7 = 0",
  ];
  for (const text of texts) check(database, text, accelerated(database.plan(text, false)));
});

Deno.test("groups of integers within bounds are the interpreter's, whatever the bounds of each block", () => {
  for (const seed of [1, 2, 3]) {
    const random = new SeededRandom(seed);
    const make = {
      low: () => random.below(3) - 128,
      near: () => random.pick([-1, 0, 1, 255, 256]),
      far: () => random.pick([-2048, 2047, 2048, 0]) + (random.chance(0.2) ? 2 ** 20 : 0),
      big: () => random.chance(0.1) ? 2n ** 62n : random.below(3),
      part: () => random.chance(0.05) ? null : random.below(4),
      s: () => random.pick(["x", "y"]),
    };
    const columns = [
      "id i64",
      "low smallint",
      "near integer",
      "far integer",
      "big bigint",
      "part integer",
      "s text",
    ];
    const database = new TestDatabase([{ name: "t", columns, primaryKey: ["id"], count: 400, make }], random);
    const texts = [
      ...["low", "near", "far", "big", "part", "s", "id"].map((key) =>
        `select ${key}, count(*), sum(id), max(far) from t where id > 20 group by ${key}`
      ),
      "select low, near, count(*) from t group by low, near",
      "select s, near, low, min(id) from t group by s, near, low",
      "select part, s, count(distinct near) from t group by part, s",
      "select low, near, s, count(*) from t group by grouping sets ((low, s), (near), ())",
      "select distinct near, low from t",
      "select near, count(*) from t group by near union all select low, count(*) from t group by low",
      "select x.id, (select sum(m) from (select max(y.id) m from t y where y.part = x.part group by y.near) z) " +
      "from t x where x.id < 9",
    ];
    for (const text of texts) {
      check(database, text, database.plan(text, false));
      check(database, text, accelerated(database.plan(text, false)));
    }
  }
});

Deno.test("hash joins give the interpreter's rows over many blocks", () => {
  const database = corpusDatabase(8, 300);
  const texts = [
    "select count(*), sum(t.id) from t join u on t.b = u.big",
    "select t.id, u.id from t full join u on t.s = u.s and t.a = u.a",
    "select t.id, x.id from t left join t x on t.id = x.b",
  ];
  for (const text of texts) check(database, text, accelerated(database.plan(text, false)));
});

Deno.test("StatementExecution.step() yields while there are more rows", () => {
  const database = corpusDatabase(1);
  const planned = database.plan("select g from generate_series(1, 20000) g", false);
  const execution = compileStatement(planned).start(database.context());
  const collector = new RowCollector();
  let steps = 1;
  while (!execution.step(collector)) steps++;
  assert.equal(execution.rowCount, 20000);
  assert.ok(steps >= 4, `${steps} steps`);
});

Deno.test("compileStatement() stops the source when LIMIT has its rows", () => {
  const database = corpusDatabase(1);
  const planned = database.plan("select g from generate_series(1, 1000000000) g limit 3", false);
  assert.deepEqual(database.compiled(planned), [["1"], ["2"], ["3"]]);
});

Deno.test("a compiled statement is used for several executions with other parameters", () => {
  const database = corpusDatabase(1);
  const compiled = compileStatement(database.plan("select id from t where id = $1", false));
  for (const id of [3, 4, null, 1000]) {
    const collector = new RowCollector();
    const execution = compiled.start(database.context([id]));
    while (!execution.step(collector));
    assert.deepEqual(collector.rows, id === null || id > 50 ? [] : [[id]]);
  }
});

Deno.test("compileStatement() raises 53200 beyond the memory limit", () => {
  const database = corpusDatabase(1, 3000);
  const texts = [
    "select id, s from t order by s",
    "select id, count(*) from t group by id",
    "select count(*) from t x join t y on x.id = y.id",
    "select g from generate_series(1, 1000000) g order by g",
  ];
  for (const text of texts) {
    const execution = compileStatement(accelerated(database.plan(text, false))).start(
      database.context([], 20_000),
    );
    assert.throws(
      () => {
        while (!execution.step(new RowCollector()));
      },
      (error) => error instanceof DatabaseError && error.code === "53200" && error.hint !== undefined,
      text,
    );
  }
});

Deno.test("compileStatement() gives memory back that inner loops no longer need", () => {
  const database = corpusDatabase(1, 400);
  const text =
    "select sum((select count(*) from (select s, count(*) from u where u.a >= t.a group by s) q)) from t";
  const execution = compileStatement(database.plan(text, false)).start(database.context([], 200_000));
  while (!execution.step(new RowCollector()));
  assert.equal(execution.rowCount, 1);
});

Deno.test("compileStatement() gives memory back after a sort's rows have gone on", () => {
  const database = corpusDatabase(1, 3000);
  const sorted = "(select id, s from t order by s, id)";
  const run = (text: string) => {
    const execution = compileStatement(database.plan(text, false)).start(database.context([], 400_000));
    while (!execution.step(new RowCollector()));
    return execution.rowCount;
  };
  assert.equal(run(sorted), 3000);
  assert.equal(run(Array(8).fill(sorted).join(" union all ")), 24_000);
});

Deno.test("compileStatement() raises errors of expressions only when they are evaluated", () => {
  const database = corpusDatabase(1);
  const zero = database.plan("select id from t where a > $1 and 1 / $1 > 0", false);
  assert.deepEqual(database.compiled(zero, [1000]), []);
  assert.throws(() => database.compiled(zero, [0]), /division by zero/);
  const guarded = database.plan(
    "select case when a = 0 then 0 else 10 / a end from t where a is not null",
    false,
  );
  assert.deepEqual(database.compiled(guarded), database.interpreted(guarded));
  const several = database.plan("select (select id from u) from t", false);
  assert.throws(
    () => database.compiled(several),
    /more than one row returned by a subquery used as an expression/,
  );
});

Deno.test("compileStatement() refuses a negative LIMIT and OFFSET", () => {
  const database = corpusDatabase(1);
  assert.throws(
    () => database.compiled(database.plan("select id from t limit -1", false)),
    /LIMIT must not be negative/,
  );
  assert.throws(
    () => database.compiled(database.plan("select id from t offset -1", false)),
    /OFFSET must not be negative/,
  );
});

Deno.test("semi and anti joins that keep their left side give the same rows, with and without a residual", () => {
  for (const [seed, count] of [[1, 50], [2, 50], [3, 120]] as const) {
    const database = corpusDatabase(seed, count);
    const texts = [
      "select id, s, d from t where exists (select from u where u.a = t.a)",
      "select id, s, d from t where not exists (select from u where u.a = t.a)",
      "select id, n from t where exists (select from u where u.a = t.a and u.s = t.s and u.id <> t.id)",
      "select id, n from t where not exists (select from u where u.s = t.s and u.id < t.id and u.big > t.b)",
      "select id from t where a in (select a from e) or id < 3",
      "select id from t where exists (select from e where e.a = t.a)",
      "select id from t where not exists (select from e where e.a = t.a)",
      "select count(*) from t where exists (select from t o where o.b = t.b and o.id <> t.id)",
      "select id, (select count(*) from u where u.id < t.a and exists (select from t o where o.a = u.a)) from t",
      "select id from t where exists (select from u where u.a = t.a) order by d, id limit 5",
    ];
    let kept = 0;
    for (const text of texts) {
      const planned = database.plan(text, true);
      check(database, text, { ...planned, plan: keepLeft(planned.plan, () => kept++) });
    }
    assert.ok(kept > 5, `${kept} joins keep their left side`);
  }
});

/** Lets each semi and anti join keep its left side. */
function keepLeft(plan: Plan, note: () => void): Plan {
  const inner = mapInputs(plan, (input) => keepLeft(input, note));
  if (inner.kind !== "hash_join" || inner.nullAware || inner.join !== "semi" && inner.join !== "anti") {
    return inner;
  }
  note();
  return { ...inner, keepsLeft: true };
}

Deno.test("NOT IN with a null-aware anti join follows three-valued logic", () => {
  const database = corpusDatabase(1);
  for (const inner of ["u", "u where u.a is not null", "e"]) {
    const planned = database.plan(
      `select t.id from t join (select u.a as k from ${inner === "e" ? "e u" : inner}) r on t.a = r.k`,
      false,
    );
    const hash = accelerate(planned.plan);
    let join = hash;
    while (join.kind === "project") join = join.input;
    assert.equal(join.kind, "hash_join", inner);
    if (join.kind !== "hash_join") return;
    for (const kind of ["semi", "anti"] as const) {
      for (const nullAware of [false, true]) {
        const { plan: _plan, ...rest } = planned;
        const changed = { ...join, join: kind, nullAware: nullAware && kind === "anti" };
        check(database, `${kind} ${inner}`, {
          ...rest,
          plan: { kind: "project", input: changed, outputs: [], rows: 1 },
          columns: planned.columns.map((column) => ({ ...column, column: idColumn(join) })),
        });
      }
    }
  }
});

function idColumn(plan: PlannedStatement["plan"]): number {
  if (plan.kind === "hash_join") return idColumn(plan.left);
  if (plan.kind === "project" || plan.kind === "filter") return idColumn(plan.input);
  return plan.kind === "table_scan" ? plan.columns[0]?.output ?? -1 : -1;
}

Deno.test("compileStatement() counts rows per operator for EXPLAIN ANALYZE", () => {
  const database = corpusDatabase(1);
  const planned = database.plan("select a, count(*) from t where a > 2 group by a order by a", false);
  const compiled = compileStatement(planned, { analyze: true });
  const execution = compiled.start(database.context());
  while (!execution.step(new RowCollector()));
  const rows = execution.profile.map((operator) => operator.rows);
  assert.equal(rows[0], execution.rowCount);
  assert.ok(rows.includes(50), `no operator gave all rows: ${rows}`);
});

Deno.test("CompiledStatement.source is the generated code", () => {
  const database = corpusDatabase(1);
  const compiled = compileStatement(database.plan("select s, count(*) from t where a > 2 group by s", false));
  assert.match(
    compiled.source(database.context()),
    /vectors: \S.*\nfunction scan_t\(S, block, from, to\) \{/,
  );
  const execution = compiled.start(database.context());
  while (!execution.step(new RowCollector()));
  assert.match(compiled.source(database.context()), /vectors: \S/);
});

Deno.test("compileRowProducer() calls back with the columns' values", () => {
  const database = corpusDatabase(1);
  const planned = database.plan("select id, s from t where id <= 3", false);
  const production = compileRowProducer(planned.plan, planned.columns).start(database.context());
  const rows: unknown[][] = [];
  while (!production.step((values) => rows.push(values)));
  assert.deepEqual(rows.map(([id]) => id), [1, 2, 3]);
});
