/**
 * A small database for tests of modifications: real table stores and transactions, SQL through the real planner, no
 * log. DDL goes through the real definition binder where it only changes the catalog.
 */
import { assert } from "../../base/assert.ts";
import { Catalog } from "../../catalog/catalog.ts";
import type { Effect, OpNumber, RowId } from "../../operations/effect.ts";
import { bindDefinition } from "../../sql/definition/bind_definition.ts";
import type { DefinitionStatement } from "../../sql/parser/ast.ts";
import { parseStatements } from "../../sql/parser/statements.ts";
import { foldingContext } from "../../sql/binder/folding_context.ts";
import type { PlanningEnvironment } from "../../sql/binder/environment.ts";
import type { EvaluationContext } from "../../sql/functions/definition.ts";
import type { ResultColumn } from "../../sql/plan/plan.ts";
import { planStatement } from "../../sql/planner/plan_statement.ts";
import { ReadCounts } from "../../storage/access/read_counts.ts";
import { TableStore } from "../../storage/table/table_store.ts";
import { TransactionManager } from "../../transactions/transaction_manager.ts";
import type { Transaction } from "../../transactions/transaction.ts";
import { formatText } from "../../types/text_io.ts";
import type { SqlValue } from "../../types/value.ts";
import { compileStatement } from "../compile_statement.ts";
import type { ExecutionContext } from "../runtime/execution.ts";
import type { ResultWriter } from "../runtime/result_writer.ts";

/** Rows as text, columns joined by `|`. */
class TextRows implements ResultWriter {
  readonly lines: string[] = [];
  readonly #columns: readonly ResultColumn[];
  #row: string[] = [];

  constructor(columns: readonly ResultColumn[]) {
    this.#columns = columns;
  }
  beginRow(): void {
    this.#row = [];
  }
  writeNull(): void {
    this.#row.push("");
  }
  writeInteger(value: number | bigint): void {
    this.#row.push(String(value));
  }
  writeText(value: string): void {
    this.#row.push(value);
  }
  writeUtf8(bytes: Uint8Array, start: number, end: number): void {
    this.#row.push(new TextDecoder().decode(bytes.subarray(start, end)));
  }
  writeValue(column: number, value: SqlValue): void {
    const type = this.#columns[column]?.type;
    assert(type !== undefined, "column of a result");
    this.#row.push(formatText(type, value));
  }
  endRow(): void {
    this.lines.push(this.#row.join("|"));
  }
}

/** What a statement did. */
export interface RanStatement {
  readonly rows: readonly string[];
  readonly count: number;
  readonly insertedId: RowId | null;
  readonly source: string;
}

/**
 * A small database for tests of modifications: real table stores and transactions, SQL through the real planner, no
 * log.
 */
export class TestDatabase {
  catalog = Catalog.initial();
  lastOp = 0 as OpNumber;
  readonly manager: TransactionManager;
  readonly stores = new Map<number, TableStore>();
  readonly #counters = new Map<number, number>();
  readonly evaluation: EvaluationContext = { ...foldingContext, random: () => 0.5 };
  memoryLimitBytes = 1 << 28;

  constructor() {
    this.manager = new TransactionManager(sinkOf(this), () => 0);
  }

  store(tableId: number): TableStore {
    const store = this.stores.get(tableId);
    assert(store !== undefined, `store of table ${tableId}`);
    return store;
  }

  nextRowId(tableId: number): RowId {
    const next = (this.#counters.get(tableId) ?? 0) + 1;
    this.#counters.set(tableId, next);
    return next;
  }

  /** Applies an entry. */
  commit(effects: readonly Effect[]): OpNumber {
    const op = (this.lastOp + 1) as OpNumber;
    for (const effect of effects) this.#apply(effect, op);
    this.lastOp = op;
    return op;
  }

  #apply(effect: Effect, op: OpNumber): void {
    switch (effect.kind) {
      case "create":
        this.store(effect.tableId).create(op, effect.id, effect.values);
        return;
      case "update":
        this.store(effect.tableId).update(op, effect.id, effect.values);
        return;
      case "delete":
        this.store(effect.tableId).delete(op, effect.id);
        return;
      case "create_batch":
        this.store(effect.tableId).createBatch(op, effect.batch);
        return;
      case "update_batch":
        this.store(effect.tableId).endRows(op, effect.batch.ids);
        this.store(effect.tableId).createBatch(op, effect.batch);
        return;
      case "delete_batch":
        this.store(effect.tableId).endRows(op, effect.ids);
        return;
      case "truncate":
        this.store(effect.tableId).truncate(op);
        return;
      case "ddl": {
        const { change } = effect;
        this.catalog = this.catalog.apply(change);
        if (change.kind !== "put_table") return;
        const existing = this.stores.get(change.table.id);
        if (existing !== undefined) existing.alter(change.table, op);
        else {
          this.stores.set(
            change.table.id,
            new TableStore({
              definition: change.table,
              horizon: { oldestSnapshot: () => this.manager.oldestSnapshot() },
            }),
          );
        }
        return;
      }
      case "sequence":
    }
  }

  environment(transaction: Transaction, text: string): PlanningEnvironment {
    return { catalog: transaction.catalog, searchPath: ["pg_catalog", "public"], text };
  }

  context(transaction: Transaction): ExecutionContext {
    return {
      evaluation: this.evaluation,
      parameters: [],
      table: (id) => transaction.table(id),
      reads: new ReadCounts(),
      writer: transaction,
      checkCanceled: () => {},
      monotonic: () => 0,
      memoryLimitBytes: this.memoryLimitBytes,
    };
  }

  /** Begins a transaction. */
  begin(interruptible = true): Transaction {
    return this.manager.begin({ interruptible, timestamp: 0 });
  }

  /** Runs statements in a transaction; answers the last one's result. */
  runIn(transaction: Transaction, text: string): RanStatement {
    let result: RanStatement = { rows: [], count: 0, insertedId: null, source: "" };
    for (const parsed of parseStatements(text)) {
      const { statement } = parsed;
      const environment = this.environment(transaction, text);
      switch (statement.kind) {
        case "query":
        case "insert":
        case "update":
        case "delete": {
          const planned = planStatement(statement, environment);
          const compiled = compileStatement(planned);
          const writer = new TextRows(planned.columns);
          const execution = compiled.start(this.context(transaction));
          while (!execution.step(writer));
          result = {
            rows: writer.lines,
            count: execution.rowCount,
            insertedId: execution.insertedId,
            source: compiled.source(this.context(transaction)),
          };
          break;
        }
        default: {
          const plan = bindDefinition(statement as DefinitionStatement, environment);
          for (const step of plan.steps) if (step.kind === "change") transaction.change(step.change);
        }
      }
    }
    return result;
  }

  /** Runs statements as one transaction; a failure takes it back. */
  run(text: string): RanStatement {
    const transaction = this.begin(/^\s*(?:CREATE|ALTER|DROP)/i.test(text));
    try {
      const result = this.runIn(transaction, text);
      this.manager.commit(transaction);
      return result;
    } finally {
      this.manager.end(transaction);
    }
  }

  /** The rows of a query. */
  rows(text: string): readonly string[] {
    return this.run(text).rows;
  }
}

function sinkOf(database: TestDatabase): ConstructorParameters<typeof TransactionManager>[0] {
  return {
    get lastOp() {
      return database.lastOp;
    },
    get catalog() {
      return database.catalog;
    },
    store: (tableId) => database.store(tableId),
    newestSequenceValue: () => undefined,
    unloggedNumbers: () => [],
    reserveRowIds: (tableId, count) => {
      const first = database.nextRowId(tableId);
      for (let more = 1; more < count; more++) database.nextRowId(tableId);
      return first;
    },
    commit: ({ effects }) => database.commit(effects),
    applyPart: () => {
      throw new Error("the rows of the test are in one place");
    },
    commitInSteps: function* ({ effects }) {
      yield;
      return database.commit([...effects.each()]);
    },
  };
}
