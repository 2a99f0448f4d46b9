/**
 * Random statements that every database under comparison should answer alike.
 *
 * Invariants: expressions are typed and never mix types; a query with LIMIT is ordered by all its columns; scalar
 * subqueries give at most one row; divisors are never zero. With the dialect "sqlite" only what SQLite understands
 * the same way is made (no numeric, no LATERAL, no ANY, …). Decision 0 is always the simplest alternative, so that
 * statements shrink well.
 */
import type { Choices } from "./choices.ts";
import {
  type AnyType,
  anyValue,
  hasExtremes,
  type OperandMaker,
  wideExpressions,
  wideLiteral,
  wideNames,
  type WideType,
  wideTypes,
} from "./wide_types.ts";

/** Which peer must understand the statements. */
export type Dialect = "sqlite" | "postgresql";

/** The types of generated expressions. */
export type GeneratedType = AnyType;

interface Column {
  readonly sql: string;
  readonly type: GeneratedType;
}

/** A generated table. */
export interface GeneratedTable {
  readonly name: string;
  readonly columns: readonly {
    readonly name: string;
    readonly type: GeneratedType;
    readonly declared: string;
  }[];
}

/** A generated statement. */
export interface GeneratedStatement {
  readonly kind: "query" | "modification";
  readonly sql: string;
  readonly types: readonly GeneratedType[];
  /** Whether the order of the rows is determined. */
  readonly ordered: boolean;
  /** Tables that are read, with repetition. */
  readonly tablesRead: number;
  /** The types of what a modification returns. */
  readonly returning?: readonly GeneratedType[];
}

interface Made {
  readonly sql: string;
  readonly types: readonly GeneratedType[];
}

/** Everything that an expression may refer to: the columns of the query and of the queries around it. */
interface Scope {
  readonly own: readonly Column[];
  readonly outer: readonly Column[];
  /** Whether aggregates or windows may be here. */
  readonly subqueries: boolean;
}

const patterns = ["a%", "%b", "%", "", "_", "a_%", "%a%b%", "ab", "A%", "%longer%far"];
/** So many tables in, a query joins no more: the interpreter computes every combination of rows. */
const usualTables = 3;
/** The same for some statements, which the interpreter is then spared. */
const mostTables = 5;

function isWide(type: GeneratedType): type is WideType {
  return type !== "int" && type !== "text" && type !== "bool" && type !== "numeric";
}

/** Makes statements over tables. */
export class StatementGenerator {
  readonly #choices: Choices;
  readonly #tables: readonly GeneratedTable[];
  readonly #dialect: Dialect;
  #aliases = 0;
  #budget = 0;
  #tablesRead = 0;
  #mostTables = usualTables;

  constructor(choices: Choices, tables: readonly GeneratedTable[], dialect: Dialect) {
    this.#choices = choices;
    this.#tables = tables;
    this.#dialect = dialect;
  }

  /** A query or, rarely, a modification. */
  statement(): GeneratedStatement {
    this.#aliases = 0;
    this.#budget = 45;
    this.#tablesRead = 0;
    if (this.#choices.chance(12)) return this.#modification();
    this.#mostTables = this.#choices.chance(10) ? mostTables : usualTables;
    const made = this.#query([], 2, null);
    const positions = made.types.map((_, index) => `${index + 1} ${this.#direction()}`);
    if (this.#choices.chance(50)) {
      return {
        kind: "query",
        sql: made.sql,
        types: made.types,
        ordered: false,
        tablesRead: this.#tablesRead,
      };
    }
    const distinct = this.#dialect === "postgresql" && this.#choices.chance(10) ? "DISTINCT ON (q.c0) " : "";
    let sql = `SELECT ${distinct}* FROM (${made.sql}) AS q ORDER BY ${positions.join(", ")}`;
    if (this.#choices.chance(40)) {
      sql += ` LIMIT ${this.#choices.below(12)}`;
      if (this.#choices.chance(30)) sql += ` OFFSET ${this.#choices.below(6)}`;
    }
    return { kind: "query", sql, types: made.types, ordered: true, tablesRead: this.#tablesRead };
  }

  #direction(): string {
    return this.#choices.pick(["ASC NULLS LAST", "DESC NULLS LAST", "ASC NULLS FIRST", "DESC NULLS FIRST"]);
  }

  #type(): GeneratedType {
    const all: readonly GeneratedType[] = this.#dialect === "sqlite"
      ? ["int", "int", "text", "bool"]
      : ["int", "int", "int", "text", "text", "bool", "numeric", "numeric", ...wideTypes];
    return this.#choices.pick(all);
  }

  #alias(): string {
    return `x${this.#aliases++}`;
  }

  /** Whether more may be made; counts down. */
  #more(percent: number): boolean {
    if (this.#budget <= 0) return false;
    this.#budget--;
    return this.#choices.chance(percent);
  }

  #query(outer: readonly Column[], depth: number, wanted: readonly GeneratedType[] | null): Made {
    const types = wanted ?? Array.from({ length: 1 + this.#choices.below(3) }, () => this.#type());
    const kind = depth > 0 ? this.#choices.below(12) : 0;
    if (kind === 9 || kind === 10) return this.#setOperation(outer, depth, types);
    if (kind === 11 && outer.length === 0) {
      return this.#choices.chance(25) ? this.#recursive(types) : this.#withQuery(depth, types);
    }
    if (kind >= 7) return this.#grouped(outer, depth, types);
    if (kind === 6) return this.#windowed(outer, depth, types);
    return this.#plain(outer, depth, types);
  }

  #plain(outer: readonly Column[], depth: number, types: readonly GeneratedType[]): Made {
    const from = this.#from(outer, depth);
    const scope: Scope = { own: from.columns, outer, subqueries: depth > 0 };
    const where = this.#where(scope, depth);
    const items = types.map((type, index) => `${this.#expression(type, scope, depth)} AS c${index}`);
    const distinct = this.#choices.chance(12) ? "DISTINCT " : "";
    return { sql: `SELECT ${distinct}${items.join(", ")} FROM ${from.sql}${where}`, types };
  }

  #where(scope: Scope, depth: number): string {
    return this.#choices.chance(65) ? ` WHERE ${this.#condition(scope, depth + 1)}` : "";
  }

  #withQuery(depth: number, types: readonly GeneratedType[]): Made {
    const inner = this.#query([], depth - 1, null);
    const name = `w${this.#aliases++}`;
    const left = this.#alias();
    const columns = inner.types.map((type, index): Column => ({ sql: `${left}.c${index}`, type }));
    let from = `${name} AS ${left}`;
    let all = columns;
    if (this.#choices.chance(50)) {
      const right = this.#alias();
      const more = inner.types.map((type, index): Column => ({ sql: `${right}.c${index}`, type }));
      const on = this.#condition({ own: [...columns, ...more], outer: [], subqueries: false }, 1);
      from += ` ${this.#choices.pick(["JOIN", "LEFT JOIN"])} ${name} AS ${right} ON ${on}`;
      all = [...columns, ...more];
    }
    const scope: Scope = { own: all, outer: [], subqueries: true };
    const items = types.map((type, index) => `${this.#expression(type, scope, depth - 1)} AS c${index}`);
    return {
      sql: `WITH ${name} AS (${inner.sql}) SELECT ${items.join(", ")} FROM ${from}${this.#where(scope, 1)}`,
      types,
    };
  }

  /** A walk along equal integers, of a few steps. */
  #recursive(types: readonly GeneratedType[]): Made {
    const name = `w${this.#aliases++}`;
    const [first, next, result] = [this.#source([], 0), this.#source([], 0), this.#alias()];
    const ints = (columns: readonly Column[]) => columns.filter(({ type }) => type === "int");
    const start = this.#column(ints(first.columns));
    const [from, to] = [this.#column(ints(next.columns)), this.#column(ints(next.columns))];
    const where = this.#where({ own: first.columns, outer: [], subqueries: false }, 0);
    const more = this.#choices.chance(40)
      ? ` AND ${this.#condition({ own: next.columns, outer: [], subqueries: false }, 0)}`
      : "";
    const walk = `SELECT CAST(${start.sql} AS bigint), 0 FROM ${first.sql}${where} ` +
      `${
        this.#choices.pick(["UNION", "UNION ALL"])
      } SELECT CAST(${to.sql} AS bigint), ${name}.c1 + 1 FROM ${name} ` +
      `JOIN ${next.sql} ON ${from.sql} = ${name}.c0 WHERE ${name}.c1 < ${1 + this.#choices.below(3)}${more}`;
    const own: Column[] = [{ sql: `${result}.c0`, type: "int" }, { sql: `${result}.c1`, type: "int" }];
    const scope: Scope = { own, outer: [], subqueries: false };
    const items = types.map((type, index) => `${this.#expression(type, scope, 0)} AS c${index}`);
    return {
      sql: `WITH RECURSIVE ${name}(c0, c1) AS (${walk}) SELECT ${items.join(", ")} FROM ${name} AS ${result}`,
      types,
    };
  }

  #setOperation(outer: readonly Column[], depth: number, types: readonly GeneratedType[]): Made {
    const operators = ["UNION ALL", "UNION", "INTERSECT", "EXCEPT"];
    if (this.#dialect === "postgresql") operators.push("INTERSECT ALL", "EXCEPT ALL");
    const left = this.#query(outer, depth - 1, types);
    const right = this.#query(outer, depth - 1, types);
    const [first, second, result] = [this.#alias(), this.#alias(), this.#alias()];
    const compound = `SELECT * FROM (${left.sql}) AS ${first} ${this.#choices.pick(operators)} ` +
      `SELECT * FROM (${right.sql}) AS ${second}`;
    return { sql: `SELECT * FROM (${compound}) AS ${result}`, types };
  }

  #grouped(outer: readonly Column[], depth: number, types: readonly GeneratedType[]): Made {
    const from = this.#from(outer, depth);
    const scope: Scope = { own: from.columns, outer, subqueries: false };
    const where = this.#where({ ...scope, subqueries: depth > 0 }, depth);
    const keys = Array.from({ length: this.#choices.below(3) }, (): Column => {
      const type = this.#type();
      return this.#choices.chance(70)
        ? this.#columnOf(type, from.columns) ?? this.#column(from.columns)
        : { sql: this.#ownExpression(type, from.columns), type };
    });
    const wide = this.#dialect === "postgresql" ? types.filter(isWide) : [];
    const aggregates = (["int", "text", "bool", "numeric", ...wide] as const).flatMap((type) =>
      types.includes(type) || this.#choices.chance(15) ? [this.#aggregate(type, from.columns)] : []
    ).filter((each): each is Column => each !== null);
    // A constant would be a position in GROUP BY, and a group of its own elsewhere.
    const usable = keys.filter((key) => /[a-z]\d+\./.test(key.sql));
    const result: Scope = { own: [...usable, ...aggregates], outer: [], subqueries: false };
    const items = types.map((type, index) =>
      `${this.#expression(type, result, Math.min(depth, 1))} AS c${index}`
    );
    const group = usable.length > 0 ? ` GROUP BY ${this.#grouping(usable.map((key) => key.sql))}` : "";
    const having = group !== "" && this.#choices.chance(25) && aggregates.length > 0
      ? ` HAVING ${this.#condition(result, 1)}`
      : "";
    // Without GROUP BY there must be an aggregate, or it would be no grouped query.
    const first = group === "" &&
      !items.some((item) =>
        /\b(count|sum|min|max|avg|bool_and|bool_or|string_agg|array_agg|jsonb_agg)\(/.test(item)
      ) &&
      having === "";
    if (first) {
      return {
        sql: `SELECT ${items.join(", ")} FROM (SELECT count(*) AS n FROM ${from.sql}${where}) AS z`,
        types,
      };
    }
    return { sql: `SELECT ${items.join(", ")} FROM ${from.sql}${where}${group}${having}`, types };
  }

  /** Keys as they are or, rarely, in several sets. */
  #grouping(keys: readonly string[]): string {
    const list = keys.join(", ");
    if (this.#dialect === "sqlite" || !this.#choices.chance(20)) return list;
    return this.#choices.pick([
      `ROLLUP (${list})`,
      `CUBE (${list})`,
      `GROUPING SETS ((${list}), (${keys[0]}), ())`,
    ]);
  }

  #aggregate(type: GeneratedType, columns: readonly Column[]): Column | null {
    const filter = this.#choices.chance(15)
      ? ` FILTER (WHERE ${this.#condition({ own: columns, outer: [], subqueries: false }, 1)})`
      : "";
    const distinct = this.#choices.chance(15) ? "DISTINCT " : "";
    switch (type) {
      case "int": {
        const kind = this.#choices.below(5);
        if (kind === 0) return { sql: `count(*)${filter}`, type };
        if (kind === 1) {
          return { sql: `count(${distinct}${this.#ownExpression(this.#type(), columns)})${filter}`, type };
        }
        if (kind === 2) return { sql: `sum(${distinct}${this.#small(columns)})${filter}`, type };
        return {
          sql: `${this.#choices.pick(["min", "max"])}(${this.#ownExpression("int", columns)})${filter}`,
          type,
        };
      }
      case "text":
        if (this.#choices.chance(20)) {
          const text = this.#ownExpression("text", columns);
          return { sql: `string_agg(${text}, ',' ORDER BY ${text})${filter}`, type };
        }
        return {
          sql: `${this.#choices.pick(["min", "max"])}(${this.#ownExpression("text", columns)})${filter}`,
          type,
        };
      case "numeric":
        return this.#dialect === "sqlite" ? null : {
          sql: `${this.#choices.pick(["sum", "avg", "min", "max"])}(${
            this.#ownExpression("numeric", columns)
          })${filter}`,
          type,
        };
      case "bool":
        if (this.#dialect === "sqlite") {
          return { sql: `(count(${this.#ownExpression("int", columns)})${filter} > 2)`, type };
        }
        return {
          sql: `${this.#choices.pick(["bool_and", "bool_or"])}(${
            this.#ownExpression("bool", columns)
          })${filter}`,
          type,
        };
      case "array": {
        const item = `CAST(${this.#small(columns)} AS integer)`;
        return { sql: `array_agg(${distinct}${item} ORDER BY ${item})${filter}`, type };
      }
      case "jsonb": {
        const item = this.#ownExpression("text", columns);
        return { sql: `jsonb_agg(${item} ORDER BY ${item})${filter}`, type };
      }
      default: {
        if (!hasExtremes(type)) return null;
        const item = this.#ownExpression(type, columns);
        return { sql: `${this.#choices.pick(["min", "max"])}(${item})${filter}`, type };
      }
    }
  }

  /** An integer that is small enough for sums. */
  #small(columns: readonly Column[]): string {
    return `CAST(${this.#ownExpression("int", columns)} % 1000 AS integer)`;
  }

  /** An expression that certainly mentions a column of the query itself. */
  #ownExpression(type: GeneratedType, columns: readonly Column[]): string {
    const column = this.#columnOf(type, columns);
    if (column !== null && this.#choices.below(3) < 2) return column.sql;
    const any = column ?? this.#column(columns);
    const value = this.#expression(type, { own: columns, outer: [], subqueries: false }, 0);
    return `CASE WHEN ${any.sql} IS NOT NULL THEN ${value} END`;
  }

  #windowed(outer: readonly Column[], depth: number, types: readonly GeneratedType[]): Made {
    const table = this.#choices.pick(this.#tables);
    const alias = this.#alias();
    const columns = table.columns.map(({ name, type }): Column => ({ sql: `${alias}.${name}`, type }));
    const partition = this.#choices.chance(60) ? `PARTITION BY ${this.#column(columns).sql} ` : "";
    // The id makes the order complete.
    const order = `ORDER BY ${this.#column(columns).sql} ${this.#direction()}, ${alias}.id`;
    const frame = this.#choices.pick([
      "",
      " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
      " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
      " ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
      " ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
      " ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING",
      " RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
      " ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING",
      " GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
      " ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW",
      " GROUPS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE TIES",
      " RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING EXCLUDE GROUP",
    ]);
    const over = `OVER (${partition}${order}${frame})`;
    const plain = `OVER (${partition}${order})`;
    const items = types.map((type, index) => {
      const column = this.#columnOf(type, columns);
      let sql: string;
      if (type === "int" && this.#choices.chance(60)) {
        const functions = [
          `row_number() ${plain}`,
          `rank() ${plain}`,
          `count(${this.#column(columns).sql}) ${over}`,
          `sum(${this.#small(columns)}) ${over}`,
          `dense_rank() ${plain}`,
          `ntile(3) ${plain}`,
          `count(*) FILTER (WHERE ${this.#column(columns).sql} IS NOT NULL) ${over}`,
        ];
        sql = this.#choices.pick(functions);
      } else if (column === null) {
        sql = this.#expression(type, { own: columns, outer, subqueries: false }, 1);
      } else if (type === "bool" || isWide(type) && !hasExtremes(type)) {
        sql = this.#choices.pick([
          column.sql,
          `nth_value(${column.sql}, 2) ${over}`,
          `lag(${column.sql}) ${plain}`,
          `first_value(${column.sql}) ${over}`,
        ]);
      } else {
        sql = this.#choices.pick([
          `lag(${column.sql}) ${plain}`,
          `lead(${column.sql}, 2) ${plain}`,
          `first_value(${column.sql}) ${over}`,
          `last_value(${column.sql}) ${over}`,
          `min(${column.sql}) ${over}`,
          `max(${column.sql}) ${over}`,
        ]);
      }
      return `${sql} AS c${index}`;
    });
    const where = this.#where({ own: columns, outer, subqueries: depth > 0 }, depth);
    return { sql: `SELECT ${items.join(", ")} FROM ${table.name} AS ${alias}${where}`, types };
  }

  #from(
    outer: readonly Column[],
    depth: number,
  ): { readonly sql: string; readonly columns: readonly Column[] } {
    let { sql, columns } = this.#source(outer, depth);
    const joins = this.#choices.pick([0, 0, 0, 1, 1, 2]);
    for (let index = 0; index < joins && this.#budget > 0 && this.#tablesRead < this.#mostTables; index++) {
      const lateral = this.#dialect === "postgresql" && depth > 0 && this.#choices.chance(10);
      const kinds = ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN"];
      const kind = lateral ? this.#choices.pick(["JOIN", "LEFT JOIN"]) : this.#choices.pick(kinds);
      const right = lateral ? this.#lateral([...columns, ...outer], depth) : this.#source(outer, depth);
      const all = [...columns, ...right.columns];
      if (kind === "CROSS JOIN") {
        sql = `${sql} CROSS JOIN ${right.sql}`;
      } else {
        const on = this.#joinCondition(columns, right.columns, kind);
        const nested = !lateral && kind !== "JOIN" && index === 0 && this.#choices.chance(20);
        if (nested) {
          const third = this.#source([], 0);
          const inner = this.#joinCondition(right.columns, third.columns, "JOIN");
          const join = this.#choices.pick(["JOIN", "LEFT JOIN"]);
          sql = `${sql} ${kind} (${right.sql} ${join} ${third.sql} ON ${inner}) ON ${on}`;
          columns = [...all, ...third.columns];
          continue;
        }
        sql = `${sql} ${kind} ${right.sql} ON ${on}`;
      }
      columns = all;
    }
    return { sql, columns };
  }

  #joinCondition(left: readonly Column[], right: readonly Column[], kind: string): string {
    const type = this.#dialect === "postgresql" && this.#choices.chance(20)
      ? this.#type()
      : this.#choices.pick(["int", "int", "text"] as const);
    const [a, b] = [this.#columnOf(type, left), this.#columnOf(type, right)];
    const equal = a === null || b === null ? "1 = 1" : `${a.sql} = ${b.sql}`;
    // PostgreSQL wants conditions of FULL joins that it can merge or hash.
    if (kind === "FULL JOIN" || this.#choices.chance(60)) return equal;
    const more = this.#condition({ own: [...left, ...right], outer: [], subqueries: false }, 1);
    return this.#choices.pick([`${equal} AND ${more}`, more, `${equal} OR ${more}`]);
  }

  #source(
    outer: readonly Column[],
    depth: number,
  ): { readonly sql: string; readonly columns: readonly Column[] } {
    const alias = this.#alias();
    if (depth > 0 && this.#tablesRead < this.#mostTables && this.#more(20)) {
      // A derived table does not see the tables beside it, only the queries around.
      const made = this.#query(this.#dialect === "sqlite" ? [] : outer, depth - 1, null);
      return {
        sql: `(${made.sql}) AS ${alias}`,
        columns: made.types.map((type, index) => ({ sql: `${alias}.c${index}`, type })),
      };
    }
    this.#tablesRead++;
    const table = this.#choices.pick(this.#tables);
    return {
      sql: `${table.name} AS ${alias}`,
      columns: table.columns.map(({ name, type }) => ({ sql: `${alias}.${name}`, type })),
    };
  }

  #lateral(
    outer: readonly Column[],
    depth: number,
  ): { readonly sql: string; readonly columns: readonly Column[] } {
    const alias = this.#alias();
    const made = this.#query(outer, depth - 1, null);
    return {
      sql: `LATERAL (${made.sql}) AS ${alias}`,
      columns: made.types.map((type, index) => ({ sql: `${alias}.c${index}`, type })),
    };
  }

  #column(columns: readonly Column[]): Column {
    return columns.length === 0 ? { sql: "1", type: "int" } : this.#choices.pick(columns);
  }

  #columnOf(type: GeneratedType, columns: readonly Column[]): Column | null {
    const fitting = columns.filter((column) => column.type === type);
    return fitting.length === 0 ? null : this.#choices.pick(fitting);
  }

  #leaf(type: GeneratedType, scope: Scope): string {
    const visible = scope.outer.length > 0 && this.#choices.chance(35) ? scope.outer : scope.own;
    const column = this.#columnOf(type, visible);
    if (column !== null && !this.#choices.chance(25)) return column.sql;
    return this.#literal(type);
  }

  #literal(type: GeneratedType): string {
    if (this.#choices.chance(8)) {
      const name = { int: "integer", text: "text", bool: "boolean", numeric: "numeric", ...wideNames }[type];
      return `CAST(NULL AS ${name})`;
    }
    const text = anyValue(type, (items) => this.#choices.pick(items));
    if (isWide(type)) return wideLiteral(type, text);
    if (type === "text") return `'${text.replaceAll("'", "''")}'`;
    if (type === "numeric") return /^-?\d+\.\d+$/.test(text) ? text : `'${text}'::numeric`;
    // The digits of the least bigint alone are too large for one: PostgreSQL makes them a numeric, SQLite does not.
    return this.#dialect === "sqlite" && text === "-9223372036854775808"
      ? "(-9223372036854775807 - 1)"
      : text;
  }

  #expression(type: GeneratedType, scope: Scope, depth: number): string {
    if (type === "bool") return this.#condition(scope, depth);
    if (depth < -1 || !this.#more(55)) return this.#leaf(type, scope);
    const value = (of: GeneratedType = type) => this.#expression(of, scope, depth - 1);
    const common = [
      () => `CASE WHEN ${this.#condition(scope, depth - 1)} THEN ${value()} ELSE ${value()} END`,
      () => `coalesce(${value()}, ${value()})`,
      () => `nullif(${value()}, ${value()})`,
      () => `CASE WHEN ${this.#condition(scope, depth - 1)} THEN ${value()} END`,
      ...(scope.subqueries && depth > 0 ? [() => this.#scalarSubquery(type, scope, depth)] : []),
      ...(this.#dialect === "postgresql"
        ? [() => `${this.#choices.pick(["greatest", "least"])}(${value()}, ${value()})`]
        : []),
    ];
    const own = {
      int: [
        () => `(${value()} + ${this.#choices.below(20)})`,
        () => `(${value()} - ${this.#leaf("int", scope)})`,
        () => `(${value()} % 10 * ${this.#choices.below(9) - 4})`,
        () => `(- (${value()}))`,
        () => `abs(${value()} % 100000)`,
        () => `(${value()} / ${this.#choices.pick([2, 3, -2, 7])})`,
        () => `length(${value("text")})`,
      ],
      text: [
        () => `(${value()} || ${this.#leaf("text", scope)})`,
        () => `substr(${value()}, ${1 + this.#choices.below(3)}, ${this.#choices.below(4)})`,
        () => `replace(${value()}, 'a', 'xy')`,
        () => `trim(${value()})`,
        () => `CAST(${value("int")} AS text)`,
      ],
      numeric: [
        () => `(${value()} + ${this.#leaf("numeric", scope)})`,
        () => `(${value()} * ${this.#choices.pick(["2", "1.5", "-0.25"])})`,
        () => `(${value()} - ${value("int")})`,
        () => `round(${value()}, 1)`,
        () => `abs(${value()})`,
      ],
    };
    const narrow = isWide(type) ? [] : own[type];
    const wide = this.#dialect === "postgresql" && (isWide(type) || this.#choices.chance(30))
      ? wideExpressions(type, this.#maker(scope, depth))
      : [];
    return this.#choices.pick([...wide.length > 0 ? wide : narrow, ...common])();
  }

  #maker(scope: Scope, depth: number): OperandMaker {
    return {
      value: (type) => this.#expression(type, scope, depth - 1),
      below: (limit) => this.#choices.below(limit),
      pick: (items) => this.#choices.pick(items),
    };
  }

  #scalarSubquery(type: GeneratedType, scope: Scope, depth: number): string {
    const visible = [...scope.own, ...scope.outer];
    const from = this.#from([], 0);
    const where = this.#where({ own: from.columns, outer: visible, subqueries: depth > 1 }, depth - 2);
    if (this.#choices.chance(50)) {
      const aggregate = this.#aggregate(type, from.columns);
      if (aggregate !== null) return `(SELECT ${aggregate.sql} FROM ${from.sql}${where})`;
    }
    const value = this.#expression(type, { own: from.columns, outer: visible, subqueries: false }, 0);
    return `(SELECT ${value} AS v FROM ${from.sql}${where} ORDER BY 1 ${this.#direction()} LIMIT 1)`;
  }

  #condition(scope: Scope, depth: number): string {
    if (depth < -1 || this.#budget <= 0) return this.#comparison(scope, depth);
    this.#budget--;
    const condition = () => this.#condition(scope, depth - 1);
    const kind = this.#choices.below(20);
    if (kind >= 17 && scope.subqueries && depth > 0) return this.#subqueryCondition(scope, depth);
    if (kind >= 14) return `(${condition()} AND ${condition()})`;
    if (kind >= 11) return `(${condition()} OR ${condition()})`;
    if (kind === 10) return `NOT (${condition()})`;
    if (kind === 9) {
      const type = this.#type();
      return `(${this.#expression(type, scope, depth - 1)} IS ${this.#choices.pick(["", "NOT "])}NULL)`;
    }
    if (kind === 4 && this.#dialect === "postgresql" && this.#choices.chance(40)) {
      return this.#choices.pick(wideExpressions("bool", this.#maker(scope, depth)))();
    }
    if (kind === 8) {
      const column = this.#columnOf("bool", scope.own);
      return column === null
        ? this.#comparison(scope, depth)
        : this.#choices.pick([column.sql, `(${column.sql} IS NOT TRUE)`, `(${column.sql} IS FALSE)`]);
    }
    if (kind === 7) {
      const [type, not] = [this.#comparedType(), this.#choices.pick(["", "NOT "])];
      const bounds = `${this.#leaf(type, scope)} AND ${this.#leaf(type, scope)}`;
      return `(${this.#expression(type, scope, depth - 1)} ${not}BETWEEN ${bounds})`;
    }
    if (kind === 6) {
      const [type, not] = [this.#comparedType(), this.#choices.pick(["", "NOT "])];
      const list = Array.from({ length: 1 + this.#choices.below(4) }, () => this.#leaf(type, scope));
      return `(${this.#expression(type, scope, depth - 1)} ${not}IN (${list.join(", ")}))`;
    }
    if (kind === 5) {
      const not = this.#choices.pick(["", "NOT "]);
      return `(${this.#expression("text", scope, depth - 1)} ${not}LIKE '${this.#choices.pick(patterns)}')`;
    }
    return this.#comparison(scope, depth);
  }

  #comparedType(): GeneratedType {
    const types: readonly GeneratedType[] = this.#dialect === "sqlite"
      ? ["int", "text"]
      : ["int", "int", "text", "text", "numeric", "numeric", ...wideTypes];
    return this.#choices.pick(types);
  }

  #comparison(scope: Scope, depth: number): string {
    const type = this.#comparedType();
    const operator = this.#choices.pick([
      "=",
      "<",
      ">",
      "<>",
      "<=",
      ">=",
      "IS DISTINCT FROM",
      "IS NOT DISTINCT FROM",
    ]);
    const left = this.#choices.chance(70)
      ? this.#leaf(type, scope)
      : this.#expression(type, scope, depth - 1);
    const right = this.#choices.chance(70)
      ? this.#leaf(type, scope)
      : this.#expression(type, scope, depth - 1);
    return `(${left} ${operator} ${right})`;
  }

  #subqueryCondition(scope: Scope, depth: number): string {
    const visible = [...scope.own, ...scope.outer];
    const not = this.#choices.pick(["", "NOT "]);
    const kind = this.#choices.below(this.#dialect === "postgresql" ? 5 : 4);
    if (kind === 0) return `${not}EXISTS (${this.#query(visible, depth - 1, ["int"]).sql})`;
    const type = this.#comparedType();
    const value = this.#expression(type, scope, 0);
    if (kind === 3) {
      const other = this.#expression("int", scope, 0);
      return `((${value}, ${other}) ${not}IN (${this.#query(visible, depth - 1, [type, "int"]).sql}))`;
    }
    const { sql } = this.#query(visible, depth - 1, [type]);
    if (kind === 4) {
      const operator = this.#choices.pick(["=", "<", ">=", "<>"]);
      return `(${value} ${operator} ${this.#choices.pick(["ANY", "ALL"])} (${sql}))`;
    }
    return `(${value} ${not}IN (${sql}))`;
  }

  #modification(): GeneratedStatement {
    const table = this.#choices.pick(this.#tables);
    const columns = table.columns.map(({ name, type }): Column => ({ sql: `${table.name}.${name}`, type }));
    const scope: Scope = { own: columns, outer: [], subqueries: true };
    const makers = [
      () => `DELETE FROM ${table.name} WHERE ${this.#condition(scope, 2)}`,
      () => this.#update(table, scope),
      () => this.#insert(table, scope, ""),
      () => this.#update(table, scope),
      () => this.#insert(table, scope, this.#onConflict(table)),
      () => this.#updateFrom(table, columns),
      ...(this.#dialect === "postgresql" ? [() => this.#deleteUsing(table, columns)] : []),
    ];
    let sql = this.#choices.pick(makers)();
    const returning = this.#choices.chance(30) ? [columns[0], this.#choices.pick(columns)] : [];
    if (returning.length > 0) {
      sql += ` RETURNING ${returning.map((column, index) => `${column?.sql} AS r${index}`).join(", ")}`;
    }
    return {
      kind: "modification",
      sql,
      types: [],
      ordered: false,
      tablesRead: this.#tablesRead,
      returning: returning.map((column) => column?.type ?? "int"),
    };
  }

  /** A value for a column: small where the column is. */
  #assigned(type: GeneratedType, name: string, scope: Scope): string {
    const value = this.#expression(type, scope, 1);
    if (type === "int" && name !== "b") return `(${value}) % 100000`;
    // The column has two digits after the point and ten before it.
    return type === "numeric" ? `(${value}) % 100000` : value;
  }

  #assignments(table: GeneratedTable, scope: Scope): string {
    const changeable = table.columns.filter(({ name }) => name !== "id");
    const changed = changeable.filter(() => this.#choices.chance(40));
    const chosen = changed.length > 0 ? changed : changeable.slice(0, 1);
    return chosen.map(({ name, type }) => `${name} = ${this.#assigned(type, name, scope)}`).join(", ");
  }

  #update(table: GeneratedTable, scope: Scope): string {
    // SQLite looks at rows that the statement has changed already.
    const values = this.#assignments(table, { ...scope, subqueries: this.#dialect !== "sqlite" });
    return `UPDATE ${table.name} SET ${values} WHERE ${this.#condition(scope, 2)}`;
  }

  /** The join finds one row at most, or it would not be determined which one counts. */
  #updateFrom(table: GeneratedTable, columns: readonly Column[]): string {
    const other = this.#source([], 0);
    const scope: Scope = { own: [...columns, ...other.columns], outer: [], subqueries: false };
    const values = this.#assignments(table, scope);
    const key = this.#columnOf("int", columns)?.sql ?? "1";
    const condition = this.#condition(scope, 1);
    return `UPDATE ${table.name} SET ${values} FROM ${other.sql} WHERE ${
      other.columns[0]?.sql
    } = ${key} AND ${condition}`;
  }

  #deleteUsing(table: GeneratedTable, columns: readonly Column[]): string {
    const other = this.#source([], 0);
    const on = this.#joinCondition(columns, other.columns, "JOIN");
    return `DELETE FROM ${table.name} USING ${other.sql} WHERE ${on}`;
  }

  #insert(table: GeneratedTable, { own }: Scope, conflict: string): string {
    const changeable = table.columns.filter(({ name }) => name !== "id");
    const alias = this.#alias();
    const columns = own.map(({ sql, type }): Column => ({ sql: sql.replace(/^[^.]+/, alias), type }));
    const scope: Scope = { own: columns, outer: [], subqueries: true };
    const values = changeable.map(({ name, type }) => this.#assigned(type, name, scope));
    const distance = conflict === "" ? 1000 : this.#choices.pick([0, 1, 5]);
    return `INSERT INTO ${table.name} (id, ${changeable.map(({ name }) => name).join(", ")}) ` +
      `SELECT ${alias}.id + ${distance}, ${values.join(", ")} FROM ${table.name} AS ${alias} WHERE ${
        this.#condition(scope, 2)
      }${conflict}`;
  }

  #onConflict(table: GeneratedTable): string {
    if (this.#choices.chance(30)) return " ON CONFLICT DO NOTHING";
    const both = [table.name, "excluded"].flatMap((name) =>
      table.columns.map((column): Column => ({ sql: `${name}.${column.name}`, type: column.type }))
    );
    const scope: Scope = { own: both, outer: [], subqueries: false };
    const where = this.#choices.chance(30) ? ` WHERE ${this.#condition(scope, 1)}` : "";
    return ` ON CONFLICT (id) DO UPDATE SET ${this.#assignments(table, scope)}${where}`;
  }
}
