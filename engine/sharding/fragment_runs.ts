/**
 * Runs fragments of plans at a shard. It needs code generation and all that is beneath it, so that a shard loads it
 * when the first fragment comes.
 */
import { assert, assertDefined } from "../base/assert.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import { compileRowProducer, type RowProducer, type RowProduction } from "../execution/compile_statement.ts";
import type { ExecutionContext, GatheredBatch } from "../execution/runtime/execution.ts";
import type { EvaluationContext } from "../sql/functions/definition.ts";
import { fragmentOfText } from "../sql/fragments/fragment_text.ts";
import type { Fragment, Plan } from "../sql/plan/plan.ts";
import { inputs, visitPlan } from "../sql/plan/traverse.ts";
import type { StoredValue } from "../operations/effect.ts";
import type { ReadableTable } from "../storage/access/readable_table.ts";
import { ReadCounts } from "../storage/access/read_counts.ts";
import type { ReadPredicate } from "../transactions/read_set.ts";
import { TableView } from "../transactions/table_view.ts";
import { storageClassOf } from "../types/physical_type.ts";
import { fromStored, toStored } from "../types/stored_value.ts";
import type { SqlValue } from "../types/value.ts";
import { edgeName, type ExchangeEnds } from "./exchange_ends.ts";
import { combine, passOf, placeOf, valueHash } from "./place_hash.ts";
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
  /** The ways to other places, of which a fragment with exchanges has need. */
  readonly ends: ExchangeEnds | null;
  /** Rows of exchanges come in so many passes. */
  readonly passes: number;
  /** Raises 57014 when nobody waits for the rows any more. */
  checkWanted(): void;
}

type Exchange = Extract<Plan, { readonly kind: "exchange" }>;

/** One thing that a fragment does beside others. */
export interface FragmentTask {
  /** Works for about a millisecond. true: finished. */
  step(): boolean;
  /** The last step has ended because something of other places must come first. */
  readonly isWaiting: boolean;
}

/** A compiled fragment. */
export class FragmentCode {
  readonly #fragment: Pick<Fragment, "plan" | "columns" | "parameters">;
  readonly #producer: RowProducer;
  readonly #tables: TableDefinition[] = [];
  readonly #exchanges: { readonly exchange: Exchange; readonly producer: RowProducer }[] = [];

  constructor(text: string, catalog: Catalog) {
    this.#fragment = fragmentOfText(text, catalog);
    visitPlan(this.#fragment.plan, {
      plan: (each) => {
        if ("table" in each) this.#tables.push(each.table);
      },
    });
    for (const exchange of exchangesOf(this.#fragment.plan)) {
      this.#exchanges.push({ exchange, producer: compileRowProducer(exchange.input, exchange.columns) });
    }
    this.#producer = compileRowProducer(this.#fragment.plan, this.#fragment.columns);
  }

  /** Whether its tables are still defined as they were. */
  isFor(catalog: Catalog): boolean {
    return this.#tables.every((table) => catalog.table(table.id) === table);
  }

  /** Begins an execution. */
  start(run: FragmentRun): FragmentExecution {
    const { columns, parameters } = this.#fragment;
    const values: SqlValue[] = [];
    parameters.forEach(({ index, type }, position) => {
      values[index] = fromStored(type, run.parameters[position] ?? null);
    });
    const reads: ReadPredicate[] = [];
    const output = new ColumnLists(columns, (batch) => run.send(batch));
    return {
      reads,
      tasks: (pass) => {
        const context = contextOf(run, values, { reads, memory: { bytes: 0 }, pass });
        const production = this.#producer.start(context);
        const task = new OwnTask(production, output);
        const { ends } = run;
        if (ends === null) return [task];
        return [
          ...this.#exchanges.map(({ exchange, producer }) =>
            new SendingTask(exchange, producer.start(context), { ends, pass, passes: run.passes })
          ),
          task,
        ];
      },
      rest: () => output.take(),
    };
  }
}

/** The exchanges of a plan, those beneath others first. */
function exchangesOf(plan: Plan): Exchange[] {
  return [...inputs(plan).flatMap(exchangesOf), ...(plan.kind === "exchange" ? [plan] : [])];
}

/** What gives the rows of the fragment itself. */
class OwnTask implements FragmentTask {
  readonly #production: RowProduction;
  readonly #output: ColumnLists;

  constructor(production: RowProduction, output: ColumnLists) {
    this.#production = production;
    this.#output = output;
  }

  get isWaiting(): boolean {
    return this.#production.isWaiting;
  }

  step(): boolean {
    return this.#production.step(this.#output.add);
  }
}

/** Sends the rows of an exchange's input to where they belong. */
class SendingTask implements FragmentTask {
  isWaiting = false;
  readonly #production: RowProduction;
  readonly #ends: ExchangeEnds;
  readonly #edge: string;
  /** Batches without a credit. */
  #held: { readonly to: number; readonly batch: GatheredBatch; readonly isLast: boolean }[] = [];
  readonly #add: (values: readonly SqlValue[]) => void;
  readonly #rest: () => void;
  #isMade = false;

  constructor(
    exchange: Exchange,
    production: RowProduction,
    { ends, pass, passes }: { readonly ends: ExchangeEnds; readonly pass: number; readonly passes: number },
  ) {
    this.#production = production;
    this.#ends = ends;
    this.#edge = edgeName(exchange.number, pass);
    const places = Array.from({ length: ends.count }, (_, place) => place);
    const send = (targets: readonly number[]) => (batch: GatheredBatch, isLast = false): void => {
      for (const to of targets) this.#held.push({ to, batch, isLast });
    };
    const { keys, columns } = exchange;
    const ways = keys === null ? [send(places)] : places.map((to) => send([to]));
    const lists = ways.map((way) => new ColumnLists(columns, way));
    this.#rest = () => ways.forEach((way, index) => way(assertDefined(lists[index], "a list").take(), true));
    const [only] = lists;
    if (keys === null) this.#add = assertDefined(only, "a list").add;
    else {
      const hashes = keys.map(({ position, other }) => ({
        position,
        hash: valueHash(assertDefined(columns[position], "a key").type, other),
      }));
      const count = exchange.inPasses ? passes : 1;
      this.#add = (values) => {
        let hash = 0;
        for (const each of hashes) {
          const value = values[each.position] as SqlValue;
          hash = combine(hash, value === null ? 0 : each.hash(value));
        }
        if (count > 1 && passOf(hash, count) !== pass) return;
        (lists[placeOf(hash, ends.count)] as ColumnLists).add(values);
      };
    }
  }

  step(): boolean {
    if (!this.#flush()) return false;
    if (!this.#isMade) {
      this.#isMade = this.#production.step(this.#add);
      if (this.#isMade) this.#rest();
      if (this.#flush()) this.isWaiting = this.#production.isWaiting;
    }
    return this.#isMade && this.#held.length === 0;
  }

  /** Sends what there are credits for; of what goes to one place nothing passes another. false: something is held. */
  #flush(): boolean {
    const full = new Set<number>();
    this.#held = this.#held.filter(({ to, batch, isLast }) => {
      if (!full.has(to) && this.#ends.send(this.#edge, to, batch, isLast)) return false;
      full.add(to);
      return true;
    });
    return !(this.isWaiting = this.#held.length > 0);
  }
}

/** A running fragment. */
export interface FragmentExecution {
  readonly reads: readonly ReadPredicate[];
  /** What is to be done in a pass, beside each other. */
  tasks(pass: number): readonly FragmentTask[];
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
  { reads, memory, pass }: {
    readonly reads: ReadPredicate[];
    readonly memory: { bytes: number };
    readonly pass: number;
  },
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
    memory,
    exchange: (number) => assertDefined(run.ends, "ways to other places").source(edgeName(number, pass)),
    table: (tableId) => {
      let table = views.get(tableId);
      if (table === undefined) views.set(tableId, table = view(tableId));
      return table;
    },
    checkCanceled: () => run.checkWanted(),
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
