/** Every kind of work of a long life is done once or more, and nothing of it stays with the server. */
import { deepStrictEqual as same, ok } from "node:assert/strict";
import { startDbd } from "../bench/peers/dbd.ts";
import { leaks, live, percentile, within } from "./life.ts";
import { WORKS } from "./work.ts";

Deno.test("soak:life does every kind of work, and a server gives all of it back", async () => {
  const server = await startDbd();
  try {
    const life = await live(server, { seconds: 2, clients: 4, seed: 1 });
    same(new Set(life.done.map(({ name }) => name)), new Set(WORKS.map(({ name }) => name)));
    same(leaks(life), []);
    ok(life.looks.length > 1);
    ok(life.looks.every(({ held }) => held["memory, MB"] > 0 && held["plans"] >= 0));
  } finally {
    await server.stop();
  }
});

Deno.test("leaks() names sessions, tables and descriptors that stay", () => {
  const before = {
    "memory, MB": 100,
    "heap, MB": 50,
    "descriptors": 20,
    "plans": 3,
    "sessions": 0,
    "transactions": 0,
    "tables": 1,
    "disk, MB": 1,
  };
  same(leaks({ before, after: { ...before, "memory, MB": 200, "descriptors": 36 } }), []);
  same(leaks({ before, after: { ...before, "descriptors": 37, "sessions": 1, "tables": 2 } }), [
    "sessions: 0 before, 1 at the end",
    "tables: 1 before, 2 at the end",
    "descriptors: 20 before, 37 at the end",
  ]);
});

Deno.test("within() and percentile() look at a part of a life", () => {
  const done = Array.from({ length: 100 }, (_, index) => ({ seconds: index / 10, milliseconds: 99 - index }));
  same(within({ seconds: 10 }, done, 0, 0.1).map(({ milliseconds }) => milliseconds), [
    ...[99, 98, 97, 96, 95, 94, 93, 92, 91, 90],
  ]);
  same([0, 0.5, 0.99, 1].map((share) => percentile(done, share)), [0, 50, 99, 99]);
  same(percentile([], 0.5), NaN);
});
