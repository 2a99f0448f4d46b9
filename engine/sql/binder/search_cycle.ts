/**
 * SEARCH and CYCLE of a recursive query: columns that every round computes in addition to its own, from those of the
 * row that it went out from. The rows' way (depth first) or depth (breadth first) sorts them, and a row that comes to
 * a place for the second time is marked and not gone on from.
 *
 * The first term gives the columns their first values. The recursive term hands on those of the row that it reads,
 * and here they are replaced by the next ones.
 */
import { SQLSTATE, type SqlState } from "../../base/errors.ts";
import type { CommonTable, Expression as Ast, QueryBody } from "../parser/ast.ts";
import { isNullable } from "../plan/build.ts";
import type { Expression } from "../plan/expression.ts";
import type { Binding } from "./binding.ts";
import { requireEquality } from "./call_binder.ts";
import { coerceCondition, coerceImplicit, commonTypeOf, settle } from "./coercion.ts";
import { bindExpression } from "./expression_binder.ts";
import { type BoundQuery, type OutputColumn, outputReference } from "./bound_query.ts";
import { QueryLevel } from "./scope.ts";

/** A column that is added, and how its values come about. */
interface AddedColumn {
  readonly name: string;
  readonly first: Ast;
  readonly next: Ast;
}

/**
 * SEARCH and CYCLE of a recursive query: columns that every round computes in addition to its own, from those of the
 * row that it went out from.
 */
export class SearchCycle {
  readonly #binding: Binding;
  readonly #added: readonly AddedColumn[];
  /** Which rows are gone on from. */
  readonly #goesOn: Ast | null;
  readonly #item: CommonTable;
  readonly #width: number;

  /** `names`: the columns of the query itself. */
  constructor(binding: Binding, item: CommonTable, names: readonly string[]) {
    this.#binding = binding;
    this.#item = item;
    this.#width = names.length;
    this.#check(names);
    const { search, cycle } = item;
    const added: AddedColumn[] = [];
    const placeOf = (name: string) => column(names.indexOf(name));
    if (search !== null) {
      const keys = search.columns.map(placeOf);
      const own = column(this.#width);
      added.push({
        name: search.sequence,
        first: search.depthFirst ? array(row(keys)) : row([zero(), ...keys]),
        next: search.depthFirst
          ? binary("||", own, array(row(keys)))
          : row([binary("+", field(own, "f1"), number("1")), ...keys]),
      });
    }
    if (cycle !== null) {
      const keys = cycle.columns.map(placeOf);
      const mark = column(this.#width + added.length), path = column(this.#width + added.length + 1);
      const isKnown: Ast = {
        kind: "quantified",
        quantifier: "any",
        operator: "=",
        schema: null,
        operand: row(keys),
        query: null,
        array: path,
        position: 0,
      };
      const { value, otherwise } = cycle;
      const marked: Ast = {
        kind: "case",
        operand: null,
        branches: [{ condition: isKnown, result: value }],
        otherwise,
        position: 0,
      };
      added.push({ name: cycle.mark, first: otherwise, next: marked });
      added.push({ name: cycle.path, first: array(row(keys)), next: binary("||", path, array(row(keys))) });
      this.#goesOn = binary("<>", mark, value);
    } else this.#goesOn = null;
    this.#added = added;
  }

  /** The names of the columns that are added. */
  get names(): readonly string[] {
    return this.#added.map(({ name }) => name);
  }

  /** The rows of the first term with the first values. */
  first(query: BoundQuery): BoundQuery {
    const level = this.#levelOver(query);
    const values = this.#added.map(({ name, first }) => {
      const value = bindExpression(this.#binding, level, first);
      return name === this.#item.cycle?.mark ? this.#asMark(level, value) : settle(this.#binding, value);
    });
    return this.#withColumns(query, values);
  }

  /** The rows of the recursive term, which carry the values of the rows they come from, with the next ones. */
  next(query: BoundQuery): BoundQuery {
    const level = this.#levelOver(query);
    const values = this.#added.map(({ next }, index) => {
      const before = query.columns[this.#width + index];
      const value = bindExpression(this.#binding, level, next);
      return before === undefined ? value : coerceImplicit(this.#binding, value, before.type);
    });
    const goesOn = this.#goesOn === null
      ? null
      : coerceCondition(this.#binding, bindExpression(this.#binding, level, this.#goesOn), "CYCLE");
    const source: BoundQuery = goesOn === null
      ? query
      : { ...query, plan: { kind: "filter", input: query.plan, condition: goesOn, rows: 0 } };
    return this.#withColumns(source, values);
  }

  /** The mark of a row that is no cycle, in the type that both marks have. */
  #asMark(level: QueryLevel, otherwise: Expression): Expression {
    const { cycle } = this.#item;
    if (cycle === null) return otherwise;
    const value = bindExpression(this.#binding, level, cycle.value);
    const positions = [cycle.value.position, cycle.otherwise.position];
    const type = commonTypeOf(this.#binding, [value.type, otherwise.type], "CYCLE", positions);
    requireEquality(this.#binding, type, cycle.value.position);
    return coerceImplicit(this.#binding, otherwise, type, cycle.otherwise.position);
  }

  #levelOver(query: BoundQuery): QueryLevel {
    const level = new QueryLevel(null, null);
    const columns = query.columns.map((each, index) => ({
      name: String(index),
      expression: outputReference(each),
      tableId: 0,
      columnId: 0,
    }));
    level.from = { tables: [], columns };
    return level;
  }

  #withColumns(query: BoundQuery, values: readonly Expression[]): BoundQuery {
    const kept = query.columns.slice(0, this.#width);
    const outputs = [...kept.map(outputReference), ...values].map((expression) => ({
      output: this.#binding.newColumn(),
      expression,
    }));
    const columns = outputs.map(({ output, expression }, index): OutputColumn => ({
      name: kept[index]?.name ?? this.#added[index - this.#width]?.name ?? "",
      column: output,
      type: expression.type,
      nullable: isNullable(expression),
      tableId: 0,
      columnId: 0,
    }));
    return { ...query, plan: { kind: "project", input: query.plan, outputs, rows: 0 }, columns };
  }

  #check(names: readonly string[]): void {
    const { search, cycle } = this.#item;
    const body = this.#item.statement.kind === "query" ? this.#item.statement.body : null;
    if (body?.kind === "set_operation") {
      if (isSetOperation(body.left)) this.#refuseSide("left");
      if (isSetOperation(body.right)) this.#refuseSide("right");
    }
    const listed = (what: string, columns: readonly string[], position: number) => {
      const seen = new Set<string>();
      for (const name of columns) {
        if (!names.includes(name)) {
          throw this.#error(`${what} column "${name}" not in WITH query column list`, position);
        }
        if (seen.has(name)) {
          throw this.#error(
            `${what} column "${name}" specified more than once`,
            position,
            SQLSTATE.duplicateColumn,
          );
        }
        seen.add(name);
      }
    };
    const isNew = (what: string, name: string, position: number) => {
      if (!names.includes(name)) return;
      throw this.#error(`${what} column name "${name}" already used in WITH query column list`, position);
    };
    const differs = (one: string, name: string, other: string, second: string, position: number) => {
      if (name !== second) return;
      throw this.#error(`${one} column name and ${other} column name are the same`, position);
    };
    if (search !== null) {
      listed("search", search.columns, search.position);
      isNew("search sequence", search.sequence, search.position);
    }
    if (cycle === null) return;
    listed("cycle", cycle.columns, cycle.position);
    isNew("cycle mark", cycle.mark, cycle.position);
    isNew("cycle path", cycle.path, cycle.position);
    differs("cycle mark", cycle.mark, "cycle path", cycle.path, cycle.position);
    if (search === null) return;
    differs("search sequence", search.sequence, "cycle mark", cycle.mark, search.position);
    differs("search sequence", search.sequence, "cycle path", cycle.path, search.position);
  }

  /** With PostgreSQL's codes, which are not the same for both sides. */
  #refuseSide(side: "left" | "right"): never {
    throw this.#error(
      `with a SEARCH or CYCLE clause, the ${side} side of the UNION must be a SELECT`,
      undefined,
      side === "left" ? SQLSTATE.featureNotSupported : SQLSTATE.syntaxError,
    );
  }

  #error(message: string, position?: number, code: SqlState = SQLSTATE.syntaxError): Error {
    return this.#binding.error(code, message, position);
  }
}

function isSetOperation(body: QueryBody): boolean {
  return body.kind === "set_operation" || (body.kind === "query" && isSetOperation(body.body));
}

function column(index: number): Ast {
  return { kind: "column", parts: [String(index)], position: 0 };
}

function row(items: readonly Ast[]): Ast {
  return { kind: "row", explicit: true, items, position: 0 };
}

function array(item: Ast): Ast {
  return { kind: "array", items: [item], position: 0 };
}

function field(operand: Ast, name: string): Ast {
  return { kind: "field", operand, field: name, position: 0 };
}

function binary(operator: string, left: Ast, right: Ast): Ast {
  return { kind: "binary", operator, schema: null, left, right, position: 0 };
}

function number(text: string): Ast {
  return { kind: "literal", type: "integer", text, literalIndex: null, position: 0 };
}

/** The depth of the first rows, a bigint. */
function zero(): Ast {
  const type = {
    name: ["int8"],
    modifiers: [],
    arrayDimensions: 0,
    setOf: false,
    intervalFields: null,
    position: 0,
  };
  return { kind: "cast", operand: number("0"), type, position: 0 };
}
