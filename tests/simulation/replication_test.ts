/**
 * State is a function of the log: the same statements give the same digests on another engine, after a restart and in a
 * snapshot taken while writes go on; and files flushed at the same points have the same bytes.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { denoHost } from "../../engine/host/deno_host.ts";
import { memoryHost } from "../../engine/host/memory_host.ts";
import type { Host } from "../../engine/host/host.ts";
import { Engine } from "../../engine/session/engine.ts";
import { TestClient } from "../isolation/client_for_test.ts";

/** A host whose clock and chance are the same for every engine. */
function fixedHost(base: Host): Host {
  let now = 800_000_000_000_000;
  return {
    ...base,
    disk: base.disk,
    timers: base.timers,
    clock: {
      now: () => now += 10,
      wall: () => Math.floor(now / 1000),
      monotonic: () => base.clock.monotonic(),
    },
    random: { fill: (target) => void target.fill(7) },
  };
}

/** Some of everything that reaches the log. */
function* statements(count: number): Generator<string> {
  yield "CREATE TABLE t (id serial PRIMARY KEY, n numeric(12,2), s text, at timestamptz DEFAULT now(), u uuid)";
  yield "CREATE UNIQUE INDEX t_s ON t (s)";
  yield "CREATE TABLE u (x int, y interval, z int[])";
  for (let i = 1; i <= count; i++) {
    yield `INSERT INTO t (n, s, u) VALUES (${i}.25, 'row ${i}', gen_random_uuid())`;
    if (i % 3 === 0) yield `UPDATE t SET n = n * 2, at = now() WHERE id = ${i - 1}`;
    if (i % 5 === 0) yield `DELETE FROM t WHERE id = ${i - 3}`;
    if (i % 7 === 0) {
      yield `INSERT INTO u SELECT i, make_interval(days => i), ARRAY[i, ${i}] FROM generate_series(1, 20) AS g(i)`;
    }
    if (i % 50 === 0) yield `ALTER TABLE u ADD COLUMN c${i} int DEFAULT ${i}`;
    if (i % 80 === 0) {
      yield "BEGIN; DELETE FROM u WHERE x < 5; SAVEPOINT a; DELETE FROM t; ROLLBACK TO a; COMMIT";
    }
  }
}

async function history(engine: Engine, count: number): Promise<string[]> {
  const client = new TestClient(engine);
  const digests: string[] = [];
  for (const sql of statements(count)) {
    await client.run(sql);
    digests[engine.lastOp] = engine.digest();
  }
  return digests;
}

Deno.test("Engine.digest() is the same at every op on another engine", async () => {
  const engines = await Promise.all(
    [0, 1].map(() => Engine.open({ host: fixedHost(memoryHost()), directory: ":memory:" })),
  );
  const [first, second] = await Promise.all(engines.map((engine) => history(engine, 120)));
  deepStrictEqual(first, second);
  ok((first?.filter((digest) => digest !== undefined).length ?? 0) > 150);
  for (const engine of engines) await engine.close();
});

Deno.test("Engine flushed at the same points writes the same bytes, whatever the pace", async () => {
  const files: Record<string, string>[] = [];
  for (const pause of [false, true]) {
    const directory = await Deno.makeTempDir();
    try {
      const engine = await Engine.open({
        host: fixedHost(denoHost()),
        directory,
        checkpointLogBytes: 20_000,
      });
      const client = new TestClient(engine);
      for (const sql of statements(400)) {
        await client.run(sql);
        if (pause) await new Promise((resolve) => setTimeout(resolve, 0));
      }
      const digest = engine.digest();
      await engine.close();
      const reopened = await Engine.open({ host: denoHost(), directory });
      strictEqual(reopened.digest(), digest);
      await reopened.close();
      files.push(await segmentBytes(directory));
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
  }
  const [steady, paused] = files;
  ok(Object.keys(steady ?? {}).length > 0, "no segment was written");
  deepStrictEqual(steady, paused);
});

Deno.test("Engine.snapshotTo() holds exactly the state of one op while writes go on", async () => {
  const directory = await Deno.makeTempDir();
  try {
    const engine = await Engine.open({
      host: denoHost(),
      directory: `${directory}/data`,
      checkpointLogBytes: 50_000,
    });
    const client = new TestClient(engine);
    const digests: string[] = [];
    const list = [...statements(600)];
    let copy: Promise<number> | null = null;
    for (const [index, sql] of list.entries()) {
      await client.run(sql);
      digests[engine.lastOp] = engine.digest();
      if (index === 300) copy = engine.snapshotTo(`${directory}/copy`);
      if (index % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 0));
    }
    const op = await copy;
    ok(op !== null && op > 0 && op < engine.lastOp, `snapshot at ${op}`);
    const restored = await Engine.open({ host: denoHost(), directory: `${directory}/copy` });
    strictEqual(restored.lastOp, op);
    strictEqual(restored.digest(), digests[op]);
    const reader = new TestClient(restored);
    strictEqual(await reader.run("SELECT count(*) = count(DISTINCT s) FROM t"), "true");
    await restored.close();
    await engine.close();
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

async function segmentBytes(directory: string): Promise<Record<string, string>> {
  const result: Record<string, string> = {};
  const walk = async (path: string): Promise<void> => {
    for await (const entry of Deno.readDir(path)) {
      const name = `${path}/${entry.name}`;
      if (entry.isDirectory) await walk(name);
      else if (/seg/.test(entry.name)) {
        const digest = await crypto.subtle.digest("SHA-256", await Deno.readFile(name));
        result[name.slice(directory.length)] = new Uint8Array(digest).toHex();
      }
    }
  };
  await walk(directory);
  return result;
}
