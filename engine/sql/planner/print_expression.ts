/**
 * Bound expressions as SQL text, for EXDEFAULT_TEXT_OPTIONS. The text is meant for people: implicit casts that change
 * nothing are left out, subqueries are named by number.
 */
import { formatType } from "../../types/type_names.ts";
import { DEFAULT_TEXT_OPTIONS, formatText } from "../../types/text_io.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { Plan } from "../plan/plan.ts";

/** Prints expressions with the names it has been given for columns. */
export class ExpressionPrinter {
  readonly #names = new Map<ColumnRef, string>();
  readonly #subplans = new Map<Plan, number>();
  readonly #shown = new Set<number>();

  /** Sets the text of a column. */
  name(column: ColumnRef, text: string): void {
    this.#names.set(column, text);
  }

  /** Sets the text of a column to that of the expression that computes it. */
  nameAs(column: ColumnRef, expression: Expression): void {
    this.#names.set(column, this.print(expression));
  }

  /** The number under which a subquery is shown. */
  subplanNumber(plan: Plan, next?: () => number): number {
    const known = this.#subplans.get(plan);
    if (known !== undefined) return known;
    const number = next?.() ?? this.#subplans.size + 1;
    this.#subplans.set(plan, number);
    return number;
  }

  /** Whether a subquery was shown before; from now on it was. */
  wasShown(number: number): boolean {
    const before = this.#shown.has(number);
    this.#shown.add(number);
    return before;
  }

  /** The expression as SQL. */
  print(expression: Expression): string {
    const list = (parts: readonly Expression[]) => parts.map((part) => this.print(part)).join(", ");
    switch (expression.kind) {
      case "constant":
        return constantText(expression);
      case "parameter":
        return `$${expression.index + 1}`;
      case "column":
        return this.#names.get(expression.column) ?? `#${expression.column}`;
      case "call": {
        const { name } = expression.function;
        const [first, second] = expression.args;
        if (/^[a-z_]/.test(name)) return `${name}(${list(expression.args)})`;
        if (first !== undefined && second !== undefined) {
          return `(${this.print(first)} ${name} ${this.print(second)})`;
        }
        return first === undefined ? name : `(${name}${this.print(first)})`;
      }
      case "cast":
        return expression.cast.identity
          ? this.print(expression.argument)
          : `(${this.print(expression.argument)})::${formatType(expression.type)}`;
      case "and":
      case "or":
        return `(${
          expression.args.map((part) => this.print(part)).join(` ${expression.kind.toUpperCase()} `)
        })`;
      case "not":
        return `(NOT ${this.print(expression.argument)})`;
      case "operand":
        return this.print(expression.argument);
      case "is_null":
        return `(${this.print(expression.argument)} IS ${expression.negated ? "NOT " : ""}NULL)`;
      case "is_truth":
        return `(${this.print(expression.argument)} IS ${
          expression.negated ? "NOT " : ""
        }${expression.truth.toUpperCase()})`;
      case "is_distinct":
        return `(${this.print(expression.left)} IS ${expression.negated ? "NOT " : ""}DISTINCT FROM ${
          this.print(expression.right)
        })`;
      case "case": {
        const branches = expression.branches.map((branch) =>
          `WHEN ${this.print(branch.when)} THEN ${this.print(branch.then)}`
        );
        const otherwise = expression.otherwise === null ? "" : ` ELSE ${this.print(expression.otherwise)}`;
        return `CASE ${branches.join(" ")}${otherwise} END`;
      }
      case "coalesce":
      case "greatest":
      case "least":
        return `${expression.kind.toUpperCase()}(${list(expression.args)})`;
      case "nullif":
        return `NULLIF(${list([expression.left, expression.right])})`;
      case "in_list":
        return `(${this.print(expression.argument)} ${expression.negated ? "NOT " : ""}IN (${
          list(expression.list)
        }))`;
      case "any_array":
      case "all_array":
        return `(${this.print(expression.left)} ${expression.operator.name} ${
          expression.kind === "any_array" ? "ANY" : "ALL"
        } (${this.print(expression.array)}))`;
      case "scalar_subquery":
        return `(SubPlan ${this.subplanNumber(expression.plan)})`;
      case "exists":
        return `(${expression.negated ? "NOT " : ""}EXISTS (SubPlan ${this.subplanNumber(expression.plan)}))`;
      case "any_subquery":
      case "all_subquery":
        return `(${list(expression.left)} ${expression.operators[0]?.name ?? "="} ${
          expression.kind === "any_subquery" ? "ANY" : "ALL"
        } (SubPlan ${this.subplanNumber(expression.plan)}))`;
      case "array_subquery":
        return `ARRAY(SubPlan ${this.subplanNumber(expression.plan)})`;
      case "array":
        return `ARRAY[${list(expression.elements)}]`;
      case "row":
        return `ROW(${list(expression.fields)})`;
      case "field":
        return `(${this.print(expression.argument)}).f${expression.index + 1}`;
      case "subscript":
        return `${this.print(expression.argument)}${
          expression.subscripts.map((each) =>
            "index" in each
              ? `[${this.print(each.index)}]`
              : `[${each.lower === null ? "" : this.print(each.lower)}:${
                each.upper === null ? "" : this.print(each.upper)
              }]`
          ).join("")
        }`;
    }
  }
}

function constantText(expression: Expression & { readonly kind: "constant" }): string {
  const { type, value } = expression;
  if (value === null) return "NULL";
  switch (type.kind) {
    case "bool":
      return value === true ? "true" : "false";
    case "i8":
    case "i16":
    case "i32":
    case "i64":
    case "u8":
    case "u16":
    case "u32":
    case "u64":
    case "numeric":
    case "f32":
    case "f64":
      return formatText(type, value, DEFAULT_TEXT_OPTIONS);
    case "char":
      return `'${String(value).replaceAll("'", "''")}'::character`;
    default:
      return `'${formatText(type, value, DEFAULT_TEXT_OPTIONS).replaceAll("'", "''")}'::${formatType(type)}`;
  }
}
