/**
 * Keeps what plans know of the values in tables up to date: ANALYZE, and by itself after a start and when enough rows
 * of a table have changed, in slices between which others have their turns.
 */
import { turnWork } from "../host/turn_work.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import type { SliceTurns } from "../host/slice_turns.ts";
import type { Host, TimerId } from "../host/host.ts";
import { groupKey } from "../storage/table/table_analysis.ts";
import { DamagedFileError } from "../storage/table/damaged_file.ts";
import type { StateMachine } from "../state_machine/state_machine.ts";

/** How long nothing is looked at after rows have changed. */
export const LOOK_PAUSE_MICROSECONDS = 10_000_000;
/** How long a slice of the work is. */
const SLICE_MICROSECONDS = 1_000;
/** A table is analyzed anew when so many of its rows, and such a share of them, have changed (as in PostgreSQL). */
const CHANGED_ROWS = 50;
const CHANGED_SHARE = 0.1;
/** Common values and steps of a histogram, unless a setting or the column says otherwise. */
const DEFAULT_STATISTICS_TARGET = 100;

/** What an analyzer needs of its engine. */
export interface AnalyzedEngine {
  readonly host: Pick<Host, "clock" | "timers">;
  readonly slices: SliceTurns;
  readonly machine: StateMachine;
  readonly isFailed: boolean;
}

/** See the file's head. */
export class Analyzer {
  readonly #engine: AnalyzedEngine;
  /** By table: how many of its rows had changed since the start when it was last analyzed. */
  readonly #changedBefore = new Map<number, number>();
  #timer: TimerId | null = null;
  #running: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(engine: AnalyzedEngine) {
    this.#engine = engine;
  }

  /** Rows may have changed: tables are looked at in a while. */
  wake(): void {
    if (this.#timer !== null || this.#isClosed) return;
    this.#timer = this.#engine.host.timers.setTimer(LOOK_PAUSE_MICROSECONDS, () => {
      this.#timer = null;
      // Who reads what is damaged, or cannot be read, hears of it; statistics can do without.
      this.#inTurn(() => this.#look()).catch((error) => {
        const isOfDisk = error instanceof DatabaseError && error.code === SQLSTATE.ioError;
        if (!isOfDisk && !(error instanceof DamagedFileError)) throw error;
      });
    });
  }

  /** Analyzes a table, or some of its columns. */
  analyze(tableId: number, target: number, columns: ReadonlySet<number> | null): Promise<void> {
    return this.#inTurn(() => this.#analyze(tableId, target, columns));
  }

  /** Rows that have changed since a table was last analyzed. */
  changedSince(tableId: number): number {
    return this.#changes(tableId) - (this.#changedBefore.get(tableId) ?? 0);
  }

  /** Ends what is running; nothing runs afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer !== null) this.#engine.host.timers.clearTimer(this.#timer);
    this.#timer = null;
    await this.#running;
  }

  /** One table at a time. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#running.then(work);
    // Whoever waits for it hears of a failure.
    this.#running = done.catch(() => {});
    return done;
  }

  #changes(tableId: number): number {
    const { inserted, updated, deleted } = this.#engine.machine.changesOf(tableId);
    return inserted + updated + deleted;
  }

  async #look(): Promise<void> {
    const { machine } = this.#engine;
    for (const { id } of machine.catalog.tables) {
      if (machine.remoteRowCount(id) !== undefined || machine.catalog.table(id) === undefined) continue;
      const rows = machine.rowCount(id);
      const isDue = machine.store(id).analysis === null
        ? rows >= CHANGED_ROWS
        : this.changedSince(id) > CHANGED_ROWS + CHANGED_SHARE * rows;
      if (isDue) await this.#analyze(id, DEFAULT_STATISTICS_TARGET, null);
      if (this.#isClosed) return;
    }
  }

  async #analyze(tableId: number, target: number, columns: ReadonlySet<number> | null): Promise<void> {
    const { machine, host } = this.#engine;
    const table = machine.catalog.table(tableId);
    if (table === undefined || machine.remoteRowCount(tableId) !== undefined) return;
    if (columns === null) this.#changedBefore.set(tableId, this.#changes(tableId));
    const steps = machine.store(tableId).analyzeInSteps(requestFor(table, target, columns));
    turnWork.began("statistics");
    for (let end = host.clock.monotonic() + SLICE_MICROSECONDS; steps.next().done !== true;) {
      if (host.clock.monotonic() < end) continue;
      await this.#engine.slices.next(SLICE_MICROSECONDS);
      // A table that is gone, or has other columns, is left as it is.
      if (this.#isClosed || this.#engine.isFailed || machine.catalog.table(tableId) !== table) return;
      turnWork.began("statistics");
      end = host.clock.monotonic() + SLICE_MICROSECONDS;
    }
    machine.analyses++;
  }
}

function requestFor(table: TableDefinition, target: number, columns: ReadonlySet<number> | null) {
  const targets = new Map<number, number>();
  for (const column of table.columns) {
    if (columns === null || columns.has(column.id)) targets.set(column.id, column.statisticsTarget ?? target);
  }
  const groups = (table.statistics ?? []).filter((each) =>
    each.target !== 0 && each.columns.every((id) => targets.has(id))
  );
  const groupTargets = new Map<string, number>();
  for (const { columns: ids, target: own } of groups) {
    if (own !== undefined) groupTargets.set(groupKey(ids), own);
  }
  return { targets, groups: groups.map((each) => each.columns), groupTargets };
}
