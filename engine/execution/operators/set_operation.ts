/**
 * UNION, INTERSECT and EXCEPT.
 *
 * UNION ALL gives out its inputs one after the other. INTERSECT and EXCEPT count the rows of each input by value and
 * give out each value as often as the operation says, in order of first appearance.
 */
import type { Plan } from "../../sql/plan/plan.ts";
import type { AggregateSlot } from "../../sql/functions/definition.ts";
import type { Emitter } from "../codegen/emitter.ts";
import { GroupCode } from "../codegen/group_code.ts";
import { KeyCode } from "../codegen/key_code.ts";
import { before, type LoopSource, type Region, type Sink } from "../codegen/region.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { DistinctCode } from "./distinct.ts";
import { columnExpressions } from "./spilled.ts";

const UNKNOWN: SqlType = { kind: "unknown" };

type SetOperation = Extract<Plan, { kind: "set_operation" }>;

/** Puts a set operation into a region. */
export function produceSetOperation(plan: SetOperation, region: Region, sink: Sink): void {
  if (plan.operation === "union") {
    const { compilation } = region;
    const columns = plan.outputs.map((column, index) => ({ column, type: plan.types[index] ?? UNKNOWN }));
    const keys = columnExpressions(plan.outputs, plan.types);
    const distinct = plan.all
      ? null
      : new DistinctCode(compilation, plan, region.isInline ? null : columns, keys);
    const consumer = distinct === null ? sink : distinct.sink(region, sink);
    for (const input of plan.inputs) {
      region.produce(
        input.plan,
        before(consumer, (code) => {
          const bindings = input.columns.map((column) => code.binding(column));
          plan.outputs.forEach((output, index) => {
            const binding = bindings[index];
            if (binding !== undefined) code.bind(output, binding);
          });
          consumer.row(code);
        }),
      );
    }
    distinct?.finish(region, sink);
    return;
  }
  produceCounted(plan, region, sink);
}

function produceCounted(plan: SetOperation, region: Region, sink: Sink): void {
  const keys = plan.types.map((type) => new KeyCode(region.compilation, type));
  const slots = plan.inputs.map((): AggregateSlot => ({ kind: "float", initial: "0" }));
  const groups = new GroupCode(region.compilation, keys, slots);
  region.reset(...groups.stateSlots);
  plan.inputs.forEach((input, position) => {
    region.produce(input.plan, {
      open: (code) => groups.open(code),
      row: (code) => {
        const expressions = columnExpressions(input.columns, plan.types);
        // Only what the first input has can be in the result.
        const group = position === 0 ? groups.lookup(code, expressions) : groups.find(code, expressions);
        if (position > 0) code.emit(`if (${group} < 0) ${code.skip}`);
        code.emit(`${groups.slotCode(code, position, group)}++;`);
      },
      close: () => {},
    });
  });
  const source: LoopSource = {
    kind: "counted",
    count: (code) => {
      groups.open(code);
      return groups.count(code);
    },
    bind: (code, index) => {
      plan.outputs.forEach((output, position) => {
        const key = keys[position];
        if (key !== undefined) code.bind(output, key.binding(groups.keyAt(code, position, index), true));
      });
      code.note(plan, code.define("copies", copies(code, plan, groups, index)));
    },
  };
  region.loop(
    plan,
    source,
    before(sink, (code) => {
      const times = code.recall<string>(plan);
      if (!plan.all) {
        code.emit(`if (${times} <= 0) ${code.skip}`);
        sink.row(code);
        return;
      }
      const copy = code.name("copy");
      code.innerLoop({
        label: code.name("copies"),
        declare: `let ${copy} = 0`,
        test: `${copy} < ${times}`,
        advance: `${copy}++`,
        atMost: null,
      }, () => code.rowBlock(() => sink.row(code)));
    }),
  );
}

/** How often a value is in the result. */
function copies(code: Emitter, plan: SetOperation, groups: GroupCode, index: string): string {
  const counts = plan.inputs.map((_, position) => groups.slotCode(code, position, index));
  const [first, ...rest] = counts;
  if (plan.operation === "intersect") return `Math.min(${counts.join(", ")})`;
  if (plan.all) return [first, ...rest].join(" - ");
  return `${first} > 0 && ${rest.map((count) => `${count} === 0`).join(" && ")} ? 1 : 0`;
}
