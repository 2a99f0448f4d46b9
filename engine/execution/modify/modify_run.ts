/**
 * The state of one running INSERT, UPDATE or DELETE beyond what generated code keeps in variables.
 *
 * Rows without foreign keys in either direction are written by generated code straight through the transaction; only
 * what needs more passes through here.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import type { IndexDefinition, TableDefinition, TriggerEvent } from "../../catalog/definitions.ts";
import { forbidsDuplicates } from "../../catalog/index_keys.ts";
import { columnsSetBy } from "../../catalog/triggers.ts";
import type { RowId, StoredRow, StoredValue } from "../../operations/effect.ts";
import { NO_ROW, type RowLocation } from "../../storage/access/block.ts";
import type { Expression } from "../../sql/plan/expression.ts";
import type { ReadableTable } from "../../storage/access/readable_table.ts";
import { StaleSnapshot } from "../../transactions/signals.ts";
import { keyColumns } from "../../transactions/stored_key.ts";
import type { ExecutionContext, RowTransaction } from "../runtime/execution.ts";
import type { ExecutionState } from "../runtime/execution_state.ts";
import { keyAt, positionsOf, readRow } from "./key_route.ts";
import { MovedRows } from "./moved_rows.ts";
import { checkRowId, RowChanges } from "./row_changes.ts";
import { detachedState } from "./row_completion.ts";
import { type CompiledTriggers, NO_STORED_ROW } from "./row_triggers.ts";
import { rulesOf } from "./table_rules.ts";

/** What is known of a modification before it runs. */
export interface ModifyFacts {
  readonly table: TableDefinition;
  readonly command: "insert" | "update" | "delete";
  /** Ids of the columns that the statement may change in existing rows. */
  readonly changedColumns: readonly number[];
  /** Ids of the columns that its SET names, for triggers of UPDATE OF. */
  readonly assignedColumns: readonly number[];
  /** Rows that get another id are created only after all rows have been read. */
  readonly defersMoves: boolean;
  /** What decides whether a row to insert is there already; null: no ON CONFLICT. */
  readonly arbiters: readonly (IndexDefinition | "row_id")[] | null;
}

/** What an UPDATE may change: what it assigns, what is generated, and what triggers set. */
export function changesOf(
  table: TableDefinition,
  assignments: readonly (Expression | null)[],
): Pick<ModifyFacts, "changedColumns" | "assignedColumns"> {
  const generated = table.columns.filter((column) => column.generatedText !== null).map((column) =>
    column.id
  );
  const assignedColumns = table.columns.filter((column, position) =>
    (assignments[position] ?? null) !== null && column.generatedText === null
  ).map((column) => column.id);
  return {
    assignedColumns,
    changedColumns: [...assignedColumns, ...generated, ...columnsSetBy(table, "update")],
  };
}

/** Rows created in one piece. */
const PIECE = 64;
const NO_ARBITERS: readonly (readonly number[])[] = [];
const conflictRetries = new WeakMap<RowTransaction, number>();

/** The state of one running INSERT, UPDATE or DELETE beyond what generated code keeps in variables. */
export class ModifyRun {
  readonly table: TableDefinition;
  /** Null: no foreign key is concerned. */
  readonly changes: RowChanges | null;
  /** Where the last conflict was found. */
  reader: ReadableTable | null = null;
  readonly #facts: ModifyFacts;
  readonly #state: ExecutionState;
  readonly #context: ExecutionContext;
  readonly #writer: RowTransaction;
  readonly #arbiterPositions: readonly (readonly number[])[];
  #moves: MovedRows | null = null;
  /** Creates the moved rows. */
  #moving: Generator<void, void, void> | null = null;
  #seen: Set<RowId> | null = null;
  #triggers: { readonly [Event in TriggerEvent]: CompiledTriggers | null } | null = null;
  /** The state that triggers run in: their code is no part of the statement's. */
  #triggerState: ExecutionState | null = null;

  constructor(state: ExecutionState, facts: ModifyFacts) {
    this.#state = state;
    this.#facts = facts;
    this.#context = state.context;
    this.#writer = state.context.writer;
    this.table = facts.table;
    this.changes = concernsForeignKeys(this.#writer, facts)
      ? new RowChanges(this.#context, facts.table.id, state)
      : null;
    this.#arbiterPositions = facts.arbiters === null
      ? NO_ARBITERS
      : facts.arbiters.map((arbiter) =>
        arbiter === "row_id" ? [] : positionsOf(facts.table, arbiter.columns.map((part) => part.columnId))
      );
  }

  /** Notes a row that the statement has met. false: it had met it before. */
  meet(id: RowId): boolean {
    const seen = this.#seen ??= new Set();
    if (seen.has(id)) return false;
    seen.add(id);
    this.#state.charge(24);
    return true;
  }

  /** Notes a row that the statement has written: it is in what the transaction keeps, which has a limit of its own. */
  noteWritten(id: RowId): void {
    (this.#seen ??= new Set()).add(id);
  }

  /** A row as it is before the statement changes it. */
  #rowBefore(id: RowId): StoredValue[] {
    const reader = this.#context.table(this.table.id);
    return readRow(reader, this.table, reader.find(id));
  }

  /** The same; null when the row is gone. */
  rowBefore(id: RowId): StoredValue[] | null {
    const reader = this.#context.table(this.table.id);
    const location = reader.find(id);
    return location === NO_ROW ? null : readRow(reader, this.table, location);
  }

  /** Runs the BEFORE INSERT triggers over a new row, which they may change. */
  beforeInsert(row: StoredValue[]): void {
    this.#fire("insert", row, NO_STORED_ROW);
  }

  /** Runs the BEFORE UPDATE triggers over the new values of a row. */
  beforeUpdate(row: StoredValue[], old: StoredRow): void {
    this.#fire("update", row, old);
  }

  /** Runs the BEFORE DELETE triggers. */
  beforeDelete(id: RowId): void {
    const old = this.rowBefore(id);
    if (old !== null) this.#fire("delete", NO_STORED_ROW, old);
  }

  #fire(event: TriggerEvent, row: StoredValue[], old: StoredRow): void {
    if (this.#triggers === null) {
      const { triggers } = rulesOf(this.#writer.catalog, this.table.id);
      this.#triggers = {
        insert: triggers.of("insert"),
        update: triggers.of("update", this.#facts.assignedColumns),
        delete: triggers.of("delete"),
      };
    }
    this.#triggerState ??= detachedState(this.#context);
    this.#triggers[event]?.fire(this.#triggerState, row, old);
  }

  /** Writes the new values of a row, which may give it another id. Answers its id. */
  change(id: RowId, row: StoredRow): RowId {
    const { table, changes } = this;
    const before = changes === null ? null : this.#rowBefore(id);
    let newId = id;
    if (table.rowIdColumn !== null) {
      newId = checkRowId(
        table,
        row[table.columns.findIndex((column) => column.id === table.rowIdColumn)] ?? null,
      );
    }
    if (newId === id) this.#writer.update(table.id, id, row);
    else {
      this.#writer.delete(table.id, id);
      if (this.#facts.defersMoves) {
        this.#moves ??= new MovedRows(this.#state, table);
        this.#moves.add({ from: id, to: newId, row });
      } else {
        this.#writer.create(table.id, newId, row);
        this.#writer.moved?.(table.id, [{ from: id, to: newId }]);
      }
    }
    if (changes !== null && before !== null) {
      changes.updated(newId, before, row);
      if (newId !== id) changes.created(newId, row);
    }
    return newId;
  }

  /** Deletes a row. */
  remove(id: RowId): void {
    const before = this.changes === null ? null : this.#rowBefore(id);
    this.#writer.delete(this.table.id, id);
    if (before !== null) this.changes?.deleted(before);
  }

  /** The location of the row that a row to insert collides with, or NO_ROW. */
  conflict(id: RowId, row: StoredRow): RowLocation {
    const reader = this.reader = this.#context.table(this.table.id);
    const arbiters = this.#facts.arbiters ?? [];
    for (let index = 0; index < arbiters.length; index++) {
      const arbiter = arbiters[index];
      if (arbiter === undefined) continue;
      const key = arbiter === "row_id" ? [] : keyAt(row, this.#arbiterPositions[index] ?? []);
      if (arbiter !== "row_id" && !forbidsDuplicates(arbiter, key)) continue;
      const found = arbiter === "row_id" ? reader.find(id) : reader.lookup(arbiter.id, key).next();
      if (found === NO_ROW) continue;
      const held = arbiter === "row_id" ? null : { columns: keyColumns(this.table, arbiter), values: key };
      this.#writer.awaitHolder?.(this.table, reader.idAt(found), held);
      return found;
    }
    return NO_ROW;
  }

  /** Creates a row for which {@link conflict} found nothing. */
  createUnlessConflict(id: RowId, row: StoredRow): void {
    try {
      this.#writer.create(this.table.id, id, row);
    } catch (thrown) {
      if (!(thrown instanceof DatabaseError) || thrown.code !== SQLSTATE.uniqueViolation) throw thrown;
      // A row that is committed but not visible at the snapshot is in the way: the statement runs again at a newer one.
      const isArbiter = (this.#facts.arbiters ?? []).some((arbiter) =>
        arbiter === "row_id"
          ? !this.table.indexes.some((index) => index.name === thrown.constraint)
          : arbiter.name === thrown.constraint
      );
      const attempts = (conflictRetries.get(this.#writer) ?? 0) + 1;
      if (!isArbiter || attempts > LIMITS.maximumConflictRetries) throw thrown;
      conflictRetries.set(this.#writer, attempts);
      throw new StaleSnapshot(this.table.id, id);
    }
  }

  /**
   * Raises 21000 for a row that the command with ON CONFLICT DO UPDATE has written before, whether it would change it
   * again or not.
   */
  refuseMet(id: RowId): void {
    if (this.#seen?.has(id) !== true) return;
    throw new DatabaseError(
      SQLSTATE.cardinalityViolation,
      "ON CONFLICT DO UPDATE command cannot affect row a second time",
      {
        hint:
          "Ensure that no rows proposed for insertion within the same command have duplicate constrained values.",
      },
    );
  }

  *#createMoved(moves: MovedRows): Generator<void, void, void> {
    this.#writer.moved?.(this.table.id, moves);
    let left = PIECE;
    for (const { to, row } of moves) {
      if (left-- === 0) {
        left = PIECE;
        yield;
      }
      this.#writer.create(this.table.id, to, row);
    }
    moves.release();
  }

  /** Works through a piece of what is left to do after the last row. true: all is done. */
  finish(): boolean {
    this.#writer.endRows();
    if (this.#moves !== null) {
      this.#moving ??= this.#createMoved(this.#moves);
      if (this.#moving.next().done !== true) return false;
      this.#moves = this.#moving = null;
    }
    if (this.changes === null) return true;
    const { before } = this.#context;
    if (before === undefined) return this.changes.finish();
    before.leave(this.changes);
    return true;
  }
}

function concernsForeignKeys(writer: RowTransaction, facts: ModifyFacts): boolean {
  const { table, command } = facts;
  const hasForeignKeys = table.constraints.some((constraint) => constraint.kind === "foreign_key");
  if (command === "insert" && hasForeignKeys) return true;
  const { catalog } = writer;
  if (!hasForeignKeys && catalog.referencing(table.id).length === 0) return false;
  const rules = rulesOf(catalog, table.id);
  if (command === "delete") return rules.incoming.length > 0;
  const changes = (ids: readonly number[]): boolean => ids.some((id) => facts.changedColumns.includes(id));
  // Checks that wait for the commit find a row by its id.
  const moves = table.rowIdColumn !== null && changes([table.rowIdColumn]);
  return rules.outgoing.some((rule) =>
    moves && rule.constraint.deferrable || changes(rule.constraint.columns)
  ) ||
    rules.incoming.some((rule) => changes(rule.constraint.referencedColumns));
}
