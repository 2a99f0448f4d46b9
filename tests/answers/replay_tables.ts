/** Replays whole tables of answers: which forms of calls their signatures meet. */
import assert from "node:assert/strict";
import { parseTable } from "./answer_table.ts";
import { callsOf, type CallTable, signaturesOf } from "./calls.ts";
import { groupSignaturesOf, groupsOf, type GroupTable } from "./group_calls.ts";
import { type Expectation, type GroupExpectation, type Replay, tableFile } from "./replay.ts";

/** What segments go through before the calls are asked for again. */
const MOVES = ["segment", "half moved", "in its transaction"] as const;

/**
 * A table of calls. All rows meet the delta and segments that a restart has read; each group of signatures also one
 * move, or all.
 */
export async function replayCalls(
  replay: Replay,
  table: CallTable,
  { allMoves }: { readonly allMoves: boolean },
): Promise<void> {
  const expectations = expectationsOf(table);
  for (const each of expectations) {
    await replay.literals(each);
    await replay.parameters(each);
  }
  const groups = [
    ...Map.groupBy(expectations, ({ signature }) => signature.pools.map(({ name }) => name).join(", "))
      .values(),
  ].filter(([first]) => first !== undefined && first.signature.pools.length > 0);
  const numeric = table !== "operators"
    ? []
    : groups.filter(([first]) =>
      first?.signature.pools.every(({ name }) => /^(i16|i32|i64|f32|f64|numeric)\b/.test(name))
    );
  for (const group of groups) await replay.columns("delta", "all", group);
  if (table === "operators") {
    for (const group of groups) {
      await replay.columns("interpreted", "all", group, (sql) => replay.interpreted(sql));
    }
  }
  for (const group of numeric) {
    await replay.columns("delta of small integers", "small", group);
    await replay.columns("delta of a constant", "constant", group);
  }
  const withDefault = groups.filter((_, index) => allMoves || index % MOVES.length === 0);
  for (const group of withDefault) await replay.table(poolsOf(group), "default");
  await replay.restart();
  for (const group of numeric) {
    await replay.columns("segment of small integers", "small", group);
    await replay.columns("segment of a constant", "constant", group);
  }
  for (const group of withDefault) {
    await replay.addDefault(poolsOf(group));
    await replay.columns("default of an added column", "default", group);
  }
  for (const [index, group] of groups.entries()) {
    const moves = allMoves ? MOVES : MOVES.slice(index % MOVES.length).slice(0, 1);
    for (const move of moves) await replayMoved(replay, move, group);
  }
}

async function replayMoved(
  replay: Replay,
  move: typeof MOVES[number],
  group: readonly Expectation[],
): Promise<void> {
  if (move === "segment") return await replay.columns(move, "all", group);
  if (move === "half moved") {
    await replay.moveRows(poolsOf(group));
    return await replay.columns(move, "all", group);
  }
  await replay.run("begin");
  await replay.moveRows(poolsOf(group));
  await replay.columns(move, "all", group, (sql) => replay.runAfterSavepoint(sql));
  await replay.run("rollback");
}

function poolsOf([first]: readonly Expectation[]) {
  return first?.signature.pools ?? [];
}

/** A table of groups, in the delta and in segments that a restart has read. */
export async function replayGroups(replay: Replay, table: GroupTable): Promise<void> {
  const expectations = groupExpectationsOf(table);
  for (const each of expectations) await replay.groups("delta", each);
  await replay.restart();
  for (const each of expectations) await replay.groups("segment", each);
}

function groupExpectationsOf(table: GroupTable): GroupExpectation[] {
  const answers = parseTable(Deno.readTextFileSync(tableFile(table)));
  const expectations = groupSignaturesOf(table).map((signature): GroupExpectation => {
    const known = answers.get(signature.label) ?? [];
    assertComplete(
      table,
      signature.label,
      known.length,
      groupsOf(signature.pools, table === "windows").length,
    );
    return { signature, answers: known };
  });
  assert.equal(answers.size, expectations.length, `tables/${table}.tsv has signatures that are gone`);
  return expectations;
}

function assertComplete(table: string, label: string, known: number, wanted: number): void {
  assert.equal(
    known,
    wanted,
    `tables/${table}.tsv lacks answers for ${label}: run \`deno task answers ${table}\``,
  );
}

function expectationsOf(table: CallTable): Expectation[] {
  const answers = parseTable(Deno.readTextFileSync(tableFile(table)));
  const expectations = signaturesOf(table).map((signature): Expectation => {
    const known = answers.get(signature.label) ?? [];
    assertComplete(table, signature.label, known.length, callsOf(signature.pools).length);
    return { signature, answers: known };
  });
  assert.equal(answers.size, expectations.length, `tables/${table}.tsv has signatures that are gone`);
  return expectations;
}
