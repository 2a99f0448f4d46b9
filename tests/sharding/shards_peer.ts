/** A database of shards as a peer of random statements: its answers must be those of a database without. */
import { Choices } from "../fuzz/choices.ts";
import type { EdgePeer } from "../fuzz/edge_oracle.ts";
import { type Answer, answerOf } from "../fuzz/engine_answers.ts";
import { SQLSTATE } from "../../mod.ts";
import { StateDatabase } from "../support/state_database.ts";

/** Every so many statements its rows go to files. */
const CHECKPOINT_EVERY = 150;
/** Statements that give one of several equal values. */
const CHOOSES = /\b(?:min|max)\(|\bGROUP BY\b/;
/** Changes of columns to what other columns of the row have, or one more. */
const TAKES_VALUES = /\bUPDATE\b.*\bSET\b.* = (?:t\.)?(?:c\d+|r)\b/;

/** See the file's head. */
export class ShardsPeer implements EdgePeer, AsyncDisposable {
  readonly #database: StateDatabase;
  readonly #choices: Choices;

  private constructor(database: StateDatabase, seed: number) {
    this.#database = database;
    this.#choices = Choices.ofSeed(seed);
  }

  /** Opens one of so many shards; when its rows go to files follows from the seed. */
  static async open(shardCount: number, seed: number): Promise<ShardsPeer> {
    return new ShardsPeer(await StateDatabase.open(shardCount), seed);
  }

  async answers(statements: readonly string[]): Promise<Answer[]> {
    const answers: Answer[] = [];
    for (const sql of statements) {
      answers.push(await answerOf(() => this.#database.run(sql)));
      if (this.#choices.below(CHECKPOINT_EVERY) === 0) await this.#database.checkpoint();
    }
    return answers;
  }

  /** Which of equal numbers stands for them is not told: they differ in zeros behind the point, or in signs of 0. */
  form(row: string, sql: string): string {
    const form = row.replaceAll(/(\.\d*?)0+(?!\d)/g, "$1").replaceAll(/\.(?!\d)/g, "");
    return CHOOSES.test(sql) ? form.replaceAll('"-0"', '"0"') : form;
  }

  /** Whether rows that take each other's keys fail hangs on their order. */
  mayPart(own: Answer, other: Answer, sql: string): boolean {
    const failed = [own, other].flatMap((answer) => "error" in answer ? [answer.error] : []);
    return failed.length === 1 && failed[0] === SQLSTATE.uniqueViolation && TAKES_VALUES.test(sql);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#database[Symbol.asyncDispose]();
  }
}
