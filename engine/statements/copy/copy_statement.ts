/**
 * COPY … FROM STDIN and COPY … TO STDOUT.
 *
 * Data that comes in is parsed as it comes and loaded when it has ended, as one statement. Data that goes out is
 * encoded while the query runs; what a modification returns is held back until it is through, because it may run
 * again.
 */
import { assert, assertDefined } from "../../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import type { TableDefinition } from "../../catalog/definitions.ts";
import { isTemporarySchema } from "../../catalog/temporary_schema.ts";
import { compileStatement } from "../../execution/compile_statement.ts";
import { TableExpressionBinder } from "../../execution/modify/table_expressions.ts";
import type { Copy, Statement } from "../../sql/parser/ast.ts";
import { parseStatement } from "../../sql/parser/statements.ts";
import type { RowBatch } from "../../operations/effect.ts";
import type { ResultColumn } from "../../sql/plan/plan.ts";
import { planStatement } from "../../sql/planner/plan_statement.ts";
import type { CopyTarget, MaybePromise, ResultSink, StatementOutcome } from "../outcome.ts";
import { RowBuffer } from "../row_buffer.ts";
import { errorPosition } from "../../sql/parser/source_text.ts";
import type { StatementHost } from "../statement_host.ts";
import { batchMemory } from "../../transactions/batch_values.ts";
import { StoredBatches } from "../../transactions/stored_batches.ts";
import { CopyEncoder } from "./copy_encoder.ts";
import { type CopyLoad, loadStatement } from "./copy_load.ts";
import { copyColumns, copySettings } from "./copy_options.ts";
import type { CopySettings, ParsedBatch } from "../parsed_copy.ts";
import { SharedCopyParser } from "./shared_copy_parser.ts";

/** Runs a COPY; `text` is its own text. */
export function runCopy(
  session: StatementHost,
  text: string,
  statement: Copy,
  sink: ResultSink,
): MaybePromise<StatementOutcome> {
  const { endpoint } = statement;
  if (endpoint.kind !== "client") {
    const what = endpoint.kind === "file" ? "a file of the server" : "a program of the server";
    throw new DatabaseError(
      SQLSTATE.featureNotSupported,
      `COPY ${statement.direction === "from" ? "from" : "to"} ${what} is not supported`,
      { hint: "Use COPY FROM STDIN or COPY TO STDOUT, or the client's \\copy command." },
    );
  }
  const settings = copySettings(session, statement);
  return statement.direction === "from"
    ? runCopyFrom(session, statement, settings, sink)
    : runCopyTo(session, text, statement, settings, sink);
}

async function runCopyFrom(
  session: StatementHost,
  statement: Copy,
  settings: CopySettings,
  sink: ResultSink,
): Promise<StatementOutcome> {
  const name = assertDefined(statement.table, "table of COPY FROM");
  const relation = session.resolveRelation(name);
  if (relation.kind !== "table") {
    throw new DatabaseError(
      SQLSTATE.wrongObjectType,
      `cannot copy to ${relation.kind} "${name.name}"`,
      { position: errorPosition(session.currentText, name.position) },
    );
  }
  const { table } = relation;
  if (table.external !== undefined) {
    throw new DatabaseError(
      SQLSTATE.wrongObjectType,
      `cannot copy to external source "${name.name}"`,
      { position: name.position + 1, hint: `Use REFRESH ${quoted(name.name)} to fill it.` },
    );
  }
  if (session.isFollower || !isTemporarySchema(table.schema)) session.requireWritable("COPY FROM");
  const target = copyFrom(session, table, statement, settings);
  try {
    await sink.copyIn(
      { binary: settings.format === "binary", columnCount: target.columnCount },
      { write: (bytes, start, end) => target.write(bytes, start, end) },
    );
    await target.finish();
    return await session.runWork(
      loadStatement(target.load()),
      new RowBuffer(),
      (execution) => session.outcome(`COPY ${execution.rowCount}`, execution.rowCount, "affected"),
    );
  } finally {
    target.release();
  }
}

/** Receives the data of a COPY … FROM. */
export interface CopyFromTarget extends CopyTarget {
  readonly columnCount: number;
  /** The data has ended. */
  finish(): MaybePromise<void>;
  /** What has been parsed. */
  load(): CopyLoad;
  /** It is loaded, or is not going to be. */
  release(): void;
}

/** A target that has the data for a table parsed into batches. */
export function copyFrom(
  session: StatementHost,
  table: TableDefinition,
  statement: Copy,
  settings: CopySettings,
): CopyFromTarget {
  const positions = copyColumns(table, statement.columns);
  const batches: ParsedBatch[] = [];
  let file: StoredBatches | null = null, keptBytes = 0;
  /** Beyond what is kept in memory, in a temporary file. */
  const kept = (batch: RowBatch): RowBatch => {
    const { openSpillFile, shards } = session.engine;
    if (keptBytes <= LIMITS.transactionKeptBatchBytes || openSpillFile === null || shards !== null) {
      keptBytes += batchMemory(batch);
      return batch;
    }
    file ??= new StoredBatches(openSpillFile(session));
    return file.store({ ...batch, ids: new Float64Array(batch.rowCount) });
  };
  const emit = (parsed: ParsedBatch): void => {
    batches.push({ ...parsed, batch: kept(parsed.batch) });
  };
  const parser = new SharedCopyParser(session, { table, positions, settings }, emit);
  return {
    columnCount: positions.length,
    write: (bytes, start = 0, end = bytes.length) => {
      session.checkCanceled();
      return parser.write(bytes, start, end);
    },
    finish: () => parser.finish(),
    load: () => {
      const inBlock = session.block !== null;
      const common = { table, positions, batches, inBlock };
      if (statement.where === null) return { ...common, where: null };
      const binder = new TableExpressionBinder(session.catalog, table);
      const expression = binder.boundCondition(statement.where, "WHERE");
      return { ...common, where: { expression, columns: binder.columns } };
    },
    release: () => {
      parser.release();
      file?.release();
    },
  };
}

function runCopyTo(
  session: StatementHost,
  text: string,
  statement: Copy,
  settings: CopySettings,
  sink: ResultSink,
): MaybePromise<StatementOutcome> {
  const environment = session.planEnvironment(text, []);
  const planned = planStatement(sourceOf(session, statement), environment);
  if (planned.columns.length === 0) {
    throw new DatabaseError(SQLSTATE.featureNotSupported, "COPY query must have a RETURNING clause");
  }
  const compiled = compileStatement(planned);
  const isHeld = session.mayRunAnew({ planned, compiled });
  const out = new CopyOutSink(session, sink, settings, planned.columns, isHeld);
  return session.runWork(compiled, out, () => {
    const rows = out.finish();
    return {
      ...session.outcome(`COPY ${rows}`, rows, "affected"),
      durableOp: session.durableAfter(planned),
    };
  });
}

/** The query whose rows COPY TO sends. */
function sourceOf(session: StatementHost, statement: Copy): Statement {
  if (statement.query !== null) return statement.query;
  const name = assertDefined(statement.table, "table of COPY TO");
  const relation = session.resolveRelation(name);
  if (relation.kind !== "table") {
    throw new DatabaseError(
      SQLSTATE.wrongObjectType,
      `cannot copy from ${relation.kind} "${name.name}"`,
      relation.kind === "view" ? { hint: "Try the COPY (SELECT ...) TO variant." } : {},
    );
  }
  const { table } = relation;
  const columns = copyColumns(table, statement.columns)
    .map((position) => quoted(table.columns[position]?.name ?? ""));
  return parseStatement(`SELECT ${columns.join(", ")} FROM ${quoted(table.schema)}.${quoted(table.name)}`)
    .statement;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Takes a query's rows and sends them as COPY data. */
class CopyOutSink extends CopyEncoder implements ResultSink {
  readonly #sink: ResultSink;
  #held: { readonly bytes: Uint8Array; readonly ends: readonly number[] }[] | null;
  readonly #begin: () => void;
  #begun = false;

  constructor(
    session: StatementHost,
    sink: ResultSink,
    settings: CopySettings,
    columns: readonly ResultColumn[],
    retractable: boolean,
  ) {
    super({
      settings,
      columns,
      textOptions: session.evaluation.textOptions,
      send: (bytes, ends) => this.#pass(bytes, ends),
    });
    this.#sink = sink;
    this.#held = retractable ? [] : null;
    this.#begin = () =>
      sink.copyOutBegin({ binary: settings.format === "binary", columnCount: columns.length });
    this.begin();
  }

  #pass(bytes: Uint8Array, ends: readonly number[]): void {
    if (this.#held !== null) {
      this.#held.push({ bytes, ends });
      return;
    }
    if (!this.#begun) this.#begin();
    this.#begun = true;
    this.#sink.copyOutData(bytes, ends);
  }

  get full(): boolean {
    return this.#sink.full;
  }

  drained(): Promise<void> {
    return this.#sink.drained();
  }

  get hasSent(): boolean {
    return this.#begun;
  }

  /** The statement runs again. Nothing has been sent: it would not do so otherwise. */
  retract(): void {
    assert(!this.#begun, "rows that were sent cannot be taken back");
    if (this.#held !== null) this.#held = [];
    this.restart();
  }

  /** Sends the rest. Answers the number of rows. */
  override finish(): number {
    const rows = super.finish();
    const held = this.#held ?? [];
    this.#held = null;
    if (!this.#begun) this.#begin();
    this.#begun = true;
    for (const { bytes, ends } of held) this.#sink.copyOutData(bytes, ends);
    return rows;
  }

  copyOutBegin(): void {}

  copyOutData(): void {}

  copyIn(): Promise<void> {
    return Promise.reject(
      new DatabaseError(SQLSTATE.featureNotSupported, "COPY within COPY is not supported"),
    );
  }
}
