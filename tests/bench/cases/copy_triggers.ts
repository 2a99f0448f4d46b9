/**
 * COPY through a trigger: the time of a load with it, as a multiple of the same load without it just before. Both go to
 * the same server, so that the ratio holds when the machine's speed drifts.
 */
import type { Benchmark, Peer, Scale } from "../benchmark.ts";
import { runPsql } from "./client.ts";

const ROWS = { smoke: 2_000, full: 1_000_000 } as const;

let file: string | null = null;

async function makeFile(scale: Scale): Promise<void> {
  if (file !== null) return;
  file = await Deno.makeTempFile({ prefix: "names-", suffix: ".copy" });
  const lines: string[] = [];
  for (let id = 1; id <= ROWS[scale]; id++) lines.push(`${id}\t${id % 1000}\tName ${id} of some length\n`);
  await Deno.writeTextFile(file, lines.join(""));
}

async function removeFile(): Promise<void> {
  if (file !== null) await Deno.remove(file);
  file = null;
}

async function loadTime(peer: Peer, trigger: string | null): Promise<number> {
  const statements = [
    "DROP TABLE IF EXISTS named",
    "CREATE TABLE named (id int PRIMARY KEY, n int, name text)",
    ...(trigger === null ? [] : [`CREATE TRIGGER tidy BEFORE INSERT ON named FOR EACH ROW ${trigger}`]),
    // What the load before has left behind is no part of this one.
    "CHECKPOINT",
  ];
  await runPsql(peer, statements.flatMap((each) => ["-c", each]));
  const start = performance.now();
  await runPsql(peer, ["-c", `\\copy named FROM '${file}'`]);
  return performance.now() - start;
}

function throughTrigger(what: string, trigger: string): Benchmark {
  return {
    name: `COPY in through a trigger that sets ${what}, 1 million rows`,
    unit: "times without",
    higherIsBetter: false,
    bar: "≤ 1.5",
    alone: true,
    prepare: async (peer, scale) => {
      await makeFile(scale);
      await loadTime(peer, null);
    },
    measure: async (peer) => {
      const without = await loadTime(peer, null);
      return await loadTime(peer, trigger) / without;
    },
    finish: removeFile,
  };
}

/** A trigger over a number, and one over a text. */
export const copyTriggers: readonly Benchmark[] = [
  throughTrigger("a number", "SET n = NEW.n + 1"),
  throughTrigger("a text", "SET name = upper(NEW.name)"),
];
