/**
 * TPC-H's queries once more over the same tables, after their rows went through something or asked for in another
 * way: the answers must be those of the rows as they were loaded.
 */
import type postgres from "postgres";
import { TPCH_QUERIES } from "../../../engine/sql/planner/tpch_queries_for_test.ts";
import { parametrized } from "../../support/parametrized.ts";
import { ask } from "../cases/tpch.ts";
import { difference, type Rows } from "./answers.ts";
import { type Table, TABLES } from "./generator.ts";

interface TpchState {
  readonly name: string;
  /** Happens once, to all tables. */
  readonly before?: (client: postgres.Sql) => Promise<void>;
  readonly ask: (client: postgres.Sql, text: string) => Promise<Rows>;
  readonly after?: (client: postgres.Sql) => Promise<void>;
}

/** For each table a column that can be set to itself, and one that tells half of the rows from the others. */
const COLUMNS: Readonly<Record<Table, readonly [string, string]>> = {
  region: ["r_name", "r_regionkey"],
  nation: ["n_name", "n_nationkey"],
  supplier: ["s_name", "s_suppkey"],
  customer: ["c_name", "c_custkey"],
  part: ["p_name", "p_partkey"],
  partsupp: ["ps_availqty", "ps_partkey"],
  orders: ["o_clerk", "o_orderkey"],
  lineitem: ["l_quantity", "l_partkey"],
};

async function rewriteHalf(client: postgres.Sql, parity: number): Promise<void> {
  for (const table of TABLES) {
    const [column, key] = COLUMNS[table];
    await client.unsafe(`UPDATE ${table} SET ${column} = ${column} WHERE ${key} % 2 = ${parity}`);
  }
}

async function askSixTimes(client: postgres.Sql, text: string): Promise<Rows> {
  await client.unsafe(`PREPARE tpch_state AS ${text}`);
  let rows: Rows = [];
  for (let time = 0; time < 6; time++) rows = await ask(client, "EXECUTE tpch_state");
  await client.unsafe("DEALLOCATE tpch_state");
  return rows;
}

/** In this order: what happened to the rows remains. */
const STATES: readonly TpchState[] = [
  { name: "checkpointed", before: async (client) => void await client.unsafe("CHECKPOINT"), ask },
  {
    name: "in its transaction",
    before: async (client) => {
      await client.unsafe("BEGIN");
      await rewriteHalf(client, 0);
    },
    ask,
    after: async (client) => void await client.unsafe("ROLLBACK"),
  },
  { name: "half moved", before: (client) => rewriteHalf(client, 1), ask },
  {
    name: "with added columns",
    before: async (client) => {
      for (const table of TABLES) {
        await client.unsafe(`ALTER TABLE ${table} ADD COLUMN added int DEFAULT 7`);
        await client.unsafe(`ALTER TABLE ${table} DROP COLUMN added`);
      }
    },
    ask,
  },
  {
    name: "with parameters",
    ask: async (client, text) => {
      const { text: prepared, parameters } = parametrized(text);
      return (await client.unsafe(prepared, [...parameters]).values()) as Rows;
    },
  },
  { name: "prepared, six times", ask: askSixTimes },
];

/** What differs from the answers that are known; without `everywhere` each query meets one of the states. */
export async function differencesInStates(
  client: postgres.Sql,
  known: ReadonlyMap<string, Rows>,
  everywhere: boolean,
): Promise<string[]> {
  const differences: string[] = [];
  for (const [position, state] of STATES.entries()) {
    await state.before?.(client);
    for (const [index, [name, text]] of Object.entries(TPCH_QUERIES).entries()) {
      if (!everywhere && index % STATES.length !== position) continue;
      const found = difference(name, await state.ask(client, text), known.get(name) ?? []);
      if (found !== null) differences.push(`${name}, ${state.name}: ${found}`);
    }
    await state.after?.(client);
  }
  return differences;
}
