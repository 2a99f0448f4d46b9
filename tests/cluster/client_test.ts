/**
 * The project's own client across failovers of a real cluster: reads and single changes go on as if nothing had
 * happened, and each change is applied once; a change without a sequence number is done or unknown (40003), never
 * called failed; a block is lost as a whole.
 */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { DatabaseError } from "../../engine/base/errors.ts";
import { connect } from "../../mod.ts";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { runProgram } from "../support/programs.ts";
import { ClusterProcesses } from "./cluster_processes.ts";

/** How the primary goes, in turn. */
const ENDS = ["SIGKILL", "SIGTERM", "SIGKILL"] as const;

/** What a block or a change without a sequence number may raise when the primary goes. */
const LOSSES = ["08000", "40001", "40003", "57P01"];

Deno.test(`connect({ addresses }) goes on across ${ENDS.length} primaries that end, and applies each change once`, async () => {
  const { dbd, dbcli } = await compiledPrograms();
  await using cluster = await ClusterProcesses.start({ dbd, memberCount: 3 });
  const addresses = cluster.members.map(({ host, binaryPort }) => `${host}:${binaryPort}`);
  const [counting, plain, moving, reading, admin] = await Promise.all([
    connect({ addresses }),
    connect({ addresses, exactlyOnce: false }),
    connect({ addresses }),
    connect({ addresses: addresses.toReversed() }),
    connect({ addresses }),
  ]);
  await admin.execute(`
    CREATE TABLE counter (name TEXT PRIMARY KEY, value BIGINT NOT NULL);
    INSERT INTO counter VALUES ('once', 0), ('left', 1000), ('right', 0);
    CREATE TABLE mark (id BIGINT PRIMARY KEY)`);
  let isOver = false;
  const figures = { increments: 0, reads: 0, marks: 0, unknown: 0, moves: 0, lost: 0 };

  const count = async (): Promise<void> => {
    for (; !isOver; figures.increments++) {
      // A change that was applied twice would answer a number that is not the next.
      const [row] = await counting.query(
        "UPDATE counter SET value = value + 1 WHERE name = 'once' RETURNING value",
      );
      strictEqual(Number(row?.value), figures.increments + 1);
    }
  };
  const read = async (): Promise<void> => {
    for (let newest = 0; !isOver; figures.reads++) {
      const least = figures.increments;
      const [row] = await reading.query(
        "SELECT value, (SELECT sum(value) FROM counter WHERE name <> 'once') AS sum FROM counter WHERE name = 'once'",
      );
      const value = Number(row?.value);
      ok(
        value >= Math.max(least, newest),
        `${value} after ${least} were acknowledged and ${newest} was read`,
      );
      strictEqual(Number(row?.sum), 1000);
      newest = value;
    }
  };
  const known = new Map<number, "done" | "unknown">();
  const mark = async (): Promise<void> => {
    for (let id = 1; !isOver; id++) {
      try {
        await plain.execute("INSERT INTO mark VALUES ($1)", [id]);
        known.set(id, "done");
        figures.marks++;
      } catch (error) {
        strictEqual((error as DatabaseError).code, "40003", String(error));
        known.set(id, "unknown");
        figures.unknown++;
      }
    }
  };
  const move = async (): Promise<void> => {
    for (; !isOver; figures.moves++) {
      await moving.transaction(async (client) => {
        await client.execute("UPDATE counter SET value = value - 1 WHERE name = 'left'");
        await client.execute("UPDATE counter SET value = value + 1 WHERE name = 'right'");
      }).catch((error: unknown) => {
        ok(error instanceof DatabaseError && LOSSES.includes(error.code), String(error));
        figures.lost++;
      });
    }
  };
  /** Waits until each kind of work has been done a few times more. */
  const allGoOn = async (): Promise<void> => {
    const kinds = ["increments", "reads", "marks", "moves"] as const;
    const before = { ...figures };
    const end = performance.now() + 60_000;
    while (kinds.some((kind) => figures[kind] < before[kind] + 5)) {
      ok(performance.now() < end, `${JSON.stringify([before, figures])}\n${cluster.logs()}`);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  };
  const load = Promise.all([count(), read(), mark(), move()]);
  const pauses: number[] = [];
  try {
    for (const signal of ENDS) {
      await allGoOn();
      const primary = await cluster.primary();
      const start = performance.now();
      await primary.stop(signal);
      await allGoOn();
      pauses.push(performance.now() - start);
      primary.start();
      await cluster.primary();
    }
  } finally {
    isOver = true;
    await load;
  }
  console.log(`${ENDS.join(", ")}: pauses of`, pauses.map(Math.round), "ms;", figures);
  const there = new Set((await admin.query("SELECT id FROM mark")).map(({ id }) => Number(id)));
  for (const [id, outcome] of known) ok(there.has(id) || outcome === "unknown", `mark ${id} is lost`);
  deepStrictEqual([...there].filter((id) => !known.has(id)), []);

  await cluster.level();
  // Each has found the primary's address among those that it was given: none goes through another member.
  const { index } = await cluster.primary();
  for (const member of cluster.members) {
    const metrics = await (await fetch(`http://${member.host}:${member.httpPort}/v1/metrics`)).text();
    match(metrics, new RegExp(`^db_binary_connections ${member.index === index ? 5 : 0}$`, "m"));
  }
  const status = await runProgram(dbcli, ["--addrs", addresses.join(","), "status"], {});
  strictEqual(status.code, 0, status.stderr);
  strictEqual(
    [...status.stdout.matchAll(/ (?:primary|backup) +\| normal .* none /g)].length,
    3,
    status.stdout,
  );
  match(status.stdout, / primary /);
  for (const client of [counting, plain, moving, reading, admin]) await client.close();
});
