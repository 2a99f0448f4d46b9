/**
 * What one statement's row changes mean for foreign keys: parents that must exist, children that must follow.
 *
 * The statement reports each row that it has created, changed or deleted. A missing parent is looked for again at the
 * end of the statement, when it may have come. Referential actions wait in a queue until all rows of the statement are
 * written and are then worked through, the rows that they change reporting here again, so that chains and cycles of
 * tables need no recursion. NO ACTION is checked at the very end: the children may be gone by then, or the key back.
 * As in PostgreSQL, RESTRICT is checked when its turn in the queue comes.
 *
 * Checks of deferred constraints are left to the transaction's commit when it can run them (`beforeCommit`); every
 * check looks at the state of its time, so that work taken back by a savepoint needs no bookkeeping.
 */
import { assertDefined } from "../../base/assert.ts";
import { gas } from "../../base/gas.ts";
import { LIMITS } from "../../base/limits.ts";
import type { TableDefinition } from "../../catalog/definitions.ts";
import type { RowBatch, RowId, StoredRow, StoredValue } from "../../operations/effect.ts";
import { NO_ROW } from "../../storage/access/block.ts";
import type { ReadableTable } from "../../storage/access/readable_table.ts";
import type { ReadCount } from "../../storage/access/read_counts.ts";
import { batchValue } from "../../transactions/batch_values.ts";
import { keyText } from "../../transactions/stored_key.ts";
import type { ExecutionContext, UnfinishedChanges } from "../runtime/execution.ts";
import type { ExecutionState } from "../runtime/execution_state.ts";
import {
  findAll,
  findFirst,
  keyAt,
  type KeyRoute,
  readRow,
  sameKey,
  sameStored,
  scanByKey,
} from "./key_route.ts";
import { detachedState } from "./row_completion.ts";
import { NO_STORED_ROW } from "./row_triggers.ts";
import { convertKey, type ForeignKeyRule, rulesOf, type TableRules } from "./table_rules.ts";
import { duplicateRowId, missingParent, mixedNulls, rowIdOutOfRange, stillReferenced } from "./violations.ts";

/** Rows looked up or changed in one piece. */
const PIECE = 64;
/** Rough memory of a queued check or action. */
const TASK_BYTES = 160;

/** Work that yields between its pieces. */
type Steps<T = void> = Generator<void, T, void>;

/** A parent's key that is gone. `newKey` null: the row was deleted. In the parent's types. */
interface ActionTask {
  readonly rule: ForeignKeyRule;
  readonly oldKey: readonly StoredValue[];
  readonly newKey: readonly StoredValue[] | null;
}

/** A child row whose parent was missing when it was written. */
interface ParentCheck {
  readonly rule: ForeignKeyRule;
  readonly id: RowId;
  readonly key: readonly StoredValue[];
}

/** Children that reference a key that is gone; `key` is in their types. */
interface FoundChildren {
  readonly task: ActionTask;
  readonly key: readonly StoredValue[];
  readonly ids: RowId[];
}

/** What one statement's row changes mean for foreign keys: parents that must exist, children that must follow. */
export class RowChanges implements UnfinishedChanges {
  readonly rules: TableRules;
  readonly #context: ExecutionContext;
  readonly #charge: (bytes: number) => void;
  #tasks: (ActionTask | null)[] = [];
  #nextTask = 0;
  readonly #parentChecks: ParentCheck[] = [];
  #nextParentCheck = 0;
  readonly #finalChecks: ActionTask[] = [];
  /**
   * Parent keys that were there when last looked for (their texts where they have several parts); until the statement
   * takes away the first key of a parent.
   */
  #keysGo = false;
  readonly #present = new Map<ForeignKeyRule, Set<StoredValue>>();
  #nextFinalCheck = 0;
  #finishing: Steps | null = null;
  /** Rows of the running piece. */
  #work = 0;
  #triggerState: ExecutionState | null = null;

  /** `charge` accounts for memory that the queues hold. */
  constructor(context: ExecutionContext, tableId: number, charge: (bytes: number) => void) {
    this.#context = context;
    this.#charge = charge;
    this.rules = rulesOf(context.writer.catalog, tableId);
  }

  get #state(): ExecutionState {
    return this.#triggerState ??= detachedState(this.#context);
  }

  /** Whether changes of these columns (ids) concern a foreign key of the table or one that references it. */
  watches(columnIds: readonly number[]): boolean {
    return this.rules.outgoing.some((rule) => rule.constraint.columns.some((id) => columnIds.includes(id))) ||
      this.rules.incoming.some((rule) =>
        rule.constraint.referencedColumns.some((id) => columnIds.includes(id))
      );
  }

  /** A row has been created. */
  created(id: RowId, row: StoredRow, rules: TableRules = this.rules): void {
    for (const rule of rules.outgoing) {
      this.#notePending(rule, rule.child);
      this.#checkParent(rule, id, row);
    }
  }

  /** Rows `from` to `to` of a bulk load have been created. */
  createdBatch(batch: RowBatch, from: number, to: number): void {
    for (const rule of this.rules.outgoing) {
      this.#notePending(rule, rule.child);
      let last: readonly StoredValue[] | null = null;
      for (let row = from; row < to; row++) {
        const key = rule.childPositions.map((position) => batchValue(batch, row, position));
        // Loads often come in the order of a key.
        if (last !== null && key.every((value, part) => value === last?.[part])) continue;
        if (this.#hasParent(rule, key)) last = key;
        else this.#noteMissing(rule, batch.ids[row] as number, key);
      }
    }
  }

  /** A row has been changed. */
  updated(id: RowId, before: StoredRow, after: StoredRow, rules: TableRules = this.rules): void {
    for (const rule of rules.outgoing) {
      if (sameAt(rule.childColumns, rule.childPositions, before, after)) continue;
      if (needsParent(rule, keyAt(after, rule.childPositions))) this.#notePending(rule, rule.child);
      this.#checkParent(rule, id, after);
    }
    for (const rule of rules.incoming) {
      if (sameAt(rule.parentColumns, rule.parentPositions, before, after)) continue;
      this.#keyGone(rule, keyAt(before, rule.parentPositions), keyAt(after, rule.parentPositions));
    }
  }

  /** A row has been deleted. */
  deleted(row: StoredRow, rules: TableRules = this.rules): void {
    for (const rule of rules.incoming) this.#keyGone(rule, keyAt(row, rule.parentPositions), null);
  }

  /** Works through a piece of what is queued. true: everything has been done and checked. */
  finish(): boolean {
    this.#finishing ??= finishAll([this]);
    return this.#finishing.next().done === true;
  }

  /** Counts rows. true: the piece is long enough. */
  #isLong(rows = 1): boolean {
    this.#work += rows;
    if (this.#work < PIECE && !gas.isTurnDue) return false;
    this.#work = 0;
    return true;
  }

  /** The referential actions. */
  *runActions(): Steps {
    while (this.#nextTask < this.#tasks.length) {
      yield* this.#runTask();
      if (this.#isLong()) yield;
    }
    this.#tasks = [];
    this.#nextTask = 0;
  }

  /** Looks again for the parents that were missing. */
  *checkParents(): Steps {
    while (this.#nextParentCheck < this.#parentChecks.length) {
      this.#recheckParent(assertDefined(this.#parentChecks[this.#nextParentCheck++], "parent check"));
      if (this.#isLong()) yield;
    }
  }

  /** NO ACTION: looks for children of the keys that are gone. */
  *checkChildren(): Steps {
    while (this.#nextFinalCheck < this.#finalChecks.length) yield* this.#runFinalChecks();
  }

  #checkParent(rule: ForeignKeyRule, id: RowId, row: StoredRow): void {
    const key = keyAt(row, rule.childPositions);
    if (!this.#hasParent(rule, key)) this.#noteMissing(rule, id, key);
  }

  /** Whether the key needs no parent, or its parent is there now. */
  #hasParent(rule: ForeignKeyRule, key: readonly StoredValue[]): boolean {
    if (key.includes(null)) return !needsParent(rule, key);
    const [first = null] = key;
    const noted = key.length === 1 && typeof first !== "object" ? first : keyText(rule.childColumns, key);
    const present = this.#present.get(rule);
    if (present?.has(noted)) return true;
    if (!this.#parentExists(rule, key)) return false;
    if (this.#keysGo) return true;
    if (present === undefined) this.#present.set(rule, new Set([noted]));
    else if (present.size < LIMITS.keptParentKeys) present.add(noted);
    return true;
  }

  /** The parent is looked for again when the statement, or the transaction, ends. */
  #noteMissing(rule: ForeignKeyRule, id: RowId, key: readonly StoredValue[]): void {
    const check: ParentCheck = { rule, id, key };
    if (this.#isDeferred(rule)) {
      this.#context.writer.beforeCommit?.(() => this.#recheckParent(check, false), rule.constraint.id);
      return;
    }
    this.#charge(TASK_BYTES);
    this.#parentChecks.push(check);
  }

  /** `keeps`: the parent is kept from now on. A commit cannot wait for whoever has locked it, and needs not keep it. */
  #parentExists(rule: ForeignKeyRule, key: readonly StoredValue[], keeps = true): boolean {
    const wanted = convertKey(rule.toParent, key);
    if (wanted === null) return false;
    const { writer } = this.#context;
    const reader = writer.referencedTable?.(rule.parent.id) ?? this.#context.table(rule.parent.id);
    const location = findFirst(reader, rule.parentRoute, rule.parentColumns, wanted);
    const found = location !== NO_ROW;
    this.#countRead(rule.parentRoute, found ? 1 : 0);
    if (found && keeps) writer.keepReferenced?.(rule.parent.id, reader.idAt(location));
    return found;
  }

  /** What constraints look at: rows must not be missed that others have committed after the snapshot. */
  #newest({ id }: TableDefinition): ReadableTable {
    return this.#context.writer.newestTable?.(id) ?? this.#context.table(id);
  }

  /** Counts a look for parents or children, for the statistics views. */
  #countRead({ countedAs }: KeyRoute, rows: number): ReadCount {
    const reads = this.#context.reads.of(countedAs);
    reads.scans++;
    reads.rows += rows;
    return reads;
  }

  /** The parent is looked for again; the child may have gone or changed since. */
  #recheckParent({ rule, id, key }: ParentCheck, keeps = true): void {
    if (this.#isDropped(rule)) return;
    const reader = this.#context.table(rule.child.id);
    const location = reader.find(id);
    if (location === NO_ROW) return;
    const now = rule.childColumns.map((column) => reader.valueAt(location, column.id));
    if (
      !rule.childColumns.every((column, part) => sameStored(column, now[part] ?? null, key[part] ?? null))
    ) return;
    if (key.includes(null)) throw mixedNulls(rule.child, rule.constraint.name);
    if (this.#parentExists(rule, key, keeps)) return;
    throw missingParent(rule.child, rule.constraint.name, rule.parent, rule.childColumns, key);
  }

  #keyGone(
    rule: ForeignKeyRule,
    oldKey: readonly StoredValue[],
    newKey: readonly StoredValue[] | null,
  ): void {
    if (oldKey.includes(null)) return;
    this.#keysGo = true;
    this.#present.clear();
    const task: ActionTask = { rule, oldKey, newKey };
    const { writer } = this.#context;
    const isLate = this.#isDeferred(rule) && actionOf(task) === "no action";
    if (isLate) this.#notePending(rule, rule.parent);
    // A row that came to refer to it may have been checked at another transaction's commit, which waits for no lock.
    if (isLate || rule.constraint.deferrable && writer.repeatsChecks === true) {
      writer.beforeCommit?.(() => runAll(this.#checkUnreferenced([task], false)), rule.constraint.id);
    }
    if (isLate) return;
    if (actionOf(task) === "no action") this.#finalChecks.push(task);
    else this.#tasks.push(task);
    this.#charge(TASK_BYTES);
  }

  /** Whether checks of a constraint wait for the commit. */
  #isDeferred(rule: ForeignKeyRule): boolean {
    const { writer } = this.#context;
    if (!rule.constraint.deferrable || writer.beforeCommit === undefined) return false;
    const mode = writer.constraintMode?.(rule.constraint.id);
    return mode === undefined ? rule.deferred : mode === "deferred";
  }

  /**
   * Tells the transaction that a check of a row of this table waits for the commit: its definition may not change
   * before.
   */
  #notePending(rule: ForeignKeyRule, table: TableDefinition): void {
    if (this.#isDeferred(rule)) this.#context.writer.notePending?.(table.id, rule.constraint.id);
  }

  /** Whether the constraint has been dropped since the check was left to the commit. */
  #isDropped({ constraint, child }: ForeignKeyRule): boolean {
    if (!constraint.deferrable) return false;
    const now = this.#context.writer.catalog.table(child.id);
    return now === undefined || !now.constraints.some((each) => each.id === constraint.id);
  }

  /**
   * Runs the next action together with all others of its constraint. The children of all are found before the first is
   * changed, so that keys that move up one another's places (`SET id = id + 1`) do not take children along twice.
   */
  *#runTask(): Steps {
    const first = this.#tasks[this.#nextTask++] ?? null;
    if (first === null) return;
    const { rule } = first;
    const tasks = [first];
    for (let index = this.#nextTask; index < this.#tasks.length; index++) {
      const task = this.#tasks[index] ?? null;
      if (this.#isLong()) yield;
      if (task?.rule !== rule) continue;
      tasks.push(task);
      this.#tasks[index] = null;
    }
    const found = rule.childRoute.kind === "scan"
      ? yield* this.#scanChildren(rule, tasks)
      : yield* this.#findChildren(rule, tasks);
    for (const { task, key, ids } of found) yield* this.#act(task, key, ids);
  }

  /** For each task the children that reference its key, looked up one key at a time. */
  *#findChildren(rule: ForeignKeyRule, tasks: readonly ActionTask[]): Steps<readonly FoundChildren[]> {
    const reader = this.#newest(rule.child);
    const found: FoundChildren[] = [];
    for (const task of tasks) {
      const key = convertKey(rule.toChild, task.oldKey);
      if (key === null) continue;
      const ids = findAll(reader, rule.childRoute, rule.childColumns, key);
      this.#countRead(rule.childRoute, ids.length);
      if (this.#isLong(1 + ids.length)) yield;
      if (ids.length === 0) continue;
      this.#charge(64 + 16 * ids.length);
      found.push({ task, key, ids });
    }
    return found;
  }

  /** For each task the children that reference its key, found by one scan. */
  *#scanChildren(rule: ForeignKeyRule, tasks: readonly ActionTask[]): Steps<Iterable<FoundChildren>> {
    const found = new Map<string, FoundChildren>();
    for (const task of tasks) {
      const key = convertKey(rule.toChild, task.oldKey);
      if (key !== null) found.set(keyText(rule.childColumns, key), { task, key, ids: [] });
    }
    const reader = this.#newest(rule.child);
    const reads = this.#countRead(rule.childRoute, 0);
    yield* scanByKey(reader, rule.childColumns, [], (values, location) => {
      reads.rows++;
      const key = values();
      if (key.includes(null)) return true;
      const group = found.get(keyText(rule.childColumns, key));
      if (group === undefined) return true;
      this.#charge(16);
      group.ids.push(reader.idAt(location));
      return true;
    });
    return found.values();
  }

  /** Applies an action to the children. `key` is the old key in the child's types. */
  *#act(task: ActionTask, key: readonly StoredValue[], ids: readonly RowId[]): Steps {
    const { rule } = task;
    const action = actionOf(task);
    if (ids.length === 0) return;
    if (action === "restrict") throw this.#referencedBy(task, ids[0] as RowId);
    const rules = rulesOf(this.#context.writer.catalog, rule.child.id);
    let keepsKey = false;
    for (const id of ids) {
      if (this.#isLong()) yield;
      const reader = this.#newest(rule.child);
      const location = reader.find(id);
      if (location === NO_ROW) continue;
      const before = readRow(reader, rule.child, location);
      if (!sameKey(rule.childColumns, keyAt(before, rule.childPositions), key)) continue;
      if (action === "cascade" && task.newKey === null) {
        rules.triggers.of("delete")?.fire(this.#state, NO_STORED_ROW, before);
        this.#context.writer.delete(rule.child.id, id);
        this.deleted(before, rules);
      } else {
        const after = this.#changedRow(rules, task, before);
        this.#change(rules, id, before, after);
        keepsKey ||= sameKey(rule.childColumns, keyAt(after, rule.childPositions), key);
      }
    }
    // A default that equals the key that goes, or a trigger that sets it again, is no change, and has no parent all the
    // same. That does not wait for the commit.
    if (keepsKey) this.#finalChecks.push(task);
  }

  /** The child's new values under CASCADE (of an update), SET NULL or SET DEFAULT. */
  #changedRow(rules: TableRules, task: ActionTask, before: readonly StoredValue[]): StoredValue[] {
    const { rule } = task;
    const after = before.slice();
    const action = actionOf(task);
    const chosen = task.newKey === null ? rule.constraint.onDeleteColumns : [];
    const newKey = task.newKey === null ? null : convertKey(rule.toChild, task.newKey);
    const updated: number[] = [];
    for (const [part, position] of rule.childPositions.entries()) {
      const column = assertDefined(rule.childColumns[part], "column of a foreign key");
      if (chosen.length === 0 || chosen.includes(column.id)) updated.push(column.id);
      if (action === "cascade") after[position] = newKey?.[part] ?? null;
      else if (chosen.length > 0 && !chosen.includes(column.id)) continue;
      else if (action === "set null") after[position] = null;
      else after[position] = rules.completion.newValue(this.#context, position, after);
    }
    rules.triggers.of("update", updated)?.fire(this.#state, after, before);
    rules.completion.complete(this.#context, after);
    return after;
  }

  /** Writes a changed row; its row id may change with it. */
  #change(rules: TableRules, id: RowId, before: StoredRow, after: StoredRow): void {
    const { table } = rules;
    const { writer } = this.#context;
    const newId = rowIdOf(rules, id, after);
    if (newId === id) {
      writer.update(table.id, id, after);
    } else {
      if (this.#context.table(table.id).find(newId) !== NO_ROW) throw duplicateRowId(table, newId);
      writer.delete(table.id, id);
      writer.create(table.id, newId, after);
      writer.moved?.(table.id, [{ from: id, to: newId }]);
    }
    this.updated(newId, before, after, rules);
    // Checks that wait for the end of the statement find the row by its id.
    if (newId !== id) this.created(newId, after, rules);
  }

  *#runFinalChecks(): Steps {
    const first = assertDefined(this.#finalChecks[this.#nextFinalCheck++], "check");
    if (first.rule.childRoute.kind !== "scan") {
      yield* this.#checkUnreferenced([first]);
      return;
    }
    const tasks = [first];
    while (this.#finalChecks[this.#nextFinalCheck]?.rule === first.rule) {
      tasks.push(assertDefined(this.#finalChecks[this.#nextFinalCheck++], "check"));
    }
    yield* this.#checkUnreferenced(tasks);
  }

  /**
   * NO ACTION: nothing references the keys any more, or they exist again. The tasks are of one constraint. `waits`: for
   * others who have deleted a child, which a commit cannot.
   */
  *#checkUnreferenced(tasks: readonly ActionTask[], waits = true): Steps {
    const { rule } = assertDefined(tasks[0], "check");
    if (this.#isDropped(rule)) return;
    const parents = this.#newest(rule.parent);
    const gone: ActionTask[] = [];
    for (const task of tasks) {
      if (this.#isLong()) yield;
      const isThere = findFirst(parents, rule.parentRoute, rule.parentColumns, task.oldKey) !== NO_ROW;
      this.#countRead(rule.parentRoute, isThere ? 1 : 0);
      if (!isThere) gone.push(task);
    }
    if (gone.length === 0) return;
    if (rule.childRoute.kind === "scan") {
      for (const { task, ids } of yield* this.#scanChildren(rule, gone)) {
        if (ids.length > 0) throw this.#referencedBy(task, waits ? ids[0] as RowId : null);
      }
      return;
    }
    const children = this.#newest(rule.child);
    for (const task of gone) {
      const key = convertKey(rule.toChild, task.oldKey);
      if (key === null) continue;
      const child = findFirst(children, rule.childRoute, rule.childColumns, key);
      this.#countRead(rule.childRoute, child === NO_ROW ? 0 : 1);
      if (child !== NO_ROW) throw this.#referencedBy(task, waits ? children.idAt(child) : null);
    }
  }

  /** The 23503 for a child, unless another transaction has deleted it: raises a wait for that one then. */
  #referencedBy({ rule, oldKey }: ActionTask, id: RowId | null): Error {
    if (id !== null) this.#context.writer.awaitHolder?.(rule.child, id, null);
    return stillReferenced(rule.parent, rule.constraint.name, rule.child, rule.parentColumns, oldKey);
  }
}

/**
 * Finishes the changes of a statement, or of all of its parts together: actions first, and checks when nothing else
 * comes.
 */
export function* finishAll(parts: readonly UnfinishedChanges[]): Steps {
  for (const part of parts) yield* part.runActions();
  for (const part of parts) yield* part.checkParents();
  for (const part of parts) yield* part.checkChildren();
}

/** Does work to its end at once: at the commit nothing else may run in between. */
function runAll(steps: Steps): void {
  while (steps.next().done !== true);
}

function actionOf(task: ActionTask): ForeignKeyRule["constraint"]["onDelete"] {
  return task.newKey === null ? task.rule.constraint.onDelete : task.rule.constraint.onUpdate;
}

/** Whether a key is checked: a NULL frees it, except that MATCH FULL wants all or none. */
function needsParent(rule: ForeignKeyRule, key: readonly StoredValue[]): boolean {
  return !key.includes(null) || rule.constraint.match === "full" && key.some((part) => part !== null);
}

/** Whether the key must have a parent. Raises 23503 for one that MATCH FULL does not allow. */
export function isWhole(rule: ForeignKeyRule, key: readonly StoredValue[]): boolean {
  if (!key.includes(null)) return true;
  if (needsParent(rule, key)) throw mixedNulls(rule.child, rule.constraint.name);
  return false;
}

function sameAt(
  columns: ForeignKeyRule["childColumns"],
  positions: readonly number[],
  before: StoredRow,
  after: StoredRow,
): boolean {
  for (let part = 0; part < columns.length; part++) {
    const column = columns[part], position = positions[part];
    if (column === undefined || position === undefined) continue;
    if (!sameStored(column, before[position] ?? null, after[position] ?? null)) return false;
  }
  return true;
}

/** The id that a row has after a change: its integer primary key's value, where there is one. */
export function rowIdOf(rules: TableRules, id: RowId, row: StoredRow): RowId {
  const { table } = rules;
  if (table.rowIdColumn === null) return id;
  const value = row[table.columns.findIndex((column) => column.id === table.rowIdColumn)] ?? null;
  return checkRowId(table, value);
}

/** A stored value as a row id, which any 64-bit integer can be; 22003 when it cannot be one. */
export function checkRowId(table: TableDefinition, value: StoredValue): RowId {
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  if (typeof value === "bigint" && value >= -(1n << 63n) && value < 1n << 63n) return value;
  throw rowIdOutOfRange(table, value);
}

/** The row id that a statement names with `ID n`, which has no sign; 22003 when it cannot be one. */
export function checkGivenRowId(table: TableDefinition, value: StoredValue): RowId {
  const id = checkRowId(table, value);
  if (id < 0) throw rowIdOutOfRange(table, value);
  return id;
}
