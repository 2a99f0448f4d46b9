/**
 * Sources of rows that are not stored: VALUES, set-returning functions and virtual relations.
 */
import type { Plan } from "../../sql/plan/plan.ts";
import type { EvaluationContext } from "../../sql/functions/definition.ts";
import type { Expression } from "../../sql/plan/expression.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import type { Binding, Emitter } from "../codegen/emitter.ts";
import { emitGuards } from "../codegen/condition.ts";
import { emitValue } from "../codegen/expression.ts";
import { isLargeCall } from "../codegen/large_calls.ts";
import { expressionFacts } from "../codegen/plan_analysis.ts";
import { before, InlineRegion, type LoopSource, type Region, rowSink, type Sink } from "../codegen/region.ts";
import { nullableCode } from "../codegen/value_form.ts";
import type { ExecutionState } from "../runtime/execution_state.ts";

/** The binding of an expression that answers a value or null. */
export function nullableBinding(type: SqlType, read: string): Binding {
  return {
    type,
    cheap: true,
    load: (code) => {
      const name = code.define("c", read);
      return { code: name, isNull: `${name} === null` };
    },
  };
}

/** The binding of an expression, evaluated where it is first needed. */
export function expressionBinding(expression: Expression): Binding {
  return { type: expression.type, cheap: false, load: (code) => emitValue(code, expression) };
}

/** Lists with more rows than this are kept as data and looped over. */
const MAX_UNROLLED_LIST_LENGTH = 1;

/** VALUES. */
export function produceValues(plan: Extract<Plan, { kind: "values" }>, region: Region, sink: Sink): void {
  if (plan.list.length <= MAX_UNROLLED_LIST_LENGTH) {
    for (const row of plan.list) {
      region.loop(plan, {
        kind: "single",
        bind: (code) =>
          plan.outputs.forEach((output, index) => {
            const cell = row[index];
            if (cell !== undefined) code.bind(output, expressionBinding(cell));
          }),
      }, sink);
    }
    return;
  }
  if (plan.list.every((row) => row.every(isPlainCell))) {
    region.loop(plan, plainValues(plan), sink);
    return;
  }
  region.loop(plan, {
    kind: "counted",
    atMost: () => plan.list.length,
    count: (code) => {
      const rows = plan.list.map((row) => row.some(hasSubquery) ? "null" : rowCode(code, row));
      code.note(plan, code.define("list", `[${rows.join(", ")}]`));
      return `${plan.list.length}`;
    },
    bind: (code, index) => {
      const cells = code.name("cells");
      code.emit(`let ${cells};`);
      code.block(`switch (${index}) `, "conditional", () => {
        plan.list.forEach((row, number) => {
          if (row.some(hasSubquery)) emitCase(code, { number, row, cells });
        });
        code.emit(`default: ${cells} = ${code.recall<string>(plan)}[${index}]();`);
      });
      plan.outputs.forEach((output, position) => {
        code.bind(
          output,
          nullableBinding(plan.types[position] ?? { kind: "unknown" }, `${cells}[${position}]`),
        );
      });
    },
  }, sink);
}

function hasSubquery(cell: Expression): boolean {
  return expressionFacts(cell).hasSubquery;
}

/** A row with a subquery, which may leave the function and so cannot be in a function of its own. */
function emitCase(
  code: Emitter,
  { number, row, cells }: {
    readonly number: number;
    readonly row: readonly Expression[];
    readonly cells: string;
  },
): void {
  code.block(`case ${number}: `, "conditional", () => {
    const values = row.map((cell) => nullableCode(emitValue(code, cell)));
    code.emit(`${cells} = [${values.join(", ")}];`);
    code.emit("break;");
  });
}

/** Whether a cell can be evaluated without generating code for it. */
function isPlainCell(cell: Expression): boolean {
  switch (cell.kind) {
    case "constant":
    case "parameter":
      return true;
    case "cast":
      return isPlainCell(cell.argument);
    case "call":
      return cell.function.rows === undefined && cell.args.every(isPlainCell);
    default:
      return false;
  }
}

/** Long lists of plain cells stay data: code for each of thousands of rows would take longer than evaluating them. */
function plainValues(plan: Extract<Plan, { kind: "values" }>): LoopSource {
  return {
    kind: "counted",
    atMost: () => plan.list.length,
    count: () => `${plan.list.length}`,
    bind: (code, index) => {
      const row = `${code.use("evaluateCells", evaluateCells)}(S, ${
        code.constant("list", plan.list)
      }[${index}])`;
      const cells = code.define("cells", row);
      plan.outputs.forEach((output, position) => {
        code.bind(
          output,
          nullableBinding(plan.types[position] ?? { kind: "unknown" }, `${cells}[${position}]`),
        );
      });
    },
  };
}

/** The values of a row of plain cells. */
export function evaluateCells(state: ExecutionState, cells: readonly Expression[]): SqlValue[] {
  return cells.map((cell) => evaluateCell(state, cell));
}

function evaluateCell(state: ExecutionState, cell: Expression): SqlValue {
  switch (cell.kind) {
    case "constant":
      return cell.value;
    case "parameter":
      return state.parameters[cell.index] ?? null;
    case "cast": {
      const value = evaluateCell(state, cell.argument);
      if (value === null || cell.cast.identity) return value;
      return isLargeCall(cell.cast, [value])
        ? state.callLarge(cell.cast, value)
        : cell.cast.evaluate(state.evaluation, value);
    }
    case "call": {
      const args = cell.args.map((arg) => evaluateCell(state, arg));
      if (cell.function.strict && args.includes(null)) return null;
      return isLargeCall(cell.function, args)
        ? state.callLarge(cell.function, ...args)
        : cell.function.evaluate(state.evaluation, ...args);
    }
    default:
      return null;
  }
}

/** A function that answers one row, so that each row is evaluated when its turn comes. */
function rowCode(code: Emitter, row: readonly Expression[]): string {
  const { lines, result } = code.capture(
    "conditional",
    () => row.map((cell) => nullableCode(emitValue(code, cell))),
  );
  if (lines.length === 0) return `() => [${result.join(", ")}]`;
  const name = code.name("cells");
  code.emit(`const ${name} = () => {`);
  code.emitLines(lines);
  code.emit(`return [${result.join(", ")}];`);
  code.emit("};");
  return name;
}

/** A virtual relation such as pg_class. */
export function produceVirtualScan(
  plan: Extract<Plan, { kind: "virtual_scan" }>,
  region: Region,
  sink: Sink,
): void {
  const source: LoopSource = {
    kind: "cursor",
    prepare: () => {},
    open: (code) => {
      const relation = code.constant("relation", plan.relation);
      return `(S.context.materialized?.get(${relation}) ?? ${relation}.rows(context))[Symbol.iterator]()`;
    },
    next: (code, cursor, leave) => {
      const item = code.define("item", `${cursor}.next()`);
      code.emit(`if (${item}.done) ${leave}`);
      const row = code.define("values", `${item}.value`);
      for (const column of plan.columns) {
        code.bind(column.output, nullableBinding(column.type, `${row}[${column.position}]`));
      }
    },
  };
  const filtered = plan.filter === null ? sink : before(sink, (code) => {
    if (plan.filter !== null) emitGuards(code, plan.filter);
    sink.row(code);
  });
  region.loop(plan, source, filtered);
}

type FunctionScan = Extract<Plan, { kind: "function_scan" }>;
type RowsFunction = (context: EvaluationContext, ...args: SqlValue[]) => Iterable<readonly SqlValue[]>;

const noRows: readonly (readonly SqlValue[])[] = [];

/** Several set-returning functions in step, for one input row. */
export class FunctionCursor {
  readonly #iterators: readonly (Iterator<readonly SqlValue[]> | null)[];
  /** The current row of each function; null: it has ended. */
  readonly current: (readonly SqlValue[] | null)[];
  ordinality = 0;

  constructor(iterables: readonly Iterable<readonly SqlValue[]>[]) {
    this.#iterators = iterables.map((iterable) => iterable[Symbol.iterator]());
    this.current = iterables.map(() => noRows[0] ?? null);
  }

  /** Advances all; false when all have ended. */
  next(): boolean {
    let more = false;
    for (let index = 0; index < this.#iterators.length; index++) {
      const iterator = this.#iterators[index];
      const item = iterator === null || iterator === undefined ? undefined : iterator.next();
      if (item === undefined || item.done === true) {
        this.current[index] = null;
        (this.#iterators as (Iterator<readonly SqlValue[]> | null)[])[index] = null;
      } else {
        this.current[index] = item.value;
        more = true;
      }
    }
    this.ordinality++;
    return more;
  }
}

function makeFunctionCursor(iterables: readonly Iterable<readonly SqlValue[]>[]): FunctionCursor {
  return new FunctionCursor(iterables);
}

/** Set-returning functions, with or without an input. */
export function produceFunctionScan(plan: FunctionScan, region: Region, sink: Sink): void {
  const source: LoopSource = {
    kind: "cursor",
    prepare: () => {},
    open: (code) => functionCursorCode(code, plan),
    next: (code, cursor, leave) => {
      code.emit(`if (!${cursor}.next()) ${leave}`);
      bindFunctionRow(code, plan, cursor);
    },
  };
  if (plan.input === null) {
    region.loop(plan, source, sink);
    return;
  }
  region.produce(
    plan.input,
    before(sink, (code) => {
      new InlineRegion(code).loop(plan, source, rowSink((inner) => sink.row(inner)));
    }),
  );
}

function functionCursorCode(code: Emitter, plan: FunctionScan): string {
  const iterables = plan.functions.map((call) => {
    const args = call.args.map((arg) => emitValue(code, arg));
    const rows: RowsFunction = call.function.rows ?? (() => noRows);
    const open = `${code.use(call.function.name, rows)}(${
      ["context", ...args.map(nullableCode)].join(", ")
    })`;
    const tests = call.function.strict ? args.flatMap((arg) => arg.isNull === null ? [] : [arg.isNull]) : [];
    return tests.length === 0
      ? open
      : `((${tests.join(" || ")}) ? ${code.constant("noRows", noRows)} : ${open})`;
  });
  return `${code.use("makeFunctionCursor", makeFunctionCursor)}([${iterables.join(", ")}])`;
}

function bindFunctionRow(code: Emitter, plan: FunctionScan, cursor: string): void {
  plan.functions.forEach((call, position) => {
    const row = code.define("values", `${cursor}.current[${position}]`);
    call.outputs.forEach((output, index) => {
      const type = call.function.rowColumns?.[index]?.type ?? call.function.returnType;
      code.bind(output, nullableBinding(type, `${row} === null ? null : ${row}[${index}]`));
    });
  });
  if (plan.ordinality !== null) {
    code.bind(plan.ordinality, {
      type: { kind: "i64" },
      cheap: true,
      load: (code) => ({ code: code.define("o", `${cursor}.ordinality`), isNull: null, plain: true }),
    });
  }
}
