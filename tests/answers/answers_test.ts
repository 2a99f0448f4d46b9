/** Replays the tables of answers. */
import assert from "node:assert/strict";
import { allDefinitions } from "../../engine/sql/functions/registry.ts";
import { StateDatabase } from "../support/state_database.ts";
import { answerOfText, formatAnswers, parseTable } from "./answer_table.ts";
import { CALL_TABLES } from "./calls.ts";
import { excludedNames } from "./excluded.ts";
import { GROUP_TABLES } from "./group_calls.ts";
import { isClose, isInexact } from "./inexact.ts";
import { DELIBERATE, PENDING, ruleOf } from "./known_differences.ts";
import { type Difference, Replay } from "./replay.ts";
import { replayCalls, replayGroups } from "./replay_tables.ts";

/** Differences that are shown when there are too many. */
const MAX_SHOWN = 40;

const deliberate = new Map(DELIBERATE.map((rule) => [rule, 0]));

for (const table of CALL_TABLES) {
  Deno.test(`answers to the calls of ${table} are PostgreSQL's in every form`, async () => {
    await using database = await StateDatabase.open();
    const replay = await Replay.start(database);
    await replayCalls(replay, table, { allMoves: false });
    report(replay.differences);
  });
}

for (const table of GROUP_TABLES) {
  Deno.test(`answers of ${table} over groups of rows are PostgreSQL's`, async () => {
    await using database = await StateDatabase.open();
    const replay = await Replay.start(database);
    await replayGroups(replay, table);
    report(replay.differences);
  });
}

/** Fails for differences that no rule covers. */
function report(differences: readonly Difference[]): void {
  const unknown = differences.filter((difference) => {
    const rule = ruleOf(DELIBERATE, difference);
    if (rule !== undefined) deliberate.set(rule, (deliberate.get(rule) ?? 0) + 1);
    return rule === undefined && ruleOf(PENDING, difference) === undefined;
  });
  const lines = unknown.slice(0, MAX_SHOWN).map(({ form, call, expected, answer }) =>
    `${form}: ${call}\n  PostgreSQL: ${expected}\n  here: ${answer}`
  );
  assert.equal(unknown.length, 0, `${unknown.length} answers differ\n${lines.join("\n")}`);
}

Deno.test("deliberate differences from PostgreSQL's answers still occur", () => {
  const gone = [...deliberate].filter(([, count]) => count === 0).map(([{ reason }]) => reason);
  assert.deepEqual(gone, []);
});

Deno.test("excluded names exist", () => {
  const { functions, operators, aggregates } = allDefinitions();
  const names = new Set([
    ...[...functions, ...aggregates].map(({ name }) => name),
    ...operators.map(({ name }) => `operator ${name}`),
  ]);
  assert.deepEqual(excludedNames().filter((name) => !names.has(name.replace(/\(.*/, ""))), []);
});

Deno.test("a table of answers is read as it is written", () => {
  const answers = [null, "", "a\tb\\", "!x", "~y", "*z", "#", "t", "t", "t", "x".repeat(30)].map(
    answerOfText,
  );
  const text = formatAnswers(answers, answers.map((_, index) => index < 5 ? 0 : 1));
  assert.deepEqual(parseTable(`# f(x)\n${text}\n`).get("f(x)"), answers);
  assert.match(text, /\tt\t\*2\t~30:[0-9a-f]{8}$/);
});

Deno.test("isClose() allows for the last digit of finite numbers only", () => {
  assert.ok(
    isInexact("sin(f64)") && isInexact("f64 ^ f64") && !isInexact("f64 + f64") &&
      !isInexact("power(numeric, numeric)"),
  );
  assert.ok(isClose("1.0000000000000002", "1") && !isClose("1.00000000000001", "1.0000000000001"));
  assert.ok(!isClose("NaN", "NaN") && !isClose("0", "1e-300") && !isClose("!22003", "1"));
});
