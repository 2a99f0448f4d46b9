/**
 * Runs fragments of plans at a shard. It needs code generation and all that is beneath it, so that a shard loads it
 * when the first fragment comes.
 */
import { assertDefined } from "../base/assert.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import { compileRowProducer, type RowProducer, type RowProduction } from "../execution/compile_statement.ts";
import { ColumnLists } from "../execution/runtime/column_lists.ts";
import type { ExecutionContext, GatheredBatch, KeptTables } from "../execution/runtime/execution.ts";
import { StatementMemory } from "../execution/runtime/statement_memory.ts";
import type { EvaluationContext } from "../sql/functions/definition.ts";
import { fragmentOfText } from "../sql/fragments/fragment_text.ts";
import type { Fragment, Plan } from "../sql/plan/plan.ts";
import { inputs, visitPlan } from "../sql/plan/traverse.ts";
import type { StoredValue } from "../operations/effect.ts";
import type { ReadableTable } from "../storage/access/readable_table.ts";
import { ReadCounts } from "../storage/access/read_counts.ts";
import type { SpillFile } from "../host/spill_file.ts";
import type { ReadPredicate } from "../transactions/read_set.ts";
import { SpillNeed } from "../transactions/signals.ts";
import { TableView } from "../transactions/table_view.ts";
import { fromStored } from "../types/stored_value.ts";
import type { SqlValue } from "../types/value.ts";
import { edgeName, type ExchangeEnds } from "./exchange_ends.ts";
import { combine, valueHash } from "../execution/codegen/value_hash.ts";
import { passOf, placeOf } from "./place_hash.ts";
import { readKey } from "../transactions/read_key.ts";
import type { SessionFacts } from "./shard_messages.ts";

/** What a fragment reads, and with what. */
export interface FragmentRun {
  readonly parameters: readonly StoredValue[];
  readonly session: SessionFacts | null;
  /** Whether what is read is noted. */
  readonly notesReads: boolean;
  readonly memoryLimitBytes: number;
  /** A new file for rows that do not fit into the limit; absent: there is nowhere to put them. */
  readonly spillFile?: () => SpillFile;
  readonly catalog: Catalog;
  table(tableId: number): ReadableTable;
  /** Microseconds. */
  monotonic(): number;
  /** Takes a batch that is not the last; false: it has to wait for a credit. */
  send(batch: GatheredBatch): boolean;
  /** Sides of its joins that were kept before, by their numbers. */
  readonly kept?: KeptTables;
  /** The ways to other places, of which a fragment with exchanges has need. */
  readonly ends: ExchangeEnds | null;
  /** Rows of exchanges come in so many passes. */
  readonly passes: number;
  /** Raises 57014 when nobody waits for the rows any more. */
  checkWanted(): void;
}

type Exchange = Extract<Plan, { readonly kind: "exchange" }>;

interface SendingExchange {
  readonly exchange: Exchange;
  readonly producer: RowProducer;
}

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
  #exchanges: readonly SendingExchange[] | null = null;

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

  #sendingExchanges(): readonly SendingExchange[] {
    return this.#exchanges ??= exchangesOf(this.#fragment.plan).map((exchange) => {
      return { exchange, producer: compileRowProducer(exchange.input, exchange.columns) };
    });
  }

  #valuesOf({ parameters }: FragmentRun): SqlValue[] {
    const values: SqlValue[] = [];
    this.#fragment.parameters.forEach(({ index, type }, position) => {
      values[index] = fromStored(type, parameters[position] ?? null);
    });
    return values;
  }

  /** Begins an execution. */
  start(run: FragmentRun): FragmentExecution {
    const { columns } = this.#fragment;
    const values = this.#valuesOf(run);
    const reads: ReadPredicate[] = [];
    const outlet = new Outlet((_, batch) => run.send(batch));
    const output = new ColumnLists(columns, (batch) => outlet.add(0, batch));
    return {
      takeReads: () => reads.splice(0),
      tasks: (pass) => {
        const context = contextOf(run, values, { reads, memory: new StatementMemory(run), pass });
        const spilling = (): RowProduction => {
          const bounds = { ...run, spills: true };
          const given = { reads, memory: new StatementMemory(bounds), pass };
          return this.#producer.start({ ...contextOf(run, values, given), spills: true });
        };
        const task = new RowTask(this.#producer.start(context), {
          outlet,
          add: output.add,
          finish: () => {},
          // What comes from other places comes only once.
          ...(this.#sendingExchanges().length === 0 ? { spilling } : {}),
        });
        const { ends } = run;
        if (ends === null) return [task];
        return [
          ...this.#sendingExchanges().map(({ exchange, producer }) =>
            sendingTask(exchange, producer.start(context), { ends, pass, passes: run.passes })
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
  const isOwn = plan.kind === "exchange" && plan.isKept !== true;
  return [...inputs(plan).flatMap(exchangesOf), ...(isOwn ? [plan] : [])];
}

/** Batches on their way out. Of what goes to one place nothing passes another. */
class Outlet {
  readonly #send: (to: number, batch: GatheredBatch, isLast: boolean) => boolean;
  /** Batches without a credit. */
  #held: { readonly to: number; readonly batch: GatheredBatch; readonly isLast: boolean }[] = [];

  /** `send` answers false where there is no credit. */
  constructor(send: (to: number, batch: GatheredBatch, isLast: boolean) => boolean) {
    this.#send = send;
  }

  add(to: number, batch: GatheredBatch, isLast = false): void {
    this.#held.push({ to, batch, isLast });
  }

  /** Sends what there are credits for. false: something is held. */
  flush(): boolean {
    if (this.#held.length === 0) return true;
    const full = new Set<number>();
    this.#held = this.#held.filter(({ to, batch, isLast }) => {
      if (!full.has(to) && this.#send(to, batch, isLast)) return false;
      full.add(to);
      return true;
    });
    return this.#held.length === 0;
  }
}

/** Makes rows, as far as what they give can be sent. */
class RowTask implements FragmentTask {
  isWaiting = false;
  #production: RowProduction;
  readonly #outlet: Outlet;
  readonly #add: (values: readonly SqlValue[]) => void;
  readonly #finish: () => void;
  readonly #spilling: (() => RowProduction) | null;
  #isMade = false;
  #hasRows = false;

  /** `finish` is called behind the last row. `spilling`: makes the rows anew, in less memory. */
  constructor(
    production: RowProduction,
    { outlet, add, finish, spilling }: {
      readonly outlet: Outlet;
      readonly add: (values: readonly SqlValue[]) => void;
      readonly finish: () => void;
      readonly spilling?: () => RowProduction;
    },
  ) {
    this.#production = production;
    this.#outlet = outlet;
    this.#add = (values) => {
      this.#hasRows = true;
      add(values);
    };
    this.#finish = finish;
    this.#spilling = spilling ?? null;
  }

  step(): boolean {
    let isSent = this.#outlet.flush();
    if (isSent && !this.#isMade) {
      this.#isMade = this.#make();
      if (this.#isMade) this.#finish();
      isSent = this.#outlet.flush();
    }
    this.isWaiting = !isSent || this.#production.isWaiting;
    return this.#isMade && isSent;
  }

  #make(): boolean {
    try {
      return this.#production.step(this.#add);
    } catch (thrown) {
      if (!(thrown instanceof SpillNeed)) throw thrown;
      if (this.#hasRows || this.#spilling === null) throw thrown.otherwise;
      this.#production = this.#spilling();
      return false;
    }
  }
}

/** Sends the rows of an exchange's input to where they belong. */
function sendingTask(
  { number, keys, columns, inPasses }: Exchange,
  production: RowProduction,
  { ends, pass, passes }: { readonly ends: ExchangeEnds; readonly pass: number; readonly passes: number },
): RowTask {
  const edge = edgeName(number, pass);
  const outlet = new Outlet((to, batch, isLast) => ends.send(edge, to, batch, isLast));
  const places = Array.from({ length: ends.count }, (_, place) => place);
  const ways = keys === null ? [places] : places.map((to) => [to]);
  const lists = ways.map((targets) =>
    new ColumnLists(columns, (batch) => targets.forEach((to) => outlet.add(to, batch)))
  );
  const finish = (): void =>
    ways.forEach((targets, index) => {
      const rest = assertDefined(lists[index], "a list").take();
      for (const to of targets) outlet.add(to, rest, true);
    });
  const [only] = lists;
  if (keys === null) {
    return new RowTask(production, { outlet, add: assertDefined(only, "a list").add, finish });
  }
  const hashes = keys.map(({ position, other }) => ({
    position,
    hash: valueHash(assertDefined(columns[position], "a key").type, other),
  }));
  const count = inPasses ? passes : 1;
  const add = (values: readonly SqlValue[]): void => {
    let hash = 0;
    for (const each of hashes) {
      const value = values[each.position] as SqlValue;
      hash = combine(hash, value === null ? 0 : each.hash(value));
    }
    if (count > 1 && passOf(hash, count) !== pass) return;
    (lists[placeOf(hash, ends.count)] as ColumnLists).add(values);
  };
  return new RowTask(production, { outlet, add, finish });
}

/** A running fragment. */
export interface FragmentExecution {
  /** What it has read since this was last asked. */
  takeReads(): readonly ReadPredicate[];
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

/** What steady expressions are evaluated with. */
export function evaluationOf(session: SessionFacts): EvaluationContext {
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
    readonly memory: StatementMemory;
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
    ...(run.spillFile === undefined ? {} : { spillFile: run.spillFile }),
    memory,
    exchange: (number) => assertDefined(run.ends, "ways to other places").source(edgeName(number, pass)),
    kept: (number) => run.kept?.get(number),
    table: (tableId) => {
      let table = views.get(tableId);
      if (table === undefined) views.set(tableId, table = view(tableId));
      return table;
    },
    checkCanceled: () => run.checkWanted(),
    monotonic: () => run.monotonic(),
  };
}
