/**
 * Nested-loop joins: for each left row the right plan runs, with the left columns in scope.
 *
 * A right plan that does not depend on the left row is computed once and kept. Outer joins collect the matching right
 * rows of a left row first, so that the code of what follows exists only once.
 */
import type { Plan } from "../../sql/plan/plan.ts";
import { rangeInOrder } from "../../sql/planner/key_range.ts";
import { type Emitter, NULL_VALUE } from "../codegen/emitter.ts";
import { emitTruth } from "../codegen/condition.ts";
import { before, InlineRegion, type Region, rowSink, type Sink } from "../codegen/region.ts";
import { emitAnyRow } from "../codegen/subquery.ts";
import { emitOptionalGuards } from "./hash_join.ts";
import { marksOf } from "./hash_probe.ts";
import {
  appendSink,
  bufferFor,
  emitRange,
  isWorthKeeping,
  keptFor,
  type KeptNames,
  KeptPlan,
  produceKept,
} from "./materialize.ts";

type NestedLoopJoin = Extract<Plan, { kind: "nested_loop_join" }>;

/** Puts a nested-loop join into a region. */
export function produceNestedLoopJoin(plan: NestedLoopJoin, region: Region, sink: Sink): void {
  switch (plan.join) {
    case "inner":
      return produceInner(plan, region, sink);
    case "semi":
    case "anti":
      return produceTest(plan, region, sink);
    case "left":
      return region.compilation.isClosed(plan.right)
        ? produceKeptOuter(plan, region, sink)
        : produceLeft(plan, region, sink);
    case "right":
    case "full":
      return produceKeptOuter(plan, region, sink);
  }
}

function produceInner(plan: NestedLoopJoin, region: Region, sink: Sink): void {
  region.produce(
    plan.left,
    before(sink, (code) => {
      produceRight(plan, new InlineRegion(code), rowSink((inner) => sink.row(inner)));
    }),
  );
}

/** Puts those rows of the right side that fit the left one into the code of that. */
function produceRight(plan: NestedLoopJoin, region: Region, sink: Sink): void {
  const range = isWorthKeeping(plan.right, region.compilation) ? rangeInOrder(plan) : null;
  const condition = range === null ? plan.condition : range.rest;
  const fitting = before(sink, (code) => {
    emitOptionalGuards(code, condition);
    sink.row(code);
  });
  if (range === null) region.produce(plan.right, fitting);
  else produceKept(plan.right, region, fitting, range);
}

function produceTest(plan: NestedLoopJoin, region: Region, sink: Sink): void {
  region.produce(
    plan.left,
    before(sink, (code) => {
      const found = emitHasPartner(code, plan);
      code.emit(`if (${plan.join === "semi" ? "!" : ""}${found}) ${code.skip}`);
      sink.row(code);
    }),
  );
}

/** Emits whether the left row has a partner. */
function emitHasPartner(code: Emitter, plan: NestedLoopJoin): string {
  const lookUp = () => emitAnyRow(code, (region, inner) => produceRight(plan, region, inner));
  const { otherwise } = plan;
  if (otherwise === undefined) return lookUp();
  const found = code.name("found");
  const slot = code.compilation.slotFor(code.compilation.derivedKey(plan, "asked"));
  const asked = code.define("asked", `(S.x[${slot}] ?? 0) + 1`);
  code.emit(`S.x[${slot}] = ${asked};`);
  code.emit(`let ${found} = false;`);
  code.block(
    `if (${asked} <= ${otherwise.after}) `,
    "conditional",
    () => code.emit(`${found} = ${lookUp()};`),
  );
  code.block("else ", "conditional", () => code.emit(`${found} = ${emitTruth(code, otherwise.test)};`));
  return found;
}

/** LEFT with a right side that depends on the left row. */
function produceLeft(plan: NestedLoopJoin, region: Region, sink: Sink): void {
  // A volatile right side that is not correlated runs for each left row as well.
  const matches = bufferFor(region.compilation, region.compilation.neededAbove(plan.right));
  region.produce(
    plan.left,
    before(sink, (code) => {
      const inline = new InlineRegion(code);
      inline.reset(matches.slot);
      const append = appendSink(matches);
      inline.produce(plan.right, {
        open: (inner) => append.open(inner),
        row: (inner) => {
          emitOptionalGuards(inner, plan.condition);
          append.row(inner);
        },
        close: (inner) => append.close(inner),
      });
      const names = matches.openRead(code);
      const row = code.name("j");
      const count = code.define("count", `${names.buffer}.count`);
      code.innerLoop({
        label: code.name("matches"),
        declare: `let ${row} = 0`,
        test: `${row} === 0 || ${row} < ${count}`,
        advance: `${row}++`,
        atMost: null,
      }, () => {
        matches.bindRow(code, names, row, `${count} === 0`);
        code.rowBlock(() => sink.row(code));
      });
    }),
  );
}

/** A right side that depends on the row of a surrounding loop: its rows are kept anew each time the region runs. */
function keepHere(plan: Plan, region: Region): Pick<KeptPlan, "kept" | "emitEnsure" | "atMost"> {
  const kept = keptFor(region.compilation, region.compilation.neededAbove(plan), !region.isInline);
  region.reset(...kept.slots);
  region.produce(plan, appendSink(kept));
  return { kept, emitEnsure: () => {}, atMost: region.isInline ? () => Infinity : kept.count };
}

/** LEFT, RIGHT and FULL over a kept right side. */
function produceKeptOuter(plan: NestedLoopJoin, region: Region, sink: Sink): void {
  const { compilation } = region;
  const range = rangeInOrder(plan);
  const condition = range === null ? plan.condition : range.rest;
  const kept = compilation.isClosed(plan.right)
    ? compilation.made(
      compilation.derivedKey(plan.right, "kept"),
      () => new KeptPlan(compilation, plan.right, compilation.neededAbove(plan.right)),
    )
    : keepHere(plan.right, region);
  const marksSlot = compilation.newSlot();
  const marksRows = plan.join !== "left";
  const extendsLeft = plan.join !== "right";
  const key = {};
  if (marksRows) region.reset(marksSlot);
  const reader = kept.kept.reader(compilation);
  const marksCode = (code: Emitter, count: string) =>
    marksRows ? code.define("marks", `${code.use("marksOf", marksOf)}(S, ${marksSlot}, ${count})`) : "";
  region.produce(plan.left, {
    open: (code) => {
      kept.emitEnsure(code);
      const names = reader.open(code);
      code.note(key, { names, marks: marksCode(code, names.count) });
      sink.open(code);
    },
    row: (code) => {
      const { names, marks } = code.recall<{ names: KeptNames; marks: string }>(key);
      const ends = range === null ? null : emitRange(code, range, reader, names);
      const count = code.define("count", ends?.to ?? names.count);
      const row = code.name("j");
      const matched = code.name("matched");
      code.emit(`let ${matched} = false;`);
      const end = extendsLeft ? `${row} <= ${count}` : `${row} < ${count}`;
      const label = code.name("matches");
      code.innerLoop({
        label,
        declare: `let ${row} = ${ends?.from ?? 0}`,
        test: end,
        advance: `${row}++`,
        atMost: kept.atMost,
      }, () => {
        code.block(`if (${row} < ${count}) `, "row", () => {
          reader.bindRow(code, names, row);
          if (condition !== null) {
            const holds = emitTruth(code, condition);
            code.emit(`if (!(${holds})) continue;`);
          }
          code.emit(`${matched} = true;`);
          if (marksRows) code.emit(`${marks}[${row}] = 1;`);
        });
        code.emit(`else if (${matched}) break ${label};`);
        reader.bindRow(code, names, row, extendsLeft ? `${row} >= ${count}` : null);
        code.rowBlock(() => sink.row(code));
      });
    },
    close: (code) => sink.close(code),
  });
  if (!marksRows) return;
  const { source } = kept.kept.reader(compilation);
  const marksKey = {};
  const left = compilation.neededAbove(plan.left);
  region.loop(plan, {
    kind: "counted",
    count: (code) => {
      kept.emitEnsure(code);
      code.note(marksKey, marksCode(code, kept.kept.countCode(code)));
      return source.count(code);
    },
    bind: (code, index) => {
      code.emit(`if (${code.recall<string>(marksKey)}[${index}] !== 0) ${code.skip}`);
      source.bind(code, index);
      for (const { column, type } of left) code.bind(column, { type, cheap: true, load: () => NULL_VALUE });
    },
  }, sink);
}
