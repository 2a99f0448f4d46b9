/**
 * DISTINCT, and UNION without ALL: the first row of each combination of keys goes on at once.
 *
 * When the keys have taken their part of the memory no more are added: rows with others are put aside, divided by the
 * hash of their keys, and looked at part by part in the end ({@link produceRounds}).
 */
import type { ColumnRef, Expression } from "../../sql/plan/expression.ts";
import type { Plan } from "../../sql/plan/plan.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { Compilation } from "../codegen/compilation.ts";
import { GroupCode, LOOK_GROUPS } from "../codegen/group_code.ts";
import { KeyCode } from "../codegen/key_code.ts";
import { emitValue } from "../codegen/expression.ts";
import { hasSameKeys } from "../codegen/value_keys.ts";
import { nullableCode } from "../codegen/value_form.ts";
import { type Program, type Region, resetSlot, type Sink } from "../codegen/region.ts";
import { DividedCode, STEADY_GROUPS } from "./divided_code.ts";
import { produceRounds } from "./rounds.ts";
import { areSteady } from "./spilled.ts";

type Distinct = Extract<Plan, { kind: "distinct" }>;

/** DISTINCT: the first row of each combination of keys. */
export function produceDistinct(plan: Distinct, region: Region, sink: Sink): void {
  const { compilation } = region;
  if (plan.keepsOrder === true && compilation.spills) return produceOrdered(plan, region, sink);
  const isWhole = region.isInline || plan.isPartial === true || plan.keepsOrder === true;
  const columns = isWhole ? null : compilation.neededAbove(plan.input);
  const distinct = new DistinctCode(compilation, plan, columns, plan.keys);
  const consumer = distinct.sink(region, sink);
  region.produce(plan.input, {
    ...consumer,
    open: (code) => {
      if (plan.isPartial === true) {
        const forget = distinct.slots.map((slot) => `${code.use("resetSlot", resetSlot)}(S, ${slot});`);
        code.emit(`if (S.isNearlyFull) { ${forget.join(" ")} }`);
      }
      consumer.open(code);
    },
  });
  distinct.finish(region, sink);
}

/** DISTINCT ON: the rows come in the order of their keys, so that the key of the last one is all that is kept. */
function produceOrdered(plan: Distinct, region: Region, sink: Sink): void {
  const slot = region.compilation.newSlot();
  const name = {};
  region.reset(slot);
  region.produce(plan.input, {
    open: (code) => {
      const last = code.name("last");
      code.emit(`let ${last} = S.x[${slot}] ?? null;`);
      code.note(name, last);
      sink.open(code);
    },
    row: (code) => {
      const last = code.recall<string>(name);
      const types = code.constant("types", plan.keys.map(({ type }) => type));
      const values = plan.keys.map((key) => nullableCode(emitValue(code, key)));
      const key = code.define("key", `[${values.join(", ")}]`);
      const test = `${last} !== null && ${code.use("hasSameKeys", hasSameKeys)}(${types}, ${last}, ${key})`;
      code.emit(`if (${test}) ${code.skip}`);
      code.emit(`${last} = S.x[${slot}] = ${key};`);
      sink.row(code);
    },
    close: (code) => sink.close(code),
  });
}

/** See the file's head. */
export class DistinctCode {
  readonly #plan: Plan;
  readonly #keys: readonly Expression[];
  readonly #groups: GroupCode;
  readonly #aside: DividedCode | null;
  readonly #isPartial: boolean;

  /** `columns`: what is read of a row that was put aside; null: none is. */
  constructor(
    compilation: Compilation,
    plan: Plan,
    columns: readonly { readonly column: ColumnRef; readonly type: SqlType }[] | null,
    keys: readonly Expression[],
  ) {
    this.#plan = plan;
    this.#isPartial = plan.kind === "distinct" && plan.isPartial === true;
    this.#keys = keys;
    this.#groups = new GroupCode(compilation, keys.map((key) => new KeyCode(compilation, key.type)), []);
    this.#aside = columns === null || !areSteady(keys)
      ? null
      : new DividedCode(compilation, { columns, keys, isKept: true, keptSize: STEADY_GROUPS });
  }

  /** Slots of what has been seen. */
  get slots(): readonly number[] {
    return this.#groups.stateSlots;
  }

  /** What stands behind each input. */
  sink(region: Region, sink: Sink): Sink {
    const groups = this.#groups;
    const aside = this.#aside;
    // Rows with keys for which there is no room are put aside, or given out each time.
    const full = aside !== null ? "S.mustSpill" : this.#isPartial ? "S.isNearlyFull" : null;
    const key = {};
    region.reset(...groups.stateSlots, ...aside?.slots ?? []);
    return {
      open: (code) => {
        groups.open(code);
        aside?.open(code);
        if (full !== null) {
          const isFull = code.name("isFull");
          code.emit(`let ${isFull} = ${full};`);
          code.note(key, isFull);
        }
        sink.open(code);
      },
      row: (code) => {
        const isFull = full === null ? null : code.recall<string>(key);
        const isNew = code.name("isNew");
        code.emit(`let ${isNew} = false;`);
        const lookUp = () =>
          groups.lookup(code, this.#keys, (group) => {
            code.emit(`${isNew} = true;`);
            if (isFull !== null) code.emit(`if ((${group} & ${LOOK_GROUPS - 1}) === 0) ${isFull} = ${full};`);
          });
        if (isFull !== null) {
          code.block(`if (${isFull}) `, "conditional", () => {
            code.emit(`if (${groups.find(code, this.#keys)} >= 0) ${code.skip}`);
            aside?.take(code);
            code.emit(aside === null ? `${isNew} = true;` : code.skip);
          });
        }
        if (isFull !== null && aside === null) code.block(`if (!${isFull}) `, "conditional", lookUp);
        else lookUp();
        code.emit(`if (!${isNew}) ${code.skip}`);
        sink.row(code);
      },
      close: (code) => {
        aside?.close(code);
        sink.close(code);
      },
    };
  }

  /** Behind the inputs: what was put aside. */
  finish(region: Region, sink: Sink): void {
    const aside = this.#aside;
    if (aside === null) return;
    produceRounds(this.#plan, [aside], region as Program, (rounds) => {
      const rest = new DistinctCode(rounds.compilation, this.#plan, null, this.#keys);
      rounds.loop(this.#plan, aside.source, rest.sink(rounds, sink));
    }, { forget: this.slots });
  }
}
