/** What a statement has to look after for one foreign key when its rows are written, in files if need be. */
import type { RowId, StoredValue } from "../../operations/effect.ts";
import { KeptList, storedType } from "../runtime/kept_list.ts";
import type { MemoryUser } from "../runtime/memory_user.ts";
import type { ForeignKeyRule } from "./table_rules.ts";

/** A parent's key that is gone. `newKey` null: the row was deleted. In the parent's types. */
export interface ActionTask {
  readonly rule: ForeignKeyRule;
  readonly oldKey: readonly StoredValue[];
  readonly newKey: readonly StoredValue[] | null;
}

/** A child row whose parent was missing when it was written. */
export interface ParentCheck {
  readonly rule: ForeignKeyRule;
  readonly id: RowId;
  readonly key: readonly StoredValue[];
}

/** Keys of parents that are gone, with or without the children that refer to them. */
export class ActionTasks implements Iterable<ActionTask> {
  readonly rule: ForeignKeyRule;
  readonly #list: KeptList;

  constructor(user: MemoryUser, rule: ForeignKeyRule) {
    const key = rule.parentColumns.map(({ type }) => storedType(type));
    this.rule = rule;
    this.#list = new KeptList(user, [{ kind: "i64" }, { kind: "bool" }, ...key, ...key]);
  }

  get count(): number {
    return this.#list.count;
  }

  /** Adds one; `child`: the id of a child that refers to it. */
  add({ oldKey, newKey }: ActionTask, child: RowId = 0): void {
    this.#list.append([child, newKey !== null, ...oldKey, ...(newKey ?? [])]);
  }

  *[Symbol.iterator](): Generator<ActionTask, void, void> {
    for (const { task } of this.withChildren()) yield task;
  }

  /** The tasks, each with its child. */
  *withChildren(): Generator<{ readonly task: ActionTask; readonly child: RowId }, void, void> {
    const { rule } = this;
    const parts = rule.parentColumns.length;
    for (const row of this.#list) {
      const [child, hasNew, ...keys] = row as readonly [RowId, boolean, ...StoredValue[]];
      const newKey = hasNew ? keys.slice(parts, 2 * parts) : null;
      yield { task: { rule, oldKey: keys.slice(0, parts), newKey }, child };
    }
  }

  /** Forgets them. */
  release(): void {
    this.#list.release();
  }
}

/** Children of one foreign key whose parents were missing. */
export class ParentChecks implements Iterable<ParentCheck> {
  readonly #rule: ForeignKeyRule;
  readonly #list: KeptList;

  constructor(user: MemoryUser, rule: ForeignKeyRule) {
    this.#rule = rule;
    this.#list = new KeptList(user, [
      { kind: "i64" },
      ...rule.childColumns.map(({ type }) => storedType(type)),
    ]);
  }

  /** Adds one. */
  add({ id, key }: ParentCheck): void {
    this.#list.append([id, ...key]);
  }

  *[Symbol.iterator](): Generator<ParentCheck, void, void> {
    for (const row of this.#list) {
      const [id, ...key] = row as readonly [RowId, ...StoredValue[]];
      yield { rule: this.#rule, id, key };
    }
  }

  /** Forgets them. */
  release(): void {
    this.#list.release();
  }
}
