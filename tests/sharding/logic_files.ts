/** The files of the logic tests in databases of shards. */
import { caseFiles } from "../slt/compare_postgresql.ts";
import { logicDatabase } from "../slt/library_database.ts";
import { parseLogicTests } from "../slt/logic_test_file.ts";
import { runLogicTests } from "../slt/run_logic_tests.ts";
import { openShards } from "./sharded_database.ts";

/**
 * Records that ask for rows in no order, and whose answers tell it: see "What may differ" in docs/sharding.md. By the
 * file's name without its ending, the lines.
 */
const UNORDERED: Readonly<Record<string, readonly number[]>> = {
  // Last bits of sums of doubles.
  aggregates: [139],
  // array_agg and string_agg without ORDER BY.
  common_types: [27],
  // LIMIT without ORDER BY.
  limit_zero: [79],
  // EXPLAIN says at which shard the row is.
  native: [367],
  // Which of several equal values is shown for a group.
  storage_aggregates: [2773],
  // LIMIT without ORDER BY: whether a row that fails is among them.
  subqueries: [580, 589],
  // RETURNING, in the order in which rows are found.
  triggers: [30, 165, 198],
  // nextval() row by row, as rows are found.
  volatile_functions: [98, 527],
  wide_numeric: [119],
};

/** The names of the logic tests' files, without their ending. */
export function logicFileNames(): string[] {
  return [...caseFiles()].map(nameOf).sort();
}

/** Runs a file in a database of so many shards; answers its records and what differs. */
export async function runLogicFile(
  name: string,
  shardCount: number,
): Promise<{ readonly records: number; readonly failures: readonly string[] }> {
  const url = [...caseFiles()].find((each) => nameOf(each) === name);
  if (url === undefined) throw new Error(`there is no file ${name}`);
  const records = parseLogicTests(Deno.readTextFileSync(url), "db");
  await using database = await openShards(shardCount);
  const failures = await runLogicTests(logicDatabase(database), records);
  const unordered = UNORDERED[name] ?? [];
  return {
    records: records.length,
    failures: failures.filter(({ line }) => !unordered.includes(line)).map(({ line, sql, message }) =>
      `${shardCount} shards, ${name}:${line}: ${sql}\n ${message}`
    ),
  };
}

function nameOf(url: URL): string {
  return (url.pathname.split("/").at(-1) ?? "").replace(/\.slt$/, "");
}
