/**
 * `deno task answers [tables]`: asks a PostgreSQL server of its own for the answers to all calls and writes the
 * tables anew. Exit code 2 when there is no PostgreSQL to ask.
 */
import {
  type ClosableLogicDatabase,
  PostgresqlMissing,
  PrivatePostgresql,
} from "../slt/private_postgresql.ts";
import { type Answer, answerOfError, answerOfText, formatAnswers, formatTable } from "./answer_table.ts";
import { CALL_TABLES, callsOf, signaturesOf } from "./calls.ts";
import { literalOf } from "./edge_values.ts";
import { GROUP_TABLES, groupSignaturesOf, groupsOf } from "./group_calls.ts";
import { PREPARATION, sourceOf, tableFile } from "./replay.ts";

/** Evaluates an expression: its text, or `E` and the SQLSTATE. NULL is told by an empty result. */
const EVALUATOR = `
  create function answer(expression text) returns text language plpgsql as $$
  declare
    result text;
  begin
    execute 'select case when num_nulls(x) = 1 then null else ''T'' || format(''%s'', x) end from (select '
      || expression || ' as x offset 0) q' into result;
    return result;
  exception when others then
    return 'E' || sqlstate;
  end $$`;

/** Expressions in one statement. */
const BATCH = 200;

async function answersOf(database: ClosableLogicDatabase, expressions: readonly string[]): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let start = 0; start < expressions.length; start += BATCH) {
    const list = expressions.slice(start, start + BATCH).map((expression, index) =>
      `(${index}, '${expression.replaceAll("'", "''")}')`
    );
    const rows = await database.run(`select answer(e) from (values ${list.join(", ")}) v(k, e) order by k`);
    for (const [result = null] of rows) {
      answers.push(
        result === null
          ? answerOfText(null)
          : result.startsWith("E")
          ? answerOfError(result.slice(1))
          : answerOfText(result.slice(1)),
      );
    }
  }
  return answers;
}

async function main(): Promise<void> {
  const server = await PrivatePostgresql.start();
  try {
    const database = await server.database();
    for (const statement of [...PREPARATION, EVALUATOR]) await database.run(statement);
    for (const table of CALL_TABLES) {
      if (Deno.args.length > 0 && !Deno.args.includes(table)) continue;
      const lines = new Map<string, string>();
      for (const { label, pools, call } of signaturesOf(table)) {
        const calls = callsOf(pools);
        const expressions = calls.map((tuple) =>
          call(tuple.map((position, index) => literalOf(pools[index] ?? missing(label), position)))
        );
        const answers = await answersOf(database, expressions);
        lines.set(label, formatAnswers(answers, calls.map(([first]) => first)));
      }
      await Deno.writeTextFile(tableFile(table), formatTable(lines));
    }
    for (const table of GROUP_TABLES) {
      if (Deno.args.length > 0 && !Deno.args.includes(table)) continue;
      const lines = new Map<string, string>();
      for (const { label, pools, query } of groupSignaturesOf(table)) {
        const sources = groupsOf(pools, table === "windows").map((group) => sourceOf(pools, group));
        const answers = await answersOf(database, sources.map((source) => `(${query(source, "")})`));
        lines.set(label, formatAnswers(answers, answers.map((_, index) => Math.floor(index / 20))));
      }
      await Deno.writeTextFile(tableFile(table), formatTable(lines));
    }
    await database.close();
  } finally {
    await server.stop();
  }
}

function missing(label: string): never {
  throw new Error(`${label} has more arguments than pools`);
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof PostgresqlMissing)) throw error;
    await Deno.stderr.write(new TextEncoder().encode(`${error.message}\n`));
    Deno.exitCode = 2;
  }
}
