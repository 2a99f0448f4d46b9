/**
 * `deno task soak:answers [tables]`: the tables of answers with every move of the rows for every signature. Exit
 * codes: 0 all answers as in the tables or by a known difference, 1 a difference.
 */
import { StateDatabase } from "../support/state_database.ts";
import { CALL_TABLES } from "./calls.ts";
import { DELIBERATE, PENDING, ruleOf } from "./known_differences.ts";
import { Replay } from "./replay.ts";
import { replayCalls } from "./replay_tables.ts";

let found = 0;
for (const table of CALL_TABLES) {
  if (Deno.args.length > 0 && !Deno.args.includes(table)) continue;
  const start = performance.now();
  await using database = await StateDatabase.open();
  const replay = await Replay.start(database);
  await replayCalls(replay, table, { allMoves: true });
  const unknown = replay.differences.filter((each) =>
    ruleOf([...DELIBERATE, ...PENDING], each) === undefined
  );
  found += unknown.length;
  for (const { form, call, expected, answer } of unknown) {
    console.log(`${form}: ${call}\n  PostgreSQL: ${expected}\n  here: ${answer}`);
  }
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${table}: ${replay.calls} calls, ${unknown.length} differ; ${seconds} s`);
}
Deno.exit(found > 0 ? 1 : 0);
