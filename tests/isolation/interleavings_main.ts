/**
 * `deno task soak:interleavings [--seed 1] [--seeds 2000] [--shards 1]`: sessions that interleave, here and in
 * PostgreSQL, and what they are answered differently. Exit codes: 0, 1 when something differs, 2 when PostgreSQL is not
 * installed.
 */
import { parseArgs } from "node:util";
import { PostgresqlMissing, PrivatePostgresql } from "../slt/private_postgresql.ts";
import { InterleavedEngine, InterleavedPostgresql } from "./interleaved_servers.ts";
import { compareInterleaving } from "./interleavings.ts";

/** Compares so many seeds. Answers what differs. Raises {@link PostgresqlMissing}. */
export async function compareInterleavings(seed: number, count: number, shards = 1): Promise<string[]> {
  const server = await PrivatePostgresql.start();
  const here = new InterleavedEngine(shards), there = new InterleavedPostgresql(server);
  const differences: string[] = [];
  try {
    for (let each = seed; each < seed + count; each++) {
      const difference = await compareInterleaving(each, [here, there]);
      if (difference !== null) differences.push(difference);
    }
    return differences;
  } finally {
    await Promise.all([here.close(), there.close()]);
    await server.stop();
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      seed: { type: "string", default: "1" },
      seeds: { type: "string", default: "2000" },
      shards: { type: "string", default: "1" },
    },
  });
  try {
    const differences = await compareInterleavings(
      Number(values.seed),
      Number(values.seeds),
      Number(values.shards),
    );
    for (const difference of differences) console.log(`${difference}\n`);
    console.log(`${values.seeds} interleavings, ${differences.length} differ from PostgreSQL`);
    Deno.exitCode = differences.length > 0 ? 1 : 0;
  } catch (error) {
    if (!(error instanceof PostgresqlMissing)) throw error;
    console.error(`soak:interleavings: ${error.message}`);
    Deno.exitCode = 2;
  }
}
