/** User-defined functions through an engine: rows that take long, traps of the language, restarts. */
import assert from "node:assert/strict";
import { compile } from "../../lang/compiler/compile.ts";
import { checkSource } from "../../lang/wasm/testing.ts";
import { memoryHost } from "../host/memory_host.ts";
import { Engine } from "../session/engine.ts";
import { RowBuffer } from "../statements/row_buffer.ts";
import type { Session } from "../session/session.ts";
import { assemble } from "../wasm/testing.ts";
import { forgetModules } from "./module_store.ts";

async function run(session: Session, sql: string): Promise<readonly unknown[][]> {
  const sink = new RowBuffer();
  await session.simple(sql, sink, () => {});
  return sink.rows;
}

function literal(module: Uint8Array): string {
  return `'\\x${module.toHex()}'`;
}

/** Counts to its argument: some six instructions each. */
const COUNT = literal(assemble(`(module (func (export "count") (param $n i32) (result i32) (local $i i32)
  (loop $next
    (local.set $i (i32.add (local.get $i) (i32.const 1)))
    (br_if $next (i32.lt_u (local.get $i) (local.get $n))))
  (local.get $i)))`));

Deno.test("rows whose functions take long let others in, and are canceled and timed out at once", async () => {
  const engine = await Engine.open({ host: memoryHost(), directory: ":memory:" });
  const [long, other] = [engine.openSession(), engine.openSession()];
  await run(other, `CREATE FUNCTION count_to(n INT) RETURNS INT LANGUAGE WASM AS ${COUNT} EXPORT 'count'`);
  await run(other, "CREATE TABLE t AS SELECT g AS id, 400000 AS n FROM generate_series(1, 100000) g");
  for (
    const sql of [
      "SELECT sum(count_to(n)) FROM t",
      "SELECT id FROM t WHERE count_to(n) < 0",
      // Rows are cheap until they are not.
      "SELECT max(CASE WHEN id > 5000 THEN count_to(n + id) END) FROM t",
      "SELECT count_to(n), count(*) FROM t GROUP BY count_to(n + id % 7), n",
      "SELECT count(*) FROM t a JOIN t b ON a.id = b.id AND count_to(a.n + b.id) < 0",
      "UPDATE t SET n = count_to(n)",
      "SELECT row_number() OVER (ORDER BY count_to(n + id)) FROM t",
    ]
  ) {
    const running = run(long, sql);
    // It takes many seconds: without turns, or with few of them, it is over before it is canceled.
    for (let turn = 0; turn < 10; turn++) {
      await run(other, "SELECT 1");
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    long.cancel();
    await assert.rejects(running, { code: "57014" }, sql);
  }
  await run(long, "SET statement_timeout = 30");
  await assert.rejects(run(long, "SELECT sum(count_to(n)) FROM t"), { code: "57014", message: /timeout/ });
  await engine.close();
});

Deno.test("a trap of the language has its kind, its text and its place", async () => {
  const { program } = checkSource(`
pub fn root(n: Int) -> Int { if n < 0 { panic("no root of {n}") } else { n } }
pub fn next(n: Int) -> Int { n + 1 }
pub fn share(n: Int) -> Int { 10 / n }
pub fn nth(n: Int) -> Int { [1, 2][n] }
pub fn deep(n: Int) -> Int { if n == 0 { 0 } else { 1 + deep(n - 1) } }
pub fn loud(text: String) -> String { if text == "" { panic("empty") } else { text + "!" } }
`);
  const module = literal(compile(program, { target: "wasm32-db" }).bytes);
  const engine = await Engine.open({ host: memoryHost(), directory: ":memory:" });
  const session = engine.openSession();
  for (const name of ["root", "next", "share", "nth", "deep"]) {
    await run(session, `CREATE FUNCTION ${name}(n INT) RETURNS INT LANGUAGE WASM AS ${module}`);
  }
  await run(session, `CREATE FUNCTION loud(t TEXT) RETURNS TEXT LANGUAGE WASM AS ${module}`);
  const check = (call: string, code: string, message: RegExp, detail: RegExp) =>
    assert.rejects(run(session, `SELECT ${call}`), (error: Error & { code?: string; detail?: string }) => {
      assert.equal(error.code, code, error.message);
      assert.match(error.message, message);
      assert.match(error.detail ?? "", detail);
      return true;
    });
  await check("root(-4)", "38000", /^function root\(integer\) panicked: no root of -4$/, /^At \S+:2:\d+\.$/);
  await check("next(2147483647)", "22003", /stopped: integer overflow/, /:3:/);
  await check("share(0)", "22012", /stopped: division by zero/, /:4:/);
  await check("nth(2)", "2202E", /stopped: index out of range/, /:5:/);
  await check("deep(100000000)", "54001", /./, /./);
  await check("loud('')", "38000", /panicked: empty/, /:7:/);
  assert.deepEqual(await run(session, "SELECT root(4), next(1), share(3), nth(1), deep(9), loud('a')"), [
    [4, 2, 3, 2, 9, "a!"],
  ]);
  await engine.close();
});

Deno.test("functions and what they computed are the same after a restart, from the log and from a checkpoint", async () => {
  const host = memoryHost();
  const module = literal(assemble(`(module (func (export "mix") (param i64 f64) (result f64)
    (f64.div (f64.sqrt (local.get 1)) (f64.convert_i64_s (i64.mul (local.get 0) (i64.const 2654435761))))))`));
  const open = () => Engine.open({ host, directory: "db" });
  let engine = await open();
  let session = engine.openSession();
  await run(session, `CREATE FUNCTION mix(a BIGINT, b F64) RETURNS F64 LANGUAGE WASM AS ${module} GAS 100`);
  await run(session, "COMMENT ON FUNCTION mix(BIGINT, F64) IS 'mixes'");
  await run(session, "CREATE TABLE t (a BIGINT, b F64, c F64 GENERATED ALWAYS AS (mix(a, b)) STORED)");
  await run(session, "INSERT INTO t SELECT g * 1000003::bigint * g, g FROM generate_series(-5, 1000) g");
  const rows = await run(session, "SELECT a, b, c FROM t ORDER BY a, b");
  for (const checkpoint of [false, true]) {
    if (checkpoint) await run(session, "CHECKPOINT");
    const digest = engine.machine.digest();
    await engine.close();
    engine = await open();
    session = engine.openSession();
    assert.equal(engine.machine.digest(), digest);
    assert.deepEqual(await run(session, "SELECT a, b, c FROM t ORDER BY a, b"), rows);
    assert.deepEqual(await run(session, "SELECT count(*) FROM t WHERE c IS DISTINCT FROM mix(a, b)"), [[0]]);
    assert.deepEqual(await run(session, "SELECT obj_description('mix'::regproc, 'pg_proc')"), [["mixes"]]);
  }
  await engine.close();
});

Deno.test("short functions give the same, traps included, for values of every size and for every type", async () => {
  const engine = await Engine.open({ host: memoryHost(), directory: ":memory:" });
  const session = engine.openSession();
  const create = (signature: string, body: string, more = "") =>
    run(
      session,
      `CREATE OR REPLACE FUNCTION ${signature} LANGUAGE WASM AS ${
        literal(assemble(`(module (func (export "f") ${body}))`))
      } EXPORT 'f' ${more}`,
    );
  const I64_MULTIPLY = "(param i64 i64) (result i64) (i64.mul (local.get 0) (local.get 1))";
  await create("product(a BIGINT, b BIGINT) RETURNS BIGINT", I64_MULTIPLY);
  await create("small(a BIGINT, b BIGINT) RETURNS INT", I64_MULTIPLY);
  await create(
    "share(a INT, b INT) RETURNS INT",
    "(param i32 i32) (result i32) (i32.div_s (local.get 0) (local.get 1))",
  );
  await create(
    "ratio(a F64, b F64) RETURNS F64",
    "(param f64 f64) (result f64) (f64.div (local.get 0) (local.get 1))",
  );
  await create(
    "all_of(a BOOL, b BOOL) RETURNS BOOL",
    "(param i32 i32) (result i32) (i32.and (local.get 0) (local.get 1))",
  );
  await create(
    "later(a DATE) RETURNS DATE",
    "(param i32) (result i32) (i32.add (local.get 0) (i32.const 7))",
  );
  const answers: readonly (readonly [string, string])[] = [
    ["product(3000000000, 3)", "9000000000"],
    ["product(3037000500, 3037000500)", "-9223372036709301616"],
    ["product(9223372036854775807, -1)", "-9223372036854775807"],
    ["product(9007199254740993, 1)", "9007199254740993"],
    ["product(0, -5)", "0"],
    ["small(65536, -32768)", "-2147483648"],
    ["share(-7, 2)", "-3"],
    ["ratio(0, -1)", "-0"],
    ["ratio(0, 0)", "NaN"],
    ["ratio('NaN', 1)", "NaN"],
    ["all_of(true, false)", "false"],
    ["later('2026-12-31')", "2027-01-07"],
  ];
  for (const [call, expected] of answers) {
    assert.deepEqual(await run(session, `SELECT (${call})::text`), [[expected]], call);
  }
  const failing = [
    ["share(1, 0)", "22012"],
    ["share(-2147483648, -1)", "22003"],
    ["small(65536, 32768)", "22003"],
  ] as const;
  for (const [call, code] of failing) {
    await assert.rejects(run(session, `SELECT ${call}`), { code }, call);
  }
  // Also where rows come one after the other, and one of them is another case than those before.
  await run(
    session,
    "CREATE TABLE t AS SELECT g::bigint * 1000000007 AS a, g AS b FROM generate_series(1, 5000) g",
  );
  await run(session, "INSERT INTO t VALUES (9223372036854775807, 2), (-9007199254740993, 3)");
  assert.deepEqual(
    await run(
      session,
      "SELECT count(*) FROM t WHERE product(a, 3) = mod(a::numeric * 3 + 9223372036854775808, 18446744073709551616) - 9223372036854775808",
    ),
    [[5002]],
  );
  await create("product(a BIGINT, b BIGINT) RETURNS BIGINT", I64_MULTIPLY, "GAS 1");
  await assert.rejects(run(session, "SELECT product(1, 1)"), { code: "54001" });
  await engine.close();
});

Deno.test("a large module is prepared in turns: when it is created, and when the database is opened", async () => {
  const branches = (seed: number): string =>
    literal(assemble(`(module (func (export "f") (param i32) (result i32) (i32.const ${seed}))
      (func (param i32) ${"(block (br_if 0 (local.get 0)))".repeat(20_000)}))`));
  const host = memoryHost();
  const turnsOf = async (engine: Engine, work: () => Promise<unknown>): Promise<number> => {
    const { yieldToLoop } = engine;
    let turns = 0;
    engine.yieldToLoop = () => {
      turns++;
      return yieldToLoop.call(engine);
    };
    try {
      await work();
    } finally {
      engine.yieldToLoop = yieldToLoop;
    }
    return turns;
  };
  // By this clock each step takes half a millisecond, and a turn two: 160 002 instructions are 39 steps.
  let now = 0;
  const slow = { now: () => host.clock.now(), wall: () => host.clock.wall(), monotonic: () => now += 500 };
  const open = (): Promise<Engine> =>
    Engine.open({ host: { ...host, clock: slow }, directory: "/functions" });
  let engine = await open();
  let session = engine.openSession();
  const create = (name: string, module: string): Promise<unknown> =>
    run(session, `CREATE FUNCTION ${name}(n INT) RETURNS INT LANGUAGE WASM AS ${module} EXPORT 'f'`);
  const created = await turnsOf(engine, () => create("seven", branches(7)));
  assert.ok(created >= 8, `${created} turns`);
  assert.ok(await turnsOf(engine, () => create("seven_again", branches(7))) < 3, "the module is known");
  const refused = await turnsOf(
    engine,
    () =>
      assert.rejects(create("broken", branches(8).replace(/0b'$/, "ff'")), {
        code: "42P13",
        message: /^invalid WebAssembly module: .* at byte \d+$/,
      }),
  );
  assert.ok(refused >= 4, `${refused} turns`);
  const running = create("canceled", branches(9));
  session.cancel();
  await assert.rejects(running, { code: "57014" });
  assert.deepEqual(await run(session, "SELECT seven(1), seven_again(2)"), [[7, 7]]);
  await engine.close();
  forgetModules();
  const { yieldToLoop } = host.timers;
  let opening = 0;
  host.timers.yieldToLoop = () => {
    opening++;
    return yieldToLoop.call(host.timers);
  };
  engine = await open();
  assert.ok(opening >= 8, `${opening} turns`);
  session = engine.openSession();
  assert.deepEqual(await run(session, "SELECT seven(1)"), [[7]]);
  await engine.close();
});
