/**
 * Generated code of subqueries in expressions.
 *
 * A subquery that does not depend on the row is evaluated at most once, when it is first needed. Others become loops
 * where they are needed, with the row's columns in scope; those that depend on one column only remember their results.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { Expression } from "../../sql/plan/expression.ts";
import { SqlArray } from "../../types/sql_array.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import type { Emitter, Value } from "./emitter.ts";
import {
  arrayOfArrays,
  emitCall,
  emitValue,
  isOwnKey,
  setMembership,
  valueKey,
  type ValueSet,
} from "./expression.ts";
import type { ExecutionState } from "../runtime/execution_state.ts";
import { KeptKeys } from "../runtime/kept_keys.ts";
import type { MemoryUser } from "../runtime/memory_user.ts";
import { slotObject } from "../runtime/slot_object.ts";
import { planFacts } from "./plan_analysis.ts";
import { InlineRegion, Program, type Region, type Sink } from "./region.ts";
import { anyNull, nullableCode } from "./value_form.ts";

type Of<K extends Expression["kind"]> = Extract<Expression, { kind: K }>;
type Subquery = Of<"scalar_subquery" | "any_subquery" | "all_subquery" | "array_subquery">;

/** Emits a subquery's value. */
export function emitSubquery(code: Emitter, expression: Subquery): Value {
  switch (expression.kind) {
    case "scalar_subquery":
      return emitSingle(code, expression, scalarParts(expression));
    case "array_subquery":
      return emitSingle(code, expression, arrayParts(expression));
    case "any_subquery":
    case "all_subquery":
      return emitQuantified(code, expression);
  }
}

/** The condition of [NOT] EXISTS. */
export function emitExists(code: Emitter, expression: Of<"exists">): string {
  const value = emitSingle(code, expression, existsParts(expression));
  return expression.negated ? `!${value.code}` : value.code;
}

/** Emits whether what is put into a region has a row; its loops end at the first. */
export function emitAnyRow(code: Emitter, produce: (region: InlineRegion, sink: Sink) => void): string {
  const { compilation } = code;
  const stopped = compilation.newSlot();
  const found = code.name("found");
  const label = {};
  code.emit(`let ${found} = false;`);
  code.emit(`S.x[${stopped}] = false;`);
  produce(new InlineRegion(code).until(stopped), {
    open: (code) => void code.note(label, code.loopLabel),
    row: (code) => {
      code.emit(`${found} = true;`);
      code.emit(`S.x[${stopped}] = true;`);
      code.emit(`break ${code.recall<string>(label)};`);
    },
    close: () => {},
  });
  return found;
}

/** How the rows of a subquery become one value, which is in a slot: undefined until it is known. */
interface ResultParts {
  /** What the slot holds when there is no row. */
  readonly initial: string;
  readonly row: (code: Emitter, slot: number) => void;
  /** Whether the first row decides. */
  readonly stopsAtFirst: boolean;
  readonly nullable: boolean;
}

/** 21000. */
export function moreThanOneRow(): never {
  throw new DatabaseError(
    SQLSTATE.cardinalityViolation,
    "more than one row returned by a subquery used as an expression",
  );
}

function scalarParts(expression: Of<"scalar_subquery">): ResultParts {
  return {
    initial: "null",
    stopsAtFirst: false,
    nullable: true,
    row: (code, slot) => {
      const seen = code.constant("noRow", NO_ROW_YET);
      code.emit(`if (S.x[${slot}] !== ${seen}) ${code.use("moreThanOneRow", moreThanOneRow)}();`);
      code.emit(`S.x[${slot}] = ${nullableCode(code.column(expression.column))};`);
    },
  };
}

function existsParts(_expression: Of<"exists">): ResultParts {
  return {
    initial: "false",
    stopsAtFirst: true,
    nullable: false,
    row: (code, slot) => code.emit(`S.x[${slot}] = true;`),
  };
}

/** What an element takes, besides its text, while the array is collected. */
const BYTES_PER_ELEMENT = 32;

/** The array of collected elements, which is one value of a row then. */
export function collectedArray(state: ExecutionState, elements: readonly SqlValue[]): SqlArray {
  state.charge(-elements.length * BYTES_PER_ELEMENT);
  return elements.some((element) => element instanceof SqlArray)
    ? arrayOfArrays(elements as SqlArray[])
    : SqlArray.of(elements);
}

function arrayParts(expression: Of<"array_subquery">): ResultParts {
  return {
    initial: "EMPTY",
    stopsAtFirst: false,
    nullable: false,
    row: (code, slot) => {
      const seen = code.constant("noRow", NO_ROW_YET);
      code.emit(`if (S.x[${slot}] === ${seen}) S.x[${slot}] = [];`);
      code.emit(
        `S.charge(${BYTES_PER_ELEMENT}); S.x[${slot}].push(${nullableCode(code.column(expression.column))});`,
      );
    },
  };
}

/** Stands in the slot of a subquery that has begun and has seen no row. */
const NO_ROW_YET: object = { noRow: true };

function emitSingle(
  code: Emitter,
  expression: Exclude<Subquery, Of<"any_subquery" | "all_subquery">> | Of<"exists">,
  parts: ResultParts,
): Value {
  const { compilation } = code;
  const { plan } = expression;
  const finish = (emitter: Emitter, slot: number): string => {
    const seen = emitter.constant("noRow", NO_ROW_YET);
    const isArray = expression.kind === "array_subquery";
    const empty = isArray ? emitter.constant("emptyArray", SqlArray.EMPTY) : parts.initial;
    const made = isArray
      ? `${emitter.use("collectedArray", collectedArray)}(S, S.x[${slot}])`
      : `S.x[${slot}]`;
    return `S.x[${slot}] === ${seen} ? ${empty} : ${made}`;
  };
  if (compilation.runsOnce(plan)) {
    const made = compilation.made(compilation.derivedKey(expression, "program"), () => {
      const slot = compilation.newSlot();
      const done = compilation.newSlot();
      const stopped = compilation.newSlot();
      const program = new Program(compilation, { reruns: false });
      program.once(plan, (code) => code.emit(`S.x[${slot}] = ${code.constant("noRow", NO_ROW_YET)};`));
      (parts.stopsAtFirst ? program.until(stopped) : program).produce(plan, resultSink(parts, slot, stopped));
      program.once(plan, (code) => code.emit(`S.x[${slot}] = ${finish(code, slot)};`));
      return { slot, done, program };
    });
    code.subplan(made.done, made.program.pipelines, false);
    return slotValue(code, made.slot, parts.nullable);
  }
  const slot = compilation.newSlot();
  const compute = () => {
    code.emit(`S.x[${slot}] = ${code.constant("noRow", NO_ROW_YET)};`);
    if (parts.stopsAtFirst) {
      const found = emitAnyRow(code, (region, sink) => region.produce(plan, sink));
      code.emit(`S.x[${slot}] = ${found};`);
      return;
    }
    new InlineRegion(code).produce(plan, resultSink(parts, slot, -1));
    code.emit(`S.x[${slot}] = ${finish(code, slot)};`);
  };
  const memoKey = memoColumn(code, plan);
  if (memoKey === null) {
    code.block("", "conditional", compute);
    return slotValue(code, slot, parts.nullable);
  }
  const memoSlot = compilation.slotFor(compilation.derivedKey(expression, "memo"));
  const memo = code.define("memo", `S.x[${memoSlot}] ?? (S.x[${memoSlot}] = new Map())`);
  code.emit(`S.x[${slot}] = ${memo}.get(${memoKey});`);
  code.block(`if (S.x[${slot}] === undefined) `, "conditional", () => {
    compute();
    const hasRoom = `${memo}.size < ${MEMO_ENTRIES} && !S.isHalfFull`;
    code.emit(`if (${hasRoom}) { S.charge(64); ${memo}.set(${memoKey}, S.x[${slot}]); }`);
  });
  return slotValue(code, slot, parts.nullable);
}

/** Results that are remembered for one correlated subquery. */
const MEMO_ENTRIES = 100_000;

/** The value of the only outer column that the plan depends on, when results may be remembered by it. */
function memoColumn(code: Emitter, plan: Of<"exists">["plan"]): string | null {
  const facts = planFacts(plan);
  const [column] = facts.free;
  if (column === undefined || facts.free.length !== 1 || facts.volatile || facts.freeDefinitions.size > 0) {
    return null;
  }
  if (!code.isBound(column) || !isOwnKey(code.binding(column).type)) return null;
  return nullableCode(code.column(column));
}

function slotValue(code: Emitter, slot: number, nullable: boolean): Value {
  const name = code.define("q", `S.x[${slot}]`);
  return { code: name, isNull: nullable ? `${name} === null` : null };
}

function resultSink(parts: ResultParts, slot: number, stopped: number): Sink {
  const label = {};
  return {
    open: (code) => void code.note(label, code.loopLabel),
    row: (code) => {
      parts.row(code, slot);
      if (parts.stopsAtFirst) code.emit(`S.x[${stopped}] = true; break ${code.recall<string>(label)};`);
    },
    close: () => {},
  };
}

/** Whether the rows of `= ANY` can be looked up in a set. */
function isLookup(expression: Of<"any_subquery" | "all_subquery">): boolean {
  const [operator] = expression.operators;
  const type = expression.left[0]?.type;
  if (operator === undefined || type === undefined || expression.left.length !== 1) return false;
  const symbol = expression.kind === "any_subquery" ? "=" : "<>";
  const [left, right] = operator.argumentTypes;
  return operator.name === symbol && left !== undefined && right !== undefined && left.kind === right.kind &&
    (left.kind !== "numeric" || right.kind !== "numeric" || left.scale === right.scale);
}

/** The values of a subquery's rows. */
class SubqueryValues implements ValueSet {
  readonly keys: KeptKeys;
  hasNull = false;
  isEmpty = true;
  readonly #type: SqlType;

  constructor(state: MemoryUser, type: SqlType) {
    this.keys = new KeptKeys(state);
    this.#type = type;
  }

  add(value: SqlValue): void {
    this.isEmpty = false;
    if (value === null) this.hasNull = true;
    else this.keys.add(valueKey(this.#type, value));
  }
}

/** The values of a slot, made at first use. */
function subqueryValues(state: ExecutionState, slot: number, type: SqlType): SubqueryValues {
  return slotObject(state, slot, SubqueryValues, type);
}

function emitQuantified(code: Emitter, expression: Of<"any_subquery" | "all_subquery">): Value {
  const { compilation } = code;
  const left = expression.left.map((part) => emitValue(code, part));
  if (isLookup(expression) && compilation.runsOnce(expression.plan)) {
    return emitSetLookup(code, expression, left[0] as Value);
  }
  const isAny = expression.kind === "any_subquery";
  const result = code.name("b");
  const unknown = code.name("n");
  const stopped = compilation.newSlot();
  const label = {};
  code.emit(`let ${result} = ${!isAny}, ${unknown} = false;`);
  code.emit(`S.x[${stopped}] = false;`);
  const region: Region = new InlineRegion(code).until(stopped);
  region.produce(expression.plan, {
    open: (code) => void code.note(label, code.loopLabel),
    row: (code) => {
      const comparisons = expression.columns.map((column, index) => {
        const operator = expression.operators[index];
        const value = left[index];
        if (operator === undefined || value === undefined) return { code: "false", isNull: null };
        return emitCall(code, operator, [value, code.column(column)]);
      });
      const row = combine(
        code,
        comparisons,
        isAny || expression.operators.every(({ name }) => name !== "<>"),
      );
      const decided = isAny ? row.code : `!${row.code}`;
      const stop = `{ ${result} = ${isAny}; ${unknown} = false; S.x[${stopped}] = true; break ${
        code.recall<string>(label)
      }; }`;
      if (row.isNull === null) code.emit(`if (${decided}) ${stop}`);
      else code.emit(`if (${row.isNull}) ${unknown} = true; else if (${decided}) ${stop}`);
    },
    close: () => {},
  });
  return { code: result, isNull: unknown };
}

/** Row comparison: all columns must hold, or for `<>` any of them. */
function combine(code: Emitter, parts: readonly Value[], all: boolean): Value {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const decides = parts.map(({ code: test, isNull }) => {
    const wrong = all ? `!${test}` : test;
    return isNull === null ? wrong : `(!(${isNull}) && ${wrong})`;
  });
  const decided = code.define("decided", decides.join(" || ") || "false");
  const someNull = anyNull(parts.map((part) => part.isNull));
  return {
    code: all ? code.define("b", `!${decided}`) : decided,
    isNull: someNull === null ? null : code.define("n", `!${decided} && (${someNull})`),
  };
}

function emitSetLookup(code: Emitter, expression: Of<"any_subquery" | "all_subquery">, left: Value): Value {
  const { compilation } = code;
  const [column] = expression.columns;
  const type = expression.operators[0]?.argumentTypes[1];
  if (column === undefined || type === undefined) return { code: "false", isNull: null };
  const made = compilation.made(compilation.derivedKey(expression, "program"), () => {
    const slot = compilation.newSlot();
    const done = compilation.newSlot();
    const program = new Program(compilation, { reruns: false });
    program.once(expression.plan, (code) => {
      code.emit(`${code.use("subqueryValues", subqueryValues)}(S, ${slot}, ${code.constant("type", type)});`);
    });
    const key = {};
    program.produce(expression.plan, {
      open: (code) => void code.note(key, code.define("set", `S.x[${slot}]`)),
      row: (code) => {
        const set = code.recall<string>(key);
        code.emit(`${set}.add(${nullableCode(code.column(column))});`);
        if (!compilation.spills) return;
        code.block(`if (${set}.keys.isDue) `, "conditional", () => void code.work(`${set}.keys.write()`));
      },
      close: () => {},
    });
    if (compilation.spills) {
      program.once(expression.plan, (code) => void code.work(`S.x[${slot}].keys.finish()`));
    }
    return { slot, done, program };
  });
  code.subplan(made.done, made.program.pipelines, false);
  const set = code.define("set", `S.x[${made.slot}]`);
  if (left.isNull === "true") {
    return { code: code.define("b", `${expression.kind === "all_subquery"}`), isNull: `!${set}.isEmpty` };
  }
  return setMembership(code, set, type, left, expression.kind === "all_subquery");
}
