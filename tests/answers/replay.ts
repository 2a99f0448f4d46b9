/**
 * Answers of the database under test to the calls of a signature, in every form in which a call can meet its
 * arguments: as literals, which are folded when the statement is planned; as parameters of a statement that is
 * prepared once; as columns of rows in the delta, by compiled code and by the interpreter; and as columns of
 * segments, of all calls together and of some, so that values are kept in several ways, and of rows that were moved.
 *
 * Calls that succeed are made together in one statement. Each call that fails needs a statement of its own; of those
 * of one signature and one SQLSTATE a bounded number is made.
 */
import { interpretPlan } from "../../engine/execution/oracle/interpret_plan.ts";
import { RowBuffer } from "../../engine/statements/row_buffer.ts";
import type { Session } from "../../engine/session/session.ts";
import { StatementContext } from "../../engine/session/statement_context.ts";
import { parseStatement } from "../../engine/sql/parser/statements.ts";
import { isPlannable, planStatement } from "../../engine/sql/planner/plan_statement.ts";
import { formatText, parseText } from "../../engine/types/text_io.ts";
import type { SqlType } from "../../engine/types/sql_type.ts";
import type { SqlValue } from "../../engine/types/value.ts";
import { DatabaseError } from "../../mod.ts";
import type { StateDatabase } from "../support/state_database.ts";
import { type Answer, answerOfError, answerOfText, isError } from "./answer_table.ts";
import { callsOf, type Signature } from "./calls.ts";
import { type GroupSignature, groupsOf } from "./group_calls.ts";
import { isClose, isInexact } from "./inexact.ts";
import { literalOf, type Pool } from "./edge_values.ts";

const TIME_ZONE = "set timezone = 'America/New_York'";

/** Statements that both databases run first. */
export const PREPARATION: readonly string[] = [
  TIME_ZONE,
  "create type edge_mood as enum ('low', 'middle', 'high')",
];

/** The file of a table of answers. */
export function tableFile(table: string): URL {
  return new URL(`tables/${table}.tsv`, import.meta.url);
}

/** A group of rows as a source of a query: `(values …) v(k, c0 …)`. */
export function sourceOf(pools: readonly Pool[], group: readonly (readonly number[])[]): string {
  // A row that the condition leaves out gives the columns their types when there is no other.
  const rows = [pools.map(({ type }) => `NULL::${type}`), ...group.map((row) => literals(pools, row))];
  const list = rows.map((row, index) => `(${[index - 1, ...row].join(", ")})`).join(", ");
  return `(select * from (values ${list}) u(k, ${columnNames(pools)}) where k >= 0) v`;
}

function columnNames(pools: readonly Pool[]): string {
  return pools.map((_, index) => `c${index}`).join(", ");
}

/** A call that is answered otherwise than expected. */
export interface Difference {
  readonly label: string;
  readonly form: string;
  readonly call: string;
  readonly expected: Answer;
  readonly answer: Answer;
}

/** A signature and the answers that its calls should have. */
export interface Expectation {
  readonly signature: Signature;
  readonly answers: readonly Answer[];
}

/** The same over groups. */
export interface GroupExpectation {
  readonly signature: GroupSignature;
  readonly answers: readonly Answer[];
}

/** Groups that an aggregate is asked of by themselves, too. */
const GROUPS_ALONE = 4;

/** How many literal calls, and columns, are in one statement. */
const CALLS_OF_A_STATEMENT = 200;
const COLUMNS_OF_A_STATEMENT = 12;
/** Calls made of those with one signature and SQLSTATE. */
const FAILING_LITERALS = 2;
const FAILING_ROWS = 1;
/** Calls with literals that succeed, of one signature; with columns all of them are made. */
const SUCCEEDING_LITERALS = 8;
/** Executions of a prepared statement that succeed: more than it takes until the plan is one for all values. */
const SUCCEEDING_EXECUTIONS = 6;

/**
 * Calls that a table is made of: all of them; those of small integers; those with one first argument, which may be a
 * column's default.
 */
export type Part = "all" | "small" | "constant" | "default";

type Rows = readonly (readonly (string | null)[])[];

/**
 * Answers of the database under test to the calls of a signature, in every form in which a call can meet its
 * arguments: as literals, which are folded when the statement is planned; as parameters of a statement that is
 * prepared once; as columns of rows in the delta, by compiled code and by the interpreter; and as columns of
 * segments, of all calls together and of some, so that values are kept in several ways, and of rows that were moved.
 */
export class Replay {
  readonly differences: Difference[] = [];
  readonly #database: StateDatabase;
  readonly #tables = new Map<string, string>();
  calls = 0;

  private constructor(database: StateDatabase) {
    this.#database = database;
  }

  /** For an empty database. */
  static async start(database: StateDatabase): Promise<Replay> {
    const replay = new Replay(database);
    for (const statement of PREPARATION) await replay.run(statement);
    return replay;
  }

  get #session(): Session {
    return this.#database.session;
  }

  /** Moves all rows into segments and reads these from the disk. */
  async restart(): Promise<void> {
    await this.#database.checkpoint();
    await this.#database.reopen();
    await this.run(TIME_ZONE);
  }

  /** Runs a statement in a transaction that goes on if it fails. */
  async runAfterSavepoint(sql: string): Promise<Rows> {
    await this.run("savepoint s");
    try {
      return await this.run(sql);
    } catch (error) {
      await this.run("rollback to s");
      throw error;
    }
  }

  /** Leaves some rows of a table in segments, some of them deleted, and the others not. */
  async moveRows(pools: readonly Pool[]): Promise<void> {
    const table = await this.table(pools, "all");
    await this.run(
      `with gone as (delete from ${table} where k % 3 = 0 returning *) insert into ${table} select * from gone`,
    );
    await this.run(`update ${table} set k = k where k % 5 = 1`);
  }

  /** Gives the table of the calls with one first argument the column of that argument, which its segments then lack. */
  async addDefault(pools: readonly Pool[]): Promise<void> {
    const [pool] = pools;
    if (pool === undefined) return;
    const [index] = callsOfPart(pools, "default");
    if (index === undefined) return;
    const table = await this.table(pools, "default");
    const value = literalOf(pool, callsOf(pools)[index]?.[0] ?? 0);
    await this.run(`alter table ${table} add column c0 ${pool.type} default ${value}`);
  }

  /** Runs a statement. */
  async run(sql: string): Promise<Rows> {
    const sink = new RowBuffer();
    await this.#session.simple(sql, sink, () => {});
    return this.#texts(sink.columns.map(({ type }) => type), sink.rows);
  }

  /** Calls with literals. */
  async literals({ signature, answers }: Expectation): Promise<void> {
    const calls = callsOf(signature.pools);
    const texts = calls.map((call) => signature.call(literals(signature.pools, call)));
    const chosen = chosenFailures(answers, FAILING_LITERALS);
    const succeeding = [...answers.keys()].filter((index) => !isError(answers[index] ?? ""));
    const fine = spread(succeeding, SUCCEEDING_LITERALS);
    for (let start = 0; start < fine.length; start += CALLS_OF_A_STATEMENT) {
      const list = fine.slice(start, start + CALLS_OF_A_STATEMENT);
      const rows = await this.#attempt(() =>
        this.run(`select ${list.map((index) => texts[index]).join(", ")}`)
      );
      if (typeof rows === "string") chosen.push(...list);
      else {list.forEach((index, position) =>
          this.#compare("literals", signature, index, answers, answerOfText(rows[0]?.[position] ?? null))
        );}
    }
    for (const index of chosen) {
      const rows = await this.#attempt(() => this.run(`select ${texts[index]}`));
      this.#compare("literals", signature, index, answers, answerOf(rows));
    }
  }

  /** Calls with parameters, by one statement. */
  async parameters({ signature, answers }: Expectation): Promise<void> {
    const { pools } = signature;
    const calls = callsOf(pools);
    const succeeding = [...answers.keys()].filter((index) => !isError(answers[index] ?? ""));
    const chosen = [...spread(succeeding, SUCCEEDING_EXECUTIONS), ...chosenFailures(answers, FAILING_ROWS)];
    const text = `select ${signature.call(pools.map(({ type }, index) => `$${index + 1}::${type}`))}`;
    let prepared: ReturnType<Session["prepare"]> | null = null;
    for (const index of chosen) {
      const rows = await this.#attempt(async () => {
        const statement = prepared ??= this.#session.prepare(text, []);
        const values = pools.map(({ values }, position) => {
          const value = values[calls[index]?.[position] ?? 0] ?? null;
          const type = statement.parameterTypes[position];
          if (type === undefined) throw new Error(`parameter ${position + 1} of ${text} has no type`);
          return value === null ? null : parseText(type, value, this.#session.evaluation.textOptions);
        });
        const sink = new RowBuffer();
        await this.#session.execute(statement, values, sink);
        return this.#texts(sink.columns.map(({ type }) => type), sink.rows);
      });
      this.#compare("parameters", signature, index, answers, answerOf(rows));
    }
  }

  /** Makes the table of the calls of pools, or of some of them, once. */
  async table(pools: readonly Pool[], part: Part): Promise<string> {
    const key = `${part}: ${pools.map(({ name }) => name).join(", ")}`;
    let table = this.#tables.get(key);
    if (table === undefined) {
      table = `edges${this.#tables.size}`;
      this.#tables.set(key, table);
      const lacking = part === "default" ? 1 : 0;
      const columns = pools.map(({ type }, index) => `, c${index} ${type}`).slice(lacking).join("");
      const calls = callsOf(pools);
      const rows = callsOfPart(pools, part).map((index) =>
        `(${[index, ...literals(pools, calls[index] ?? []).slice(lacking)].join(", ")})`
      );
      await this.run(`create table ${table} (k integer${columns})`);
      if (rows.length > 0) await this.run(`insert into ${table} values ${rows.join(", ")}`);
    }
    return table;
  }

  /** Calls with columns, of several signatures with the same pools. */
  async columns(
    form: string,
    part: Part,
    expectations: readonly Expectation[],
    run = (sql: string) => this.run(sql),
  ): Promise<void> {
    const [first] = expectations;
    if (first === undefined) return;
    const { pools } = first.signature;
    const indexes = callsOfPart(pools, part);
    if (indexes.length === 0) return;
    const table = await this.table(pools, part);
    const names = pools.map((_, index) => `c${index}`);
    const flawless = expectations.filter(({ answers }) => !answers.some(isError));
    const flawed = expectations.filter(({ answers }) => answers.some(isError));
    const lists = flawed.map((each) => [each]);
    for (let start = 0; start < flawless.length; start += COLUMNS_OF_A_STATEMENT) {
      lists.push(flawless.slice(start, start + COLUMNS_OF_A_STATEMENT));
    }
    for (const list of lists) {
      const failing = failingOf(list).filter((index) => indexes.includes(index));
      const except = failing.length === 0 ? "" : ` where k not in (${failing.join(", ")})`;
      const statement = (part: readonly Expectation[], condition: string) =>
        `select k, ${
          part.map(({ signature }) => signature.call(names)).join(", ")
        } from ${table}${condition}`;
      if (failing.length < indexes.length) {
        const rows = await this.#attempt(() => run(statement(list, except)));
        if (typeof rows === "string") {
          // To see which call it was.
          for (const each of list) {
            await this.#rowByRow(form, indexes, each, (condition) => run(statement([each], condition)));
          }
          continue;
        }
        for (const [k, ...values] of rows) {
          for (const [position, { signature, answers }] of list.entries()) {
            this.#compare(form, signature, Number(k), answers, answerOfText(values[position] ?? null));
          }
        }
      }
      for (const { signature, answers } of list) {
        for (const index of chosenFailures(answers, FAILING_ROWS)) {
          if (!indexes.includes(index)) continue;
          const rows = await this.#attempt(() =>
            run(`select ${signature.call(names)} from ${table} where k = ${index}`)
          );
          this.#compare(form, signature, index, answers, answerOf(rows));
        }
      }
    }
  }

  async #rowByRow(
    form: string,
    indexes: readonly number[],
    { signature, answers }: Expectation,
    run: (condition: string) => Promise<Rows>,
  ): Promise<void> {
    for (const index of indexes) {
      const rows = await this.#attempt(() => run(` where k = ${index}`));
      const answer = typeof rows === "string" ? rows : answerOfText(rows[0]?.[1] ?? null);
      this.#compare(form, signature, index, answers, answer);
    }
  }

  /** Makes the table of the groups of pools, once. */
  async groupTable(pools: readonly Pool[], windows: boolean): Promise<string> {
    const key = `${windows}: ${pools.map(({ name }) => name).join(", ")}`;
    let table = this.#tables.get(key);
    if (table === undefined) {
      table = `groups${this.#tables.size}`;
      this.#tables.set(key, table);
      await this.run(
        `create table ${table} (g integer, k integer${
          pools.map(({ type }, index) => `, c${index} ${type}`).join("")
        })`,
      );
      const rows = groupsOf(pools, windows).flatMap((group, g) =>
        group.map((row, k) => `(${[g, k, ...literals(pools, row)].join(", ")})`)
      );
      await this.run(`insert into ${table} values ${rows.join(", ")}`);
    }
    return table;
  }

  /** An aggregate or window function over each group by itself, and an aggregate over all groups by GROUP BY. */
  async groups(
    form: string,
    expectation: GroupExpectation,
    run = (sql: string) => this.run(sql),
  ): Promise<void> {
    const { signature: { pools, aggregate, query }, answers } = expectation;
    const table = await this.groupTable(pools, aggregate === undefined);
    const failing = [...answers.keys()].filter((index) => isError(answers[index] ?? ""));
    // The group without rows has no row in the table.
    let alone = [0, ...chosenFailures(answers, FAILING_ROWS)];
    if (aggregate === undefined) {
      // The rows are few, so that the largest groups say enough of segments.
      alone = form === "segment" ? [...answers.keys()].slice(-3) : [...answers.keys()];
    } else {
      alone.push(
        ...spread([...answers.keys()].filter((index) => index > 0 && !failing.includes(index)), GROUPS_ALONE),
      );
      const except = failing.length === 0 ? "" : ` where g not in (${failing.join(", ")})`;
      const rows = await this.#attempt(() =>
        run(`select g, ${aggregate} from ${table} v${except} group by g`)
      );
      if (typeof rows === "string") alone = [...answers.keys()];
      else {for (const [g, value = null] of rows) {
          this.#compareGroup(`${form}, grouped`, expectation, Number(g), answerOfText(value));
        }}
    }
    for (const index of new Set(alone)) {
      const rows = await this.#attempt(() => run(query(`${table} v`, ` where g = ${index}`)));
      this.#compareGroup(`${form}, alone`, expectation, index, answerOf(rows));
    }
  }

  #compareGroup(form: string, { signature, answers }: GroupExpectation, index: number, answer: Answer): void {
    this.calls++;
    const expected = answers[index] ?? "";
    if (answer === expected) return;
    const { label, pools, query, aggregate } = signature;
    const group = groupsOf(pools, aggregate === undefined)[index] ?? [];
    this.differences.push({ label, form, call: query(sourceOf(pools, group), ""), expected, answer });
  }

  /** A statement by the interpreter. */
  interpreted(sql: string): Promise<Rows> {
    const { statement } = parseStatement(sql);
    if (!isPlannable(statement)) throw new Error(`not a planned statement: ${sql}`);
    const { engine } = this.#session;
    const planned = planStatement(statement, engine.plans.environment(this.#session, sql, [], []), {
      optimize: true,
    });
    const transaction = engine.manager.begin({ interruptible: false });
    try {
      const context = new StatementContext(this.#session, transaction, []);
      const scope = {
        context,
        row: new Map(),
        definitions: new Map(),
        working: new Map(),
        budget: { rows: 1_000_000 },
      };
      const rows = [...interpretPlan(planned.plan, scope)].map((row) =>
        planned.columns.map(({ column }) => row.get(column) ?? null)
      );
      return Promise.resolve(this.#texts(planned.columns.map(({ type }) => type), rows));
    } finally {
      engine.manager.end(transaction);
    }
  }

  #texts(types: readonly SqlType[], rows: readonly (readonly SqlValue[])[]): Rows {
    const options = this.#session.evaluation.textOptions;
    return rows.map((row) =>
      types.map((type, index) => {
        const value = row[index] ?? null;
        return value === null ? null : formatText(type, value, options);
      })
    );
  }

  /** The rows, or the answer of a failure. */
  async #attempt(work: () => Promise<Rows>): Promise<Rows | Answer> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof DatabaseError) return answerOfError(error.code);
      // A bug shows as an assertion or a JavaScript error: it is an answer that nothing else gives.
      return answerOfError(`crash: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #compare(
    form: string,
    { label, pools, call }: Signature,
    index: number,
    answers: readonly Answer[],
    answer: Answer,
  ): void {
    this.calls++;
    const expected = answers[index] ?? "";
    if (answer === expected || (isInexact(label) && isClose(answer, expected))) return;
    const tuple = callsOf(pools)[index] ?? [];
    this.differences.push({ label, form, call: call(literals(pools, tuple)), expected, answer });
  }
}

/** The calls of a part, by their positions. */
function callsOfPart(pools: readonly Pool[], part: Part): readonly number[] {
  const calls = callsOf(pools);
  const all = [...calls.keys()];
  if (part === "all") return all;
  if (part === "small") {
    return all.filter((index) =>
      (calls[index] ?? []).every((value, at) => isSmall(pools[at]?.values[value]))
    );
  }
  // The last value but NULL and what is not finite.
  const [first] = pools;
  const constant = first?.values.findLastIndex((value) => value !== null && /\d/.test(value)) ?? 0;
  return all.filter((index) => calls[index]?.[0] === constant);
}

function isSmall(value: string | null | undefined): boolean {
  return value !== null && value !== undefined && /^-?\d{1,3}$/.test(value) && Math.abs(Number(value)) <= 255;
}

function literals(pools: readonly Pool[], call: readonly number[]): string[] {
  return pools.map((pool, index) => literalOf(pool, call[index] ?? 0));
}

function answerOf(rows: Rows | Answer): Answer {
  return typeof rows === "string" ? rows : answerOfText(rows[0]?.[0] ?? null);
}

function failingOf(expectations: readonly Expectation[]): number[] {
  return [
    ...new Set(
      expectations.flatMap(({ answers }) =>
        [...answers.keys()].filter((index) => isError(answers[index] ?? ""))
      ),
    ),
  ];
}

/** Of the failing calls with each SQLSTATE so many, spread over all of them. */
function chosenFailures(answers: readonly Answer[], most: number): number[] {
  const byCode = Map.groupBy(
    [...answers.keys()].filter((index) => isError(answers[index] ?? "")),
    (index) => answers[index],
  );
  return [...byCode.values()].flatMap((indexes) => spread(indexes, most));
}

/** At most so many elements of a list, from all over it. */
function spread<T>(list: readonly T[], most: number): T[] {
  if (list.length <= most) return [...list];
  return Array.from({ length: most }, (_, position) => list[Math.floor((position * list.length) / most)])
    .filter((element) => element !== undefined);
}
