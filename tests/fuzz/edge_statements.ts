/**
 * Statements over the edge table whose answer leaves nothing to the plan: one table, no condition that a plan may
 * order otherwise, a column in every operator (so that nothing is computed before the rows). An error of such a
 * statement is part of its answer.
 */
import type { Question } from "../support/state_database.ts";
import type { Choices } from "./choices.ts";
import { type EdgeColumn, edgeOf, type EdgeType, sqlName, typed, usualOf } from "./edge_tables.ts";

/** A statement, and whether the order of its rows is determined. */
export interface EdgeStatement extends Question {
  readonly ordered: boolean;
}

type Piece = string | { readonly text: string | null; readonly type: EdgeType };
type Made = readonly Piece[];
type Maker = () => Made;

const integers: readonly EdgeType[] = ["i16", "i32", "i64"];
const numerics: readonly EdgeType[] = ["numeric(10,2)", "numeric(36,6)", "numeric"];
const comparisons = ["=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"];

function join(...parts: readonly (string | Made)[]): Made {
  return parts.flatMap((part): readonly Piece[] => typeof part === "string" ? [part] : part);
}

/** Makes statements; decision 0 is the simplest. */
export class EdgeStatements {
  readonly #choices: Choices;
  readonly #columns: readonly EdgeColumn[];
  readonly #size: number;

  constructor(choices: Choices, columns: readonly EdgeColumn[], size: number) {
    this.#choices = choices;
    this.#columns = columns;
    this.#size = size;
  }

  /** A statement. */
  make(): EdgeStatement {
    const kind = this.#choices.below(10);
    if (kind <= 5) return this.#projection();
    if (kind === 6) return this.#filter();
    if (kind === 7) return this.#ordered();
    return this.#aggregate();
  }

  #done(made: Made, ordered = false): EdgeStatement {
    const parameters: (string | null)[] = [];
    const sql = made.map((piece) => typeof piece === "string" ? piece : typed(piece.text, piece.type)).join(
      "",
    );
    const prepared = made.map((piece) => {
      if (typeof piece === "string") return piece;
      parameters.push(piece.text);
      return `$${parameters.length}::${sqlName(piece.type)}`;
    }).join("");
    return { sql, prepared, parameters, ordered };
  }

  #projection(): EdgeStatement {
    const count = 1 + this.#choices.below(3);
    const items = Array.from({ length: count }, () => join(", ", this.#any(2)));
    return this.#done(join("SELECT id", ...items, " FROM e", this.#where()));
  }

  #filter(): EdgeStatement {
    const type = this.#choices.pick(ORDERED);
    const operator = this.#choices.pick(comparisons);
    const condition = this.#choices.pick<Maker>([
      () => join(this.#expression(type, 1), ` ${operator} `, this.#literal(type)),
      () => join(this.#expression(type, 1), ` ${operator} `, this.#expression(type, 1)),
      () => join(this.#expression(type, 1), " BETWEEN ", this.#literal(type), " AND ", this.#literal(type)),
      () => join(this.#expression(type, 1), " IN (", this.#literal(type), ", ", this.#literal(type), ")"),
      () => join(this.#expression(type, 1), " NOT IN (", this.#literal(type), ", ", this.#literal(type), ")"),
    ])();
    return this.#done(join("SELECT id FROM e WHERE ", condition));
  }

  #ordered(): EdgeStatement {
    const type = this.#choices.pick(ORDERED);
    const direction = this.#choices.pick(["", " DESC", " NULLS FIRST", " DESC NULLS LAST"]);
    const limit = this.#choices.pick(["", " LIMIT 5", " LIMIT 3 OFFSET 2"]);
    // Without a limit, an expression; below a limit its errors would depend on the plan.
    const key = limit === "" ? this.#expression(type, 1) : [this.#column(type)];
    return this.#done(
      join("SELECT id, ", key, " FROM e", this.#where(), ` ORDER BY 2${direction}, id${limit}`),
      true,
    );
  }

  #aggregate(): EdgeStatement {
    const one = (): Made => {
      const kind = this.#choices.below(8);
      if (kind === 0) return join("count(", this.#any(1), ")");
      if (kind === 1) return join("count(DISTINCT ", this.#expression(this.#choices.pick(ORDERED), 1), ")");
      if (kind <= 3) {
        return join(
          this.#choices.pick(["min", "max"]),
          "(",
          this.#expression(this.#choices.pick(DISTINGUISHED), 1),
          ")",
        );
      }
      if (kind === 4) return join("avg(", this.#expression(this.#choices.pick(integers), 1), ")");
      if (kind === 5) {
        return join(this.#choices.pick(["bool_and", "bool_or"]), "(", this.#expression("bool", 1), ")");
      }
      return join("sum(", this.#expression(this.#choices.pick([...integers, ...numerics]), 1), ")");
    };
    const items = Array.from({ length: 1 + this.#choices.below(2) }, one);
    const list = join(...items.flatMap((item, index) => index === 0 ? [item] : [", ", item]));
    if (!this.#choices.chance(40)) return this.#done(join("SELECT ", list, " FROM e", this.#where()));
    const key = this.#column(this.#choices.pick(KEYS));
    return this.#done(join(`SELECT ${key}, `, list, " FROM e", this.#where(), ` GROUP BY ${key}`));
  }

  /** Nothing, or a condition that cannot fail. */
  #where(): Made {
    const kind = this.#choices.below(8);
    if (kind <= 1) return [];
    const at = 1 + this.#choices.below(this.#size);
    if (kind <= 3) return [` WHERE id = ${at}`];
    if (kind <= 5) return [` WHERE id BETWEEN ${at} AND ${at + this.#choices.below(6)}`];
    const type = this.#choices.pick(ORDERED);
    const column = this.#column(type);
    if (kind === 6) return [` WHERE ${column} IS ${this.#choices.pick(["", "NOT "])}NULL`];
    return join(` WHERE ${column} ${this.#choices.pick(comparisons)} `, this.#literal(type));
  }

  #column(type: EdgeType): string {
    const fitting = this.#columns.filter((column) => column.type === type);
    return this.#choices.pick(fitting).name;
  }

  /** A literal beside which nothing fails: PostgreSQL does not compute the other operand of NULL. */
  #anyLiteral(type: EdgeType): Made {
    return this.#choices.chance(5) ? [{ text: null, type }] : this.#literal(type);
  }

  #literal(type: EdgeType): Made {
    const text = this.#choices.chance(60)
      ? edgeOf(type, (items) => this.#choices.pick(items))
      : usualOf(type, this.#choices.below(10));
    return [{ text, type }];
  }

  #any(depth: number): Made {
    return this.#expression(this.#choices.pick(PROJECTED), depth);
  }

  /** An expression with a column at its left end. */
  #expression(type: EdgeType, depth: number): Made {
    if (depth <= 0 || !this.#choices.chance(80)) return [this.#column(type)];
    return this.#choices.pick([...this.#own(type, depth), ...this.#common(type, depth)])();
  }

  #common(type: EdgeType, depth: number): readonly Maker[] {
    const value = () => this.#expression(type, depth - 1);
    const other = () => this.#choices.chance(50) ? this.#anyLiteral(type) : [this.#column(type)];
    return [
      () => join("coalesce(", value(), ", ", other(), ")"),
      () => join("CASE WHEN ", this.#condition(), " THEN ", value(), " ELSE ", [this.#column(type)], " END"),
      ...(ORDERED.includes(type)
        ? [
          () => join(this.#choices.pick(["greatest", "least"]), "(", value(), ", ", other(), ")"),
          () => join("nullif(", value(), ", ", other(), ")"),
        ]
        : []),
    ];
  }

  /** A comparison that cannot fail. */
  #condition(): Made {
    const type = this.#choices.pick(ORDERED);
    const right = this.#choices.chance(50) ? this.#anyLiteral(type) : [this.#column(type)];
    return join(`${this.#column(type)} ${this.#choices.pick(comparisons)} `, right);
  }

  #own(type: EdgeType, depth: number): readonly Maker[] {
    const value = (of: EdgeType = type) => this.#expression(of, depth - 1);
    const operand = (of: EdgeType): Made => this.#choices.chance(50) ? this.#literal(of) : value(of);
    const binary = (left: EdgeType, operators: readonly string[], right: EdgeType): Maker => () =>
      join("(", value(left), ` ${this.#choices.pick(operators)} `, operand(right), ")");
    const call = (name: string, of: EdgeType, rest = ""): Maker => () =>
      join(`${name}(`, value(of), `${rest})`);
    const cast = (of: readonly EdgeType[]): Maker => () =>
      join("CAST(", value(this.#choices.pick(of)), ` AS ${sqlName(type)})`);
    const pick = this.#choices;
    const difference = (of: EdgeType): Made =>
      join("(", value(of), " - ", [{ text: usualOf(of, pick.below(10)), type: of }], ")");
    switch (type) {
      case "i16":
      case "i32":
      case "i64": {
        const narrower = integers.filter((each) => integers.indexOf(each) <= integers.indexOf(type));
        return [
          binary(type, ["+", "-", "*"], type),
          binary(type, ["+", "-", "*", "/", "%"], type),
          () => binary(pick.pick(narrower), ["+", "-", "*"], type)(),
          () => binary(type, ["+", "-", "*", "/", "%"], pick.pick(narrower))(),
          () => join("(- ", value(), ")"),
          call("abs", type),
          binary(type, ["&", "|", "#"], type),
          () => join("(~ ", value(), ")"),
          cast(integers.filter((each) => each !== type)),
          cast([...numerics, "f32", "f64"]),
          ...(type === "i32"
            ? [
              call("length", "text"),
              call("length", "bytea"),
              binary("date", ["-"], "date"),
              call("cardinality", "i32[]"),
            ]
            : []),
          ...(type === "i32" ? [() => join("(", value("i32[]"), `)[${pick.below(3)}]`)] : []),
        ];
      }
      case "numeric(10,2)":
      case "numeric(36,6)":
        // Not from types with NaN, which a declared scale does not have here.
        return [
          cast(["numeric(10,2)", "numeric(36,6)"].filter((each) => each !== type) as EdgeType[]),
          cast(integers),
        ];
      case "numeric":
        return [
          () => binary(pick.pick(numerics), ["+", "-", "*"], pick.pick(numerics))(),
          () => binary(pick.pick(numerics), ["+", "-", "*", "/", "%"], pick.pick(numerics))(),
          () => binary(pick.pick(numerics), ["+", "-", "*", "/", "%"], pick.pick(integers))(),
          () => binary(pick.pick(integers), ["+", "-", "*", "/", "%"], pick.pick(numerics))(),
          () => join("(- ", value(pick.pick(numerics)), ")"),
          () => call(pick.pick(["abs", "ceil", "floor", "sign", "round", "trunc"]), pick.pick(numerics))(),
          () => call(pick.pick(["round", "trunc"]), pick.pick(numerics), `, ${pick.below(5) - 1}`)(),
          cast([...integers, "f32", "f64"]),
          () =>
            join(
              // Not the epoch: PostgreSQL rounds that of the last years.
              `extract(${pick.pick(["year", "day", "hour", "second"])} FROM `,
              value(pick.pick(["timestamp", "interval"] as const)),
              ")",
            ),
        ];
      case "f32":
        return [
          binary("f32", ["+", "-", "*", "/"], "f32"),
          cast([...integers, "f64", "numeric"]),
          () => join("(- ", value(), ")"),
          call("abs", "f32"),
        ];
      case "f64":
        return [
          binary("f64", ["+", "-", "*", "/"], "f64"),
          binary("f32", ["+", "-", "*", "/"], "f64"),
          () => binary(pick.pick(integers), ["+", "-", "*", "/"], "f64")(),
          () => call(pick.pick(["abs", "ceil", "floor", "round", "trunc", "sign", "sqrt"]), "f64")(),
          cast([...integers, ...numerics, "f32"]),
          () => join("(- ", value(), ")"),
        ];
      case "bool":
        return [
          () => {
            const of = pick.pick(ORDERED);
            return join("(", value(of), ` ${pick.pick(comparisons)} `, operand(of), ")");
          },
          () => join("(", value(pick.pick(PROJECTED)), ` IS ${pick.pick(["", "NOT "])}NULL)`),
          () => {
            const of = pick.pick(ORDERED);
            return join("(", value(of), " BETWEEN ", operand(of), " AND ", this.#literal(of), ")");
          },
          () => {
            const of = pick.pick(ORDERED);
            return join("(", value(of), " IN (", this.#literal(of), ", ", this.#literal(of), "))");
          },
          () => binary(pick.pick(integers), comparisons, pick.pick(integers))(),
          () => binary(pick.pick(integers), comparisons, pick.pick([...numerics, "f64"]))(),
          () => join("(NOT ", this.#condition(), ")"),
          () => join("(", this.#condition(), pick.pick([" AND ", " OR "]), this.#condition(), ")"),
          binary("jsonb", ["@>"], "jsonb"),
          binary("i32[]", ["@>", "<@", "&&"], "i32[]"),
          binary("date", comparisons, "timestamp"),
        ];
      case "text":
        return [
          binary("text", ["||"], "text"),
          () => join("CAST(", value(pick.pick(PROJECTED.filter((each) => each !== "text"))), " AS text)"),
          call("reverse", "text"),
          () => call("substr", "text", `, ${pick.below(4) - 1}, ${pick.below(4)}`)(),
          () => call(pick.pick(["left", "right"]), "text", `, ${pick.below(6) - 3}`)(),
          () => call("lpad", "text", `, ${pick.below(6)}, 'xy'`)(),
          () => call("replace", "text", ", 'a', 'xy'")(),
          call("encode", "bytea", ", 'hex'"),
        ];
      case "bytea":
        return [
          binary("bytea", ["||"], "bytea"),
          () => call("substr", "bytea", `, ${1 + pick.below(2)}, ${pick.below(3)}`)(),
        ];
      case "date":
        return [
          binary("date", ["+", "-"], "i32"),
          cast(["timestamp"]),
        ];
      case "time":
        return [cast(["timestamp"]), binary("time", ["+", "-"], "interval")];
      case "timestamp":
        return [
          binary("timestamp", ["+", "-"], "interval"),
          binary("date", ["+", "-"], "interval"),
          cast(["date"]),
          () =>
            join(
              `date_trunc('${
                pick.pick(["day", "month", "year", "hour", "week", "quarter", "second", "century"])
              }', `,
              value(),
              ")",
            ),
        ];
      case "timestamptz":
        return [binary("timestamptz", ["+", "-"], "interval"), cast(["timestamp", "date"])];
      case "interval":
        return [
          binary("interval", ["+", "-"], "interval"),
          () => join("(- ", value(), ")"),
          // Not between the ends, where the microseconds wrap in PostgreSQL 15.
          () => difference("timestamp"),
          () => difference("timestamptz"),
          () => call(pick.pick(["justify_days", "justify_hours", "justify_interval"]), "interval")(),
          binary("interval", ["*"], "f64"),
        ];
      case "jsonb":
        return [
          () => call("to_jsonb", pick.pick(["i32", "i64", "numeric", "bool", "date", "i32[]"] as const))(),
          () => join("(", value(), " -> 'a')"),
          () => join("jsonb_build_array(", value(pick.pick(PROJECTED)), ")"),
        ];
      case "i32[]":
        return [
          () => join("ARRAY[", value("i32"), ", ", operand("i32"), "]"),
          binary("i32[]", ["||"], "i32"),
          () => join("array_remove(", value(), ", ", operand("i32"), ")"),
        ];
      case "uuid":
        return [() => join("CAST(CAST(", value(), " AS text) AS uuid)")];
    }
  }
}

/** Types with an order that the comparison operators have. */
const ORDERED: readonly EdgeType[] = [
  "i32",
  "i64",
  "i16",
  "numeric(10,2)",
  "numeric(36,6)",
  "numeric",
  "f64",
  "f32",
  "text",
  "bytea",
  "date",
  "time",
  "timestamp",
  "timestamptz",
  "interval",
  "uuid",
  "bool",
  "i32[]",
];
/** Of these, the types whose equal values are written alike, and that have min() and max(). */
const DISTINGUISHED: readonly EdgeType[] = [
  "i32",
  "i64",
  "i16",
  "numeric(10,2)",
  "numeric(36,6)",
  "text",
  "date",
  "time",
  "timestamp",
  "timestamptz",
];
const KEYS: readonly EdgeType[] = [
  "i32",
  "i64",
  "i16",
  "numeric(10,2)",
  "text",
  "bytea",
  "date",
  "time",
  "timestamp",
  "timestamptz",
  "uuid",
  "bool",
];
/** What a select list has; numbers more often. */
const PROJECTED: readonly EdgeType[] = [
  "i32",
  "i64",
  "i16",
  "numeric",
  "i32",
  "i64",
  "i16",
  "numeric",
  "numeric(10,2)",
  "numeric(36,6)",
  "f64",
  "f32",
  "bool",
  "text",
  "bytea",
  "date",
  "time",
  "timestamp",
  "timestamptz",
  "interval",
  "uuid",
  "jsonb",
  "i32[]",
  "numeric",
  "f64",
];
