/**
 * One statement answered by the database in several ways that must agree: as users run it, with the plan as bound,
 * and by the plain interpreter.
 */
import { deepStrictEqual } from "node:assert/strict";
import { assertDefined } from "../../engine/base/assert.ts";
import type { WorkersForTest } from "../../engine/parallel/workers_for_test.ts";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { SpillFile } from "../../engine/host/spill_file.ts";
import type { ExecutionContext } from "../../engine/execution/runtime/execution.ts";
import { engineOf } from "../../engine/session/database.ts";
import { type Database, DatabaseError, SQLSTATE } from "../../mod.ts";
import { compileStatement } from "../../engine/execution/compile_statement.ts";
import { interpretPlan } from "../../engine/execution/oracle/interpret_plan.ts";
import type { Session } from "../../engine/session/session.ts";
import { RowBuffer } from "../../engine/statements/row_buffer.ts";
import { StatementContext } from "../../engine/session/statement_context.ts";
import type { TableStatistics } from "../../engine/sql/binder/environment.ts";
import { parseStatement } from "../../engine/sql/parser/statements.ts";
import type { PlannedStatement } from "../../engine/sql/plan/plan.ts";
import { isPlannable, planStatement } from "../../engine/sql/planner/plan_statement.ts";
import type { SqlType } from "../../engine/types/sql_type.ts";
import { formatText } from "../../engine/types/text_io.ts";
import type { SqlValue } from "../../engine/types/value.ts";

/** Rows as text, or the SQLSTATE of the failure. */
export type Answer = { readonly rows: readonly (readonly (string | null)[])[] } | { readonly error: string };

/** Runs work and turns a failure of the statement into an answer. */
export async function answerOf(
  work: () => Promise<readonly (readonly (string | null)[])[]>,
): Promise<Answer> {
  try {
    return { rows: await work() };
  } catch (error) {
    if (error instanceof DatabaseError) return { error: error.code };
    // A bug shows as an assertion or a JavaScript error: it is an answer that nothing else gives.
    return { error: `crash: ${error instanceof Error ? error.stack ?? error.message : String(error)}` };
  }
}

function textRow(types: readonly SqlType[], row: readonly SqlValue[]): (string | null)[] {
  return types.map((type, index) => {
    const value = row[index] ?? null;
    return value === null ? null : formatText(type, value);
  });
}

/** More rows than this are not compared: joins multiply, and all answers to a statement are kept in memory. */
const MAX_ROWS = 100_000;
/** Rows that the interpreter looks at. */
const MAX_INTERPRETED_ROWS = 1_000_000;
/** Milliseconds for a statement. */
const MAX_MILLISECONDS = 5000;

/** So little that some ten rows are many; the most is tried when the statement needs more than a little. */
const SPILLING_BYTES = [1 << 14, 1 << 16] as const;

/** Makes servers, and the database under test, give up statements that take too long. */
export const BOUND_STATEMENTS = `SET statement_timeout = ${MAX_MILLISECONDS}`;

/** What is said of tables to get the plans of large ones. */
const LARGE: TableStatistics = {
  rows: 200_000_000,
  column: () => ({ minimum: null, maximum: null, distinct: 10, nullFraction: 0, averageBytes: 8 }),
};

const TOO_LARGE: ReadonlySet<string> = new Set([
  SQLSTATE.programLimitExceeded,
  SQLSTATE.queryCanceled,
  SQLSTATE.outOfMemory,
]);

/** Whether an answer is that there are too many rows to compare: a statement's joins may multiply beyond all bounds. */
export function isTooLarge(answer: Answer): boolean {
  return "error" in answer && TOO_LARGE.has(answer.error);
}

/** Rows of a bounded number. */
class BoundedRows extends RowBuffer {
  override endRow(): void {
    super.endRow();
    if (this.rows.length > MAX_ROWS) {
      throw new DatabaseError(SQLSTATE.programLimitExceeded, `more than ${MAX_ROWS} rows`);
    }
  }
}

/** A session whose statements are answered in several ways. */
export class EngineAnswers {
  readonly #session: Session;
  readonly #workers: WorkersForTest | null;

  /** `workers`: those of the database, which statements have only where it says so. */
  constructor(database: Database, workers: WorkersForTest | null = null) {
    this.#session = engineOf(database).openSession();
    this.#workers = workers;
    if (workers !== null) workers.given = 0;
  }

  /** Whether there are workers. */
  get hasWorkers(): boolean {
    return this.#workers !== null;
  }

  /**
   * With two workers, for any table. Raises when that gives other rows than without, or the same in another order, or
   * another error.
   */
  async sharedOut(sql: string): Promise<(string | null)[][]> {
    const workers = assertDefined(this.#workers ?? undefined, "workers");
    const alone = await answerOf(() => this.#withinSavepoint(sql));
    workers.given = 2;
    try {
      const shared = await answerOf(() => this.#withinSavepoint(sql));
      const [one, other] = [JSON.stringify(alone), JSON.stringify(shared)];
      if (one !== other && !isTooLarge(alone) && !isTooLarge(shared)) {
        throw new Error(`with workers: ${other.slice(0, 2000)}\nwithout: ${one.slice(0, 2000)}`);
      }
      if ("rows" in shared) return shared.rows.map((row) => [...row]);
    } finally {
      workers.given = 0;
    }
    return await this.run(sql);
  }

  /** A failure leaves a block as it is. */
  async #withinSavepoint(sql: string): Promise<(string | null)[][]> {
    if (this.#session.status === "idle") return await this.run(sql);
    await this.run("SAVEPOINT shared");
    try {
      return await this.run(sql);
    } finally {
      await this.run("ROLLBACK TO SAVEPOINT shared");
    }
  }

  /** As a user's simple query. */
  async run(sql: string): Promise<(string | null)[][]> {
    const sink = new BoundedRows();
    await this.#session.simple(sql, sink, () => {});
    const types = sink.columns.map(({ type }) => type);
    return sink.rows.map((row) => textRow(types, row));
  }

  /** The plan as it was bound, compiled. */
  unoptimized(sql: string): (string | null)[][] {
    return this.#compiled(this.#plan(sql, false), (context) => context);
  }

  /** The plan for tables of many rows with few values in each column. */
  asIfLarge(sql: string, statistics = LARGE): (string | null)[][] {
    return this.#compiled(this.#plan(sql, true, statistics), (context) => context);
  }

  /** The plan as users run it, in so little memory that sorts and hash tables are written to files. */
  spilled(sql: string): (string | null)[][] {
    const [least, most] = SPILLING_BYTES;
    try {
      return this.#spilledIn(least, sql);
    } catch (error) {
      if (!(error instanceof DatabaseError && error.code === SQLSTATE.outOfMemory)) throw error;
      return this.#spilledIn(most, sql);
    }
  }

  /** As a user's simple query, in so little memory. */
  async runInLittle(sql: string): Promise<(string | null)[][]> {
    const [, most] = SPILLING_BYTES;
    Object.defineProperty(this.#session, "memoryLimitBytes", { value: most, configurable: true });
    try {
      return await this.run(sql);
    } finally {
      // That of its class is seen again.
      Reflect.deleteProperty(this.#session, "memoryLimitBytes");
    }
  }

  #spilledIn(memoryLimitBytes: number, sql: string): (string | null)[][] {
    const { disk } = memoryHost();
    disk.createDirectory("spilled");
    const files: SpillFile[] = [];
    const spillFile = (): SpillFile => {
      const file = new SpillFile(disk, "spilled");
      files.push(file);
      return file;
    };
    // The context is a class, whose methods stay where they are.
    const inLittle = (context: StatementContext) =>
      Object.defineProperties(context, {
        memoryLimitBytes: { value: memoryLimitBytes },
        spillFile: { value: spillFile },
        spills: { value: true },
      });
    const rows = this.#compiled(this.#plan(sql, true), inLittle);
    for (const file of files) file.close();
    deepStrictEqual(disk.list("spilled"), []);
    return rows;
  }

  #compiled(
    planned: PlannedStatement,
    contextOf: (context: StatementContext) => ExecutionContext,
  ): (string | null)[][] {
    return this.#within((made) => {
      const context = contextOf(made);
      const sink = new BoundedRows();
      sink.begin(planned.columns);
      const execution = compileStatement(planned).start(context);
      const end = performance.now() + MAX_MILLISECONDS;
      while (!execution.step(sink)) {
        if (performance.now() > end) {
          throw new DatabaseError(SQLSTATE.queryCanceled, "the plan takes too long");
        }
      }
      return sink.rows.map((row) => textRow(planned.columns.map(({ type }) => type), row));
    });
  }

  /** By the interpreter. */
  interpreted(sql: string, optimize: boolean): (string | null)[][] {
    const planned = this.#plan(sql, optimize);
    return this.#within((context) => {
      const budget = { rows: MAX_INTERPRETED_ROWS };
      const scope = { context, row: new Map(), definitions: new Map(), working: new Map(), budget };
      const types = planned.columns.map(({ type }) => type);
      return [...interpretPlan(planned.plan, scope)].map((row) =>
        textRow(types, planned.columns.map(({ column }) => row.get(column) ?? null))
      );
    });
  }

  #plan(sql: string, optimize: boolean, statistics?: TableStatistics): PlannedStatement {
    const { statement } = parseStatement(sql);
    if (!isPlannable(statement)) throw new Error(`not a planned statement: ${sql}`);
    const { engine } = this.#session;
    const environment = engine.plans.environment(this.#session, sql, [], []);
    return planStatement(
      statement,
      statistics === undefined ? environment : { ...environment, statistics: () => statistics },
      { optimize },
    );
  }

  #within<T>(work: (context: StatementContext) => T): T {
    const { manager } = this.#session.engine;
    const transaction = manager.begin({ interruptible: false });
    try {
      return work(new StatementContext(this.#session, transaction, []));
    } finally {
      manager.end(transaction);
    }
  }
}
