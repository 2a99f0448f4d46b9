/** Replays the tables of answers. */
import assert from "node:assert/strict";
import { allDefinitions } from "../../engine/sql/functions/registry.ts";
import { open } from "../../mod.ts";
import { answerOfText, formatAnswers, parseTable } from "./answer_table.ts";
import { CALL_TABLES, callsOf, type CallTable, signaturesOf } from "./calls.ts";
import { excludedNames } from "./excluded.ts";
import { GROUP_TABLES, groupSignaturesOf, groupsOf, type GroupTable } from "./group_calls.ts";
import { isClose, isInexact } from "./inexact.ts";
import { DELIBERATE, PENDING, ruleOf } from "./known_differences.ts";
import {
  type Difference,
  type Expectation,
  type GroupExpectation,
  PREPARATION,
  Replay,
  tableFile,
} from "./replay.ts";

/** Differences that are shown when there are too many. */
const MOST_SHOWN = 40;

const deliberate = new Map(DELIBERATE.map((rule) => [rule, 0]));

for (const table of CALL_TABLES) {
  Deno.test(`answers to the calls of ${table} are PostgreSQL's in every form`, async () => {
    await using database = await open(":memory:");
    const replay = new Replay(database);
    for (const statement of PREPARATION) await replay.run(statement);
    await replayCalls(replay, table, expectationsOf(table));
    report(replay.differences);
  });
}

for (const table of GROUP_TABLES) {
  Deno.test(`answers of ${table} over groups of rows are PostgreSQL's`, async () => {
    await using database = await open(":memory:");
    const replay = new Replay(database);
    for (const statement of PREPARATION) await replay.run(statement);
    const expectations = groupExpectationsOf(table);
    for (const each of expectations) await replay.groups("delta", each);
    await replay.run("checkpoint");
    for (const each of expectations) await replay.groups("segment", each);
    report(replay.differences);
  });
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

async function replayCalls(
  replay: Replay,
  table: CallTable,
  expectations: readonly Expectation[],
): Promise<void> {
  for (const each of expectations) await replay.literals(each);
  for (const each of expectations) await replay.parameters(each);
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
  await replay.run("checkpoint");
  for (const group of groups) await replay.columns("segment", "all", group);
  for (const group of numeric) {
    await replay.columns("segment of small integers", "small", group);
    await replay.columns("segment of a constant", "constant", group);
  }
}

/** Fails for differences that no rule covers. */
function report(differences: readonly Difference[]): void {
  const unknown = differences.filter((difference) => {
    const rule = ruleOf(DELIBERATE, difference);
    if (rule !== undefined) deliberate.set(rule, (deliberate.get(rule) ?? 0) + 1);
    return rule === undefined && ruleOf(PENDING, difference) === undefined;
  });
  const lines = unknown.slice(0, MOST_SHOWN).map(({ form, call, expected, answer }) =>
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
  assert.deepEqual(excludedNames().filter((name) => !names.has(name)), []);
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
