/**
 * Random statements over edge values whose answers must be PostgreSQL's to the letter, errors included, in every
 * state of the rows and in every way to ask.
 *
 * A round has one table and several databases that hold it in different states. PostgreSQL gets a batch of statements
 * at once and computes while the database under test does.
 */
import { seededRandom } from "../support/random.ts";
import { type Keeping, KEEPINGS, type Way, WAYS } from "../support/storage_states.ts";
import { Choices, shrink } from "./choices.ts";
import type { Answer } from "./engine_answers.ts";
import { EdgeDatabase } from "./edge_states.ts";
import { type EdgeStatement, EdgeStatements } from "./edge_statements.ts";
import { createEdgeTable, type EdgeTable, insertEdgeRows, makeEdgeTable } from "./edge_tables.ts";

/** A server that answers several statements at once. */
export interface EdgePeer {
  answers(statements: readonly string[]): Promise<Answer[]>;
  /** What rows are compared by, where equal values may come in several forms; as they are unless given. */
  form?(row: string, sql: string): string;
  /** Whether different answers to a statement may be right, after which rows need not be the same. */
  mayPart?(own: Answer, other: Answer, sql: string): boolean;
}

/** What a round came to. */
export interface EdgeReport {
  readonly statements: number;
  /** Statements that gave rows, not errors. */
  readonly answered: number;
  readonly failures: readonly string[];
}

const batchSize = 50;
const statesPerRound = 2;
const [plainKeeping] = KEEPINGS as readonly [Keeping, ...Keeping[]];
const [plainWay] = WAYS as readonly [Way, ...Way[]];

/** Runs a round; without a peer, the first state's simple queries are the answers to compare with. */
export async function runEdgeRound(
  { seed, statements, peer }: {
    readonly seed: number;
    readonly statements: number;
    readonly peer: EdgePeer | null;
  },
): Promise<EdgeReport> {
  const random = seededRandom(seed);
  const size = seed % 40 === 7 ? 3000 : random.pick([3, 12, 12, 25, 60]);
  const table = makeEdgeTable(random, size);
  await using round = new EdgeRound(seed, table, peer);
  await round.prepare();
  return await round.run(statements);
}

class EdgeRound implements AsyncDisposable {
  readonly #seed: number;
  readonly #table: EdgeTable;
  readonly #peer: EdgePeer | null;
  readonly #databases: { readonly keeping: Keeping; readonly database: EdgeDatabase }[] = [];
  #model: EdgeDatabase | null = null;

  constructor(seed: number, table: EdgeTable, peer: EdgePeer | null) {
    this.#seed = seed;
    this.#table = table;
    this.#peer = peer;
  }

  async prepare(): Promise<void> {
    const table = this.#table;
    if (this.#peer === null) {
      this.#model = await EdgeDatabase.make(plainKeeping, table);
    } else {
      const texts = [
        "DROP TABLE IF EXISTS e",
        createEdgeTable(table),
        ...insertEdgeRows(table, 0, table.rows.length),
      ];
      for (const [index, answer] of (await this.#peer.answers(texts)).entries()) {
        if ("error" in answer) throw new Error(`${answer.error}: ${texts[index]?.slice(0, 2000)}`);
      }
    }
    for (let index = 0; index < statesPerRound; index++) {
      const keeping = KEEPINGS[(this.#seed * statesPerRound + index) % KEEPINGS.length] as Keeping;
      this.#databases.push({ keeping, database: await EdgeDatabase.make(keeping, table) });
    }
  }

  async run(count: number): Promise<EdgeReport> {
    const failures: string[] = [];
    let answered = 0;
    for (let from = 0; from < count && failures.length < 3; from += batchSize) {
      const choices = Array.from(
        { length: Math.min(batchSize, count - from) },
        (_, index) => Choices.ofSeed(this.#seed * 100_003 + from + index),
      );
      const batch = choices.map((each) => this.#generate(each));
      const expected = this.#expected(batch);
      const found: Answer[] = [];
      for (const [index, statement] of batch.entries()) {
        found.push(await this.#answer(statement, from + index));
      }
      for (const [index, answer] of (await expected).entries()) {
        const statement = batch[index];
        const actual = found[index];
        if (statement === undefined || actual === undefined) continue;
        if ("rows" in actual) answered++;
        if (textOf(actual, statement) === textOf(answer, statement) || failures.length >= 3) continue;
        failures.push(await this.#explain(choices[index]?.record ?? [], from + index));
      }
    }
    return { statements: count, answered, failures };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#model?.[Symbol.asyncDispose]();
    for (const { database } of this.#databases) await database[Symbol.asyncDispose]();
  }

  #generate(choices: Choices): EdgeStatement {
    return new EdgeStatements(choices, this.#table.columns, this.#table.rows.length).make();
  }

  async #expected(statements: readonly EdgeStatement[]): Promise<Answer[]> {
    if (this.#peer !== null) return await this.#peer.answers(statements.map(({ sql }) => sql));
    const answers: Answer[] = [];
    for (const each of statements) {
      if (this.#model !== null) answers.push(await this.#model.answer(each, plainWay));
    }
    return answers;
  }

  /** The state and the way that a statement is asked in follow from its position. */
  #chosen(
    position: number,
  ): { readonly keeping: Keeping; readonly database: EdgeDatabase; readonly way: Way } {
    const chosen = this.#databases[position % this.#databases.length];
    if (chosen === undefined) throw new Error("a round has databases");
    const ways = chosen.keeping.isShared ? WAYS : WAYS.filter(({ isRemote }) => !isRemote);
    const way = ways[Math.floor(position / this.#databases.length + this.#seed) % ways.length] as Way;
    return { ...chosen, way };
  }

  async #answer(statement: EdgeStatement, position: number): Promise<Answer> {
    const { database, way } = this.#chosen(position);
    return await database.answer(statement, way);
  }

  /** The smallest statement that differs in the same place. */
  async #explain(record: readonly number[], position: number): Promise<string> {
    const differs = async (statement: EdgeStatement) => {
      const [expected] = await this.#expected([statement]);
      const actual = await this.#answer(statement, position);
      if (expected === undefined || textOf(actual, statement) === textOf(expected, statement)) return null;
      return `--- expected:\n${shownDifference(expected, actual)}\n--- actual:\n${
        shownDifference(actual, expected)
      }`;
    };
    const small = await shrink(
      record,
      async (candidate) => await differs(this.#generate(Choices.replay(candidate))) !== null,
      200,
    );
    const statement = this.#generate(Choices.replay(small));
    const { keeping, way } = this.#chosen(position);
    return `seed ${this.#seed}, statement ${position}, ${keeping.name}, ${way.name}: ${statement.sql}\n${await differs(
      statement,
    )}`;
  }
}

function textOf(answer: Answer, { ordered }: EdgeStatement): string {
  if ("error" in answer) {
    // Which of several failing expressions comes first is not determined: errors of data are one class.
    return /^(22|0A)/.test(answer.error) ? "error of data" : `error ${answer.error}`;
  }
  const lines = linesOf(answer.rows);
  if (!ordered) lines.sort();
  return lines.join("\n");
}

/** What one answer has and another has not. */
function shownDifference(answer: Answer, other: Answer): string {
  if ("error" in answer) return `error ${answer.error}`;
  const rest = new Set("rows" in other ? linesOf(other.rows) : []);
  const own = linesOf(answer.rows).filter((line) => !rest.has(line));
  return own.length > 12 ? [...own.slice(0, 12), "…"].join("\n") : own.join("\n");
}

function linesOf(rows: readonly (readonly (string | null)[])[]): string[] {
  return rows.map((row) => row.map((value) => value ?? "NULL").join(" | "));
}
