/**
 * Questions about the tables that live long, one of each way in which plans read: keys, ranges, orders, joins,
 * groups, windows.
 */
import type { Choices } from "../choices.ts";
import type { Column, Table } from "./table_shapes.ts";

/** A question; `isOrdered`: the order of its rows is told. */
export interface Query {
  readonly sql: string;
  readonly isOrdered: boolean;
}

/** A column to group by. Which of equal values stands for its group, 1.5 or 1.50 and 0 or -0, nobody promises. */
function keyOf({ name, type }: Column): string {
  if (type.sql === "numeric") return `trim_scale(${name})`;
  return type.sql === "double precision" ? `${name} + 0` : name;
}

/** Makes conditions and questions. */
export class LifeQueries {
  readonly #choices: Choices;
  /** How old the tables are. */
  age = 0;

  constructor(choices: Choices) {
    this.#choices = choices;
  }

  /** A literal of a column's type, or NULL. */
  value(column: Column, nulls = 15): string {
    if (this.#choices.chance(nulls)) return "NULL";
    return column.type.literal(this.#choices, this.age);
  }

  column(table: Table): Column {
    return this.#choices.pick([table.key, ...table.columns]);
  }

  /** A condition over a table, of which no part can fail. */
  condition(table: Table, prefix = ""): string {
    const choices = this.#choices;
    if (choices.chance(25)) {
      const connective = choices.pick(["AND", "OR", "AND NOT"]);
      return `(${this.#term(table, prefix)} ${connective} ${this.#term(table, prefix)})`;
    }
    return this.#term(table, prefix);
  }

  #term(table: Table, prefix: string): string {
    const choices = this.#choices;
    const column = choices.chance(35) ? table.key : this.column(table);
    const name = prefix + column.name;
    const value = () => this.value(column, 3);
    switch (choices.below(8)) {
      case 0:
        return `${name} = ${value()}`;
      case 1:
        return `${name} ${choices.pick(["<", "<=", ">", ">=", "<>"])} ${value()}`;
      case 2:
        return `${name} BETWEEN ${value()} AND ${value()}`;
      case 3:
        return `${name} IN (${value()}, ${value()}, ${value()})`;
      case 4:
        return `${name} IS ${choices.pick(["NULL", "NOT NULL"])}`;
      case 5:
        return `${name} IS ${choices.pick(["DISTINCT", "NOT DISTINCT"])} FROM ${value()}`;
      case 6:
        return column.type.sql === "text" || column.type.sql === "varchar(8)"
          ? `${name} LIKE '${choices.pick(["k1%", "%1", "k_", "%"])}'`
          : `(${name} >= ${value()} AND ${name} < ${value()})`;
      default:
        return `(${name} = ${value()}) IS ${choices.pick(["TRUE", "NOT TRUE", "UNKNOWN"])}`;
    }
  }

  #where(table: Table, prefix = "", percent = 60): string {
    return this.#choices.chance(percent) ? ` WHERE ${this.condition(table, prefix)}` : "";
  }

  #aggregates(table: Table, prefix = ""): string {
    const terms = ["count(*)"];
    for (const { name, type } of [table.key, ...table.columns]) {
      if (!this.#choices.chance(50)) continue;
      const term = prefix + name;
      terms.push(`count(${term})`);
      if (type.hasBounds) terms.push(`min(${term})`, `max(${term})`);
      if (type.isExact) terms.push(`sum(${term})`);
      if (this.#choices.chance(30)) terms.push(`count(DISTINCT ${term})`);
    }
    return terms.join(", ");
  }

  #order(column: Column, prefix = ""): string {
    const direction = this.#choices.pick(["", " DESC", " NULLS FIRST", " DESC NULLS LAST"]);
    return `${prefix}${column.name}${direction}`;
  }

  /** All of a table. */
  whole(table: Table): Query {
    return { sql: `SELECT * FROM ${table.name}`, isOrdered: false };
  }

  /** Two columns of one type, of two tables. */
  #pair(tables: readonly Table[]): { left: Table; right: Table; on: string; columns: [Column, Column] } {
    const left = this.#choices.pick(tables), right = this.#choices.pick(tables);
    const pairs = [left.key, ...left.columns].flatMap((one) =>
      [right.key, ...right.columns].filter((other) => other.type.sql === one.type.sql)
        .map((other): [Column, Column] => [one, other])
    );
    const columns = pairs.length === 0
      ? [left.key, right.key] as [Column, Column]
      : this.#choices.pick(pairs);
    const on = pairs.length === 0 ? `a.k::text = b.k::text` : `a.${columns[0].name} = b.${columns[1].name}`;
    return { left, right, on, columns };
  }

  /** A question about some of the tables. */
  next(tables: readonly Table[]): Query {
    const choices = this.#choices;
    const table = choices.pick(tables);
    const { name } = table;
    const column = this.column(table);
    const bag = (sql: string): Query => ({ sql, isOrdered: false });
    const list = (sql: string): Query => ({ sql, isOrdered: true });
    switch (choices.below(16)) {
      case 0:
        return bag(`SELECT * FROM ${name}${this.#where(table, "", 100)}`);
      case 1:
        return bag(`SELECT ${this.#aggregates(table)} FROM ${name}${this.#where(table)}`);
      case 2: {
        const limit = choices.pick(["", " LIMIT 5", " LIMIT 3 OFFSET 4", " OFFSET 2"]);
        return list(`SELECT * FROM ${name}${this.#where(table)} ORDER BY ${this.#order(column)}, k${limit}`);
      }
      case 3: {
        const key = choices.chance(70) ? keyOf(column) : `${keyOf(column)}, ${keyOf(this.column(table))}`;
        const having = choices.chance(20) ? " HAVING count(*) > 1" : "";
        return bag(
          `SELECT ${key}, ${this.#aggregates(table)} FROM ${name}${
            this.#where(table)
          } GROUP BY ${key}${having}`,
        );
      }
      case 4: {
        const { left, right, on } = this.#pair(tables);
        const kind = choices.pick(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]);
        return bag(
          `SELECT a.k, b.k FROM ${left.name} a ${kind} ${right.name} b ON ${on}${
            this.#where(left, "a.", 40)
          }`,
        );
      }
      case 5: {
        const { left, right, on, columns } = this.#pair(tables);
        const inner = `SELECT b.${columns[1].name} FROM ${right.name} b${this.#where(right, "b.", 40)}`;
        return bag(
          choices.pick([
            `SELECT a.k FROM ${left.name} a WHERE EXISTS (SELECT 1 FROM ${right.name} b WHERE ${on})`,
            `SELECT a.k FROM ${left.name} a WHERE NOT EXISTS (SELECT 1 FROM ${right.name} b WHERE ${on})`,
            ...(columns[0].type === columns[1].type
              ? [
                `SELECT a.k FROM ${left.name} a WHERE a.${columns[0].name} IN (${inner})`,
                `SELECT a.k FROM ${left.name} a WHERE a.${columns[0].name} NOT IN (${inner})`,
              ]
              : []),
          ]),
        );
      }
      case 6: {
        const other = this.column(table).name;
        const frame = choices.pick(["", " ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"]);
        return bag(
          `SELECT k, row_number() OVER w, lag(k) OVER w, count(${other}) OVER (PARTITION BY ${column.name} ` +
            `ORDER BY ${other}, k${frame}) FROM ${name}${this.#where(table, "", 40)} ` +
            `WINDOW w AS (PARTITION BY ${column.name} ORDER BY ${this.#order(this.column(table))}, k)`,
        );
      }
      case 7:
        return bag(`SELECT count(*) FROM (SELECT DISTINCT ${column.name} FROM ${name}) AS d`);
      case 8: {
        if (!column.type.hasBounds) return this.whole(table);
        const side = choices.pick(["min", "max"]);
        return bag(`SELECT ${side}(${column.name}) FROM ${name}${this.#where(table, "", 50)}`);
      }
      case 9: {
        const { left, right, on } = this.#pair(tables);
        return bag(
          `SELECT a.k, (SELECT max(b.k) FROM ${right.name} b WHERE ${on}) FROM ${left.name} a` +
            this.#where(left, "a.", 50),
        );
      }
      case 10:
        return list(
          `SELECT k, ${column.name} FROM ${name} ORDER BY k${choices.pick([" DESC", ""])} LIMIT ${
            1 + choices.below(4)
          }`,
        );
      case 11: {
        const { left, right, on, columns } = this.#pair(tables);
        return bag(
          `SELECT a.k, l.k FROM ${left.name} a CROSS JOIN LATERAL (SELECT b.k FROM ${right.name} b WHERE ${on} ` +
            `ORDER BY b.${columns[1].name}, b.k LIMIT 2) AS l${this.#where(left, "a.", 40)}`,
        );
      }
      case 12: {
        const operator = choices.pick(["UNION", "EXCEPT", "INTERSECT", "UNION ALL", "EXCEPT ALL"]);
        return bag(
          `SELECT k FROM ${name}${this.#where(table, "", 90)} ${operator} ` +
            `SELECT k FROM ${name}${this.#where(table, "", 90)}`,
        );
      }
      case 13: {
        const computed = table.computed[0];
        if (computed === undefined) return this.whole(table);
        return bag(`SELECT ${computed}, count(*) FROM ${name} GROUP BY ${computed}`);
      }
      case 14: {
        const number = table.columns.find(({ type }) => type.isNumber);
        if (number === undefined) return this.whole(table);
        const terms = choices.pick([
          "x + x",
          "x * x",
          "x + 1",
          "-x",
          "x % 7",
          "x * 1.5",
          "x::text",
          "abs(x)",
        ]);
        return bag(`SELECT k, ${terms.replaceAll("x", number.name)} FROM ${name}`);
      }
      default:
        return list(
          `SELECT DISTINCT ON (${column.name}) ${column.name}, k FROM ${name}${this.#where(table, "", 40)} ` +
            `ORDER BY ${column.name}, k`,
        );
    }
  }
}
