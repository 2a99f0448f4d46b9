/**
 * Estimates of row counts from statistics: P. G. Selinger et al., "Access Path Selection in a Relational Database
 * Management System", SIGMOD 1979, with distinct counts and minimum and maximum of columns.
 *
 * Estimates choose between plans that give the same rows; they are never needed for correctness. Parameters are
 * estimated without their values, because a plan serves all of them.
 */
import type { ColumnDefinition, TableDefinition } from "../../catalog/definitions.ts";
import { Decimal } from "../../types/decimal.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { storageClassOf } from "../../types/physical_type.ts";
import type { SqlValue } from "../../types/value.ts";
import type { PlanningEnvironment, TableStatistics } from "../binder/environment.ts";
import { conjuncts, withoutIdentityCasts } from "../plan/build.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { Plan } from "../plan/plan.ts";
import { columnsOf, inputs, visitPlan } from "../plan/traverse.ts";

const DEFAULT_EQUALITY = 0.005;
const DEFAULT_RANGE = 1 / 3;
/**
 * Both ends of a range that are unknown before the statement runs, as in PostgreSQL: short ranges are what is asked
 * for.
 */
const DEFAULT_BETWEEN = 0.005;
const DEFAULT_LIKE = 0.05;
const DEFAULT_CONDITION = 1 / 3;
const DEFAULT_ROWS = 1000;
/** An empty table is planned as if it had rows, since plans outlive the moment. */
const EMPTY_TABLE_ROWS = 1000;

/** What is known of a column. */
export interface ColumnFacts {
  readonly table: TableDefinition;
  readonly column: ColumnDefinition | null;
  readonly rows: number;
  readonly distinct: number;
  readonly nullFraction: number;
  readonly minimum: number | null;
  readonly maximum: number | null;
}

/** Estimates of row counts from statistics: P. */
export class Estimator {
  readonly #environment: PlanningEnvironment;
  readonly #facts = new Map<ColumnRef, ColumnFacts>();
  readonly #derived = new Map<ColumnRef, Expression>();
  readonly #rows = new WeakMap<Plan, number>();
  readonly #tables = new Map<number, TableStatistics | null>();
  readonly #withRows = new Map<number, Plan>();

  constructor(environment: PlanningEnvironment) {
    this.#environment = environment;
  }

  /** Takes note of the columns that a plan's operators define. */
  register(plan: Plan): void {
    visitPlan(plan, { plan: (each) => this.#registerOne(each) });
  }

  #registerOne(plan: Plan): void {
    switch (plan.kind) {
      case "table_scan":
        for (const column of plan.columns) this.#registerColumn(plan.table, column.columnId, column.output);
        if (plan.rowId !== null) this.#registerRowId(plan.table, plan.rowId);
        return;
      case "project":
        for (const each of plan.outputs) this.#derived.set(each.output, each.expression);
        return;
      case "aggregate":
        for (const each of plan.groups) this.#derived.set(each.output, each.expression);
        return;
      case "with":
        for (const each of plan.definitions) this.#withRows.set(each.id, each.plan);
        return;
      default:
        return;
    }
  }

  #registerColumn(table: TableDefinition, columnId: number, output: ColumnRef): void {
    const rows = this.tableRows(table);
    const column = table.columns.find((each) => each.id === columnId) ?? null;
    const statistics = this.#statisticsOf(table)?.column(columnId);
    const isUnique = table.rowIdColumn === columnId ||
      table.indexes.some((index) =>
        index.unique && index.columns.length === 1 && index.columns[0]?.columnId === columnId
      );
    const type = column?.type ?? { kind: "unknown" as const };
    this.#facts.set(output, {
      table,
      column,
      rows,
      distinct: isUnique
        ? rows
        : Math.max(1, Math.min(rows, statistics?.distinct ?? Math.max(20, rows / 20))),
      nullFraction: statistics?.nullFraction ?? 0,
      minimum: storedNumber(type, statistics?.minimum ?? null),
      maximum: storedNumber(type, statistics?.maximum ?? null),
    });
  }

  #registerRowId(table: TableDefinition, output: ColumnRef): void {
    const rows = this.tableRows(table);
    this.#facts.set(output, {
      table,
      column: null,
      rows,
      distinct: rows,
      nullFraction: 0,
      minimum: null,
      maximum: null,
    });
  }

  #statisticsOf(table: TableDefinition): TableStatistics | null {
    let known = this.#tables.get(table.id);
    if (known === undefined) {
      known = this.#environment.statistics?.(table.id) ?? null;
      this.#tables.set(table.id, known);
    }
    return known;
  }

  /** Bytes of what a look-up may read of a table: the columns, and the index if it uses one. */
  storedBytes(plan: Extract<Plan, { readonly kind: "row_lookup" | "index_scan" }>): number {
    const rows = this.tableRows(plan.table);
    const key = plan.kind === "index_scan" ? 4 + 8 * plan.index.columns.length : 0;
    return plan.columns.reduce(
      (sum, { output, type }) => sum + rows * this.#bytesOf(output, type),
      rows * key,
    );
  }

  #bytesOf(column: ColumnRef, type: SqlType): number {
    const facts = this.factsOf(column);
    const storage = storageClassOf(type);
    if (storage === "int" || storage === "float") return 4;
    // Text that repeats is kept as codes.
    if (facts === undefined || facts.distinct < facts.rows / 4) return 2;
    return this.#statisticsOf(facts.table)?.column(facts.column?.id ?? 0)?.averageBytes ?? 16;
  }

  /** Rows of a table. */
  tableRows(table: TableDefinition): number {
    return this.#statisticsOf(table)?.rows || EMPTY_TABLE_ROWS;
  }

  /** What is known of a column, through projections and groupings. */
  factsOf(column: ColumnRef): ColumnFacts | undefined {
    const known = this.#facts.get(column);
    if (known !== undefined) return known;
    const expression = this.#derived.get(column);
    if (expression === undefined) return undefined;
    const plain = withoutIdentityCasts(expression);
    return plain.kind === "column" && plain.column !== column ? this.factsOf(plain.column) : undefined;
  }

  /** Distinct values of an expression, or undefined. */
  distinctOf(expression: Expression): number | undefined {
    const plain = withoutIdentityCasts(expression);
    if (plain.kind === "column") return this.factsOf(plain.column)?.distinct;
    if (plain.kind === "constant") return 1;
    return undefined;
  }

  /** The share of rows for which a condition is TRUE. */
  selectivity(condition: Expression | null): number {
    if (condition === null) return 1;
    const parts = conjuncts(condition);
    const ranges = new Map<string, { low: number | null; high: number | null; count: number }>();
    let result = 1;
    for (const part of parts) {
      const range = this.#rangeOf(part);
      if (range === undefined) result *= this.#selectivityOf(part);
      else {
        const known = ranges.get(range.key) ?? { low: null, high: null, count: 0 };
        known.count++;
        if (range.isLow) known.low = Math.max(known.low ?? -Infinity, range.position ?? -Infinity);
        else known.high = Math.min(known.high ?? Infinity, range.position ?? Infinity);
        if (range.position === null) {
          if (range.isLow) known.low = -Infinity;
          else known.high = Infinity;
        }
        ranges.set(range.key, known);
      }
    }
    for (const { low, high } of ranges.values()) {
      const isKnown = (low === null || Number.isFinite(low)) && (high === null || Number.isFinite(high));
      if (isKnown) {
        const share = Math.min(1, high ?? 1) - Math.max(0, low ?? 0);
        result *= Math.min(1, Math.max(0.0001, share));
      } else result *= low !== null && high !== null ? DEFAULT_BETWEEN : DEFAULT_RANGE;
    }
    return Math.min(1, Math.max(0, result));
  }

  /** A comparison of a column with a value: where the value lies between the column's minimum (0) and maximum (1). */
  #rangeOf(
    part: Expression,
  ): { readonly key: string; readonly isLow: boolean; readonly position: number | null } | undefined {
    if (part.kind !== "call") return undefined;
    const { name } = part.function;
    if (name !== "<" && name !== "<=" && name !== ">" && name !== ">=") return undefined;
    const [left, right] = part.args.map(withoutIdentityCasts);
    if (left === undefined || right === undefined) return undefined;
    const isSwapped = left.kind !== "column";
    const column = isSwapped ? right : left;
    const value = isSwapped ? left : right;
    if (column.kind !== "column" || columnsOf(value).has(column.column)) return undefined;
    const isLow = name.startsWith(">") !== isSwapped;
    const facts = this.factsOf(column.column);
    let position: number | null = null;
    if (
      facts !== undefined && facts.minimum !== null && facts.maximum !== null && value.kind === "constant"
    ) {
      const number = valueNumber(value.type, value.value);
      const width = facts.maximum - facts.minimum;
      if (number !== null && width > 0) {
        position = Math.min(1, Math.max(0, (number - facts.minimum) / width));
      }
    }
    return { key: String(column.column), isLow, position };
  }

  #selectivityOf(part: Expression): number {
    switch (part.kind) {
      case "constant":
        return part.value === true ? 1 : 0;
      case "and":
        return this.selectivity(part);
      case "or":
        return 1 - part.args.reduce((rest, each) => rest * (1 - this.selectivity(each)), 1);
      case "not":
        return 1 - this.selectivity(part.argument);
      case "is_null": {
        const plain = withoutIdentityCasts(part.argument);
        const facts = plain.kind === "column" ? this.factsOf(plain.column) : undefined;
        const share = facts?.nullFraction ?? 0.01;
        return part.negated ? 1 - share : share;
      }
      case "in_list": {
        const share = Math.min(0.9, part.list.length * this.#equality(part.argument));
        return part.negated ? 1 - share : share;
      }
      case "any_array":
        return part.operator.name === "=" ? Math.min(0.5, 10 * this.#equality(part.left)) : DEFAULT_CONDITION;
      case "call":
        return this.#callSelectivity(part);
      case "exists":
      case "any_subquery":
      case "all_subquery":
        return 0.5;
      case "column":
        return 0.5;
      default:
        return DEFAULT_CONDITION;
    }
  }

  #callSelectivity(part: Expression & { readonly kind: "call" }): number {
    const [left, right] = part.args;
    if (left === undefined || right === undefined) return DEFAULT_CONDITION;
    switch (part.function.name) {
      case "=":
        return this.#equalityOf(left, right);
      case "<>":
        return 1 - this.#equalityOf(left, right);
      case "<":
      case "<=":
      case ">":
      case ">=":
        return DEFAULT_RANGE;
      case "~~":
      case "~~*":
      case "~":
      case "~*":
        return DEFAULT_LIKE;
      case "!~~":
      case "!~~*":
      case "!~":
      case "!~*":
        return 1 - DEFAULT_LIKE;
      default:
        return DEFAULT_CONDITION;
    }
  }

  #equality(expression: Expression): number {
    const distinct = this.distinctOf(expression);
    return distinct === undefined ? DEFAULT_EQUALITY : 1 / Math.max(1, distinct);
  }

  #equalityOf(left: Expression, right: Expression): number {
    const [leftDistinct, rightDistinct] = [this.distinctOf(left), this.distinctOf(right)];
    const isLeftColumn = columnsOf(left).size > 0;
    const isRightColumn = columnsOf(right).size > 0;
    if (isLeftColumn && isRightColumn) {
      return 1 / Math.max(1, Math.max(leftDistinct ?? 200, rightDistinct ?? 200));
    }
    return isLeftColumn ? this.#equality(left) : isRightColumn ? this.#equality(right) : DEFAULT_EQUALITY;
  }

  /** The share of left rows that have a partner on the right, by distinct values of the join's keys. */
  semiSelectivity(condition: Expression | null, right: Plan): number {
    let share = 1;
    const rightRows = this.rows(right);
    const rightColumns = new Set<ColumnRef>();
    visitPlan(right, { plan: (each) => collectOutputs(each, rightColumns) });
    for (const part of conjuncts(condition)) {
      if (part.kind !== "call" || part.function.name !== "=") {
        share *= part.kind === "call" && part.function.name === "<>" ? 0.9 : 0.5;
        continue;
      }
      const [a, b] = part.args;
      if (a === undefined || b === undefined) continue;
      const isRight = (each: Expression) => [...columnsOf(each)].some((column) => rightColumns.has(column));
      const left = isRight(a) ? b : a;
      const leftDistinct = this.distinctOf(left) ?? 200;
      const rightDistinct = Math.min(this.distinctOf(isRight(a) ? a : b) ?? rightRows, rightRows);
      share *= Math.min(1, rightDistinct / Math.max(1, leftDistinct));
    }
    return Math.min(1, Math.max(0.0001, share));
  }

  /** Groups that rows fall into. */
  groups(expressions: readonly Expression[], rows: number): number {
    let product = 1;
    for (const each of expressions) {
      product *= Math.min(rows, this.distinctOf(each) ?? Math.max(10, rows / 10));
    }
    return Math.max(1, Math.min(rows, product));
  }

  /** Rows of a plan. */
  rows(plan: Plan): number {
    const known = this.#rows.get(plan);
    if (known !== undefined) return known;
    const rows = Math.max(0, this.#compute(plan));
    this.#rows.set(plan, rows);
    return rows;
  }

  #compute(plan: Plan): number {
    switch (plan.kind) {
      case "table_scan":
        return this.tableRows(plan.table) * this.selectivity(plan.filter);
      case "row_lookup":
      case "row_range":
      case "index_scan":
        return plan.rows;
      case "virtual_scan":
        return 100 * this.selectivity(plan.filter);
      case "values":
        return plan.list.length;
      case "function_scan":
        return plan.input === null ? 100 : this.rows(plan.input) * 10;
      case "filter":
        return this.rows(plan.input) * this.selectivity(plan.condition);
      case "hash_join":
      case "nested_loop_join":
        return this.#joinRows(plan);
      case "aggregate": {
        if (plan.groups.length === 0) return 1;
        return this.groups(plan.groups.map((each) => each.expression), this.rows(plan.input)) *
          (plan.groupingSets?.length ?? 1);
      }
      case "distinct":
        return this.groups(plan.keys, this.rows(plan.input));
      case "limit": {
        const rows = this.rows(plan.input);
        const { limit } = plan;
        if (limit === null) return rows;
        return limit.kind === "constant" && typeof limit.value === "number"
          ? Math.min(rows, limit.value)
          : Math.min(rows, 100);
      }
      case "set_operation": {
        const counts = plan.inputs.map((input) => this.rows(input.plan));
        if (plan.operation === "union") return counts.reduce((sum, each) => sum + each, 0);
        return plan.operation === "intersect" ? Math.min(...counts) / 2 : (counts[0] ?? 0) / 2;
      }
      case "with":
        return this.rows(plan.body);
      case "with_scan": {
        const definition = this.#withRows.get(plan.id);
        return definition === undefined || plan.working ? DEFAULT_ROWS : this.rows(definition);
      }
      default: {
        const [input] = inputs(plan);
        return input === undefined ? DEFAULT_ROWS : this.rows(input);
      }
    }
  }

  #joinRows(plan: Plan & { readonly kind: "hash_join" | "nested_loop_join" }): number {
    const left = this.rows(plan.left);
    const right = this.rows(plan.right);
    let selectivity: number;
    if (plan.kind === "hash_join") {
      selectivity = this.selectivity(plan.residual);
      plan.leftKeys.forEach((key, index) => {
        const other = plan.rightKeys[index];
        if (other !== undefined) selectivity *= this.#equalityOf(key, other);
      });
    } else selectivity = this.selectivity(plan.condition);
    switch (plan.join) {
      case "inner":
        return left * right * selectivity;
      case "left":
        return Math.max(left, left * right * selectivity);
      case "right":
        return Math.max(right, left * right * selectivity);
      case "full":
        return Math.max(left + right, left * right * selectivity);
      case "semi":
        return plan.kind === "nested_loop_join" && !plan.correlated
          ? left * this.semiSelectivity(plan.condition, plan.right)
          : left * 0.5;
      case "anti":
        return plan.kind === "nested_loop_join" && !plan.correlated
          ? Math.max(left * 0.05, left * (1 - this.semiSelectivity(plan.condition, plan.right)))
          : left * 0.5;
    }
  }
}

function collectOutputs(plan: Plan, result: Set<ColumnRef>): void {
  switch (plan.kind) {
    case "table_scan":
      for (const column of plan.columns) result.add(column.output);
      if (plan.rowId !== null) result.add(plan.rowId);
      return;
    case "project":
      for (const each of plan.outputs) result.add(each.output);
      return;
    case "aggregate":
      for (const each of [...plan.groups, ...plan.aggregates]) result.add(each.output);
      return;
    case "values":
    case "set_operation":
    case "with_scan":
      for (const each of plan.outputs) result.add(each);
      return;
    default:
      return;
  }
}

/** A stored value as a number to compare positions with. */
function storedNumber(type: SqlType, value: unknown): number | null {
  if (typeof value !== "number" && typeof value !== "bigint") return null;
  return scaled(type, Number(value));
}

function scaled(type: SqlType, value: number): number {
  return type.kind === "numeric" && type.scale !== undefined ? value / 10 ** type.scale : value;
}

function valueNumber(type: SqlType, value: SqlValue): number | null {
  if (typeof value === "number" || typeof value === "bigint") return scaled(type, Number(value));
  if (value instanceof Decimal) return value.toNumber();
  return null;
}
