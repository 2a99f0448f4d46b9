/**
 * Checks that the rows that are there already satisfy a new constraint. Errors are PostgreSQL's.
 */
import { assertDefined } from "../../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { ColumnDefinition, IndexDefinition, TableDefinition } from "../../catalog/definitions.ts";
import { forbidsDuplicates, visibleKey } from "../../catalog/index_keys.ts";
import type { ExecutionContext } from "../../execution/runtime/execution.ts";
import { NumberSort } from "../../execution/runtime/sorting.ts";
import { columnsById, findFirst, scanByKey } from "../../execution/modify/key_route.ts";
import { checkPlace } from "../../catalog/gas_places.ts";
import { compileTableExpression, type RowFunction } from "../../execution/modify/row_completion.ts";
import { isWhole } from "../../execution/modify/row_changes.ts";
import {
  convertKey,
  type ForeignKey,
  type ForeignKeyRule,
  makeRule,
} from "../../execution/modify/table_rules.ts";
import { missingParent, shownKey } from "../../execution/modify/violations.ts";
import type { StoredValue } from "../../operations/effect.ts";
import type { TableExpression } from "../../sql/definition/definition_plan.ts";
import { NO_ROW } from "../../storage/access/block.ts";
import { keyColumns, keyText } from "../../transactions/stored_key.ts";
import { storageClassOf } from "../../types/physical_type.ts";
import { RowWalk } from "./row_walk.ts";
import type { Work } from "../../execution/runtime/work.ts";

/** 23502 for rows that hold NULL. */
export function containsNulls(table: TableDefinition, column: ColumnDefinition): DatabaseError {
  return new DatabaseError(
    SQLSTATE.notNullViolation,
    `column "${column.name}" of relation "${table.name}" contains null values`,
    { schema: table.schema, table: table.name, column: column.name },
  );
}

/** 23505 for rows with the same key. */
export function duplicatedKey(
  table: TableDefinition,
  name: string,
  columns: readonly ColumnDefinition[],
  key: readonly StoredValue[],
): DatabaseError {
  return new DatabaseError(SQLSTATE.uniqueViolation, `could not create unique index "${name}"`, {
    detail: `${shownKey(columns, key)} is duplicated.`,
    schema: table.schema,
    table: table.name,
    constraint: name,
  });
}

function columnById(table: TableDefinition, id: number): ColumnDefinition {
  return assertDefined(columnsById(table, [id])[0], `column ${id}`);
}

/** No row holds NULL in the column. */
export class ValidateNotNull implements Work {
  readonly #walk: RowWalk;
  readonly #table: TableDefinition;
  readonly #column: ColumnDefinition;

  constructor(context: ExecutionContext, table: TableDefinition, columnId: number) {
    this.#walk = new RowWalk(context, table.id, [columnId]);
    this.#table = table;
    this.#column = columnById(table, columnId);
  }

  advance(): boolean {
    return this.#walk.advanceBlock(({ columns: [vector], hidden, rowCount }) => {
      if (vector === undefined) return;
      const nulls = vector.kind === "constant" ? null : vector.nulls;
      if (nulls === null && (vector.kind !== "constant" || vector.value !== null)) return;
      for (let row = 0; row < rowCount; row++) {
        const isHidden = hidden !== null && hidden[row] !== 0;
        if (!isHidden && (nulls === null || nulls[row] === 1)) throw containsNulls(this.#table, this.#column);
      }
    });
  }
}

/** The condition is false for no row. */
export class ValidateCheck implements Work {
  readonly #walk: RowWalk;
  readonly #table: TableDefinition;
  readonly #name: string;
  readonly #evaluate: RowFunction;

  constructor(context: ExecutionContext, table: TableDefinition, name: string, condition: TableExpression) {
    this.#walk = new RowWalk(context, table.id);
    this.#table = table;
    this.#name = name;
    const place = checkPlace(table, name);
    this.#evaluate = compileTableExpression(context, table, condition, { kind: "bool" }, place);
  }

  advance(): boolean {
    const { reader } = this.#walk;
    const { columns } = this.#table;
    return this.#walk.advance((location) => {
      const row = columns.map((column) => reader.valueAt(location, column.id));
      if (this.#evaluate(row) !== 0) return;
      throw new DatabaseError(
        SQLSTATE.checkViolation,
        `check constraint "${this.#name}" of relation "${this.#table.name}" is violated by some row`,
        { schema: this.#table.schema, table: this.#table.name, constraint: this.#name },
      );
    });
  }
}

/** No two rows have the same key. A single numeric column is sorted, other keys are kept in a set. */
export class ValidateUnique implements Work {
  readonly #walk: RowWalk;
  readonly #table: TableDefinition;
  readonly #index: IndexDefinition;
  readonly #columns: readonly ColumnDefinition[];
  readonly #seen = new Set<string>();
  #numbers: Float64Array | null;
  #count = 0;
  #sort: NumberSort | null = null;

  constructor(context: ExecutionContext, table: TableDefinition, index: IndexDefinition) {
    this.#walk = new RowWalk(context, table.id);
    this.#table = table;
    this.#index = index;
    this.#columns = keyColumns(table, index);
    const [first] = this.#columns;
    const isNumber = this.#columns.length === 1 && first !== undefined &&
      (storageClassOf(first.type) === "int" || storageClassOf(first.type) === "float");
    this.#numbers = isNumber ? new Float64Array(1024) : null;
  }

  advance(): boolean {
    if (this.#sort !== null) {
      if (!this.#sort.advance()) return false;
      this.#checkNumbers(this.#sort.sorted);
      return true;
    }
    const { reader } = this.#walk;
    const done = this.#walk.advance((location) =>
      this.#add(this.#columns.map((column) => reader.valueAt(location, column.id)))
    );
    if (!done || this.#numbers === null) return done;
    this.#sort = new NumberSort(this.#numbers.subarray(0, this.#count));
    return false;
  }

  #add(key: readonly StoredValue[]): void {
    if (!forbidsDuplicates(this.#index, key)) return;
    const value = key[0] ?? null;
    if (this.#numbers !== null && typeof value === "number") {
      if (this.#count === this.#numbers.length) {
        const larger = new Float64Array(this.#count * 2);
        larger.set(this.#numbers);
        this.#numbers = larger;
      }
      this.#numbers[this.#count++] = value + 0;
      return;
    }
    const text = keyText(this.#columns, key);
    if (this.#seen.has(text)) {
      throw duplicatedKey(
        this.#table,
        this.#index.name,
        this.#columns.slice(0, visibleKey(this.#index).length),
        key,
      );
    }
    this.#seen.add(text);
  }

  /** Looks for equal neighbors among the sorted numbers. */
  #checkNumbers(sorted: Float64Array): void {
    for (let row = 1; row < sorted.length; row++) {
      const value = sorted[row] as number, previous = sorted[row - 1] as number;
      if (value !== previous && !(value !== value && previous !== previous)) continue;
      throw duplicatedKey(this.#table, this.#index.name, this.#columns, [value]);
    }
  }
}

/** From this many rows on, the parents' keys are read once instead of looking each one up. */
const SET_FROM_ROWS = 2000;

/** Every row has its parent. */
export class ValidateForeignKey implements Work {
  readonly #context: ExecutionContext;
  readonly #walk: RowWalk;
  readonly #rule: ForeignKeyRule;
  /** Keys of all parents; null: each is looked up. */
  readonly #parents: Set<string> | null;
  /** Reads the parents' keys; null: they are there. */
  #reading: Generator<void, void, void> | null;

  constructor(context: ExecutionContext, table: TableDefinition, constraint: ForeignKey) {
    const { catalog } = context.writer;
    const parent = assertDefined(catalog.table(constraint.referencedTableId), "referenced table");
    this.#context = context;
    this.#rule = makeRule(table, parent, constraint);
    this.#walk = new RowWalk(context, table.id);
    const parents = this.#walk.reader.estimatedRows < SET_FROM_ROWS ? null : new Set<string>();
    this.#parents = parents;
    this.#reading = parents === null ? null : this.#readParents(parents);
  }

  #readParents(keys: Set<string>): Generator<void, void, void> {
    const { parent, parentColumns } = this.#rule;
    return scanByKey(this.#context.table(parent.id), parentColumns, [], (values) => {
      keys.add(keyText(parentColumns, values()));
      return true;
    });
  }

  advance(): boolean {
    if (this.#reading !== null) {
      if (this.#reading.next().done === true) this.#reading = null;
      return false;
    }
    const { reader } = this.#walk;
    const rule = this.#rule;
    return this.#walk.advance((location) => {
      const key = rule.childColumns.map((column) => reader.valueAt(location, column.id));
      if (!isWhole(rule, key) || this.#hasParent(key)) return;
      throw missingParent(rule.child, rule.constraint.name, rule.parent, rule.childColumns, key);
    });
  }

  #hasParent(key: readonly StoredValue[]): boolean {
    const { toParent, parent, parentRoute, parentColumns } = this.#rule;
    const wanted = convertKey(toParent, key);
    if (wanted === null) return false;
    if (this.#parents !== null) return this.#parents.has(keyText(parentColumns, wanted));
    return findFirst(this.#context.table(parent.id), parentRoute, parentColumns, wanted) !== NO_ROW;
  }
}
