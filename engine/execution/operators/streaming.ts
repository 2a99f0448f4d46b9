/**
 * Operators that pass rows on one by one: filter, projection, LIMIT, row locks.
 */
import type { Expression } from "../../sql/plan/expression.ts";
import { LOCK_STRENGTHS, type Plan } from "../../sql/plan/plan.ts";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { SqlValue } from "../../types/value.ts";
import type { Emitter, Value } from "../codegen/emitter.ts";
import { emitGuards } from "../codegen/condition.ts";
import { emitValue } from "../codegen/expression.ts";
import { expressionFacts } from "../codegen/plan_analysis.ts";
import { before, type Region, type Sink } from "../codegen/region.ts";
import { compareValues } from "../../types/compare.ts";
import { nullableCode } from "../codegen/value_form.ts";
import { expressionBinding } from "./sources.ts";

type Of<K extends Plan["kind"]> = Extract<Plan, { kind: K }>;

/** WHERE, HAVING and what became of them. */
export function produceFilter(plan: Of<"filter">, region: Region, sink: Sink): void {
  region.produce(
    plan.input,
    before(sink, (code) => {
      emitGuards(code, plan.condition);
      sink.row(code);
    }),
  );
}

/** Computed columns: evaluated where they are first needed, volatile ones and subqueries once a row. */
export function produceProject(plan: Of<"project">, region: Region, sink: Sink): void {
  region.produce(
    plan.input,
    before(sink, (code) => {
      const bound = plan.outputs.map(({ output, expression }) => ({
        output,
        binding: projected(code, expression),
      }));
      for (const { output, binding } of bound) code.bind(output, binding);
      sink.row(code);
    }),
  );
}

function projected(code: Emitter, expression: Expression): ReturnType<typeof expressionBinding> {
  if (expression.kind === "column") return code.binding(expression.column);
  const facts = expressionFacts(expression);
  if (!facts.volatile && !facts.hasSubquery) return expressionBinding(expression);
  const value = emitValue(code, expression);
  return { type: expression.type, cheap: true, load: () => value };
}

/** The number of rows that LIMIT or OFFSET asks for; NULL: `otherwise`. */
export function rowLimit(value: SqlValue, what: "LIMIT" | "OFFSET", otherwise: number): number {
  if (value === null) return otherwise;
  const rows = Number(value);
  if (rows < 0) {
    throw new DatabaseError(
      what === "LIMIT" ? SQLSTATE.invalidRowCountInLimitClause : SQLSTATE.invalidRowCountInResultOffsetClause,
      `${what} must not be negative`,
    );
  }
  return rows;
}

/** LIMIT, OFFSET and FETCH … WITH TIES: ends the loops beneath when it has enough. */
export function produceLimit(plan: Of<"limit">, region: Region, sink: Sink): void {
  const { compilation } = region;
  const counter = compilation.newSlot();
  const stopped = compilation.newSlot();
  const limitSlot = compilation.newSlot();
  region.reset(counter, stopped, limitSlot);
  const names = { counter: {}, label: {}, limits: {} };
  const bound = (
    code: Emitter,
    expression: Expression | null,
    what: "LIMIT" | "OFFSET",
    otherwise: string,
  ): string => {
    if (expression === null) return otherwise;
    const value = nullableCode(emitValue(code, expression));
    return `${code.use("rowLimit", rowLimit)}(${value}, "${what}", ${otherwise})`;
  };
  // Before the input, of which nothing may run under LIMIT 0.
  region.once(plan, (code) => {
    const offset = bound(code, plan.offset, "OFFSET", "0");
    const limit = code.define("limit", bound(code, plan.limit, "LIMIT", "Infinity"));
    code.emit(`S.x[${limitSlot}] = { offset: ${offset}, limit: ${limit}, last: null };`);
    code.emit(`if (${limit} === 0) S.x[${stopped}] = true;`);
  });
  region.until(stopped).produce(plan.input, {
    open: (code) => {
      code.note(names.label, code.loopLabel);
      const limits = code.define("limits", `S.x[${limitSlot}]`);
      const offset = code.define("offset", `${limits}.offset`);
      const end = code.define("end", `${offset} + ${limits}.limit`);
      const count = code.name("taken");
      code.emit(`let ${count} = S.x[${counter}] ?? 0;`);
      code.note(names.counter, count);
      code.note(names.limits, { offset, end, limits });
      sink.open(code);
    },
    row: (code) => {
      const count = code.recall<string>(names.counter);
      const label = code.recall<string>(names.label);
      const { offset, end, limits } = code.recall<{ offset: string; end: string; limits: string }>(
        names.limits,
      );
      const stop = `{ S.x[${stopped}] = true; break ${label}; }`;
      if (plan.withTies === null) {
        code.emit(`if (${count} >= ${end}) ${stop}`);
        if (plan.offset !== null) code.emit(`if (${count}++ < ${offset}) ${code.skip}`);
        else code.emit(`${count}++;`);
        // The stop comes before the row goes on: what happens to the row may itself leave the row.
        const last = code.name("isLast");
        code.emit(`const ${last} = ${count} >= ${end};`);
        code.emit(`if (${last}) S.x[${stopped}] = true;`);
        code.rowBlock(() => sink.row(code));
        code.emit(`if (${last}) break ${label};`);
        return;
      }
      const keys = plan.withTies.map((key) => nullableCode(emitValue(code, key.expression)));
      const types = code.constant("types", plan.withTies.map((key) => key.expression.type));
      const tied = code.use("sameValues", sameValues);
      code.emit(
        `if (${count} >= ${end} && !(${end} > 0 && ${tied}(${types}, ${limits}.last, [${
          keys.join(", ")
        }]))) ${stop}`,
      );
      code.emit(`${count}++;`);
      code.emit(`if (${count} === ${end}) ${limits}.last = [${keys.join(", ")}];`);
      code.emit(`if (${count} <= ${offset}) ${code.skip}`);
      sink.row(code);
    },
    close: (code) => {
      sink.close(code);
      code.emit(`S.x[${counter}] = ${code.recall<string>(names.counter)};`);
    },
  });
}

/** Whether two rows of values are peers; NULLs are. */
export function sameValues(
  types: Parameters<typeof compareValues>[0][],
  left: readonly SqlValue[] | null,
  right: readonly SqlValue[],
): boolean {
  if (left === null) return false;
  return types.every((type, index) => {
    const a = left[index] ?? null;
    const b = right[index] ?? null;
    return a === null || b === null ? a === b : compareValues(type, a, b) === 0;
  });
}

/** FOR UPDATE and its like. */
export function produceLockRows(plan: Of<"lock_rows">, region: Region, sink: Sink): void {
  region.produce(
    plan.input,
    before(sink, (code) => {
      for (const { table, rowId, strength, wait } of plan.tables) {
        const id: Value = code.column(rowId);
        const how = `${JSON.stringify(wait)}, ${LOCK_STRENGTHS.indexOf(strength)}`;
        const lock = `S.context.writer.lockRow(${table.id}, ${id.code}, ${how})`;
        code.emit(
          id.isNull === null ? `if (!${lock}) ${code.skip}` : `if (!(${id.isNull}) && !${lock}) ${code.skip}`,
        );
      }
      sink.row(code);
    }),
  );
}
