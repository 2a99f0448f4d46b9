/**
 * The way into a stored table for a set of conditions: by row id, by a range of row ids, through an index, or by a scan
 * that skips blocks by their zone maps.
 *
 * Invariant: whatever way is chosen, every condition is either answered exactly by it or stays in the filter.
 */
import type { IndexDefinition, TableDefinition } from "../../catalog/definitions.ts";
import { visibleKey } from "../../catalog/index_keys.ts";
import { SqlArray } from "../../types/sql_array.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { resolveFunction, resolveOperator } from "../functions/registry.ts";
import type { PlanningEnvironment } from "../binder/environment.ts";
import { bindTableExpression } from "../binder/standalone.ts";
import {
  BOOLEAN,
  columnReference,
  conjunction,
  conjuncts,
  constant,
  expressionKey,
  isNullable,
  volatilityOf,
  withoutIdentityCasts,
} from "../plan/build.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { Plan, RangeBounds, ScanPrune, SortKey } from "../plan/plan.ts";
import { allDefinedColumns, columnsOf } from "../plan/traverse.ts";
import { substitute } from "../plan/rewrite.ts";
import { accessOf, type Candidate, CombinedIndexes, type IdSource } from "./combined_indexes.ts";
import { copiedScan } from "./copied_scan.ts";
import { COST, sortCost } from "./cost.ts";
import { DEFAULT_BETWEEN, type Estimator } from "./estimate.ts";
import { inKeyForm, isSameForm } from "./key_form.ts";
import { simplify } from "./simplify.ts";

/** A scan that the access is chosen for. */
export type Scan = Plan & { readonly kind: "table_scan" };

/** What an order-loving operator above would like. */
export interface AccessHints {
  /** The order of rows that would save a sort; keys over the scan's columns. */
  readonly order?: readonly SortKey[];
  /** How many rows are likely to be taken. */
  readonly limit?: number;
}

/** A condition that a key column can answer. */
interface KeyCondition {
  readonly condition: Expression;
  readonly column: ColumnRef;
  readonly operator: "=" | "<" | "<=" | ">" | ">=";
  /** In the column's form. */
  readonly value: Expression;
}

/** A condition that names several values of a column. */
interface ListCondition {
  readonly condition: Expression;
  readonly column: ColumnRef;
  /** The values, in the column's form; null when they come as an array. */
  readonly values: readonly Expression[] | null;
  readonly array: Expression | null;
}

const SWAPPED: Readonly<Record<KeyCondition["operator"], KeyCondition["operator"]>> = {
  "=": "=",
  "<": ">",
  ">": "<",
  "<=": ">=",
  ">=": "<=",
};

/** A range of texts with one beginning is narrower than a range as such. */
const PREFIX_FACTOR = 0.1;

/** Longer lists are not looked up one by one. */
const MAX_LOOKUPS = 10_000;

/** Elements of an array that is not known. */
const GUESSED_LENGTH = 10;

/**
 * The way into a stored table for a set of conditions: by row id, by a range of row ids, through an index, or by a
 * scan that skips blocks by their zone maps.
 */
export class AccessPaths {
  readonly #estimator: Estimator;
  readonly #environment: PlanningEnvironment;
  readonly #newColumn: () => ColumnRef;
  readonly #combined: CombinedIndexes;

  constructor(estimator: Estimator, environment: PlanningEnvironment, newColumn: () => ColumnRef) {
    this.#estimator = estimator;
    this.#environment = environment;
    this.#newColumn = newColumn;
    this.#combined = new CombinedIndexes(estimator, newColumn, (scan, branch) => this.#branch(scan, branch));
  }

  /** The cheapest access. */
  choose(scan: Scan, conditions: readonly Expression[], hints: AccessHints = {}): Plan {
    const all = [...conjuncts(scan.filter), ...conditions];
    const request = new Request(scan, all, this.#estimator);
    const candidates: Candidate[] = [this.#scan(request)];
    candidates.push(...this.#byRowId(request));
    for (const index of scan.table.indexes) candidates.push(...this.#byIndex(request, index, hints));
    if (hints.order !== undefined) candidates.push(...this.#byRowOrder(request, hints));
    const cost = (candidate: Candidate) => this.#costWithOrder(request, candidate, hints);
    const least = () => candidates.reduce((best, each) => cost(each) < cost(best) ? each : best);
    if (this.#isRemote(scan)) return least().plan;
    candidates.push(...this.#combined.unions(request));
    const best = least();
    return this.#combined.intersection(request, best) ?? best.plan;
  }

  /** The cost with the sort that the wanted order would need. */
  #costWithOrder(request: Request, candidate: Candidate, hints: AccessHints): number {
    if (hints.order === undefined || isOrdered(candidate.plan, hints.order)) return candidate.cost;
    return candidate.cost + sortCost(request.rows, hints.limit);
  }

  /** An access that uses at least one of the join conditions; null when only a scan would do. */
  chooseForJoin(
    scan: Scan,
    conditions: readonly Expression[],
    joinConditions: readonly Expression[],
  ): Plan | null {
    const all = [...conjuncts(scan.filter), ...conditions, ...joinConditions];
    const request = new Request(scan, all, this.#estimator);
    const candidates = this.#byRowId(request);
    for (const index of scan.table.indexes) {
      candidates.push(...this.#byIndex(request, index, {}).filter((each) => each.plan.kind === "index_scan"));
    }
    const join = new Set(joinConditions.map(expressionKey));
    const isRemote = this.#isRemote(scan);
    const usable = candidates.filter(({ plan }) => {
      // Half of a table is no look-up.
      const isWhole = "bounds" in plan && plan.bounds.low !== null && plan.bounds.high !== null;
      const isKeyed = plan.kind === "row_lookup" || plan.kind === "index_scan" && plan.prefix.length > 0;
      if (!isKeyed && (!isWhole || isRemote)) return false;
      const filtered = new Set(conjuncts("filter" in plan ? plan.filter : null).map(expressionKey));
      return [...join].some((key) => !filtered.has(key));
    });
    const [first] = usable;
    if (first === undefined) return null;
    return usable.reduce((best, each) => each.cost < best.cost ? each : best).plan;
  }

  /** Shards look for rows in one step, or for all of a table. */
  #isRemote({ table }: Scan): boolean {
    return this.#environment.statistics?.(table.id)?.isRemote === true;
  }

  #scan(request: Request): Candidate {
    const { scan } = request;
    const prune: ScanPrune[] = [];
    for (const each of request.keyConditions) {
      const columnId = scan.columns.find((column) => column.output === each.column)?.columnId;
      if (columnId !== undefined) prune.push({ columnId, operator: each.operator, value: each.value });
    }
    return {
      plan: { ...scan, filter: conjunction(request.conditions), prune, rows: request.rows },
      cost: COST.scanStart + request.tableRows * COST.scanRow,
    };
  }

  #isRowId(scan: Scan, column: ColumnRef): boolean {
    if (scan.rowId === column) return true;
    const { rowIdColumn } = scan.table;
    return rowIdColumn !== null &&
      scan.columns.some((each) => each.output === column && each.columnId === rowIdColumn);
  }

  #byRowId(request: Request): Candidate[] {
    const { scan } = request;
    const own = request.keyConditions.filter((each) => this.#isRowId(scan, each.column));
    const equality = own.find((each) => each.operator === "=");
    if (equality !== undefined) return [this.#lookup(request, [equality.value], equality.condition)];
    const candidates: Candidate[] = [];
    const list = request.lists.find((each) => this.#isRowId(scan, each.column));
    if (list !== undefined && list.values !== null) {
      candidates.push(this.#lookup(request, list.values, list.condition));
    } else if (list !== undefined) {
      const access = (value: Expression): Plan => ({
        ...accessOf(request, [list.condition]),
        kind: "row_lookup",
        ids: [value],
        rows: 1,
      });
      candidates.push({ plan: this.#perValue(list, access), cost: GUESSED_LENGTH * COST.rowLookup });
    }
    const { bounds, used } = boundsOf(own);
    if (used.length > 0) {
      const rows = request.tableRows * request.shareOf(used.map(({ condition }) => condition));
      candidates.push({
        plan: {
          ...accessOf(request, used.map((each) => each.condition)),
          kind: "row_range",
          bounds,
          backward: false,
        },
        cost: COST.rangeStart + rows * COST.rangeRow,
      });
    }
    return candidates;
  }

  #lookup(request: Request, ids: readonly Expression[], used: Expression): Candidate {
    const rows = Math.min(ids.length, request.tableRows) * request.selectivityWithout([used]);
    return {
      plan: { ...accessOf(request, [used]), kind: "row_lookup", ids, rows },
      cost: ids.length * COST.rowLookup,
    };
  }

  /** The whole table in the order of row ids. */
  #byRowOrder(request: Request, hints: AccessHints): Candidate[] {
    const { scan } = request;
    const [first] = hints.order ?? [];
    if (first === undefined || first.expression.kind !== "column") return [];
    if (!this.#isRowId(scan, first.expression.column)) return [];
    const own = request.keyConditions.filter((each) => this.#isRowId(scan, each.column));
    if (own.some((each) => each.operator === "=")) return [];
    const { bounds, used } = boundsOf(own);
    const inRange = request.tableRows *
      this.#estimator.selectivity(conjunction(used.map((each) => each.condition)));
    const plan: Plan = {
      ...accessOf(request, used.map((each) => each.condition)),
      kind: "row_range",
      bounds,
      backward: first.descending,
    };
    return [{ plan, cost: COST.rangeStart + rowsTaken(request, inRange, hints) * COST.rangeRow }];
  }

  #byIndex(request: Request, index: IndexDefinition, hints: AccessHints): Candidate[] {
    const { scan } = request;
    if (!this.#predicateHolds(request, index)) return [];
    const columns = index.columns.map((key) =>
      scan.columns.find((column) => column.columnId === key.columnId)
    );
    const prefix: KeyCondition[] = [];
    let list: ListCondition | null = null;
    let at = 0;
    for (; at < columns.length; at++) {
      const output = columns[at]?.output;
      if (output === undefined) break;
      const equality = request.keyConditions.find((each) => each.column === output && each.operator === "=");
      if (equality !== undefined) {
        prefix.push(equality);
        continue;
      }
      const found = request.lists.find((each) => each.column === output);
      if (found === undefined || list !== null) break;
      list = found;
      prefix.push({ condition: found.condition, column: output, operator: "=", value: found.condition });
    }
    const rangeColumn = columns[at]?.output;
    const range = boundsOf(request.keyConditions.filter((each) => each.column === rangeColumn));
    const used = [...prefix.map((each) => each.condition), ...range.used.map((each) => each.condition)];
    const ordered = hints.order !== undefined && used.length === 0;
    if (used.length === 0 && !ordered) return [];
    const isWhole = index.unique && prefix.length === visibleKey(index).length &&
      (list === null || list.values !== null);
    const values = list === null ? 1 : list.values?.length ?? GUESSED_LENGTH;
    const isPrefix = range.used.some((each) => request.prefixRanges.has(each.condition));
    const matched = isWhole ? values : Math.max(
      Math.min(1, request.tableRows),
      request.tableRows * request.shareOf(used) * (isPrefix ? PREFIX_FACTOR : 1),
    );
    const candidates: Candidate[] = [];
    const rows = matched * request.selectivityWithout(used);
    const base = accessOf(request, used);
    if (list === null) {
      for (const backward of hints.order === undefined ? [false] : [false, true]) {
        const plan: Plan = {
          ...base,
          kind: "index_scan",
          index,
          prefix: prefix.map((each) => each.value),
          bounds: range.bounds,
          backward,
          rows,
        };
        const taken = hints.order !== undefined && isOrdered(plan, hints.order)
          ? rowsTaken(request, matched, hints)
          : matched;
        candidates.push({ plan, cost: COST.indexStart + taken * COST.indexRow });
      }
      return candidates;
    }
    const wanted = list;
    const access = (value: Expression): Plan => ({
      ...base,
      kind: "index_scan",
      index,
      prefix: prefix.map((each) => each.condition === wanted.condition ? value : each.value),
      bounds: range.bounds,
      backward: false,
      rows: rows / values,
    });
    candidates.push({
      plan: this.#perValue(wanted, access),
      cost: values * COST.indexStart + matched * COST.indexRow,
    });
    return candidates;
  }

  /** The ids of the rows that satisfy a part of a condition, when an index or the ids themselves find them. */
  #branch(scan: Scan, branch: Expression): IdSource | null {
    const own = { ...scan, rowId: scan.rowId ?? this.#newColumn(), filter: null };
    const copy = copiedScan(own, this.#newColumn);
    const { rowId } = copy.scan;
    if (rowId === null) return null;
    this.#estimator.register(copy.scan);
    const request = new Request(copy.scan, conjuncts(substitute(branch, copy.columns)), this.#estimator);
    const candidates = [
      ...this.#byRowId(request),
      ...copy.scan.table.indexes.flatMap((index) => this.#byIndex(request, index, {})),
    ];
    const [first, ...others] = candidates;
    if (first === undefined) return null;
    return { ...others.reduce((best, each) => each.cost < best.cost ? each : best, first), rowId };
  }

  /** One access for each distinct value of a list. */
  #perValue(list: ListCondition, access: (value: Expression) => Plan): Plan {
    const output = this.#newColumn();
    const source = list.values !== null
      ? this.#valueList(list.values, output)
      : this.#arrayElements(list.array ?? constant({ kind: "unknown" }, null), output);
    const value = columnReference(output, source.type, true);
    const distinct: Plan = { kind: "distinct", input: source.plan, keys: [value], rows: source.plan.rows };
    return {
      kind: "nested_loop_join",
      join: "inner",
      left: distinct,
      right: access(value),
      condition: null,
      correlated: true,
      rows: 0,
    };
  }

  #valueList(
    values: readonly Expression[],
    output: ColumnRef,
  ): { readonly plan: Plan; readonly type: SqlType } {
    const type = values[0]?.type ?? { kind: "i64" };
    return {
      type,
      plan: {
        kind: "values",
        outputs: [output],
        types: [type],
        list: values.map((value) => [value]),
        rows: values.length,
      },
    };
  }

  #arrayElements(array: Expression, output: ColumnRef): { readonly plan: Plan; readonly type: SqlType } {
    const unnest = resolveFunction("unnest", [array.type]);
    const element = array.type.kind === "array" ? array.type.element : array.type;
    return {
      type: unnest.rowColumns?.[0]?.type ?? element,
      plan: {
        kind: "function_scan",
        input: null,
        functions: [{ function: unnest, args: [array], outputs: [output] }],
        ordinality: null,
        rows: GUESSED_LENGTH,
      },
    };
  }

  /** Whether the conditions imply a partial index's predicate: each of its conjuncts is among them. */
  #predicateHolds(request: Request, index: IndexDefinition): boolean {
    if (index.predicateText === null) return true;
    const { scan } = request;
    const refs = scan.table.columns.map((column) =>
      scan.columns.find((each) => each.columnId === column.id)?.output ?? 0
    );
    const predicate = simplify(
      bindTableExpression(index.predicateText, scan.table, refs, this.#environment, "index predicates"),
    );
    const known = new Set(request.conditions.map(expressionKey));
    return conjuncts(predicate).every((part) => known.has(expressionKey(part)) || isImplied(part, request));
  }
}

/** `x IS NOT NULL` follows from any comparison of x. */
function isImplied(part: Expression, request: Request): boolean {
  if (part.kind !== "is_null" || !part.negated || part.argument.kind !== "column") return false;
  const { column } = part.argument;
  return request.keyConditions.some((each) => each.column === column);
}

/** Rows that are read until the limit is reached. */
function rowsTaken(request: Request, matched: number, hints: AccessHints): number {
  if (hints.limit === undefined) return matched;
  const share = request.rows / Math.max(1, matched);
  return Math.min(matched, hints.limit / Math.max(0.0001, Math.min(1, share)));
}

/** One lower and one upper bound; further conditions stay conditions. */
function boundsOf(conditions: readonly KeyCondition[]): {
  readonly bounds: RangeBounds;
  readonly used: readonly KeyCondition[];
} {
  const low = conditions.find((each) => each.operator === ">" || each.operator === ">=");
  const high = conditions.find((each) => each.operator === "<" || each.operator === "<=");
  return {
    bounds: {
      low: low === undefined ? null : { value: low.value, inclusive: low.operator === ">=" },
      high: high === undefined ? null : { value: high.value, inclusive: high.operator === "<=" },
    },
    used: [low, high].filter((each) => each !== undefined),
  };
}

/** Conditions on one scan, sorted by what an access can do with them. */
class Request {
  readonly scan: Scan;
  readonly estimator: Estimator;
  readonly conditions: readonly Expression[];
  readonly keyConditions: KeyCondition[] = [];
  readonly lists: ListCondition[] = [];
  readonly tableRows: number;
  readonly rows: number;
  /** Comparisons that stand for the beginning of a LIKE pattern. */
  readonly prefixRanges = new Set<Expression>();
  readonly #types = new Map<ColumnRef, SqlType>();
  readonly #unknownRanges: (readonly Expression[])[] = [];

  constructor(scan: Scan, conditions: readonly Expression[], estimator: Estimator) {
    this.scan = scan;
    this.estimator = estimator;
    for (const column of scan.columns) this.#types.set(column.output, column.type);
    if (scan.rowId !== null) this.#types.set(scan.rowId, { kind: "i64" });
    const all: Expression[] = [];
    for (const condition of conditions) {
      all.push(condition, ...this.#prefixRange(condition));
    }
    this.conditions = conditions;
    for (const condition of all) this.#classify(condition);
    this.tableRows = estimator.tableRows(scan.table);
    for (const list of Map.groupBy(this.keyConditions, ({ column }) => column).values()) {
      const { used } = boundsOf(list);
      const isUnknown = used.length === 2 && used.every(({ value }) => columnsOf(value).size > 0);
      if (isUnknown) this.#unknownRanges.push(used.map(({ condition }) => condition));
    }
    this.rows = this.tableRows * this.shareOf(conditions);
  }

  /** The share of rows that pass conditions. Ends of ranges that come of another row are as unknown as parameters. */
  shareOf(conditions: readonly Expression[]): number {
    const asked = new Set(conditions);
    const ranges = this.#unknownRanges.filter((range) => range.every((each) => asked.has(each)));
    for (const each of ranges.flat()) asked.delete(each);
    return this.estimator.selectivity(conjunction([...asked])) * DEFAULT_BETWEEN ** ranges.length;
  }

  /** The share of rows that pass the conditions other than those used. */
  selectivityWithout(used: readonly Expression[]): number {
    const keys = new Set(used.map(expressionKey));
    return this.estimator.selectivity(
      conjunction(this.conditions.filter((each) => !keys.has(expressionKey(each)))),
    );
  }

  #isOwn(expression: Expression): boolean {
    for (const column of columnsOf(expression)) if (this.#types.has(column)) return true;
    return false;
  }

  #ownColumn(expression: Expression): ColumnRef | undefined {
    const plain = withoutIdentityCasts(expression);
    return plain.kind === "column" && this.#types.has(plain.column) ? plain.column : undefined;
  }

  #classify(condition: Expression): void {
    switch (condition.kind) {
      case "call": {
        const { name } = condition.function;
        if (name !== "=" && name !== "<" && name !== "<=" && name !== ">" && name !== ">=") return;
        const [left, right] = condition.args;
        if (left === undefined || right === undefined) return;
        this.#addKey(condition, left, name, right);
        this.#addKey(condition, right, SWAPPED[name], left);
        return;
      }
      case "in_list": {
        const column = this.#ownColumn(condition.argument);
        if (condition.negated || column === undefined || condition.list.length > MAX_LOOKUPS) return;
        const values = condition.list.map((value) => this.#asKey(value, column));
        if (values.some((value) => value === undefined)) return;
        this.lists.push({
          condition,
          column,
          values: values.filter((value) => value !== undefined),
          array: null,
        });
        return;
      }
      case "any_array": {
        const column = this.#ownColumn(condition.left);
        if (column === undefined || condition.operator.name !== "=" || this.#isOwn(condition.array)) return;
        if (condition.array.type.kind !== "array" || volatilityOf(condition.array) === "volatile") return;
        const { element } = condition.array.type;
        const type = this.#types.get(column);
        if (type === undefined || !isSameForm(element, type)) return;
        const { array } = condition;
        const known = array.kind === "constant" && array.value instanceof SqlArray
          ? array.value.elements
          : [];
        if (known.length > MAX_LOOKUPS) return;
        const values = known.filter((each) => each !== null).map((each) => constant(element, each));
        this.lists.push({ condition, column, values: values.length === 0 ? null : values, array });
        return;
      }
      default:
        return;
    }
  }

  #addKey(
    condition: Expression,
    key: Expression,
    operator: KeyCondition["operator"],
    other: Expression,
  ): void {
    const column = this.#ownColumn(key);
    if (column === undefined) return;
    const value = this.#asKey(other, column);
    if (value !== undefined) this.keyConditions.push({ condition, column, operator, value });
  }

  /** The value in the form of the column's type, when it does not depend on the row and loses nothing. */
  #asKey(value: Expression, column: ColumnRef): Expression | undefined {
    const type = this.#types.get(column);
    if (type === undefined || this.#isOwn(value) || volatilityOf(value) === "volatile") return undefined;
    return inKeyForm(value, type);
  }

  /** `x LIKE 'abc%'` lies between 'abc' and the next text of that length. */
  #prefixRange(condition: Expression): Expression[] {
    if (condition.kind !== "call" || condition.function.name !== "~~") return [];
    const [left, right] = condition.args;
    if (left === undefined || right?.kind !== "constant" || typeof right.value !== "string") return [];
    // The pattern is tested against a char(n) with its padding, which keys do not have.
    if (left.type.kind === "char" || this.#ownColumn(left) === undefined) return [];
    const prefix = /^[^%_\\]*/.exec(right.value)?.[0] ?? "";
    const last = prefix.codePointAt(prefix.length - 1);
    if (last === undefined || last >= 0xd7ff) return [];
    const next = prefix.slice(0, -1) + String.fromCodePoint(last + 1);
    const text: SqlType = { kind: "text" };
    const compare = (name: string, bound: string): Expression => ({
      kind: "call",
      type: BOOLEAN,
      function: resolveOperator(name, text, text),
      args: [left, constant(text, bound)],
    });
    const range = [compare(">=", prefix), compare("<", next)];
    for (const each of range) this.prefixRanges.add(each);
    return range;
  }
}

/** Whether a plan's rows come in an order, so that sorting by the keys is not needed. */
export function isOrdered(plan: Plan, keys: readonly SortKey[]): boolean {
  switch (plan.kind) {
    case "filter":
    case "limit":
    case "lock_rows":
      return isOrdered(plan.input, keys);
    case "project": {
      const byOutput = new Map(plan.outputs.map((each) => [each.output, each.expression]));
      const below: SortKey[] = [];
      for (const key of keys) {
        const expression = key.expression.kind === "column" ? byOutput.get(key.expression.column) : undefined;
        if (expression === undefined) return false;
        below.push({ ...key, expression });
      }
      return isOrdered(plan.input, below);
    }
    case "nested_loop_join": {
      // A row of the left side may come several times: what orders it must be about the left side alone.
      if (plan.join === "right" || plan.join === "full") return false;
      const left = allDefinedColumns(plan.left);
      const isOfLeft = (key: SortKey) => [...columnsOf(key.expression)].every((column) => left.has(column));
      return keys.every(isOfLeft) && isOrdered(plan.left, keys);
    }
    case "sort":
      return keys.every((key, index) => {
        const own = plan.keys[index];
        return own !== undefined && expressionKey(own.expression) === expressionKey(key.expression) &&
          own.descending === key.descending && own.nullsFirst === key.nullsFirst;
      });
    case "row_lookup":
      return plan.ids.length === 1;
    case "row_range": {
      const [first] = keys;
      if (first === undefined) return true;
      if (first.expression.kind !== "column" || first.descending !== plan.backward) return false;
      return isRowIdColumn(plan.table, plan, first.expression.column);
    }
    case "index_scan":
      return isIndexOrder(plan, keys);
    case "aggregate":
      return plan.groups.length === 0 && plan.groupingSets === null;
    default:
      return false;
  }
}

function isRowIdColumn(
  table: TableDefinition,
  plan: Plan & { readonly kind: "row_range" | "index_scan" },
  column: ColumnRef,
): boolean {
  if (plan.rowId === column) return true;
  return table.rowIdColumn !== null &&
    plan.columns.some((each) => each.output === column && each.columnId === table.rowIdColumn);
}

function isIndexOrder(plan: Plan & { readonly kind: "index_scan" }, keys: readonly SortKey[]): boolean {
  const fixed = new Set(plan.index.columns.slice(0, plan.prefix.length).map((key) => key.columnId));
  let at = plan.prefix.length;
  for (const key of keys) {
    const { expression } = key;
    if (expression.kind !== "column") return false;
    const scanned = plan.columns.find((each) => each.output === expression.column);
    if (scanned === undefined) return false;
    if (fixed.has(scanned.columnId)) continue;
    const own = plan.index.columns[at];
    // Behind a whole unique key (without NULLs, which repeat) nothing is left to order.
    if (own === undefined) {
      return plan.index.unique && plan.columns.every((each) => !isNullableKey(plan, each.columnId));
    }
    if (own.columnId !== scanned.columnId) return false;
    if ((own.descending !== plan.backward) !== key.descending) return false;
    const mayBeNull = isNullable(expression) && scanned.nullable;
    if (mayBeNull && (own.nullsFirst !== plan.backward) !== key.nullsFirst) return false;
    at++;
  }
  return true;
}

function isNullableKey(plan: Plan & { readonly kind: "index_scan" }, columnId: number): boolean {
  return plan.index.columns.some((key) => key.columnId === columnId) &&
    (plan.columns.find((each) => each.columnId === columnId)?.nullable ?? true);
}
