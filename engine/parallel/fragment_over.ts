/** Runs a fragment over some of the rows of the one table that it reads. */
import { assertDefined, AssertionError } from "../base/assert.ts";
import { Catalog } from "../catalog/catalog.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import type { GatheredBatch, KeptTables } from "../execution/runtime/execution.ts";
import type { StoredValue } from "../operations/effect.ts";
import {
  FragmentCode,
  type FragmentExecution,
  type FragmentRun,
  type FragmentTask,
} from "../sharding/fragment_runs.ts";
import type { SessionFacts } from "../sharding/shard_messages.ts";
import type { ReadableTable, ZonePredicate } from "../storage/access/readable_table.ts";
import type { BlockCursor } from "../storage/access/block.ts";

/** What a scan of the table is answered by. */
export type ScanRows = ReadableTable["scan"];

/** A fragment's text, and the tables that it names. */
export interface FragmentText {
  readonly text: string;
  readonly tables: readonly TableDefinition[];
}

/** With what a fragment runs. */
export interface FragmentGiven {
  readonly parameters: readonly StoredValue[];
  readonly session: SessionFacts | null;
  readonly kept: KeptTables;
  readonly memoryLimitBytes: number;
  /** Microseconds. */
  monotonic(): number;
  /** Takes a batch that is not the last; false: it has to wait. */
  send(batch: GatheredBatch): boolean;
  /** Raises 57014 when nobody waits for the rows any more. */
  checkWanted(): void;
}

const NO_ROWS: BlockCursor = { next: () => null };

/** See the file's head. */
export class FragmentOver {
  readonly #catalog: Catalog;
  readonly #code: FragmentCode;

  constructor({ text, tables }: FragmentText) {
    this.#catalog = Catalog.from({ ...Catalog.initial().contents, tables });
    this.#code = new FragmentCode(text, this.#catalog);
  }

  /** Begins an execution; what `task` makes and does not send is its `rest`. */
  start(
    given: FragmentGiven,
    scan: ScanRows,
  ): { readonly task: FragmentTask; readonly execution: FragmentExecution } {
    const execution = this.#code.start(this.#runOf(given, scan));
    return { execution, task: assertDefined(execution.tasks(0)[0], "the task of a fragment") };
  }

  #runOf(given: FragmentGiven, scan: ScanRows): FragmentRun {
    const refuse = (): never => {
      throw new AssertionError("a fragment over morsels scans");
    };
    const table: ReadableTable = {
      estimatedRows: 0,
      scan,
      find: refuse,
      findRange: refuse,
      lookup: refuse,
      range: refuse,
      idAt: refuse,
      valueAt: refuse,
      textBytesAt: refuse,
      exactRowCount: () => undefined,
      statistics: refuse,
    };
    return {
      ...given,
      notesReads: false,
      catalog: this.#catalog,
      table: () => table,
      monotonic: () => given.monotonic(),
      send: (batch) => given.send(batch),
      checkWanted: () => given.checkWanted(),
      ends: null,
      passes: 1,
    };
  }

  /** The predicates that a scan of it has with these parameters; null: it needs no row. */
  prune(given: FragmentGiven): readonly ZonePredicate[] | null {
    let found: readonly ZonePredicate[] | null = null;
    const { task } = this.start({ ...given, send: () => true }, (_, { prune }) => {
      found = prune;
      return NO_ROWS;
    });
    while (!task.step());
    return found;
  }
}
