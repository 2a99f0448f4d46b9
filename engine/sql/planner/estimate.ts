/**
 * Estimates of row counts from statistics: P. G. Selinger et al., "Access Path Selection in a Relational Database
 * Management System", SIGMOD 1979, with distinct counts, common values and histograms of columns.
 *
 * Estimates choose between plans that give the same rows; they are never needed for correctness. Parameters are
 * estimated without their values, because a plan serves all of them; literals that were taken out of the text with
 * theirs, see `peeked_literals.ts`.
 */
import type { TableDefinition } from "../../catalog/definitions.ts";
import type { StoredValue } from "../../operations/effect.ts";
import { type CountedValue, countedValue } from "../../storage/access/column_distribution.ts";
import { groupKey } from "../../storage/table/table_analysis.ts";
import { SqlArray } from "../../types/sql_array.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { storageClassOf } from "../../types/physical_type.ts";
import type { PlanningEnvironment, TableStatistics } from "../binder/environment.ts";
import type { PatternOperator } from "../functions/pattern_functions.ts";
import { conjunction, conjuncts, constant, expressionKey, withoutIdentityCasts } from "../plan/build.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { LiteralReader } from "../plan/peeked_literals.ts";
import type { Plan } from "../plan/plan.ts";
import { columnsOf, inputs, operands, visitPlan } from "../plan/traverse.ts";
import { type ColumnGroup, type GroupCondition, jointShare } from "./column_groups.ts";
import {
  type ColumnComparison,
  columnComparison,
  counted,
  knownValue,
  rowTest,
  storedNumber,
} from "./column_values.ts";
import type { ColumnFacts } from "./column_facts.ts";
import { fieldCount, groupCount, rowsOfOneSide } from "./group_counts.ts";
import {
  analyzedValues,
  equalJoinShare,
  equalShare,
  evenValues,
  type JoinedValues,
  patternShares,
  type RangeEnd,
  rangeShare,
} from "./value_shares.ts";

const DEFAULT_EQUALITY = 0.005;
export const DEFAULT_RANGE = 1 / 3;
/**
 * Both ends of a range that are unknown before the statement runs, as in PostgreSQL: short ranges are what is asked
 * for.
 */
export const DEFAULT_BETWEEN = 0.005;
const DEFAULT_LIKE = 0.05;
/** Elements of an array that are looked at one by one. */
const SAMPLED_ELEMENTS = 1000;
const DEFAULT_CONDITION = 1 / 3;
const DEFAULT_ROWS = 1000;
/** An empty table is planned as if it had rows, since plans outlive the moment. */
const EMPTY_TABLE_ROWS = 1000;

type Scan = Plan & { readonly kind: "table_scan" };

/** What is compared with one column in a conjunction. */
interface ColumnRange {
  readonly facts: ColumnFacts | undefined;
  readonly low: ExpectedEnd[];
  readonly high: ExpectedEnd[];
  readonly type: SqlType;
}

interface ExpectedEnd {
  readonly expression: Expression;
  readonly inclusive: boolean;
}

/** The least share of rows that a range of known values is taken to have. */
const MIN_RANGE = 0.0001;

/** See the file's head. */
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
        for (const column of plan.columns) this.#registerColumn(plan, column.columnId, column.output);
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

  #registerColumn(scan: Scan, columnId: number, output: ColumnRef): void {
    const { table } = scan;
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
      distribution: statistics?.distribution ?? null,
      scan,
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
      distribution: null,
      scan: null,
    });
  }

  /** Values of literals that were taken out of the text. */
  readonly literal: LiteralReader = (index, type) => this.#environment.peeked?.valueOf(index, type);

  /** Whether literals that were taken out of the text are in conditions. */
  readsLiterals(conditions: readonly Expression[]): boolean {
    return conditions.some((condition) => someParameter(condition));
  }

  /** The plan depends on a share, see {@link PeekedLiterals.note}. */
  peek(key: string, share: (read: LiteralReader) => number): void {
    this.#environment.peeked?.note(key, share);
  }

  /**
   * What all rows of a small table that meet conditions have in a column, by the values of literals; null: that is not
   * known.
   */
  knownValues(
    scan: Scan,
    conditions: readonly Expression[],
    column: ColumnRef,
  ): ((read: LiteralReader) => readonly CountedValue[]) | null {
    const id = scan.columns.find(({ output }) => output === column)?.columnId;
    const values = id === undefined ? undefined : this.#statisticsOf(scan.table)?.whole?.get(id);
    const rowsOf = values === undefined ? null : this.#knownRows(scan, conditions);
    if (values === undefined || rowsOf === null) return null;
    return valuesIn(values, rowsOf);
  }

  /** The rows of a small table that meet conditions; null: it is not small, or one cannot be asked here. */
  #knownRows(
    scan: Scan,
    conditions: readonly Expression[],
  ): ((read: LiteralReader) => readonly number[]) | null {
    const whole = this.#statisticsOf(scan.table)?.whole ?? null;
    const count = whole?.values().next().value?.length ?? 0;
    // The table may have grown since.
    if (whole === null || count * 2 < this.tableRows(scan.table)) return null;
    const parts = conditions.flatMap((each) => conjuncts(each));
    if (parts.some((each) => rowTest(each, this.literal) === null)) return null;
    const columns = new Map(scan.columns.map(({ output, columnId }) => [output, whole.get(columnId)]));
    // Columns that are new, or whose values are long, were not kept.
    const isKept = (column: ColumnRef) => columns.get(column) !== undefined;
    if (!parts.every((each) => [...columnsOf(each)].every(isKept))) return null;
    return knownRows(columns, count, parts);
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

  /** What an expression is computed by, through the projections and groupings that give its column. */
  sourceOf(expression: Expression): Expression {
    const plain = withoutIdentityCasts(expression);
    if (plain.kind !== "column" || this.#facts.has(plain.column)) return plain;
    const made = this.#derived.get(plain.column);
    return made === undefined || made.kind === "column" && made.column === plain.column
      ? plain
      : this.sourceOf(made);
  }

  /** Distinct values of an expression, or undefined. */
  distinctOf(expression: Expression): number | undefined {
    const source = this.sourceOf(expression);
    if (source.kind === "column") return this.factsOf(source.column)?.distinct;
    return source.kind === "constant" ? 1 : fieldCount(this, source);
  }

  /** The share of rows for which a condition is TRUE. */
  selectivity(condition: Expression | null): number {
    const parts = conjuncts(condition);
    const joint = this.#jointSelectivity(parts);
    if (joint === null) return this.#independent(parts);
    return Math.min(
      1,
      joint.share * this.selectivity(conjunction(parts.filter((each) => !joint.used.has(each)))),
    );
  }

  /** Conditions on columns that were looked at together; null: there are none. */
  #jointSelectivity(
    parts: readonly Expression[],
  ): { readonly share: number; readonly used: ReadonlySet<Expression> } | null {
    if (parts.length < 2) return null;
    for (const [scan, conditions] of this.groupConditions(parts)) {
      const fitting = this.columnGroups(scan).map((group) => {
        const ids = new Set(group.definition.columns);
        const own = conditions.filter(({ columns }) => [...columns.values()].every((id) => ids.has(id)));
        return { group, own, covered: new Set(own.flatMap(({ columns }) => [...columns.values()])).size };
      }).filter(({ covered }) => covered >= 2).sort((a, b) => b.covered - a.covered);
      for (const { group, own } of fitting) {
        const independent = this.#independent(own.map(({ condition }) => condition));
        const share = jointShare(group, own, independent, this.literal);
        if (share !== null) return { share, used: new Set(own.map(({ condition }) => condition)) };
      }
    }
    return null;
  }

  /** Conditions that groups of columns of a table may say more of, by the scan of the table. */
  groupConditions(parts: readonly Expression[]): ReadonlyMap<Plan, readonly GroupCondition[]> {
    const byScan = new Map<Plan, GroupCondition[]>();
    for (const condition of parts) {
      const columns = new Map<ColumnRef, number>();
      const scans = new Set<Plan | null>();
      for (const column of columnsOf(condition)) {
        const facts = this.#facts.get(column);
        scans.add(facts?.scan ?? null);
        if (facts?.column !== null && facts !== undefined) columns.set(column, facts.column.id);
      }
      const [scan] = scans;
      if (scan === undefined || scan === null || scans.size > 1) continue;
      if (this.columnGroups(scan).length === 0 || rowTest(condition, this.literal) === null) continue;
      const list = byScan.get(scan) ?? [];
      list.push({ condition, columns, share: this.#independent([condition]) });
      byScan.set(scan, list);
    }
    return byScan;
  }

  /** What was found of columns of a scan's table that go together. */
  columnGroups(scan: Plan): readonly ColumnGroup[] {
    if (!("table" in scan)) return [];
    const groups = this.#statisticsOf(scan.table)?.groups;
    return (scan.table.statistics ?? []).flatMap((definition) => {
      const found = groups?.get(groupKey(definition.columns));
      return found === undefined ? [] : [{ definition, found }];
    });
  }

  /** The share of rows for which conditions are TRUE that have nothing to do with each other. */
  #independent(parts: readonly Expression[]): number {
    const ranges = new Map<ColumnRef, ColumnRange>();
    let result = 1;
    for (const part of parts) {
      const comparison = columnComparison(part);
      if (comparison === null || comparison.operator === "=" || comparison.operator === "<>") {
        result *= this.#selectivityOf(part);
      } else this.#addToRange(ranges, comparison);
    }
    for (const range of ranges.values()) result *= this.#rangeSelectivity(range);
    return Math.min(1, Math.max(0, result));
  }

  #addToRange(
    ranges: Map<ColumnRef, ColumnRange>,
    { column, type, operator, value }: ColumnComparison,
  ): void {
    let range = ranges.get(column);
    if (range === undefined) {
      ranges.set(column, range = { facts: this.factsOf(column), low: [], high: [], type });
    }
    const end = { expression: value, inclusive: operator.endsWith("=") };
    (operator.startsWith(">") ? range.low : range.high).push(end);
  }

  #rangeSelectivity({ facts, low, high, type }: ColumnRange): number {
    const share = (read: LiteralReader): number | undefined => {
      if (facts === undefined) return undefined;
      const [from, to] = [rangeEnd(low, type, read, true), rangeEnd(high, type, read, false)];
      if (from === undefined || to === undefined) return undefined;
      if (facts.distribution !== null) return rangeShare(facts.distribution, from, to);
      return evenShare(facts, from, to);
    };
    // Ranges of keys move from statement to statement: a plan for any of them is right.
    const mayPeek = facts !== undefined && facts.distribution !== null && facts.distinct < facts.rows;
    const constant = share(() => undefined);
    if (constant !== undefined) return Math.min(1, Math.max(MIN_RANGE, constant));
    const peeked = mayPeek ? share(this.literal) : undefined;
    if (peeked !== undefined) {
      const key = `range ${[...low, ...high].map(({ expression }) => expressionKey(expression))}`;
      this.peek(key, (read) => share(read) ?? 1);
      return Math.min(1, Math.max(MIN_RANGE, peeked));
    }
    return low.length > 0 && high.length > 0 ? DEFAULT_BETWEEN : DEFAULT_RANGE;
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
        const share = Math.min(
          1,
          part.list.reduce((sum, each) => sum + this.#equality(part.argument, each), 0),
        );
        return part.negated ? Math.max(0, 1 - share) : share;
      }
      case "any_array":
        return part.operator.name === "=" ? this.#anyOf(part.left, part.array) : DEFAULT_CONDITION;
      case "call":
        return this.#callSelectivity(part);
      case "exists":
      case "any_subquery":
      case "all_subquery":
        return 0.5;
      case "column":
        return this.factsOf(part.column)?.distribution?.common.get(1) ?? 0.5;
      default:
        return DEFAULT_CONDITION;
    }
  }

  /** The share of rows that equal one of an array's elements, of which some are looked at when there are many. */
  #anyOf(left: Expression, array: Expression): number {
    if (array.kind !== "constant" || !(array.value instanceof SqlArray) || array.type.kind !== "array") {
      return Math.min(0.5, 10 * this.#equality(left));
    }
    const { elements } = array.value;
    const { element } = array.type;
    const step = Math.ceil(elements.length / SAMPLED_ELEMENTS);
    let sum = 0;
    for (let at = 0; at < elements.length; at += step) {
      sum += step * this.#equality(left, constant(element, elements[at] ?? null));
    }
    return Math.min(1, sum);
  }

  #callSelectivity(part: Expression & { readonly kind: "call" }): number {
    const [left, right] = part.args;
    if (left === undefined || right === undefined) return DEFAULT_CONDITION;
    switch (part.function.name) {
      case "=":
        return this.#equalityOf(left, right);
      case "<>":
        return Math.max(0, 1 - this.#equalityOf(left, right));
      case "<":
      case "<=":
      case ">":
      case ">=":
        return DEFAULT_RANGE;
      case "~~":
      case "~~*":
      case "~":
      case "~*":
        return this.#patternShare(left, right, part.function.name);
      case "!~~":
        return 1 - this.#patternShare(left, right, "~~");
      case "!~~*":
        return 1 - this.#patternShare(left, right, "~~*");
      case "!~":
        return 1 - this.#patternShare(left, right, "~");
      case "!~*":
        return 1 - this.#patternShare(left, right, "~*");
      default:
        return DEFAULT_CONDITION;
    }
  }

  /** The share of rows whose text matches a pattern. */
  #patternShare(text: Expression, pattern: Expression, operator: PatternOperator): number {
    const plain = withoutIdentityCasts(text);
    const distribution = plain.kind === "column" ? this.factsOf(plain.column)?.distribution ?? null : null;
    if (distribution === null) return DEFAULT_LIKE;
    const shareOf = patternShares(distribution, { operator, otherwise: DEFAULT_LIKE });
    const share = (read: LiteralReader) => shareOf(knownValue(pattern, read));
    const constant = share(() => undefined);
    if (constant !== undefined) return constant;
    const peeked = share(this.literal);
    if (peeked === undefined) return DEFAULT_LIKE;
    const key = `${expressionKey(plain)} ${operator} ${expressionKey(pattern)}`;
    this.peek(key, (read) => share(read) ?? DEFAULT_LIKE);
    return peeked;
  }

  /** The share of rows in which an expression has a value, which may be known. */
  #equality(expression: Expression, value?: Expression): number {
    const plain = withoutIdentityCasts(expression);
    const facts = plain.kind === "column" ? this.factsOf(plain.column) : undefined;
    const { distribution = null } = facts ?? {};
    if (value !== undefined && facts !== undefined && distribution !== null) {
      const share = (read: LiteralReader): number | undefined => {
        const known = counted(plain.type, value, read);
        return known === undefined ? undefined : equalShare(distribution, facts.distinct, known);
      };
      const constant = share(() => undefined);
      if (constant !== undefined) return constant;
      // Of columns whose values are all about as frequent one plan does for all.
      const peeked = distribution.common.size > 0 ? share(this.literal) : undefined;
      if (peeked !== undefined) {
        const average = 1 / Math.max(1, facts.distinct);
        this.peek(`${expressionKey(plain)} = ${expressionKey(value)}`, (read) => share(read) ?? average);
        return peeked;
      }
    }
    const distinct = this.distinctOf(expression);
    if (distinct === undefined) return DEFAULT_EQUALITY;
    return (1 - (facts?.nullFraction ?? 0)) / Math.max(1, distinct);
  }

  #equalityOf(left: Expression, right: Expression): number {
    const [leftDistinct, rightDistinct] = [this.distinctOf(left), this.distinctOf(right)];
    const isLeftColumn = columnsOf(left).size > 0;
    const isRightColumn = columnsOf(right).size > 0;
    if (isLeftColumn && isRightColumn) {
      const [a, b] = [this.joinedValues(left), this.joinedValues(right)];
      if (a !== null && b !== null) return equalJoinShare([a, b]);
      return 1 / Math.max(1, Math.max(leftDistinct ?? 200, rightDistinct ?? 200));
    }
    return isLeftColumn
      ? this.#equality(left, right)
      : isRightColumn
      ? this.#equality(right, left)
      : DEFAULT_EQUALITY;
  }

  /** The values of an expression, as a join by them sees them; null: it is no column. */
  joinedValues(expression: Expression): JoinedValues | null {
    const plain = withoutIdentityCasts(expression);
    const facts = plain.kind === "column" ? this.factsOf(plain.column) : undefined;
    if (facts === undefined) return null;
    const distinct = Math.max(1, facts.distinct);
    return facts.distribution === null || facts.distinct >= facts.rows
      ? evenValues(distinct, facts.nullFraction)
      : analyzedValues(facts.distribution, distinct);
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
      share *= isRight(a) ? this.#keyShare(b, a, rightRows) : this.#keyShare(a, b, rightRows);
    }
    return Math.min(1, Math.max(0.0001, share));
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
      case "table_scan": {
        const rows = this.tableRows(plan.table);
        const known = plan.filter === null ? null : this.#knownRows(plan, [plan.filter]);
        const share = this.selectivity(plan.filter);
        return known === null ? rows * share : Math.min(rows, known(this.literal).length);
      }
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
        const keys = plan.groups.map((each) => each.expression);
        const most = Math.min(this.rows(plan.input), rowsOfOneSide(this, plan.input, keys));
        return groupCount(this, keys, most) * (plan.groupingSets?.length ?? 1);
      }
      case "distinct":
        return groupCount(this, plan.keys, this.rows(plan.input));
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

  /** The share of left rows of a semi or anti join that have a partner. */
  #partnerShare(plan: Plan & { readonly kind: "hash_join" | "nested_loop_join" }): number {
    if (plan.kind === "nested_loop_join") {
      return plan.correlated ? 0.5 : this.semiSelectivity(plan.condition, plan.right);
    }
    const rows = this.rows(plan.right);
    let share = plan.residual === null ? 1 : 0.7;
    plan.leftKeys.forEach((key, at) => {
      const other = plan.rightKeys[at];
      if (other !== undefined) share *= this.#keyShare(key, other, rows);
    });
    return Math.min(1, Math.max(0.0001, share));
  }

  /** The share of the values on the left that a right side of so many rows has, too. */
  #keyShare(left: Expression, right: Expression, rightRows: number): number {
    const rightDistinct = Math.min(this.distinctOf(right) ?? rightRows, rightRows);
    return Math.min(1, rightDistinct / Math.max(1, this.distinctOf(left) ?? 200));
  }

  #joinRows(plan: Plan & { readonly kind: "hash_join" | "nested_loop_join" }): number {
    // Who has ordered the joins has looked at all of them together.
    if (plan.join === "inner" && plan.rows > 0) return plan.rows;
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
        return left * this.#partnerShare(plan);
      case "anti":
        return Math.max(left * 0.05, left * (1 - this.#partnerShare(plan)));
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

/** The share of a range among values that are spread evenly between the least and the greatest. */
function evenShare(facts: ColumnFacts, low: RangeEnd | null, high: RangeEnd | null): number | undefined {
  const { minimum, maximum, column } = facts;
  if (minimum === null || maximum === null || column === null) return undefined;
  // Dates may be infinite.
  if (!(maximum - minimum > 0 && maximum - minimum < Infinity)) return undefined;
  const at = (end: RangeEnd | null, otherwise: number) => {
    const number = end === null ? otherwise : storedNumber(column.type, end.value);
    return number === null ? null : Math.min(1, Math.max(0, (number - minimum) / (maximum - minimum)));
  };
  const [from, to] = [at(low, minimum), at(high, maximum)];
  return from === null || to === null ? undefined : to - from;
}

/** Whether an expression has a parameter in it. */
function someParameter(expression: Expression): boolean {
  return expression.kind === "parameter" || operands(expression).some(someParameter);
}

/** The narrowest of some ends; null: there is none; undefined: one is not known. */
function rangeEnd(
  list: readonly ExpectedEnd[],
  type: SqlType,
  read: LiteralReader,
  isLow: boolean,
): RangeEnd | null | undefined {
  let end: RangeEnd | null = null;
  for (const { expression, inclusive } of list) {
    const value = counted(type, expression, read);
    if (value === undefined) return undefined;
    if (end === null || (isLow ? value > end.value : value < end.value)) end = { value, inclusive };
  }
  return end;
}

function knownRows(
  columns: ReadonlyMap<ColumnRef, readonly StoredValue[] | undefined>,
  count: number,
  conditions: readonly Expression[],
): (read: LiteralReader) => readonly number[] {
  return (read) => {
    const tests = conditions.map((each) => rowTest(each, read));
    const rows: number[] = [];
    for (let row = 0; row < count; row++) {
      const valueOf = (column: ColumnRef) => columns.get(column)?.[row];
      if (tests.every((test) => test?.(valueOf) === true)) rows.push(row);
    }
    return rows;
  };
}

function valuesIn(
  values: readonly StoredValue[],
  rowsOf: (read: LiteralReader) => readonly number[],
): (read: LiteralReader) => readonly CountedValue[] {
  return (read) =>
    rowsOf(read).flatMap((row) => {
      const value = values[row] ?? null;
      return value === null ? [] : [countedValue(value)];
    });
}
