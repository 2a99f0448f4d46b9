/**
 * EXPLAIN's text: operators in PostgreSQL's layout, expressions as SQL.
 *
 * Operators are numbered in preorder, inputs from left to right and subqueries of expressions behind them; that is the
 * order of the executor's profile too.
 */
import { keyName } from "../../catalog/index_keys.ts";
import { unreachable } from "../../base/assert.ts";
import type { Expression } from "../plan/expression.ts";
import type {
  AggregateCall,
  Fragment,
  JoinKind,
  Plan,
  RangeBounds,
  SortKey,
  WindowCall,
} from "../plan/plan.ts";
import { inputs, operands, ownExpressions, subqueryPlan } from "../plan/traverse.ts";
import { keyPositions } from "../plan/index_only.ts";
import { columnReference } from "../plan/build.ts";
import {
  type ExplainedOperator,
  type ExplainedPlace,
  explainText,
  type OperatorProfile,
} from "./explain_format.ts";
import { ExpressionPrinter } from "./print_expression.ts";

/** Options of {@link explainPlan}. */
export interface ExplainOptions {
  /** By operator in preorder. */
  readonly profile?: readonly OperatorProfile[];
  /** What a gather says of itself. */
  readonly gather?: (fragment: Fragment) => GatherText | undefined;
}

/** A gather's title, and what each place has done. */
export interface GatherText {
  readonly title: string;
  readonly places: readonly ExplainedPlace[];
}

/** The plan's operators with their texts. */
export function explainedOperators(plan: Plan, options: ExplainOptions = {}): ExplainedOperator {
  return new Explainer(plan, options).explain(plan);
}

/** The plan as lines of text. */
export function explainPlan(plan: Plan, options: ExplainOptions = {}): string[] {
  return explainText(explainedOperators(plan, options), { costs: true, timing: true });
}

type TableAccess = Plan & { readonly kind: "table_scan" | "row_lookup" | "row_range" | "index_scan" };

const JOIN_NAMES: Readonly<Record<JoinKind, string>> = {
  inner: "",
  left: " Left",
  right: " Right",
  full: " Full",
  semi: " Semi",
  anti: " Anti",
};

class Explainer {
  readonly #profile: readonly OperatorProfile[];
  readonly #gather: ExplainOptions["gather"];
  /** Sides that are kept for fragments, by their numbers. */
  readonly #kept = new Map<number, ExplainedOperator>();
  readonly #printer: ExpressionPrinter;
  readonly #tableNames = new Map<Plan, string>();
  #next = 0;
  #nextSubplan = 1;
  #fragments = 0;
  /** Within a fragment. */
  #isElsewhere = false;

  constructor(plan: Plan, { profile = [], gather }: ExplainOptions) {
    this.#profile = profile;
    this.#gather = gather;
    this.#printer = new ExpressionPrinter();
    const counts = new Map<string, number>();
    const scans: TableAccess[] = [];
    collectScans(plan, scans);
    const isAlone = scans.length <= 1;
    for (const scan of scans) {
      const seen = counts.get(scan.table.name) ?? 0;
      counts.set(scan.table.name, seen + 1);
      const name = seen === 0 ? scan.table.name : `${scan.table.name}_${seen}`;
      this.#tableNames.set(scan, name);
      for (const column of scan.columns) {
        const definition = scan.table.columns.find((each) => each.id === column.columnId);
        const text = definition === undefined ? `column ${column.columnId}` : keyName(definition);
        this.#printer.name(column.output, isAlone ? text : `${name}.${text}`);
      }
      if (scan.rowId !== null) this.#printer.name(scan.rowId, isAlone ? "rowid" : `${name}.rowid`);
    }
    this.#nameComputed(plan);
  }

  explain(plan: Plan): ExplainedOperator {
    return this.#show(plan, "");
  }

  /** Gives columns that operators compute the text of their expression. */
  #nameComputed(plan: Plan): void {
    for (const input of shownInputs(plan)) this.#nameComputed(input);
    for (const expression of ownExpressions(plan)) this.#nameSubqueries(expression);
    const printer = this.#printer;
    switch (plan.kind) {
      case "virtual_scan":
        for (const column of plan.columns) {
          printer.name(column.output, plan.relation.columns[column.position]?.name ?? "?");
        }
        return;
      case "values":
        plan.outputs.forEach((output, index) => printer.name(output, `"*VALUES*".column${index + 1}`));
        return;
      case "function_scan":
        for (const each of plan.functions) {
          each.outputs.forEach((output, index) =>
            printer.name(output, each.function.rowColumns?.[index]?.name ?? each.function.name)
          );
        }
        if (plan.ordinality !== null) printer.name(plan.ordinality, "ordinality");
        return;
      case "project":
        for (const each of plan.outputs) printer.nameAs(each.output, each.expression);
        return;
      case "aggregate":
        for (const each of plan.groups) printer.nameAs(each.output, each.expression);
        // What is made of parts is called by what they are parts of.
        for (const each of plan.aggregates) {
          const [part] = each.args;
          const isFinal = plan.stage === "final" && part !== undefined;
          printer.name(each.output, isFinal ? this.#text(part) : this.#aggregateText(each));
        }
        for (const each of plan.groupings) printer.name(each.output, "GROUPING(...)");
        return;
      case "window":
        for (const each of plan.calls) printer.name(each.output, this.#windowText(each));
        return;
      case "set_operation":
        plan.outputs.forEach((output, index) => {
          const column = plan.inputs[0]?.columns[index];
          const type = plan.types[index];
          if (column !== undefined && type !== undefined) {
            printer.nameAs(output, columnReference(column, type, true));
          }
        });
        return;
      case "with_scan":
        plan.outputs.forEach((output, index) => printer.name(output, `cte${plan.id}.column${index + 1}`));
        return;
      case "insert":
      case "update":
        plan.newRow.forEach((column, index) => printer.name(column, plan.table.columns[index]?.name ?? "?"));
        if (plan.kind === "insert") printer.name(plan.rowId, "rowid");
        if (plan.kind === "insert" && plan.onConflict !== null) {
          plan.onConflict.existing.forEach((column, index) =>
            printer.name(column, `${plan.table.name}.${plan.table.columns[index]?.name ?? "?"}`)
          );
          plan.onConflict.excluded.forEach((column, index) =>
            printer.name(column, `excluded.${plan.table.columns[index]?.name ?? "?"}`)
          );
        }
        return;
      default:
        return;
    }
  }

  #nameSubqueries(expression: Expression): void {
    const plan = subqueryPlan(expression);
    if (plan !== null) this.#nameComputed(plan);
    for (const operand of operands(expression)) this.#nameSubqueries(operand);
  }

  #aggregateText(call: AggregateCall): string {
    const args = call.args.length === 0 ? "*" : call.args.map((each) => this.#text(each)).join(", ");
    const distinct = call.distinct ? "DISTINCT " : "";
    const order = call.orderBy.length === 0 ? "" : ` ORDER BY ${this.#sortText(call.orderBy)}`;
    const filter = call.filter === null ? "" : ` FILTER (WHERE ${this.#text(call.filter)})`;
    return `${call.aggregate.name}(${distinct}${args}${order})${filter}`;
  }

  #windowText(call: WindowCall): string {
    const name = "name" in call.function ? call.function.name : call.function.aggregate.name;
    return `${name}(${call.args.map((each) => this.#text(each)).join(", ")}) OVER (?)`;
  }

  #text(expression: Expression): string {
    return this.#printer.print(expression);
  }

  #sortText(keys: readonly SortKey[]): string {
    return keys.map((key) => {
      const nulls = key.nullsFirst === key.descending ? "" : key.nullsFirst ? " NULLS FIRST" : " NULLS LAST";
      return `${this.#text(key.expression)}${key.descending ? " DESC" : ""}${nulls}`;
    }).join(", ");
  }

  #show(plan: Plan, label: string): ExplainedOperator {
    // What runs elsewhere is in no profile.
    const profile = this.#isElsewhere ? null : this.#profile[this.#next++] ?? null;
    const title = this.#title(plan);
    const details = this.#details(plan);
    const children = this.#showInputs(plan);
    for (const expression of ownExpressions(plan)) this.#showSubplans(expression, children);
    return {
      title,
      label,
      relation: "table" in plan ? plan.table.name : null,
      alias: "table" in plan ? this.#tableNames.get(plan) ?? null : null,
      index: plan.kind === "index_scan" ? plan.index.name : null,
      estimatedRows: "rows" in plan ? Math.max(0, Math.round(plan.rows)) : null,
      profile,
      details,
      places: plan.kind === "gather" ? this.#gather?.(plan.fragment)?.places ?? [] : [],
      children,
    };
  }

  #showInputs(plan: Plan): ExplainedOperator[] {
    if (plan.kind === "gather") {
      for (const side of plan.kept) this.#kept.set(side.number, this.#show(side.plan, ""));
      return [this.#showFragment(plan.fragment.plan)];
    }
    const kept = plan.kind === "exchange" ? this.#kept.get(plan.number) : undefined;
    if (kept !== undefined) return [kept];
    return inputs(plan).map((input, index) => this.#show(input, this.#inputLabel(plan, index)));
  }

  #showFragment(plan: Plan): ExplainedOperator {
    this.#isElsewhere = true;
    const shown = this.#show(plan, `Fragment ${++this.#fragments}`);
    this.#isElsewhere = false;
    return shown;
  }

  #inputLabel(plan: Plan, index: number): string {
    if (plan.kind !== "with") return "";
    let position = 0;
    for (const each of plan.definitions) {
      if (position === index) return `CTE cte${each.id}`;
      position += each.recursive === null ? 1 : 2;
    }
    return "";
  }

  #showSubplans(expression: Expression, shown: ExplainedOperator[]): void {
    for (const operand of operands(expression)) this.#showSubplans(operand, shown);
    const plan = subqueryPlan(expression);
    if (plan === null) return;
    const number = this.#printer.subplanNumber(plan, () => this.#nextSubplan++);
    if (this.#printer.wasShown(number)) return;
    shown.push(this.#show(plan, `SubPlan ${number}`));
  }

  #title(plan: Plan): string {
    const name = "table" in plan ? this.#tableNames.get(plan) ?? plan.table.name : "";
    const alias = "table" in plan && name !== plan.table.name ? `${plan.table.name} ${name}` : name;
    switch (plan.kind) {
      case "table_scan":
        return `Seq Scan on ${alias}`;
      case "row_lookup":
        return `Row Lookup on ${alias}`;
      case "row_range":
        return `Row Range Scan${plan.backward ? " Backward" : ""} on ${alias}`;
      case "index_scan":
        return `Index${keyPositions(plan) === null ? "" : " Only"} Scan${
          plan.backward ? " Backward" : ""
        } using ${plan.index.name} on ${alias}`;
      case "virtual_scan":
        return `Seq Scan on ${plan.relation.name}`;
      case "values":
        return plan.outputs.length === 0 && plan.list.length === 1 ? "Result" : `Values Scan on "*VALUES*"`;
      case "function_scan":
        return plan.input === null
          ? `Function Scan on ${plan.functions.map((each) => each.function.name).join(", ")}`
          : "ProjectSet";
      case "filter":
        return "Filter";
      case "project":
        return "Project";
      case "hash_join":
        return `Hash${plan.keepsLeft === true ? " Right" : ""}${JOIN_NAMES[plan.join]} Join`;
      case "nested_loop_join":
        return `Nested Loop${plan.join === "inner" ? "" : `${JOIN_NAMES[plan.join]} Join`}`;
      case "aggregate":
        return (plan.stage === undefined ? "" : plan.stage === "partial" ? "Partial " : "Finalize ") +
          (plan.groupingSets !== null
            ? "MixedAggregate"
            : plan.groups.length > 0
            ? "HashAggregate"
            : "Aggregate");
      case "window":
        return "WindowAgg";
      case "sort":
        return plan.limit === null ? "Sort" : "Top-N Sort";
      case "limit":
        return "Limit";
      case "distinct":
        return "Unique";
      case "set_operation": {
        if (plan.operation === "union") return plan.all ? "Append" : "HashSetOp Union";
        const operation = plan.operation === "intersect" ? "Intersect" : "Except";
        return `HashSetOp ${operation}${plan.all ? " All" : ""}`;
      }
      case "with":
        return plan.definitions.some((each) => each.recursive !== null) ? "With Recursive" : "With";
      case "with_scan":
        return plan.working ? `WorkTable Scan on cte${plan.id}` : `CTE Scan on cte${plan.id}`;
      case "gather":
        return this.#gatherTitle(plan.fragment);
      case "exchange": {
        if (plan.keys === null) return plan.isKept === true ? "Shared Hash" : "Broadcast";
        const keys = plan.keys.flatMap(({ position }) => {
          const key = plan.columns[position];
          return key === undefined ? [] : [this.#text(columnReference(key.column, key.type, true))];
        });
        return `Repartition (hash: ${keys.join(", ")})`;
      }
      case "lock_rows":
        return "LockRows";
      case "insert":
        return `Insert on ${plan.table.name}`;
      case "update":
        return `Update on ${plan.table.name}`;
      case "delete":
        return `Delete on ${plan.table.name}`;
      default:
        return unreachable(plan);
    }
  }

  #gatherTitle(fragment: Fragment): string {
    const title = this.#gather?.(fragment)?.title ?? "Gather";
    if (fragment.merge === null || !title.startsWith("Gather (shards ")) return title;
    const keys = fragment.merge.flatMap(({ position, ...key }): SortKey[] => {
      const given = fragment.columns[position];
      return given === undefined
        ? []
        : [{ ...key, expression: columnReference(given.column, given.type, true) }];
    });
    return `${title.replace("Gather", "Merge").slice(0, -1)}, sort: ${this.#sortText(keys)})`;
  }

  #details(plan: Plan): [name: string, text: string][] {
    const lines: [name: string, text: string][] = [];
    const add = (name: string, text: string) => lines.push([name, text]);
    const list = (expressions: readonly Expression[]) =>
      expressions.map((each) => this.#text(each)).join(", ");
    switch (plan.kind) {
      case "row_lookup":
        add("Row Cond", plan.ids.length === 1 ? `(id = ${list(plan.ids)})` : `(id IN (${list(plan.ids)}))`);
        break;
      case "row_range": {
        const text = this.#boundsText("id", plan.bounds);
        if (text !== "") add("Row Cond", `(${text})`);
        break;
      }
      case "index_scan": {
        const parts = plan.prefix.map((value, index) =>
          `(${this.#indexColumn(plan, index)} = ${this.#text(value)})`
        );
        const range = this.#boundsText(this.#indexColumn(plan, plan.prefix.length), plan.bounds);
        if (range !== "") parts.push(`(${range})`);
        if (parts.length > 0) {
          add("Index Cond", joined(parts));
        }
        break;
      }
      case "hash_join": {
        const keys = plan.leftKeys.map((left, index) => {
          const right = plan.rightKeys[index];
          return `(${this.#text(left)} = ${right === undefined ? "?" : this.#text(right)})`;
        });
        add("Hash Cond", joined(keys));
        if (plan.residual !== null) add("Join Filter", this.#text(plan.residual));
        if (plan.nullAware) add("Null Aware", "true");
        break;
      }
      case "nested_loop_join":
        if (plan.condition !== null) add("Join Filter", this.#text(plan.condition));
        if (plan.otherwise !== undefined) add("Hashed After", `${plan.otherwise.after}`);
        break;
      case "aggregate":
        if (plan.groupingSets !== null) {
          for (const set of plan.groupingSets) {
            const keys = set.flatMap((index) => plan.groups[index]?.expression ?? []);
            add("Group Key", set.length === 0 ? "()" : list(keys));
          }
        } else if (plan.groups.length > 0) {
          add("Group Key", list(plan.groups.map((each) => each.expression)));
        }
        break;
      case "window":
        if (plan.partition.length > 0) add("Partition By", list(plan.partition));
        if (plan.order.length > 0) add("Order By", this.#sortText(plan.order));
        break;
      case "sort":
        add("Sort Key", this.#sortText(plan.keys));
        if (plan.limit !== null) add("Limit", this.#text(plan.limit));
        break;
      case "limit":
        if (plan.limit !== null) add("Count", this.#text(plan.limit));
        if (plan.offset !== null) add("Offset", this.#text(plan.offset));
        break;
      case "distinct":
        add("Key", list(plan.keys));
        break;
      case "filter":
        add("Filter", this.#text(plan.condition));
        break;
      case "insert":
        if (plan.onConflict !== null) {
          add("Conflict Resolution", plan.onConflict.action === "nothing" ? "NOTHING" : "UPDATE");
        }
        break;
      default:
        break;
    }
    if ("filter" in plan && plan.filter !== null) add("Filter", this.#text(plan.filter));
    return lines;
  }

  #indexColumn(plan: Plan & { readonly kind: "index_scan" }, position: number): string {
    const id = plan.index.columns[position]?.columnId;
    const column = plan.table.columns.find((each) => each.id === id);
    return (column?.hidden === true ? column.generatedText : column?.name) ?? "?";
  }

  #boundsText(name: string, bounds: RangeBounds): string {
    const parts: string[] = [];
    if (bounds.low !== null) {
      parts.push(`${name} ${bounds.low.inclusive ? ">=" : ">"} ${this.#text(bounds.low.value)}`);
    }
    if (bounds.high !== null) {
      parts.push(`${name} ${bounds.high.inclusive ? "<=" : "<"} ${this.#text(bounds.high.value)}`);
    }
    return parts.join(" AND ");
  }
}

function joined(conditions: readonly string[]): string {
  const [only = ""] = conditions;
  return conditions.length === 1 ? only : `(${conditions.join(" AND ")})`;
}

function collectScans(plan: Plan, scans: TableAccess[]): void {
  switch (plan.kind) {
    case "table_scan":
    case "row_lookup":
    case "row_range":
    case "index_scan":
      scans.push(plan);
  }
  for (const input of shownInputs(plan)) collectScans(input, scans);
  for (const expression of ownExpressions(plan)) collectInExpression(expression, scans);
}

/** The inputs of an operator, and what a gather has run elsewhere. */
function shownInputs(plan: Plan): readonly Plan[] {
  return plan.kind === "gather" ? [plan.fragment.plan] : inputs(plan);
}

function collectInExpression(
  expression: Expression,
  scans: TableAccess[],
): void {
  const plan = subqueryPlan(expression);
  if (plan !== null) collectScans(plan, scans);
  for (const operand of operands(expression)) collectInExpression(operand, scans);
}
