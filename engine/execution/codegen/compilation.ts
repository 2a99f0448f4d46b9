/**
 * What the compilation of one statement knows: state slots, which columns may be NULL or are needed above an operator,
 * and how operators are numbered for EXPLAIN ANALYZE.
 */
import type { ColumnRef, Expression } from "../../sql/plan/expression.ts";
import type { Plan } from "../../sql/plan/plan.ts";
import { mayBeNull } from "../../sql/plan/build.ts";
import { definedColumns, inputs, operands, ownExpressions, subqueryPlan } from "../../sql/plan/traverse.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import type { ExecutionContext } from "../runtime/execution.ts";
import type { Pipeline } from "../runtime/execution_state.ts";
import { planFacts, planOperators } from "./plan_analysis.ts";
import type { LoopSource, Region, Sink } from "./region.ts";

type Comparison = (left: SqlValue, right: SqlValue) => number;

/** Puts the code of a plan into a region. Expressions hold plans, too: their subqueries. */
export type Produce = (plan: Plan, region: Region, sink: Sink) => void;

/** What a hash join will know of its keys by the time that a scan begins. */
export interface RuntimeFilter {
  readonly key: Expression & { readonly kind: "column" };
  readonly columnId: number;
  /** The slot of what is known of the join's kept keys, and the place of the key in it. */
  readonly slot: number;
  readonly position: number;
  /** The scan's rows come to the join before any other one. */
  readonly isDirect: boolean;
}

/** Rows of a scan are wanted whose key is in the range that the slot holds by the time that it begins. */
export interface ScanRange extends Pick<RuntimeFilter, "key" | "columnId" | "slot"> {
  readonly isNullable: boolean;
}

/**
 * What the compilation of one statement knows: state slots, which columns may be NULL or are needed above an
 * operator, and how operators are numbered for EXPLAIN ANALYZE.
 */
export class Compilation {
  /** Rows that operators give out are counted. */
  analyze: boolean;
  /** Hash operators divide their inputs, for they do not fit into memory. */
  readonly spills: boolean;
  readonly produce: Produce;
  readonly #nullable = new Map<ColumnRef, boolean>();
  readonly #types = new Map<ColumnRef, SqlType>();
  readonly #mentioned: ReadonlyMap<ColumnRef, number>;
  readonly #results: ReadonlySet<ColumnRef>;
  readonly #operators = new Map<Plan, number>();
  readonly #parameterKeys: object[] = [];
  readonly #derivedKeys = new WeakMap<object, Map<string, object>>();
  readonly #namedKeys = new Map<string, object>();
  readonly #slotKeys = new WeakMap<object, number>();
  readonly #comparisons = new Map<string, Comparison>();
  readonly #made = new WeakMap<object, unknown>();
  /** Definitions of WITH that are computed once and do not change during an execution. */
  readonly closedDefinitions = new Set<number>();
  /** Slots of columns that programs are called with: those of the row around the call. */
  readonly handedOver = new Map<ColumnRef, number>();
  /** Inputs that are read part by part now, and how. */
  #divided: ReadonlyMap<Plan, LoopSource> = new Map();
  readonly #root: Plan;
  /** For each slot the operator whose state it holds; -1: none. */
  readonly owners: number[] = [];
  #owner = -1;

  /** `results`: columns that the root's consumer reads. */
  constructor(
    root: Plan,
    results: readonly ColumnRef[],
    options: {
      readonly analyze: boolean;
      readonly spills: boolean;
      readonly produce: Produce;
    },
  ) {
    this.#root = root;
    this.analyze = options.analyze;
    this.spills = options.spills;
    this.produce = options.produce;
    this.#mentioned = planFacts(root).mentioned;
    this.#results = new Set(results);
    planOperators(root).forEach((plan, index) => this.#operators.set(plan, index));
    this.#noteNulls(root);
  }

  /** By scan: what joins above it will know. */
  readonly runtimeFilters = new Map<Plan, readonly RuntimeFilter[]>();

  /** By scan: what rows are wanted of it. */
  readonly scanRanges = new Map<Plan, ScanRange>();

  /** The pipelines of the statement's program and of its subplans, some of which are made while others' code is. */
  readonly programs: (readonly Pipeline[])[] = [];

  /** The code of all pipelines, for EXPLAIN (CODE). */
  source(context: ExecutionContext): string {
    const texts: string[] = [];
    for (const pipelines of this.programs) {
      for (const pipeline of pipelines) {
        if (pipeline.source !== undefined) texts.push(pipeline.source(context));
      }
    }
    return texts.join("\n\n");
  }

  /**
   * Whether a subquery is computed once in an execution: it depends on nothing around it. That holds for volatile
   * ones too.
   */
  runsOnce(plan: Plan): boolean {
    const { free, freeDefinitions } = planFacts(plan);
    return free.length === 0 && [...freeDefinitions].every((id) => this.closedDefinitions.has(id));
  }

  /** Whether a plan gives the same rows whenever it runs. */
  isClosed(plan: Plan): boolean {
    const { freeWorkingTables, volatile } = planFacts(plan);
    return this.runsOnce(plan) && freeWorkingTables.size === 0 && !volatile;
  }

  /** While the action puts an operator into a region, its inputs are what is read of these sources. */
  readDivided(sources: ReadonlyMap<Plan, LoopSource>, action: () => void): void {
    const before = this.#divided;
    this.#divided = sources;
    action();
    this.#divided = before;
  }

  /** While the action puts code into a region that reads rows ahead of the plan's own, they are not counted. */
  uncounted(action: () => void): void {
    const before = this.analyze;
    this.analyze = false;
    action();
    this.analyze = before;
  }

  /** How an input of an operator is read that runs part by part; undefined: it is put there itself. */
  dividedSource(plan: Plan): LoopSource | undefined {
    return this.#divided.get(plan);
  }

  /** The number of state slots so far. */
  get slots(): number {
    return this.owners.length;
  }

  /** A slot of the execution state. */
  newSlot(): number {
    return this.owners.push(this.#owner) - 1;
  }

  /** Slots that the action makes belong to an operator. */
  owned(operator: number, action: () => void): void {
    const before = this.#owner;
    this.#owner = operator;
    action();
    this.#owner = before;
  }

  /** The operator that slots belong to now. */
  get owner(): number {
    return this.#owner;
  }

  /** The slot that belongs to an object of the plan, however often its code is generated. */
  slotFor(key: object): number {
    let slot = this.#slotKeys.get(key);
    if (slot === undefined) {
      slot = this.newSlot();
      this.#slotKeys.set(key, slot);
    }
    return slot;
  }

  /** An object that stands for a parameter. */
  parameterKey(index: number): object {
    return this.#parameterKeys[index] ??= {};
  }

  /** An object that stands for something about another one. */
  derivedKey(key: object, tag: string): object {
    let derived = this.#derivedKeys.get(key);
    if (derived === undefined) this.#derivedKeys.set(key, derived = new Map());
    let made = derived.get(tag);
    if (made === undefined) derived.set(tag, made = {});
    return made;
  }

  /** An object that stands for a name. */
  namedKey(name: string): object {
    let key = this.#namedKeys.get(name);
    if (key === undefined) this.#namedKeys.set(name, key = {});
    return key;
  }

  /** One comparison function for each type, so that generated code shares it. */
  comparison(type: SqlType, make: Comparison): Comparison {
    const key = JSON.stringify(type);
    const known = this.#comparisons.get(key);
    if (known !== undefined) return known;
    this.#comparisons.set(key, make);
    return make;
  }

  /** Whether a column may hold NULL; true when nothing is known. */
  mayBeNull(column: ColumnRef): boolean {
    return this.#nullable.get(column) ?? true;
  }

  /** Whether something outside of the plan reads the column. */
  isNeededAbove(plan: Plan, column: ColumnRef): boolean {
    if (this.#results.has(column)) return true;
    const inside = planFacts(plan).mentioned.get(column) ?? 0;
    return (this.#mentioned.get(column) ?? 0) > inside;
  }

  /** The columns with their types that something outside of the plan reads from it. */
  neededAbove(plan: Plan): readonly { readonly column: ColumnRef; readonly type: SqlType }[] {
    return this.#visible(plan).filter((column) => this.isNeededAbove(plan, column))
      .map((column) => ({ column, type: this.typeOf(column) }));
  }

  /** The type of a column. */
  typeOf(column: ColumnRef): SqlType {
    return this.#types.get(column) ?? { kind: "unknown" };
  }

  /** Columns that a plan's rows have. */
  #visible(plan: Plan): readonly ColumnRef[] {
    switch (plan.kind) {
      case "filter":
      case "sort":
      case "limit":
      case "distinct":
      case "lock_rows":
        return this.#visible(plan.input);
      case "window":
        return [...this.#visible(plan.input), ...definedColumns(plan)];
      case "function_scan":
        return [...(plan.input === null ? [] : this.#visible(plan.input)), ...definedColumns(plan)];
      case "project":
        // What is beneath a projection stays readable: a sort above may use it.
        return [...new Set([...this.#visible(plan.input), ...definedColumns(plan)])];
      case "hash_join":
      case "nested_loop_join":
        return plan.join === "semi" || plan.join === "anti"
          ? this.#visible(plan.left)
          : [...this.#visible(plan.left), ...this.#visible(plan.right)];
      case "with":
        return this.#visible(plan.body);
      default:
        return definedColumns(plan);
    }
  }

  /** The operator's number for EXPLAIN ANALYZE, or -1. */
  operatorIndex(plan: Plan): number {
    return this.#operators.get(plan) ?? -1;
  }

  /** For each operator itself and those above it. */
  ancestors(): readonly (readonly number[])[] {
    const result: number[][] = [];
    const walk = (plan: Plan, above: readonly number[]): void => {
      const path = [...above, this.operatorIndex(plan)];
      result[this.operatorIndex(plan)] = path;
      for (const child of inputs(plan)) walk(child, path);
    };
    walk(this.#root, []);
    return result;
  }

  /** What belongs to an object of the plan, made once however often its code is generated. */
  made<T>(key: object, make: () => T): T {
    const known = this.#made.get(key);
    if (known !== undefined) return known as T;
    const value = make();
    this.#made.set(key, value);
    return value;
  }

  #may(expression: Expression): boolean {
    return mayBeNull(expression, ({ column }) => this.mayBeNull(column));
  }

  #set(column: ColumnRef, type: SqlType, nullable: boolean): void {
    this.#types.set(column, type);
    this.#nullable.set(column, nullable);
  }

  #noteSubqueries(expression: Expression): void {
    for (const child of operands(expression)) this.#noteSubqueries(child);
    const plan = subqueryPlan(expression);
    if (plan !== null) this.#noteNulls(plan);
  }

  /** Bottom-up: what each operator defines. Columns of the null-extended side of an outer join may be NULL. */
  #noteNulls(plan: Plan): void {
    if (plan.kind === "with") {
      for (const definition of plan.definitions) {
        this.#noteNulls(definition.plan);
        if (definition.recursive === null) continue;
        definition.columns.forEach((column) => this.#nullable.set(column, true));
        this.#noteNulls(definition.recursive.plan);
      }
      this.#noteNulls(plan.body);
      return;
    }
    for (const child of inputs(plan)) this.#noteNulls(child);
    this.#noteOwn(plan);
    for (const expression of ownExpressions(plan)) this.#noteSubqueries(expression);
  }

  #noteOwn(plan: Plan): void {
    switch (plan.kind) {
      case "table_scan":
      case "row_lookup":
      case "row_range":
      case "index_scan":
        for (const column of plan.columns) this.#set(column.output, column.type, column.nullable);
        if (plan.rowId !== null) this.#set(plan.rowId, { kind: "i64" }, false);
        break;
      case "gather":
        for (const { column, type } of plan.fragment.columns) this.#set(column, type, true);
        break;
      case "exchange":
        for (const { column, type } of plan.columns) this.#set(column, type, true);
        break;
      case "virtual_scan":
        for (const column of plan.columns) this.#set(column.output, column.type, true);
        break;
      case "values":
        plan.outputs.forEach((column, index) => {
          const nullable = plan.list.some((row) => {
            const cell = row[index];
            return cell === undefined || this.#may(cell);
          });
          this.#set(column, plan.types[index] ?? { kind: "unknown" }, nullable);
        });
        break;
      case "function_scan":
        for (const call of plan.functions) {
          call.outputs.forEach((column, index) => {
            this.#set(column, call.function.rowColumns?.[index]?.type ?? call.function.returnType, true);
          });
        }
        if (plan.ordinality !== null) this.#set(plan.ordinality, { kind: "i64" }, false);
        break;
      case "project":
        for (const { output, expression } of plan.outputs) {
          const isSame = expression.kind === "column" && expression.column === output;
          if (!isSame) this.#set(output, expression.type, this.#may(expression));
        }
        break;
      case "hash_join":
      case "nested_loop_join":
        if (plan.join === "left" || plan.join === "full") this.#extend(plan.right);
        if (plan.join === "right" || plan.join === "full") this.#extend(plan.left);
        break;
      case "aggregate":
        for (const { output, expression } of plan.groups) {
          this.#set(output, expression.type, plan.groupingSets !== null || this.#may(expression));
        }
        for (const call of plan.aggregates) {
          this.#set(call.output, call.aggregate.returnType, call.aggregate.name !== "count");
        }
        for (const grouping of plan.groupings) this.#set(grouping.output, { kind: "i32" }, false);
        break;
      case "window":
        for (const call of plan.calls) this.#set(call.output, call.type, true);
        break;
      case "set_operation":
        plan.outputs.forEach((column, index) => {
          const nullable = plan.inputs.some((input) => {
            const source = input.columns[index];
            return source === undefined || this.mayBeNull(source);
          });
          this.#set(column, plan.types[index] ?? { kind: "unknown" }, nullable);
        });
        break;
      case "with_scan":
        plan.outputs.forEach((column, index) => {
          const source = plan.columns[index];
          this.#set(
            column,
            source === undefined ? { kind: "unknown" } : this.typeOf(source),
            source === undefined || this.mayBeNull(source),
          );
        });
        break;
      default:
    }
  }

  #extend(plan: Plan): void {
    for (const column of this.#visible(plan)) this.#nullable.set(column, true);
  }
}
