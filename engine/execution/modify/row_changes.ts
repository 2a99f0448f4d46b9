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
import type { MemoryUser } from "../runtime/memory_user.ts";
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
import { type ActionTask, ActionTasks, type ParentCheck, ParentChecks } from "./key_tasks.ts";
import { detachedState } from "./row_completion.ts";
import { NO_STORED_ROW } from "./row_triggers.ts";
import { convertKey, type ForeignKeyRule, rulesOf, type TableRules } from "./table_rules.ts";
import { duplicateRowId, missingParent, mixedNulls, rowIdOutOfRange, stillReferenced } from "./violations.ts";

/** Rows looked up or changed in one piece. */
const PIECE = 64;
/** Rough memory of an action, and of a child's id, while a table is scanned for children. */
const TASK_BYTES = 320;
const CHILD_BYTES = 16;
/** The part of the memory that these take before what was found is put aside, or another scan begins. */
const SCAN_SHARE = 1 / 8;

/** Work that yields between its pieces. */
type Steps<T = void> = Generator<void, T, void>;

/** Children that reference a key that is gone. */
interface FoundChildren {
  readonly task: ActionTask;
  ids: RowId[];
}

/** Takes a child that refers to the key of a task. */
type TakeChild = (task: ActionTask, child: RowId) => void;

/** What one statement's row changes mean for foreign keys: parents that must exist, children that must follow. */
export class RowChanges implements UnfinishedChanges {
  readonly rules: TableRules;
  readonly #context: ExecutionContext;
  readonly #user: MemoryUser;
  /** In the order in which the first task of each has come. */
  readonly #tasks = new Map<ForeignKeyRule, ActionTasks>();
  readonly #parentChecks = new Map<ForeignKeyRule, ParentChecks>();
  readonly #finalChecks = new Map<ForeignKeyRule, ActionTasks>();
  /**
   * Parent keys that were there when last looked for (their texts where they have several parts); until the statement
   * takes away the first key of a parent.
   */
  #keysGo = false;
  readonly #present = new Map<ForeignKeyRule, Set<StoredValue>>();
  #finishing: Steps | null = null;
  /** Rows of the running piece. */
  #work = 0;
  #triggerState: ExecutionState | null = null;

  /** `user` accounts for memory that the queues hold. */
  constructor(context: ExecutionContext, tableId: number, user: MemoryUser) {
    this.#context = context;
    this.#user = user;
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
    for (;;) {
      const next = this.#tasks.entries().next();
      if (next.done === true) return;
      const [rule, tasks] = next.value;
      this.#tasks.delete(rule);
      yield* this.#runTasks(tasks);
      tasks.release();
    }
  }

  /** Looks again for the parents that were missing. */
  *checkParents(): Steps {
    for (const [rule, checks] of this.#parentChecks) {
      for (const check of checks) {
        this.#recheckParent(check);
        if (this.#isLong()) yield;
      }
      checks.release();
      this.#parentChecks.delete(rule);
    }
  }

  /** NO ACTION: looks for children of the keys that are gone. */
  *checkChildren(): Steps {
    for (const [rule, tasks] of this.#finalChecks) {
      yield* this.#checkUnreferenced(rule, tasks);
      tasks.release();
      this.#finalChecks.delete(rule);
    }
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
    const checks = this.#parentChecks.get(rule) ?? new ParentChecks(this.#user, rule);
    this.#parentChecks.set(rule, checks);
    checks.add(check);
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
      writer.beforeCommit?.(() => runAll(this.#checkUnreferenced(rule, [task], false)), rule.constraint.id);
    }
    if (isLate) return;
    this.#queue(actionOf(task) === "no action" ? this.#finalChecks : this.#tasks, task);
  }

  #queue(queue: Map<ForeignKeyRule, ActionTasks>, task: ActionTask): void {
    const { rule } = task;
    const tasks = queue.get(rule) ?? new ActionTasks(this.#user, rule);
    queue.set(rule, tasks);
    tasks.add(task);
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
   * Runs the actions of one constraint. The children of all are found before the first is changed, so that keys that
   * move up one another's places (`SET id = id + 1`) do not take children along twice.
   */
  *#runTasks(tasks: ActionTasks): Steps {
    const { rule } = tasks;
    const found = new ActionTasks(this.#user, rule);
    const take: TakeChild = (task, child) => found.add(task, child);
    if (rule.childRoute.kind === "scan") yield* this.#scanChildren(rule, tasks, take);
    else yield* this.#findChildren(rule, tasks, take);
    let kept: ActionTask | null = null;
    for (const { task, child } of found.withChildren()) {
      if (this.#isLong()) yield;
      if (!this.#act(task, child) || kept !== null && isSameTask(kept, task)) continue;
      // A default that equals the key that goes, or a trigger that sets it again, is no change, and has no parent all
      // the same. That does not wait for the commit.
      this.#queue(this.#finalChecks, task);
      kept = task;
    }
    found.release();
  }

  /** The children that reference the keys of tasks, looked up one key at a time. */
  *#findChildren(rule: ForeignKeyRule, tasks: Iterable<ActionTask>, take: TakeChild): Steps {
    const reader = this.#newest(rule.child);
    for (const task of tasks) {
      const key = convertKey(rule.toChild, task.oldKey);
      if (key === null) continue;
      const ids = findAll(reader, rule.childRoute, rule.childColumns, key);
      this.#countRead(rule.childRoute, ids.length);
      for (const id of ids) take(task, id);
      if (this.#isLong(1 + ids.length)) yield;
    }
  }

  /** The children that reference the keys of tasks, found by one scan, or by one for as many as there is room for. */
  *#scanChildren(rule: ForeignKeyRule, tasks: Iterable<ActionTask>, take: TakeChild): Steps {
    const most = this.#context.memoryLimitBytes * SCAN_SHARE;
    const wanted = new Map<string, FoundChildren>();
    for (const task of tasks) {
      const key = convertKey(rule.toChild, task.oldKey);
      if (key === null) continue;
      wanted.set(keyText(rule.childColumns, key), { task, ids: [] });
      this.#user.charge(TASK_BYTES);
      if (this.#isLong()) yield;
      if (wanted.size * TASK_BYTES > most) yield* this.#scanFor(rule, wanted, take);
    }
    if (wanted.size > 0) yield* this.#scanFor(rule, wanted, take);
  }

  *#scanFor(rule: ForeignKeyRule, wanted: Map<string, FoundChildren>, take: TakeChild): Steps {
    const most = this.#context.memoryLimitBytes * SCAN_SHARE;
    let bytes = 0;
    const takeFound = (): void => {
      for (const group of wanted.values()) {
        for (const id of group.ids) take(group.task, id);
        group.ids = [];
      }
      this.#user.charge(-bytes);
      bytes = 0;
    };
    const reader = this.#newest(rule.child);
    const reads = this.#countRead(rule.childRoute, 0);
    yield* scanByKey(reader, rule.childColumns, [], (values, location) => {
      reads.rows++;
      const key = values();
      if (key.includes(null)) return true;
      const group = wanted.get(keyText(rule.childColumns, key));
      if (group === undefined) return true;
      this.#user.charge(CHILD_BYTES);
      bytes += CHILD_BYTES;
      group.ids.push(reader.idAt(location));
      if (bytes > most) takeFound();
      return true;
    });
    takeFound();
    this.#user.charge(-wanted.size * TASK_BYTES);
    wanted.clear();
  }

  /** Applies an action to a child. true: the child keeps the key that is gone. */
  #act(task: ActionTask, id: RowId): boolean {
    const { rule } = task;
    const action = actionOf(task);
    if (action === "restrict") throw this.#referencedBy(task, id);
    const rules = rulesOf(this.#context.writer.catalog, rule.child.id);
    const reader = this.#newest(rule.child);
    const location = reader.find(id);
    if (location === NO_ROW) return false;
    const key = convertKey(rule.toChild, task.oldKey) ?? [];
    const before = readRow(reader, rule.child, location);
    if (!sameKey(rule.childColumns, keyAt(before, rule.childPositions), key)) return false;
    if (action === "cascade" && task.newKey === null) {
      rules.triggers.of("delete")?.fire(this.#state, NO_STORED_ROW, before);
      this.#context.writer.delete(rule.child.id, id);
      this.deleted(before, rules);
      return false;
    }
    const after = this.#changedRow(rules, task, before);
    this.#change(rules, id, before, after);
    return sameKey(rule.childColumns, keyAt(after, rule.childPositions), key);
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

  /**
   * NO ACTION: nothing references the keys any more, or they exist again. The tasks are of one constraint. `waits`: for
   * others who have deleted a child, which a commit cannot.
   */
  *#checkUnreferenced(rule: ForeignKeyRule, tasks: Iterable<ActionTask>, waits = true): Steps {
    if (this.#isDropped(rule)) return;
    const parents = this.#newest(rule.parent);
    const gone = new ActionTasks(this.#user, rule);
    for (const task of tasks) {
      if (this.#isLong()) yield;
      const isThere = findFirst(parents, rule.parentRoute, rule.parentColumns, task.oldKey) !== NO_ROW;
      this.#countRead(rule.parentRoute, isThere ? 1 : 0);
      if (!isThere) gone.add(task);
    }
    if (gone.count === 0) return;
    if (rule.childRoute.kind === "scan") {
      yield* this.#scanChildren(rule, gone, (task, child) => {
        throw this.#referencedBy(task, waits ? child : null);
      });
    } else {
      const children = this.#newest(rule.child);
      for (const task of gone) {
        if (this.#isLong()) yield;
        const key = convertKey(rule.toChild, task.oldKey);
        if (key === null) continue;
        const child = findFirst(children, rule.childRoute, rule.childColumns, key);
        this.#countRead(rule.childRoute, child === NO_ROW ? 0 : 1);
        if (child !== NO_ROW) throw this.#referencedBy(task, waits ? children.idAt(child) : null);
      }
    }
    gone.release();
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

function isSameTask(one: ActionTask, other: ActionTask): boolean {
  return keyText(one.rule.parentColumns, one.oldKey) === keyText(other.rule.parentColumns, other.oldKey);
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
