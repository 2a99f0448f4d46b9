/**
 * Code of long expressions: {@link LongTerms}. They are cut into parts of some hundred terms, each a function
 * of its own. V8 takes milliseconds to compile one, so parts are interpreted until they have been asked some times, and
 * then compiled one by one, with time for others in between.
 */
import { gas } from "../../base/gas.ts";
import { evaluate } from "../../sql/binder/evaluate.ts";
import { constant } from "../../sql/plan/build.ts";
import type { ColumnRef, Expression } from "../../sql/plan/expression.ts";
import type { LongTerms } from "../../sql/plan/long_terms.ts";
import { SqlArray } from "../../types/sql_array.ts";
import type { SqlValue } from "../../types/value.ts";
import type { ExecutionState } from "../runtime/execution_state.ts";
import type { Compilation } from "./compilation.ts";
import { Emitter, type Value } from "./emitter.ts";
import { nullableCode } from "./value_form.ts";

/** How long parts are, and how often they are interpreted; tests change it. */
export const termParts = { length: 256, interpretedTimes: 8 };

/** Parts that are interpreted between two that are compiled. */
const PARTS_BETWEEN = 32;
/** What compiling one is worth, in steps. */
const COMPILE_STEPS = 10_000;
/** Terms of compiled code that are worth a step. */
const TERMS_PER_STEP = 16;

type EmitValue = (code: Emitter, expression: Expression) => Value;
type Evaluate = (values: readonly SqlValue[]) => SqlValue;

/** Emits a call of them. */
export function emitLongTerms(
  code: Emitter,
  terms: LongTerms,
  args: readonly Value[],
  emitValue: EmitValue,
): Value {
  const { compilation } = code;
  const parts = code.constant(
    "terms",
    compilation.made(terms, () => new Parts(compilation, terms, emitValue)),
  );
  const slot = `S.x[${compilation.slotFor(terms)}]`;
  const result = code.define("c", `(${slot} ??= ${parts}.start(S))([${args.map(nullableCode).join(", ")}])`);
  if (!code.isMetered) {
    code.hasTurns = true;
    code.turn(`${code.constant("gas", gas)}.isTurnDue`);
  }
  return { code: result, isNull: `${result} === null` };
}

interface Part {
  readonly expression: Expression;
  readonly length: number;
  /** How often it was interpreted. */
  asked: number;
  make: ((state: ExecutionState) => Evaluate) | null;
}

/** The parts of one expression, which all executions share. */
class Parts {
  readonly #compilation: Compilation;
  readonly #terms: LongTerms;
  readonly #emitValue: EmitValue;
  readonly #parts: readonly Part[];
  #interpreted = 0;

  constructor(compilation: Compilation, terms: LongTerms, emitValue: EmitValue) {
    this.#compilation = compilation;
    this.#terms = terms;
    this.#emitValue = emitValue;
    this.#parts = partsOf(terms.expression).map(([expression, length]) => ({
      expression,
      length,
      asked: 0,
      make: null,
    }));
  }

  /** What evaluates the expression in an execution, given the values of its columns. */
  start(state: ExecutionState): Evaluate {
    const { expression, columns } = this.#terms;
    const made: (Evaluate | undefined)[] = [];
    const row = new Map<ColumnRef, SqlValue>();
    const valueOf = (index: number, values: readonly SqlValue[]): SqlValue => {
      const part = this.#parts[index] as Part;
      const compiled = made[index] ?? (this.#isDue(part) ? made[index] = this.#make(part)(state) : undefined);
      gas.chargeDone(compiled === undefined ? part.length : part.length / TERMS_PER_STEP);
      return compiled === undefined ? evaluate(part.expression, state.evaluation, row) : compiled(values);
    };
    const count = this.#parts.length;
    return (values) => {
      for (let index = 0; index < columns.length; index++) {
        row.set(columns[index] as ColumnRef, values[index] ?? null);
      }
      switch (expression.kind) {
        case "case":
          for (let index = 0; index < count; index++) {
            const branch = valueOf(index, values);
            if (branch === null) continue;
            const chosen = expression.branches[Number(branch)];
            return chosen === undefined ? null : evaluate(chosen.then, state.evaluation, row);
          }
          return expression.otherwise === null ? null : evaluate(expression.otherwise, state.evaluation, row);
        case "coalesce":
          for (let index = 0; index < count; index++) {
            const value = valueOf(index, values);
            if (value !== null) return value;
          }
          return null;
        case "array": {
          const elements: SqlValue[] = [];
          for (let index = 0; index < count; index++) {
            const some = valueOf(index, values);
            if (some instanceof SqlArray) { for (const element of some.elements) elements.push(element); }
          }
          return SqlArray.of(elements);
        }
        default: {
          const decisive = expression.kind === "or" || expression.kind === "in_list" && !expression.negated;
          let result: boolean | null = !decisive;
          for (let index = 0; index < count; index++) {
            const value = valueOf(index, values);
            if (value === decisive) return decisive;
            if (value === null) result = null;
          }
          return result;
        }
      }
    };
  }

  /** Whether the part is to be compiled now. */
  #isDue(part: Part): boolean {
    if (part.make !== null) return true;
    this.#interpreted++;
    return ++part.asked > termParts.interpretedTimes && this.#interpreted > PARTS_BETWEEN;
  }

  #make(part: Part): (state: ExecutionState) => Evaluate {
    if (part.make !== null) return part.make;
    this.#interpreted = 0;
    gas.chargeDone(COMPILE_STEPS);
    const code = new Emitter(this.#compilation);
    code.block("return (values) => ", "row", () => {
      this.#terms.columns.forEach((column, index) => {
        const load = (code: Emitter): Value => {
          const name = code.define("c", `values[${index}]`);
          return { code: name, isNull: `${name} === null` };
        };
        code.bind(column, { type: this.#compilation.typeOf(column), cheap: false, load });
      });
      code.emit(`return ${nullableCode(this.#emitValue(code, part.expression))};`);
    });
    const make = code.compile<(state: ExecutionState) => Evaluate>(code.source("long_terms", "S"));
    part.make = make;
    return make;
  }
}

/** The parts with the number of terms of each; those of CASE give the number of the branch that is chosen. */
function partsOf(expression: Expression): (readonly [Expression, number])[] {
  const cut = <T>(terms: readonly T[], of: (some: readonly T[], from: number) => Expression) => {
    const parts: (readonly [Expression, number])[] = [];
    for (let from = 0; from < terms.length; from += termParts.length) {
      const some = terms.slice(from, from + termParts.length);
      parts.push([of(some, from), some.length]);
    }
    return parts;
  };
  switch (expression.kind) {
    case "and":
    case "or":
    case "coalesce":
      return cut(expression.args, (args) => ({ ...expression, args }));
    case "in_list":
      return cut(expression.list, (list) => ({ ...expression, list }));
    case "array":
      return cut(expression.elements, (elements) => ({ ...expression, elements }));
    case "case": {
      const type = { kind: "i32" } as const;
      return cut(expression.branches, (some, from) => ({
        kind: "case",
        type,
        branches: some.map(({ when }, index) => ({ when, then: constant(type, from + index) })),
        otherwise: null,
      }));
    }
    default:
      return [[expression, 1]];
  }
}
