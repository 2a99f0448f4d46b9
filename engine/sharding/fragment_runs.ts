/**
 * Runs fragments of plans at a shard. It needs code generation and all that is beneath it, so that a shard loads it
 * when the first fragment comes.
 */
import { assert } from "../base/assert.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import { compileRowProducer, type RowProducer } from "../execution/compile_statement.ts";
import type { ExecutionContext, GatheredBatch } from "../execution/runtime/execution.ts";
import type { EvaluationContext } from "../sql/functions/definition.ts";
import { fragmentOfText } from "../sql/fragments/fragment_text.ts";
import type { Fragment } from "../sql/plan/plan.ts";
import { visitPlan } from "../sql/plan/traverse.ts";
import type { StoredValue } from "../operations/effect.ts";
import type { ReadableTable } from "../storage/access/readable_table.ts";
import { ReadCounts } from "../storage/access/read_counts.ts";
import type { ReadPredicate } from "../transactions/read_set.ts";
import { TableView } from "../transactions/table_view.ts";
import { storageClassOf } from "../types/physical_type.ts";
import { fromStored, toStored } from "../types/stored_value.ts";
import type { SqlValue } from "../types/value.ts";
import { readKey } from "./read_key.ts";
import type { SessionFacts } from "./shard_messages.ts";

/** Rows that travel together. */
const BATCH_ROWS = 4096;
/** The same by what they take, roughly. */
const BATCH_BYTES = 256 << 10;
/** Numbers that travel as one block of memory, for each of them alone costs more. */
const BLOCK_NUMBERS = 64;

/** What a fragment reads, and with what. */
export interface FragmentRun {
  readonly parameters: readonly StoredValue[];
  readonly session: SessionFacts | null;
  /** Whether what is read is noted. */
  readonly notesReads: boolean;
  readonly memoryLimitBytes: number;
  readonly catalog: Catalog;
  table(tableId: number): ReadableTable;
  /** Microseconds. */
  monotonic(): number;
  /** Takes a batch that is not the last. */
  send(batch: GatheredBatch): void;
}

/** A compiled fragment. */
export class FragmentCode {
  readonly #fragment: Pick<Fragment, "plan" | "columns" | "parameters">;
  readonly #producer: RowProducer;
  readonly #tables: TableDefinition[] = [];

  constructor(text: string, catalog: Catalog) {
    this.#fragment = fragmentOfText(text, catalog);
    visitPlan(this.#fragment.plan, {
      plan: (each) => {
        if ("table" in each) this.#tables.push(each.table);
      },
    });
    this.#producer = compileRowProducer(this.#fragment.plan, this.#fragment.columns);
  }

  /** Whether its tables are still defined as they were. */
  isFor(catalog: Catalog): boolean {
    return this.#tables.every((table) => catalog.table(table.id) === table);
  }

  /** Begins an execution; each step works for about a millisecond. */
  start(run: FragmentRun): FragmentExecution {
    const { columns, parameters } = this.#fragment;
    const values: SqlValue[] = [];
    parameters.forEach(({ index, type }, position) => {
      values[index] = fromStored(type, run.parameters[position] ?? null);
    });
    const reads: ReadPredicate[] = [];
    const production = this.#producer.start(contextOf(run, values, reads));
    const output = new ColumnLists(columns, (batch) => run.send(batch));
    return {
      reads,
      step: () => production.step(output.add),
      rest: () => output.take(),
    };
  }
}

/** A running fragment. */
export interface FragmentExecution {
  readonly reads: readonly ReadPredicate[];
  /** true: finished. */
  step(): boolean;
  /** The rows that have not been sent. */
  rest(): GatheredBatch;
}

/** Stands for what a fragment must not ask: what is steady needs nothing of it. */
const nobody = new Proxy({}, {
  get: () => {
    throw new TypeError("a fragment asks nothing of a session");
  },
});

function evaluationOf(session: SessionFacts): EvaluationContext {
  const refuse = (): never => {
    throw new TypeError("a fragment asks for nothing that is not steady");
  };
  return {
    ...session,
    random: refuse,
    randomBytes: refuse,
    clockTimestamp: refuse,
    services: nobody as EvaluationContext["services"],
  };
}

function contextOf(
  run: FragmentRun,
  parameters: readonly SqlValue[],
  reads: ReadPredicate[],
): ExecutionContext {
  const noted = new Set<string>();
  const views = new Map<number, ReadableTable>();
  const view = (tableId: number): ReadableTable => {
    const committed = run.table(tableId);
    const definition = run.catalog.table(tableId);
    if (!run.notesReads || definition === undefined) return committed;
    const track = (read: ReadPredicate): void => {
      const key = readKey(read);
      if (noted.has(key)) return;
      noted.add(key);
      reads.push(read);
    };
    return new TableView({ definition, beneath: definition, committed, writeSet: null, track });
  };
  return {
    parameters,
    evaluation: run.session === null ? nobody as EvaluationContext : evaluationOf(run.session),
    writer: nobody as ExecutionContext["writer"],
    reads: new ReadCounts(),
    memoryLimitBytes: run.memoryLimitBytes,
    table: (tableId) => {
      let table = views.get(tableId);
      if (table === undefined) views.set(tableId, table = view(tableId));
      return table;
    },
    checkCanceled: () => {},
    monotonic: () => run.monotonic(),
  };
}

/** Collects rows by column. */
class ColumnLists {
  readonly #columns: Fragment["columns"];
  readonly #send: (batch: GatheredBatch) => void;
  #lists: StoredValue[][];
  #rows = 0;
  #bytes = 0;

  constructor(columns: Fragment["columns"], send: (batch: GatheredBatch) => void) {
    this.#columns = columns;
    this.#send = send;
    this.#lists = columns.map(() => []);
  }

  readonly add = (values: readonly SqlValue[]): void => {
    const columns = this.#columns;
    for (let index = 0; index < columns.length; index++) {
      const column = columns[index];
      const value = values[index];
      assert(column !== undefined && value !== undefined, "a value for each column");
      const stored = toStored(column.type, value);
      this.#lists[index]?.push(stored);
      this.#bytes += typeof stored === "string" || stored instanceof Uint8Array ? stored.length + 8 : 8;
    }
    if (++this.#rows >= BATCH_ROWS || this.#bytes > BATCH_BYTES) this.#send(this.take());
  };

  take(): GatheredBatch {
    const columns = this.#lists.map((list, index) => {
      const type = this.#columns[index]?.type;
      if (this.#rows < BLOCK_NUMBERS || type === undefined) return list;
      const storageClass = storageClassOf(type);
      if (storageClass !== "int" && storageClass !== "float") return list;
      return list.every((value) => typeof value === "number") ? Float64Array.from(list as number[]) : list;
    });
    const batch: GatheredBatch = { rowCount: this.#rows, columns };
    this.#lists = this.#columns.map(() => []);
    this.#rows = this.#bytes = 0;
    return batch;
  }
}
