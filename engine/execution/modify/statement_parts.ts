/**
 * Runs a statement that changes data in its WITH: one part after the other, each once, and all of them over the
 * tables as they were before the statement. Only the last one's rows go to the client. Foreign keys are looked after
 * when all parts are done.
 *
 * A row that one part has changed or deleted is left alone by the parts after it.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { gas } from "../../base/gas.ts";
import type { RowId } from "../../operations/effect.ts";
import type { VirtualRelation } from "../../sql/plan/plan.ts";
import type { SqlValue } from "../../types/value.ts";
import type {
  CompiledStatement,
  ExecutionContext,
  MaterializedRows,
  StatementExecution,
  UnfinishedChanges,
} from "../runtime/execution.ts";
import type { ResultWriter } from "../runtime/result_writer.ts";
import { finishAll } from "./row_changes.ts";

/** A part with the relation that its rows go to. */
export interface CompiledPart {
  readonly relation: VirtualRelation;
  readonly compiled: CompiledStatement;
  /** Whether the statement's number of rows counts its rows. */
  readonly counts: boolean;
}

/** Compiled parts as one statement. `tableIds`: all tables that one of them reads. */
export function statementOfParts(
  parts: readonly CompiledPart[],
  body: CompiledStatement,
  tableIds: readonly number[],
): CompiledStatement {
  return {
    start: (context) => new PartsExecution(parts, body, context, tableIds),
    source: (context) =>
      [...parts.map(({ compiled }) => compiled.source(context)), body.source(context)].join("\n\n"),
  };
}

/** The context with what its tables hold at the beginning. */
function contextOfParts(
  context: ExecutionContext,
  tableIds: readonly number[],
  unfinished: UnfinishedChanges[],
  materialized: MaterializedRows,
): ExecutionContext {
  const { writer } = context;
  const before = new Map(tableIds.map((id) => [id, writer.tableNow?.(id)]));
  const met = new Map<number, Set<RowId>>();
  return {
    evaluation: context.evaluation,
    parameters: context.parameters,
    writer,
    memoryLimitBytes: context.memoryLimitBytes,
    ...(context.memory === undefined ? {} : { memory: context.memory }),
    ...(context.spillFile === undefined ? {} : { spillFile: context.spillFile }),
    spills: context.spills === true,
    materialized,
    table: (id) => context.table(id),
    reads: context.reads,
    checkCanceled: () => context.checkCanceled(),
    monotonic: () => context.monotonic(),
    before: {
      table: (id) => before.get(id),
      leave: (changes) => void unfinished.push(changes),
      meet: (tableId, id) => {
        let rows = met.get(tableId);
        if (rows === undefined) met.set(tableId, rows = new Set());
        if (rows.has(id)) return false;
        rows.add(id);
        return true;
      },
    },
  };
}

class PartsExecution implements StatementExecution {
  readonly profile = [];
  readonly #parts: readonly CompiledPart[];
  readonly #body: CompiledStatement;
  readonly #context: ExecutionContext;
  #next = 0;
  #counted = 0;
  #running: StatementExecution | null = null;
  #rows: RowCollector;
  readonly #unfinished: UnfinishedChanges[] = [];
  readonly #materialized = new Map<VirtualRelation, SqlValue[][]>();
  #finishing: Generator<void, void, void> | null = null;

  constructor(
    parts: readonly CompiledPart[],
    body: CompiledStatement,
    context: ExecutionContext,
    tableIds: readonly number[],
  ) {
    this.#parts = parts;
    this.#body = body;
    this.#context = contextOfParts(context, tableIds, this.#unfinished, this.#materialized);
    this.#rows = new RowCollector(context);
  }

  /** What the last part has come to, and those before that count. */
  get rowCount(): number {
    return this.#counted + (this.#next > this.#parts.length ? this.#running?.rowCount ?? 0 : 0);
  }

  get insertedId(): RowId | null {
    return this.#next > this.#parts.length ? this.#running?.insertedId ?? null : null;
  }

  step(writer: ResultWriter): boolean {
    gas.beginTurn();
    while (this.#next <= this.#parts.length) {
      if (this.#running === null) {
        const part = this.#parts[this.#next];
        if (part === undefined) break;
        this.#running = part.compiled.start(this.#context);
      }
      if (!this.#running.step(this.#rows)) return false;
      const part = this.#parts[this.#next++] as CompiledPart;
      if (part.counts) this.#counted += this.#running.rowCount;
      this.#materialized.set(part.relation, this.#rows.take());
      this.#running = null;
      // Nothing of a part is left but its rows.
      const { memory } = this.#context;
      memory?.charge(this.#rows.bytes - memory.bytes);
    }
    if (this.#next === this.#parts.length) {
      this.#running = this.#body.start(this.#context);
      this.#next++;
    }
    if (this.#finishing === null && this.#running?.step(writer) === false) return false;
    this.#finishing ??= finishAll(this.#unfinished);
    return this.#finishing.next().done === true;
  }
}

/** Keeps the rows of a part as values. */
class RowCollector implements ResultWriter {
  readonly #context: ExecutionContext;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #rows: SqlValue[][] = [];
  #row: SqlValue[] = [];
  #bytes = 0;

  constructor(context: ExecutionContext) {
    this.#context = context;
  }

  /** What all rows take. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The rows since the last call. */
  take(): SqlValue[][] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  beginRow(): void {
    this.#row = [];
  }

  writeNull(): void {
    this.#row.push(null);
  }

  writeInteger(value: number | bigint): void {
    this.#row.push(value);
  }

  writeText(value: string): void {
    this.#bytes += 2 * value.length;
    this.#row.push(value);
  }

  writeUtf8(bytes: Uint8Array, start: number, end: number): void {
    this.writeText(this.#decoder.decode(bytes.subarray(start, end)));
  }

  writeValue(_column: number, value: SqlValue): void {
    if (value instanceof Uint8Array) this.#bytes += value.length;
    this.#row.push(value instanceof Uint8Array ? value.slice() : value);
  }

  endRow(): void {
    this.#rows.push(this.#row);
    this.#bytes += 32 + 16 * this.#row.length;
    if (this.#bytes <= this.#context.memoryLimitBytes) return;
    throw new DatabaseError(SQLSTATE.outOfMemory, "out of memory", {
      detail: "The rows of the statement's WITH need more than the memory limit of a statement.",
    });
  }
}
