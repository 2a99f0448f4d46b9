/**
 * Runs the SQL pieces of a PL/pgSQL block: plans each with the variables in sight as parameters, keeps the plan while
 * those have the same types, and runs it in the session's transaction.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { OpNumber } from "../../operations/effect.ts";
import type { Fragment } from "../../sql/procedural/block.ts";
import type { ParsedStatement } from "../../sql/parser/ast.ts";
import { parseStatement } from "../../sql/parser/statements.ts";
import { sameType } from "../../sql/plan/build.ts";
import type { ResultColumn } from "../../sql/plan/plan.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import type { Notice, StatementOutcome } from "../outcome.ts";
import type { PlanVariables } from "../plan_cache.ts";
import { Prepared } from "../prepared.ts";
import { RowBuffer } from "../row_buffer.ts";
import type { ProceduralHost } from "../statement_host.ts";
import { isPlannable, returnsRows, standsAlone } from "../statement_kind.ts";
import { asDatabaseError } from "../statement_errors.ts";
import { inSqlStatement } from "./error_context.ts";
import type { Scope } from "./variables.ts";

/** What a piece gave. */
export interface FragmentResult {
  readonly columns: readonly ResultColumn[];
  /** The first rows, as many as were asked for. */
  readonly rows: readonly (readonly SqlValue[])[];
  /** Rows returned or changed. */
  readonly count: number;
}

/** How a piece is run. */
export interface FragmentOptions {
  /** Rows that are kept; more are counted only. */
  readonly keep: number;
  /** Types that the columns are assigned to. */
  readonly assign?: readonly (SqlType | undefined)[];
  /** The arguments of EXECUTE … USING, which take the place of variables. */
  readonly arguments?: { readonly types: readonly SqlType[]; readonly values: readonly SqlValue[] };
}

interface PlannedFragment {
  readonly signature: string;
  readonly prepared: Prepared;
}

/** Bytes that a kept row takes besides its texts, roughly: for each value, and for the row. */
const VALUE_BYTES = 16, ROW_BYTES = 64;

/** Keeps the first rows of a result, as far as the memory of a statement goes. */
class FirstRows extends RowBuffer {
  readonly #keep: number;
  readonly #limitBytes: number;
  #bytes = 0;

  constructor(keep: number, limitBytes: number) {
    super();
    this.#keep = keep;
    this.#limitBytes = limitBytes;
  }

  override retract(): void {
    super.retract();
    this.#bytes = 0;
  }

  override endRow(): void {
    super.endRow();
    if (this.rows.length > this.#keep) {
      this.rows.length = this.#keep;
      return;
    }
    this.#bytes += ROW_BYTES;
    for (const value of this.rows.at(-1) ?? []) {
      this.#bytes += VALUE_BYTES + (typeof value === "string" ? value.length : 0);
    }
    if (this.#bytes <= this.#limitBytes) return;
    throw new DatabaseError(SQLSTATE.outOfMemory, "out of memory", {
      detail: `The rows of a PL/pgSQL loop need more than the statement's ${
        Math.round(this.#limitBytes / 1048576)
      } MB.`,
      hint: "Select fewer rows or columns, or go over the rows in parts.",
    });
  }
}

/** See the file's head. */
export class Fragments {
  readonly #session: ProceduralHost;
  readonly #planned = new WeakMap<Fragment, PlannedFragment>();
  readonly #conversions = new Map<string, Prepared>();
  /** What the pieces had to say. */
  readonly notices: Notice[] = [];
  /** The newest op that must be durable before any result of the block may be sent. */
  durableOp = 0 as OpNumber;

  constructor(session: ProceduralHost) {
    this.#session = session;
  }

  /** The value of an expression; null for no row. Raises 42601 when it has several columns, 21000 for several rows. */
  async value(fragment: Fragment, scope: Scope, type?: SqlType): Promise<{ value: SqlValue; type: SqlType }> {
    const prepared = this.#prepare(fragment, scope, "SELECT ", type === undefined ? undefined : [type]);
    const result = await this.#run(prepared, scope.values(), 2, false);
    const [column, further] = result.columns;
    if (column === undefined || further !== undefined) {
      throw new DatabaseError(SQLSTATE.syntaxError, `query returned ${result.columns.length} columns`);
    }
    if (result.rows.length > 1) {
      throw new DatabaseError(SQLSTATE.cardinalityViolation, "query returned more than one row");
    }
    return { value: result.rows[0]?.[0] ?? null, type: column.type };
  }

  /** Whether a condition is true. */
  async isTrue(fragment: Fragment, scope: Scope): Promise<boolean> {
    return (await this.value(fragment, scope, BOOLEAN)).value === true;
  }

  /** Runs what may follow SELECT. */
  perform(fragment: Fragment, scope: Scope, keep: number): Promise<FragmentResult> {
    return this.#run(this.#prepare(fragment, scope, "SELECT "), scope.values(), keep, true);
  }

  /** A value in another type, as an assignment converts it. */
  async convert(value: SqlValue, from: SqlType, to: SqlType): Promise<SqlValue> {
    if (sameType(from, to)) return value;
    const text = "SELECT $1";
    const prepared = this.#conversions.get(JSON.stringify([from, to])) ??
      this.#plan(text, parseStatement(text), { types: [from], binding: { assignedTypes: [to] } });
    this.#conversions.set(JSON.stringify([from, to]), prepared);
    return (await this.#run(prepared, [value], 1, false)).rows[0]?.[0] ?? null;
  }

  /** Runs a statement of the block. */
  statement(fragment: Fragment, scope: Scope, options: FragmentOptions): Promise<FragmentResult> {
    return this.#run(this.#prepare(fragment, scope, "", options.assign), scope.values(), options.keep, true);
  }

  /** Runs the statements of a text made at run time; the last one's result counts. */
  async dynamic(text: string, options: FragmentOptions): Promise<FragmentResult> {
    const { types, values } = options.arguments ?? { types: [], values: [] };
    let result: FragmentResult = { columns: [], rows: [], count: 0 };
    for (const parsed of this.#session.engine.parse(text)) {
      result = await this.#run(this.#prepareDynamic(text, parsed, types), values, options.keep, true);
    }
    return result;
  }

  #prepareDynamic(text: string, parsed: ParsedStatement, types: readonly SqlType[]): Prepared {
    this.#requireNested(parsed);
    return this.#session.prepareParsed(text, parsed, types);
  }

  #prepare(
    fragment: Fragment,
    scope: Scope,
    prefix: string,
    assignedTypes?: readonly (SqlType | undefined)[],
  ): Prepared {
    const types = scope.types();
    const signature = JSON.stringify([types, assignedTypes ?? null, prefix]);
    const known = this.#planned.get(fragment);
    if (known?.signature === signature) return known.prepared;
    const text = prefix + fragment.text;
    const [parsed, further] = this.#session.engine.parse(text);
    if (parsed === undefined || further !== undefined) {
      throw new DatabaseError(SQLSTATE.syntaxError, "a statement of a block is one statement");
    }
    this.#requireNested(parsed);
    const prepared = isPlannable(parsed.statement)
      ? this.#plan(text, parsed, {
        types,
        binding: {
          variable: (parts) => scope.meaning(parts),
          ...(assignedTypes === undefined ? {} : { assignedTypes }),
        },
      })
      : this.#session.prepareParsed(text, parsed, []);
    this.#planned.set(fragment, { signature, prepared });
    return prepared;
  }

  #plan(text: string, parsed: ParsedStatement, variables: PlanVariables): Prepared {
    const plan = this.#session.planWithVariables(text, parsed, variables);
    return new Prepared({
      text,
      statement: parsed,
      columns: returnsRows(plan.planned) ? plan.planned.columns : null,
      parameterTypes: variables.types,
      plan,
      declared: variables.types,
    });
  }

  async #execute(
    prepared: Prepared,
    parameters: readonly SqlValue[],
    sink: FirstRows,
    isStatement: boolean,
  ): Promise<StatementOutcome> {
    try {
      return await this.#session.executePrepared(prepared, parameters, sink);
    } catch (thrown) {
      const error = asDatabaseError(thrown);
      throw isStatement && error instanceof DatabaseError ? inSqlStatement(error, prepared.text) : error;
    }
  }

  async #run(
    prepared: Prepared,
    values: readonly SqlValue[],
    keep: number,
    isStatement: boolean,
  ): Promise<FragmentResult> {
    const sink = new FirstRows(keep, this.#session.memoryLimitBytes);
    const parameters = prepared.plan === null ? values.slice(0, prepared.parameterTypes.length) : values;
    this.#session.checkCanceled();
    const outcome = await this.#execute(prepared, parameters, sink, isStatement);
    this.#note(outcome);
    return { columns: prepared.columns ?? [], rows: sink.rows, count: outcome.rowCount ?? 0 };
  }

  #note(outcome: StatementOutcome): void {
    this.notices.push(...outcome.notices);
    if (outcome.durableOp > this.durableOp) this.durableOp = outcome.durableOp;
  }

  /** Raises for statements that end or begin transactions, or that run by themselves only. */
  #requireNested({ statement }: ParsedStatement): void {
    if (statement.kind === "savepoint" || statement.kind === "release" || statement.kind === "rollback_to") {
      throw new DatabaseError(SQLSTATE.featureNotSupported, "unsupported transaction command in PL/pgSQL");
    }
    if (standsAlone(statement) || TRANSACTION_STATEMENTS.has(statement.kind)) {
      throw new DatabaseError(
        SQLSTATE.featureNotSupported,
        `${statement.kind.toUpperCase()} is not supported in a PL/pgSQL block`,
      );
    }
  }
}

const BOOLEAN: SqlType = { kind: "bool" };
const TRANSACTION_STATEMENTS: ReadonlySet<string> = new Set(["begin", "commit", "rollback", "copy", "do"]);
