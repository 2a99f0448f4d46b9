/**
 * One round of metamorphic checks: a random world and a number of checks over it. What differs is made smaller and
 * reported with everything that is needed to see it again.
 */
import { Database } from "../../../engine/session/database.ts";
import { engineOf } from "../../../engine/session/database.ts";
import { openSharded, shardInThisThread } from "../../../engine/sharding/open_sharded.ts";
import { SQLSTATE } from "../../../engine/base/errors.ts";
import { RowBuffer } from "../../../engine/statements/row_buffer.ts";
import type { Session } from "../../../engine/session/session.ts";
import { memoryHost } from "../../../engine/host/memory_host.ts";
import { formatText } from "../../../engine/types/text_io.ts";
import { Choices, shrink } from "../choices.ts";
import { type Answer, answerOf, BOUND_STATEMENTS, isTooLarge } from "../engine_answers.ts";
import { type Check, CheckMaker, type Relation, type TableRows } from "./check.ts";
import { comparableRow } from "./comparable.ts";
import { relations } from "./relations.ts";
import { chooseWorld, type World, type WorldStep } from "./world.ts";

/** What rounds came to. */
export interface RoundReport {
  readonly checks: number;
  /** Checks whose sides both raised, as they had to. */
  readonly raised: number;
  /** Checks that were given up, since their joins have too many rows. */
  readonly tooLarge: number;
  /** Rows that were compared. */
  readonly rows: number;
  /** How many checks each relation made. */
  readonly made: ReadonlyMap<string, number>;
  readonly failures: readonly string[];
}

/** What a round is. */
export interface Round {
  readonly seed: number;
  readonly checks: number;
  /** Only relations whose name contains this. */
  readonly only?: string;
  /** How many shards the database has; one unless given. */
  readonly shards?: number;
  /** Attempts at making a failure smaller; 300 unless given. */
  readonly shrinking?: number;
}

/** A database in a world. */
class MadeWorld {
  readonly #host = memoryHost();
  readonly #shardCount: number;
  #database: Database | null = null;
  #session: Session | null = null;
  #inTransaction = false;
  rows: TableRows = new Map();

  constructor(shardCount: number) {
    this.#shardCount = shardCount;
  }

  /** Makes the world; an error of its statements is a bug, or one of the generator. */
  async make(world: World): Promise<void> {
    await this.#open();
    for (const step of world.steps) {
      if (step.kind === "sql") await this.run(step.sql);
      else {
        await this.close();
        await this.#open();
      }
    }
    if (world.writing !== null) {
      await this.run("BEGIN");
      for (const sql of world.writing) await this.run(sql);
      this.#inTransaction = true;
    }
    const rows = new Map<string, (string | null)[][]>();
    for (const table of world.tables) {
      if (table.rows <= 100) {
        rows.set(table.name, (await this.run(`SELECT * FROM ${table.copy} ORDER BY id`)).rows);
      }
    }
    this.rows = rows;
  }

  async #open(): Promise<void> {
    const engine = await openSharded({
      host: this.#host,
      directory: "/data",
      shardCount: this.#shardCount,
      startShard: shardInThisThread(this.#host),
    });
    this.#database = Database.over(engine, () => engine.close());
    this.#session = engineOf(this.#database).openSession();
    await this.run(BOUND_STATEMENTS);
  }

  async close(): Promise<void> {
    this.#session?.close();
    await this.#database?.close();
  }

  async run(sql: string): Promise<{ rows: (string | null)[][]; comparable: string[] }> {
    if (this.#session === null) throw new Error("the world is not made");
    const sink = new RowBuffer();
    await this.#session.simple(sql, sink, () => {});
    const types = sink.columns.map(({ type }) => type);
    const rows = sink.rows.map((row) =>
      types.map((type, index) => {
        const value = row[index] ?? null;
        return value === null ? null : formatText(type, value);
      })
    );
    return { rows, comparable: rows.map((row) => comparableRow(types, row)) };
  }

  /** A side's answers, one for each query; a failed one leaves the transaction as it was before it. */
  async side(queries: readonly string[], check: Check): Promise<Answer[]> {
    const { modifies = false, loose = false } = check;
    const own = modifies && !this.#inTransaction;
    if (own) await this.run("BEGIN");
    if (modifies || this.#inTransaction) await this.run("SAVEPOINT before");
    const answers: Answer[] = [];
    for (const query of queries) {
      const answer = await answerOf(async () => {
        const { rows, comparable } = await this.run(query);
        return loose ? comparable.map((text) => [text]) : rows;
      });
      answers.push(answer);
      if ("error" in answer) {
        if (!modifies && this.#inTransaction) await this.run("ROLLBACK TO SAVEPOINT before");
        if (modifies) break;
        if (queries[0]?.startsWith("PREPARE") ?? false) {
          if (!query.startsWith("PREPARE")) await this.run("DEALLOCATE p");
          break;
        }
      }
    }
    if (modifies || this.#inTransaction) await this.run("ROLLBACK TO SAVEPOINT before");
    if (own) await this.run("ROLLBACK");
    return answers;
  }
}

/** The outcome of a check; `difference` is null when its sides agree. */
interface Outcome {
  readonly difference: string | null;
  readonly raised: boolean;
  readonly tooLarge: boolean;
  readonly rows: number;
}

const errorOf = (answer: Answer) => "error" in answer ? answer.error : null;

/** What a side gives as one text for each row, or its error. */
function summary(
  answers: readonly Answer[],
  queries: readonly string[],
): { rows: string[]; error: string | null } {
  const rows: string[] = [];
  let error: string | null = null;
  answers.forEach((answer, index) => {
    if ("error" in answer) error ??= `${answer.error} from: ${queries[index]}`;
    else rows.push(...answer.rows.map((row) => row.map((value) => value ?? "NULL").join(" | ")));
  });
  return { rows, error };
}

function onlyIn(these: readonly string[], those: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const row of those) counts.set(row, (counts.get(row) ?? 0) + 1);
  return these.filter((row) => {
    const count = counts.get(row) ?? 0;
    counts.set(row, count - 1);
    return count <= 0;
  });
}

const isCrash = (code: string | null) => code !== null && (code.startsWith("crash") || code === "XX000");

async function examine(made: MadeWorld, check: Check): Promise<Outcome> {
  const left = await made.side(check.left, check);
  const right = await made.side(check.right, check);
  const all = [...left, ...right];
  const nothing = { raised: false, tooLarge: false, rows: 0, difference: null };
  // chr(0) raises what too many rows do.
  const isRaised = (answer: Answer) =>
    check.raises === true && errorOf(answer) === SQLSTATE.programLimitExceeded;
  if (all.some((answer) => isTooLarge(answer) && !isRaised(answer))) return { ...nothing, tooLarge: true };
  const [first, second] = [summary(left, check.left), summary(right, check.right)];
  const failed = all.filter((answer) => errorOf(answer) !== null).length;
  if (failed > 0) {
    const mustNot = check.raises !== true || all.some((answer) => isCrash(errorOf(answer)));
    // A side that is several queries raises in each: all of them compute the condition for every row.
    const differs = check.modifies === true || check.left[0]?.startsWith("PREPARE") === true
      ? first.error === null || second.error === null
      : failed < all.length;
    if (mustNot || differs) {
      return {
        ...nothing,
        difference: `left ${first.error ?? "has rows"}\nright ${second.error ?? "has rows"}`,
      };
    }
    return { ...nothing, raised: true };
  }
  const agree = check.ordered === true
    ? first.rows.join("\n") === second.rows.join("\n")
    : first.rows.toSorted().join("\n") === second.rows.toSorted().join("\n");
  if (agree) return { ...nothing, rows: first.rows.length };
  const some = (rows: readonly string[]) => rows.slice(0, 5).map((row) => `\n    ${row}`).join("");
  return {
    ...nothing,
    difference: `${first.rows.length} rows against ${second.rows.length}\n  only left:${
      some(onlyIn(first.rows, second.rows))
    }\n  only right:${some(onlyIn(second.rows, first.rows))}${
      check.ordered === true ? "\n  (in order)" : ""
    }`,
  };
}

function makeCheck(relation: Relation, record: Choices, world: World, rows: TableRows): Check | null {
  try {
    return relation.make(new CheckMaker({ choices: record, world, rows }));
  } catch (error) {
    // Of a shortened record: there is nothing to choose from.
    if (error instanceof TypeError || error instanceof Error && error.message.startsWith("cannot pick")) {
      return null;
    }
    throw error;
  }
}

const stepText = (step: WorldStep) => step.kind === "sql" ? `${step.sql};` : "-- restart";

/** The world and the sides of a failing check, made smaller. */
class Failure {
  readonly #relation: Relation;
  readonly #attempts: number;
  readonly #shards: number;

  constructor(relation: Relation, attempts: number, shards: number) {
    this.#relation = relation;
    this.#attempts = attempts;
    this.#shards = shards;
  }

  /** What the check of a record gives in a made world; null when its sides agree. */
  async #differenceIn(made: MadeWorld, world: World, check: readonly number[]): Promise<string | null> {
    const sides = makeCheck(this.#relation, Choices.replay(check), world, made.rows);
    return sides === null ? null : (await examine(made, sides)).difference;
  }

  /** Work in a world that is made for it; null when it cannot be made. */
  async #within<T>(
    record: readonly number[],
    work: (made: MadeWorld, world: World) => Promise<T>,
  ): Promise<T | null> {
    const made = new MadeWorld(this.#shards);
    try {
      const world = chooseWorld(Choices.replay(record));
      await made.make(world);
      return await work(made, world);
    } catch {
      return null;
    } finally {
      await made.close();
    }
  }

  async report(world: readonly number[], check: readonly number[]): Promise<string> {
    let [smallWorld, smallCheck] = [world, check];
    const again = await this.#within(world, (made, chosen) => this.#differenceIn(made, chosen, check));
    if (again !== null) {
      // A difference stays a difference; an error stays that error.
      const sort = (text: string | null) =>
        /(left|right) (\w+) from|rows against/.exec(text ?? "")?.[0] ?? null;
      const wanted = sort(again);
      const smallerCheck = async () =>
        await this.#within(smallWorld, (made, chosen) =>
          shrink(
            smallCheck,
            async (record) => sort(await this.#differenceIn(made, chosen, record)) === wanted,
            this.#attempts,
          )) ?? smallCheck;
      smallCheck = await smallerCheck();
      smallWorld = await shrink(
        world,
        async (record) =>
          sort(await this.#within(record, (made, chosen) => this.#differenceIn(made, chosen, smallCheck))) ===
            wanted,
        this.#attempts,
      );
      smallCheck = await smallerCheck();
    }
    const chosen = chooseWorld(Choices.replay(smallWorld));
    const made = new MadeWorld(this.#shards);
    try {
      await made.make(chosen);
      const sides = makeCheck(this.#relation, Choices.replay(smallCheck), chosen, made.rows);
      const difference = sides === null ? "nothing" : (await examine(made, sides)).difference;
      return [
        `${this.#relation.name}${again === null ? " (only after the checks before it)" : ""}:`,
        ...chosen.steps.map(stepText),
        ...chosen.writing === null ? [] : ["BEGIN;", ...chosen.writing.map((sql) => `${sql};`)],
        ...(sides?.left ?? []).map((sql) => `left:  ${sql};`),
        ...(sides?.right ?? []).map((sql) => `right: ${sql};`),
        difference,
      ].join("\n");
    } finally {
      await made.close();
    }
  }
}

/** Runs one round. */
export async function runRound(round: Round): Promise<RoundReport> {
  const choices = Choices.ofSeed(round.seed);
  const world = chooseWorld(choices);
  const worldRecord = [...choices.record];
  const chosen = relations.filter(({ name }) => name.includes(round.only ?? ""));
  const report = {
    checks: 0,
    raised: 0,
    tooLarge: 0,
    rows: 0,
    made: new Map<string, number>(),
    failures: [] as string[],
  };
  const made = new MadeWorld(round.shards ?? 1);
  try {
    try {
      await made.make(world);
    } catch (error) {
      const steps = [...world.steps.map(stepText), ...world.writing ?? []].join("\n");
      report.failures.push(
        `the world cannot be made: ${error instanceof Error ? error.stack : error}\n${steps}`,
      );
      return report;
    }
    for (let index = 0; index < round.checks; index++) {
      const relation = chosen[index % chosen.length];
      if (relation === undefined) throw new Error(`there is no relation ${round.only}`);
      const record = Choices.ofSeed(round.seed * 10_007 + index);
      const check = makeCheck(relation, record, world, made.rows);
      if (check === null) continue;
      const { difference, raised, tooLarge, rows } = await examine(made, check);
      report.checks++;
      report.made.set(relation.name, (report.made.get(relation.name) ?? 0) + 1);
      report.rows += rows;
      if (raised) report.raised++;
      if (tooLarge) report.tooLarge++;
      if (difference === null) continue;
      const failure = new Failure(relation, round.shrinking ?? 300, round.shards ?? 1);
      report.failures.push(await failure.report(worldRecord, record.record));
    }
  } finally {
    await made.close();
  }
  return report;
}
