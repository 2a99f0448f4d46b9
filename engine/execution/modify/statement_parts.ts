/**
 * Runs a statement that changes data in its WITH, or whose RETURNING reads what it writes: one part after the other,
 * each once, and all of them over the tables as they were before the statement. Only the last one's rows go to the
 * client. Foreign keys are looked after when all parts are done.
 *
 * A row that one part has changed or deleted is left alone by the parts after it.
 */
import { gas } from "../../base/gas.ts";
import type { RowId } from "../../operations/effect.ts";
import type { VirtualRelation } from "../../sql/plan/plan.ts";
import type {
  CompiledStatement,
  ExecutionContext,
  MaterializedRows,
  StatementExecution,
  UnfinishedChanges,
} from "../runtime/execution.ts";
import type { MemoryUser } from "../runtime/memory_user.ts";
import type { ResultWriter } from "../runtime/result_writer.ts";
import { StatementMemory } from "../runtime/statement_memory.ts";
import type { Work } from "../runtime/work.ts";
import { PartRows } from "./part_rows.ts";
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
  readonly #parts: readonly CompiledPart[];
  readonly #body: CompiledStatement;
  readonly #context: ExecutionContext;
  #next = 0;
  #counted = 0;
  #running: StatementExecution | null = null;
  readonly #user: MemoryUser;
  /** What the rows of all parts take. */
  #rowBytes = 0;
  /** Those of the running part. */
  #rows: PartRows | null = null;
  /** Some of them are being written. */
  #writing: Work | null = null;
  readonly #unfinished: UnfinishedChanges[] = [];
  readonly #materialized = new Map<VirtualRelation, PartRows>();
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
    const memory = context.memory ?? new StatementMemory(context);
    this.#user = {
      context,
      get isHalfFull() {
        return memory.bytes > context.memoryLimitBytes / 2;
      },
      charge: (bytes) => {
        this.#rowBytes += bytes;
        memory.charge(bytes);
      },
      chargeValue: (bytes) => memory.chargeValue(bytes),
      wrote: () => {},
      beganRun: () => {},
      beganPass: () => {},
    };
  }

  /** What the last part has come to, and those before that count. */
  get rowCount(): number {
    return this.#counted + (this.#next > this.#parts.length ? this.#running?.rowCount ?? 0 : 0);
  }

  /** What the last part's operators did. */
  get profile(): StatementExecution["profile"] {
    return this.#next > this.#parts.length ? this.#running?.profile ?? [] : [];
  }

  get insertedId(): RowId | null {
    return this.#next > this.#parts.length ? this.#running?.insertedId ?? null : null;
  }

  step(writer: ResultWriter): boolean {
    gas.beginTurn();
    while (this.#next <= this.#parts.length) {
      const part = this.#parts[this.#next];
      if (part === undefined) break;
      if (!this.#hasWritten()) return false;
      this.#running ??= part.compiled.start(this.#context);
      const rows = this.#rows ??= new PartRows(this.#user, part.relation.columns.map(({ type }) => type));
      const isDone = this.#running.step(rows);
      this.#writing = rows.due();
      if (!isDone) return false;
      this.#next++;
      if (part.counts) this.#counted += this.#running.rowCount;
      this.#materialized.set(part.relation, rows);
      this.#running = this.#rows = null;
      // Nothing of a part is left but its rows.
      const { memory } = this.#context;
      memory?.charge(this.#rowBytes - memory.bytes);
    }
    if (!this.#hasWritten()) return false;
    if (this.#next === this.#parts.length) {
      this.#running = this.#body.start(this.#context);
      this.#next++;
    }
    if (this.#finishing === null && this.#running?.step(writer) === false) return false;
    this.#finishing ??= finishAll(this.#unfinished);
    return this.#finishing.next().done === true;
  }

  /** Writes on, a morsel at a time. true: nothing is left of what was to be written. */
  #hasWritten(): boolean {
    if (this.#writing?.advance() === false) return false;
    this.#writing = null;
    return true;
  }
}
