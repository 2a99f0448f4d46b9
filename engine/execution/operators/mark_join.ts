/**
 * Semi and anti hash joins that keep the left input: rows of the right one mark the kept rows with their keys, and
 * those with a mark, or without, are given out at the end in their order. For a right input that is the larger one.
 *
 * A kept row with a NULL in a key is in no chain and is never marked, as its comparisons are never true.
 */
import type { Plan } from "../../sql/plan/plan.ts";
import type { Emitter } from "../codegen/emitter.ts";
import type { LoopSource, Region, Sink } from "../codegen/region.ts";
import { offerFilters } from "./runtime_filter.ts";
import { HashProbe, keptRows, type ProbeNames } from "./hash_probe.ts";

type HashJoin = Extract<Plan, { kind: "hash_join" }>;

/** Puts a semi or anti join whose left side is kept into a region. */
export function produceMarkJoin(plan: HashJoin, region: Region, sink: Sink): void {
  new MarkJoinCode(plan, region).produce(sink);
}

class MarkJoinCode {
  readonly #plan: HashJoin;
  readonly #region: Region;
  readonly #probe: HashProbe;

  constructor(plan: HashJoin, region: Region) {
    const { compilation } = region;
    this.#plan = plan;
    this.#region = region;
    this.#probe = compilation.made(compilation.derivedKey(plan, "parts"), () =>
      new HashProbe(compilation, {
        kept: { plan: plan.left, keys: plan.leftKeys },
        otherTypes: plan.rightKeys.map((key) => key.type),
        residual: plan.residual,
        keepsColumns: true,
      }));
  }

  produce(sink: Sink): void {
    const region = this.#region;
    region.reset(...this.#probe.slots, this.#probe.marksSlot);
    this.#probe.build(region, this.#plan);
    const { right, rightKeys, leftKeys } = this.#plan;
    if (!region.isInline) {
      const { indexSlot: slot } = this.#probe;
      offerFilters(region.compilation, right, { keys: rightKeys, others: leftKeys, slot });
    }
    region.produce(right, {
      open: (code) => void this.#probe.open(code, true),
      row: (code) => this.#mark(code),
      close: () => {},
    });
    region.loop(this.#plan, this.#kept(), sink);
  }

  #mark(code: Emitter): void {
    const probe = this.#probe;
    const names = code.recall<ProbeNames>(probe);
    const found = probe.find(code, this.#plan.rightKeys, true);
    const { row } = found;
    code.innerLoop({
      label: code.name("partners"),
      declare: "",
      test: `${row} >= 0`,
      advance: `${row} = ${names.next}[${row}]`,
      atMost: probe.atMost,
    }, () => {
      code.emit(`if (${names.marks}[${row}] !== 0) continue;`);
      probe.emitMatch(code, found);
      code.emit(`${names.marks}[${row}] = 1;`);
    });
  }

  /** The kept rows that the join gives out. */
  #kept(): LoopSource {
    return keptRows(this.#probe, { wanted: this.#plan.join === "semi" ? "marked" : "unmarked" });
  }
}
