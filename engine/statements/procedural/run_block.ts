/**
 * Interpreter of PL/pgSQL blocks.
 *
 * Each statement runs in the session's transaction. A block with EXCEPTION is a subtransaction: a savepoint before
 * it, to which a handled error goes back. Between statements the event loop gets its turn, and cancellation is looked
 * for.
 *
 * Limits: blocks nest as deep as the parser lets them; a query that a FOR loop goes over is read whole before its
 * first turn.
 */
import { assertDefined, unreachable } from "../../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type {
  Block,
  Declaration,
  DynamicCommand,
  Fragment,
  Handler,
  IntoClause,
  ProceduralStatement,
  Raise,
  RaiseOption,
  RowSource,
  Target,
} from "../../sql/procedural/block.ts";
import { conditionMatches } from "../../sql/procedural/conditions.ts";
import type { ResultColumn } from "../../sql/plan/plan.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { formatText } from "../../types/text_io.ts";
import type { SqlArray } from "../../types/sql_array.ts";
import type { SqlRecord, SqlValue } from "../../types/value.ts";
import type { ProceduralHost } from "../statement_host.ts";
import { asDatabaseError } from "../statement_errors.ts";
import { assign, assignRecord, nullInVariable, targetRecord, targetType } from "./assignment.ts";
import { declaredVariable } from "./declarations.ts";
import { inDeclaration, inStatement } from "./error_context.ts";
import { type FragmentResult, Fragments } from "./fragments.ts";
import { raisedError, raisedNotice } from "./raise.ts";
import { type RecordVariable, type ScalarVariable, Scope } from "./variables.ts";

/** How a statement ended: it goes on, or leaves a loop, block or the whole. */
type Flow =
  | { readonly kind: "next" }
  | { readonly kind: "exit" | "continue"; readonly label: string | null }
  | { readonly kind: "return" };

const NEXT: Flow = { kind: "next" };
const BOOLEAN: SqlType = { kind: "bool" };
const INTEGER: SqlType = { kind: "i32" };
const BIGINT: SqlType = { kind: "i64" };
const TEXT: SqlType = { kind: "text" };

/** Microseconds after which a running block lets others have a turn. */
const SLICE_MICROSECONDS = 5000;

/** See the file's head. */
export class BlockRun {
  readonly fragments: Fragments;
  readonly #session: ProceduralHost;
  readonly #found: ScalarVariable;
  readonly #global: Scope;
  readonly #comparisons = new WeakMap<Fragment, Fragment>();
  #rowCount = 0;
  /** The error that the innermost running handler handles. */
  #handled: DatabaseError | null = null;
  #savepoints = 0;
  #sliceEnd: number;

  constructor(session: ProceduralHost) {
    this.#session = session;
    this.fragments = new Fragments(session);
    this.#global = new Scope(null, null);
    this.#found = this.#global.define("found", BOOLEAN, false);
    this.#sliceEnd = session.engine.monotonic() + SLICE_MICROSECONDS;
  }

  /** Runs the outermost block. */
  async run(block: Block): Promise<void> {
    const flow = await this.#statement(block, this.#global);
    if (flow.kind === "exit" || flow.kind === "continue") throw misplaced(flow);
  }

  async #list(statements: readonly ProceduralStatement[], scope: Scope): Promise<Flow> {
    for (const statement of statements) {
      const flow = await this.#statement(statement, scope);
      if (flow.kind !== "next") return flow;
    }
    return NEXT;
  }

  /** Runs one statement; its errors say in which line they came. */
  async #statement(statement: ProceduralStatement, scope: Scope): Promise<Flow> {
    await this.#turn();
    try {
      return await this.#dispatch(statement, scope);
    } catch (thrown) {
      const error = asDatabaseError(thrown);
      throw error instanceof DatabaseError ? inStatement(error, statement) : error;
    }
  }

  async #dispatch(statement: ProceduralStatement, scope: Scope): Promise<Flow> {
    switch (statement.kind) {
      case "block":
        return await this.#block(statement, scope);
      case "assign":
        await this.#assign(statement.target, statement.value, scope);
        return NEXT;
      case "if":
        for (const { condition, body } of statement.branches) {
          if (await this.fragments.isTrue(condition, scope)) return await this.#list(body, scope);
        }
        return await this.#list(statement.otherwise, scope);
      case "case":
        return await this.#case(statement, scope);
      case "loop":
        return await this.#loop(
          statement.label,
          async () =>
            statement.condition === null || await this.fragments.isTrue(statement.condition, scope)
              ? await this.#list(statement.body, scope)
              : null,
        );
      case "for_integer":
        return await this.#forInteger(statement, scope);
      case "for_rows":
        return await this.#forRows(statement, scope);
      case "foreach":
        return await this.#forEach(statement, scope);
      case "exit":
      case "continue":
        if (statement.condition !== null && !(await this.fragments.isTrue(statement.condition, scope))) {
          return NEXT;
        }
        return { kind: statement.kind, label: statement.label };
      case "return":
        return { kind: "return" };
      case "nothing":
        return NEXT;
      case "assert":
        await this.#assert(statement.condition, statement.message, scope);
        return NEXT;
      case "perform":
        this.#counted((await this.fragments.perform(statement.query, scope, 0)).count);
        return NEXT;
      case "sql":
        await this.#sql(statement.statement, statement.into, scope);
        return NEXT;
      case "execute":
        await this.#execute(statement.dynamic, statement.into, scope);
        return NEXT;
      case "raise":
        await this.#raise(statement, scope);
        return NEXT;
      case "diagnostics":
        for (const { target, item } of statement.items) {
          const value = statement.stacked ? this.#stackedItem(item) : this.#rowCount;
          await this.#put(target, value, statement.stacked ? TEXT : BIGINT, scope);
        }
        return NEXT;
      default:
        return unreachable(statement);
    }
  }

  // ---------------------------------------------------------------- blocks and errors

  async #block(block: Block, parent: Scope): Promise<Flow> {
    const scope = new Scope(parent, block.label);
    for (const declaration of block.declarations) await this.#declare(declaration, scope);
    const flow = block.handlers.length === 0
      ? await this.#list(block.body, scope)
      : await this.#guarded(block, scope);
    return flow.kind === "exit" && flow.label !== null && flow.label === block.label ? NEXT : flow;
  }

  /** The body as a subtransaction, and the handler of its error. */
  async #guarded(block: Block, scope: Scope): Promise<Flow> {
    const transaction = assertDefined(this.#session.block, "transaction block of a DO");
    const savepoint = `\u0000do ${++this.#savepoints}`;
    transaction.savepoint(savepoint, this.#session.cursors.declared);
    let error: DatabaseError;
    try {
      const flow = await this.#list(block.body, scope);
      transaction.release(savepoint);
      return flow;
    } catch (thrown) {
      const known = asDatabaseError(thrown);
      if (!(known instanceof DatabaseError)) throw known;
      error = known;
    }
    const handler = handlerOf(block.handlers, error);
    if (handler === undefined) throw error;
    transaction.rollbackTo(savepoint);
    transaction.release(savepoint);
    const inside = new Scope(scope, null);
    inside.define("sqlstate", TEXT, error.code);
    inside.define("sqlerrm", TEXT, error.message);
    const outer = this.#handled;
    this.#handled = error;
    try {
      return await this.#list(handler.body, inside);
    } finally {
      this.#handled = outer;
    }
  }

  async #declare(declaration: Declaration, scope: Scope): Promise<void> {
    try {
      const variable = declaredVariable(this.#session, declaration, scope);
      if (declaration.initial !== null) {
        if (variable.kind === "record") await this.#assignRow(variable, declaration.initial, scope);
        else variable.value = (await this.fragments.value(declaration.initial, scope, variable.type)).value;
      }
      if (variable.kind === "scalar" && variable.notNull && variable.value === null) {
        throw nullInVariable(variable.name);
      }
      scope.declare(variable);
    } catch (thrown) {
      const error = asDatabaseError(thrown);
      throw error instanceof DatabaseError ? inDeclaration(error, declaration.line) : error;
    }
  }

  async #raise(raise: Raise, scope: Scope): Promise<void> {
    if (raise.format === null && raise.condition === null && raise.options.length === 0) {
      if (this.#handled !== null) throw this.#handled;
      throw new DatabaseError(
        SQLSTATE.noActiveHandler,
        "RAISE without parameters cannot be used outside an exception handler",
      );
    }
    const args: string[] = [];
    for (const each of raise.arguments) args.push(await this.#text(each, scope) ?? "<NULL>");
    const options = new Map<RaiseOption, string>();
    for (const { option, value } of raise.options) {
      const text = await this.#text(value, scope);
      if (text === null) {
        throw new DatabaseError(SQLSTATE.nullValueNotAllowed, "RAISE statement option cannot be null");
      }
      options.set(option, text);
    }
    const texts = { arguments: args, options };
    if (raise.level === "exception") throw raisedError(raise, texts);
    const notice = raisedNotice(raise, texts);
    if (notice !== null) this.fragments.notices.push(notice);
  }

  async #assert(condition: Fragment, message: Fragment | null, scope: Scope): Promise<void> {
    if (await this.fragments.isTrue(condition, scope)) return;
    const text = message === null ? null : await this.#text(message, scope);
    throw new DatabaseError(SQLSTATE.assertFailure, text ?? "assertion failed");
  }

  #stackedItem(item: string): string {
    const error = this.#handled;
    if (error === null) {
      throw new DatabaseError(
        SQLSTATE.noActiveHandler,
        "GET STACKED DIAGNOSTICS cannot be used outside an exception handler",
      );
    }
    switch (item) {
      case "returned_sqlstate":
        return error.code;
      case "message_text":
        return error.message;
      case "pg_exception_detail":
        return error.detail ?? "";
      case "pg_exception_hint":
        return error.hint ?? "";
      case "pg_exception_context":
        return error.where ?? "";
      case "column_name":
        return error.column ?? "";
      case "constraint_name":
        return error.constraint ?? "";
      case "pg_datatype_name":
        return error.dataType ?? "";
      case "table_name":
        return error.table ?? "";
      default:
        return error.schema ?? "";
    }
  }

  // ---------------------------------------------------------------- branches and loops

  async #case(
    statement: ProceduralStatement & { readonly kind: "case" },
    scope: Scope,
  ): Promise<Flow> {
    const { subject, branches, otherwise } = statement;
    const inside = new Scope(scope, null);
    if (subject !== null) {
      const { value, type } = await this.fragments.value(subject, scope);
      inside.define(SUBJECT, type, value);
    }
    for (const { test, body } of branches) {
      const condition = subject === null ? test : this.#comparison(test);
      if (await this.fragments.isTrue(condition, inside)) return await this.#list(body, scope);
    }
    if (otherwise !== null) return await this.#list(otherwise, scope);
    throw new DatabaseError(SQLSTATE.caseNotFound, "case not found", {
      hint: "CASE statement is missing ELSE part.",
    });
  }

  /** Runs `turn` until it answers null, or its flow leads out of the loop. */
  async #loop(label: string | null, turn: () => Promise<Flow | null>): Promise<Flow> {
    for (;;) {
      await this.#turn();
      const flow = await turn();
      if (flow === null) return NEXT;
      if (flow.kind === "return") return flow;
      if (flow.kind === "next") continue;
      if (flow.label !== null && flow.label !== label) return flow;
      if (flow.kind === "exit") return NEXT;
    }
  }

  async #forInteger(
    statement: ProceduralStatement & { readonly kind: "for_integer" },
    scope: Scope,
  ): Promise<Flow> {
    const from = await this.#bound(statement.from, "lower", scope);
    const to = await this.#bound(statement.to, "upper", scope);
    const by = statement.by === null ? 1 : await this.#bound(statement.by, "BY value of", scope);
    if (by <= 0) {
      throw new DatabaseError(
        SQLSTATE.invalidParameterValue,
        "BY value of FOR loop must be greater than zero",
      );
    }
    const inside = new Scope(scope, statement.label);
    const variable = inside.define(statement.name, INTEGER, null);
    let next = from, any = false;
    const flow = await this.#loop(statement.label, async () => {
      if (statement.reverse ? next < to : next > to) return null;
      any = true;
      variable.value = next;
      next += statement.reverse ? -by : by;
      return await this.#list(statement.body, inside);
    });
    this.#found.value = any;
    return flow;
  }

  async #bound(fragment: Fragment, which: string, scope: Scope): Promise<number> {
    const { value } = await this.fragments.value(fragment, scope, INTEGER);
    if (typeof value === "number") return value;
    const what = which.startsWith("BY") ? "BY value" : `${which} bound`;
    throw new DatabaseError(SQLSTATE.nullValueNotAllowed, `${what} of FOR loop cannot be null`);
  }

  async #forRows(
    statement: ProceduralStatement & { readonly kind: "for_rows" },
    scope: Scope,
  ): Promise<Flow> {
    const { columns, rows } = await this.#rows(statement.source, statement.targets, scope);
    let next = 0;
    const flow = await this.#loop(statement.label, async () => {
      const row = rows[next++];
      if (row === undefined) return null;
      await this.#into(statement.targets, columns, row, scope);
      return await this.#list(statement.body, scope);
    });
    if (rows.length === 0) await this.#into(statement.targets, columns, null, scope);
    this.#found.value = rows.length > 0;
    return flow;
  }

  async #rows(source: RowSource, targets: readonly Target[], scope: Scope): Promise<FragmentResult> {
    if (source.kind === "dynamic") return await this.#dynamic(source.dynamic, Infinity, scope);
    const types = targets.map((target) => targetType(target, scope));
    return await this.fragments.statement(source.query, scope, { keep: Infinity, assign: types });
  }

  async #forEach(
    statement: ProceduralStatement & { readonly kind: "foreach" },
    scope: Scope,
  ): Promise<Flow> {
    const { value, type } = await this.fragments.value(statement.array, scope);
    if (value === null) {
      throw new DatabaseError(SQLSTATE.nullValueNotAllowed, "FOREACH expression must not be null");
    }
    if (type.kind !== "array") {
      throw new DatabaseError(SQLSTATE.datatypeMismatch, "FOREACH expression must yield an array");
    }
    const { elements } = value as SqlArray;
    let next = 0;
    const flow = await this.#loop(statement.label, async () => {
      if (next >= elements.length) return null;
      await this.#put(statement.target, elements[next++] ?? null, type.element, scope);
      return await this.#list(statement.body, scope);
    });
    this.#found.value = elements.length > 0;
    return flow;
  }

  // ---------------------------------------------------------------- SQL

  async #sql(fragment: Fragment, into: IntoClause | null, scope: Scope): Promise<void> {
    const types = into?.targets.map((target) => targetType(target, scope));
    const keep = into === null ? 0 : 2;
    const options = types === undefined ? { keep } : { keep, assign: types };
    const result = await this.fragments.statement(fragment, scope, options);
    if (into === null && result.columns.length > 0) {
      throw new DatabaseError(SQLSTATE.syntaxError, "query has no destination for result data", {
        hint: "If you want to discard the results of a SELECT, use PERFORM instead.",
      });
    }
    this.#counted(result.count);
    if (into !== null) await this.#intoClause(into, result, scope);
  }

  async #execute(dynamic: DynamicCommand, into: IntoClause | null, scope: Scope): Promise<void> {
    const found = this.#found.value;
    const result = await this.#dynamic(dynamic, 2, scope);
    this.#counted(result.count);
    // EXECUTE leaves FOUND as it was.
    this.#found.value = found;
    if (into !== null) await this.#intoClause(into, result, scope, true);
  }

  async #dynamic(dynamic: DynamicCommand, keep: number, scope: Scope): Promise<FragmentResult> {
    const text = await this.#text(dynamic.command, scope);
    if (text === null) {
      throw new DatabaseError(SQLSTATE.nullValueNotAllowed, "query string argument of EXECUTE is null");
    }
    const types: SqlType[] = [], values: SqlValue[] = [];
    for (const each of dynamic.arguments) {
      const { value, type } = await this.fragments.value(each, scope);
      types.push(type);
      values.push(value);
    }
    return await this.fragments.dynamic(text, { keep, arguments: { types, values } });
  }

  async #intoClause(
    into: IntoClause,
    result: FragmentResult,
    scope: Scope,
    isDynamic = false,
  ): Promise<void> {
    const rows = result.rows.length;
    if (into.strict && rows === 0) {
      throw new DatabaseError(SQLSTATE.noDataFound, "query returned no rows");
    }
    if (into.strict && rows > 1) {
      throw new DatabaseError(SQLSTATE.tooManyRows, "query returned more than one row", {
        hint: "Make sure the query returns a single row, or use LIMIT 1.",
      });
    }
    await this.#into(into.targets, result.columns, result.rows[0] ?? null, scope);
    if (!isDynamic) this.#found.value = rows > 0;
  }

  /** A row into one record, or its columns into a variable each; NULL where there is no row or column. */
  async #into(
    targets: readonly Target[],
    columns: readonly ResultColumn[],
    row: readonly SqlValue[] | null,
    scope: Scope,
  ): Promise<void> {
    const [only, further] = targets;
    const record = only === undefined || further !== undefined ? null : targetRecord(only, scope);
    if (record !== null) {
      assignRecord(record, columns, row);
      return;
    }
    for (const [index, target] of targets.entries()) {
      await this.#put(target, row?.[index] ?? null, columns[index]?.type ?? TEXT, scope);
    }
  }

  // ---------------------------------------------------------------- values

  async #assign(target: Target, value: Fragment, scope: Scope): Promise<void> {
    const record = targetRecord(target, scope);
    if (record !== null) return await this.#assignRow(record, value, scope);
    const type = targetType(target, scope);
    const assigned = await this.fragments.value(value, scope, type);
    await this.#put(target, assigned.value, assigned.type, scope);
  }

  /** A row value, or the columns of a select list, into a record. */
  async #assignRow(record: RecordVariable, fragment: Fragment, scope: Scope): Promise<void> {
    const { columns, rows: [row] } = await this.fragments.perform(fragment, scope, 1);
    const [only] = columns;
    if (columns.length === 1 && only?.type.kind === "record") {
      const value = row?.[0] as SqlRecord | null | undefined;
      assignRecord(record, only.type.fields, value?.recordValues ?? null);
    } else assignRecord(record, columns, row ?? null);
  }

  /** Assigns a value that is there already, converted to the target's type. */
  async #put(target: Target, value: SqlValue, type: SqlType, scope: Scope): Promise<void> {
    const indexes: number[] = [];
    for (const each of target.subscripts) {
      const { value: index } = await this.fragments.value(each, scope, INTEGER);
      if (typeof index !== "number") {
        throw new DatabaseError(
          SQLSTATE.nullValueNotAllowed,
          "array subscript in assignment must not be null",
        );
      }
      indexes.push(index);
    }
    const wanted = targetType(target, scope);
    const converted = wanted === undefined || value === null
      ? value
      : await this.fragments.convert(value, type, wanted);
    assign(target, scope, converted, indexes);
  }

  async #text(fragment: Fragment, scope: Scope): Promise<string | null> {
    const { value, type } = await this.fragments.value(fragment, scope);
    return value === null ? null : formatText(type, value, this.#session.evaluation.textOptions);
  }

  /** WHEN of a CASE with a subject, as a condition. */
  #comparison(test: Fragment): Fragment {
    let condition = this.#comparisons.get(test);
    if (condition === undefined) {
      condition = { text: `${SUBJECT} IN (${test.text})`, line: test.line };
      this.#comparisons.set(test, condition);
    }
    return condition;
  }

  #counted(count: number): void {
    this.#rowCount = count;
    this.#found.value = count > 0;
  }

  /** Lets others have a turn now and then. */
  async #turn(): Promise<void> {
    this.#session.checkCanceled();
    if (this.#session.engine.monotonic() < this.#sliceEnd) return;
    await this.#session.engine.slices.next(SLICE_MICROSECONDS);
    this.#session.checkCanceled();
    this.#sliceEnd = this.#session.engine.monotonic() + SLICE_MICROSECONDS;
  }
}

/** The name under which CASE keeps what it compares. */
const SUBJECT = "__case__subject__";

function handlerOf(handlers: readonly Handler[], error: DatabaseError): Handler | undefined {
  return handlers.find((handler) =>
    handler.conditions.some((condition) => conditionMatches(condition, error.code))
  );
}

function misplaced(
  flow: { readonly kind: "exit" | "continue"; readonly label: string | null },
): DatabaseError {
  const word = flow.kind.toUpperCase();
  return new DatabaseError(
    SQLSTATE.syntaxError,
    flow.label === null
      ? `${word} cannot be used outside a loop${flow.kind === "exit" ? ", unless it has a label" : ""}`
      : `there is no label "${flow.label}" attached to any block or loop enclosing this statement`,
  );
}
