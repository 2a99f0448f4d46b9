/**
 * `deno task soak:shards [script] [logic] [tpch] [--statements N] [--seed N]`: the same answers with 1, 2, 4, 8 and 16
 * shards as with none: of a script of at least 3 000 statements of all kinds, byte by byte; of every file of the logic
 * tests; of TPC-H's queries at scale 0.1, of the compiled server. All three, when none is named. Exit codes: 0 equal,
 * 1 a difference that is not documented, 2 wrong usage.
 */
import { parseArgs } from "node:util";
import { SHARD_COUNTS } from "../../engine/sharding/shard_map.ts";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { exactDifference } from "../bench/tpch/answers.ts";
import { equalScript } from "./equal_script.ts";
import { logicFileNames, runLogicFile } from "./logic_files.ts";
import { scriptAnswers } from "./script_answers.ts";
import { tpchAnswers } from "./tpch_answers.ts";

const SCALE = 0.1;
const PARTS: Readonly<Record<string, () => Promise<number>>> = { script, logic, tpch };

const { values, positionals } = parseArgs({
  args: Deno.args,
  options: {
    statements: { type: "string", default: "3000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
  allowPositionals: true,
});
const [count, seed] = [Number(values.statements), Number(values.seed)];
const names = positionals.length === 0 ? Object.keys(PARTS) : positionals;
if (!(count >= 1) || !Number.isSafeInteger(seed) || names.some((name) => PARTS[name] === undefined)) {
  console.error("Usage: deno task soak:shards [script] [logic] [tpch] [--statements N] [--seed N]");
  Deno.exit(2);
}

function secondsSince(start: number): string {
  return `${Math.round((performance.now() - start) / 1000)} s`;
}

/** Answers how many answers differ. */
async function script(): Promise<number> {
  const steps = equalScript(seed, count);
  console.log(`${steps.length} statements; again with: deno task soak:shards script --seed ${seed}`);
  const alone = await scriptAnswers(null, steps);
  const failed = alone.filter((answer) => answer.includes('\n["')).length;
  let differing = 0;
  for (const shards of SHARD_COUNTS) {
    const start = performance.now();
    const answers = await scriptAnswers(shards, steps);
    const different = answers.filter((answer, index) => answer !== alone[index]);
    differing += different.length;
    console.log(
      `${shards} shards: ${different.length} differ, ${failed} fail as they must, ${secondsSince(start)}`,
    );
    for (const answer of different.slice(0, 5)) {
      console.log(`${answer}\n--- alone:\n${alone[answers.indexOf(answer)]}\n`);
    }
  }
  return differing;
}

async function logic(): Promise<number> {
  let differing = 0;
  for (const shards of SHARD_COUNTS) {
    const start = performance.now();
    let records = 0, different = 0;
    for (const name of logicFileNames()) {
      const outcome = await runLogicFile(name, shards);
      records += outcome.records;
      different += outcome.failures.length;
      for (const failure of outcome.failures) console.log(`${failure}\n`);
    }
    differing += different;
    console.log(
      `${shards} shards: ${records} records of logic tests, ${different} differ, ${secondsSince(start)}`,
    );
  }
  return differing;
}

async function tpch(): Promise<number> {
  const { dbd: binary } = await compiledPrograms();
  const alone = await tpchAnswers(SCALE, { shardCount: null, binary });
  let differing = 0;
  for (const shardCount of SHARD_COUNTS) {
    const start = performance.now();
    const answers = await tpchAnswers(SCALE, { shardCount, binary });
    const different = [...alone].flatMap(([name, rows]) => {
      const difference = exactDifference(name, answers.get(name) ?? [], rows);
      return difference === null ? [] : `${name}: ${difference}`;
    });
    differing += different.length;
    console.log(
      `${shardCount} shards: ${alone.size} queries of TPC-H at ${SCALE}, ${different.length} differ, ${
        secondsSince(start)
      }`,
    );
    for (const each of different) console.log(`  ${each}`);
  }
  return differing;
}

let differing = 0;
for (const name of names) differing += await PARTS[name]?.() ?? 0;
Deno.exit(differing > 0 ? 1 : 0);
