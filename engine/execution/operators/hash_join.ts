/**
 * Hash joins: the right input is kept in a buffer with a {@link HashIndex}, rows of the left input look for partners.
 *
 * The loop over partners has one body for matches and for the row that an outer join extends with NULLs. RIGHT and FULL
 * mark the build rows that found a partner and give out the others at the end.
 */
import type { Plan } from "../../sql/plan/plan.ts";
import type { Emitter } from "../codegen/emitter.ts";
import { NULL_VALUE } from "../codegen/emitter.ts";
import { emitGuards } from "../codegen/condition.ts";
import { type LoopSource, Program, type Region, type Sink } from "../codegen/region.ts";
import { type Found, HashProbe, keptRows, type ProbeNames } from "./hash_probe.ts";
import { expressionFacts } from "../codegen/plan_analysis.ts";
import { definedColumns } from "../../sql/plan/traverse.ts";
import { offerFilters } from "./runtime_filter.ts";
import { produceMarkJoin } from "./mark_join.ts";
import { positionKey } from "./divided_code.ts";
import { nullsSlot, piecesSlot } from "./spilled.ts";

type HashJoin = Extract<Plan, { kind: "hash_join" }>;

/** Puts a hash join into a region. */
export function produceHashJoin(plan: HashJoin, region: Region, sink: Sink): void {
  if (plan.keepsLeft === true) produceMarkJoin(plan, region, sink);
  else new HashJoinCode(plan, region, sink).produce();
}

class HashJoinCode {
  readonly #plan: HashJoin;
  readonly #region: Region;
  readonly #sink: Sink;
  readonly #probe: HashProbe;
  /** In a round of NOT IN over parts: the slot that knows what the other parts have; null: there are none. */
  readonly #nulls: number | null;
  /** In a round over parts: the slot that knows which piece of the kept rows there is, and the left row's position. */
  readonly #pieces: { readonly slot: number; readonly position: object } | null;
  readonly #key = {};
  /** The right side is kept by who has given the fragment. */
  readonly #elsewhere: (Plan & { readonly kind: "exchange" }) | null;

  constructor(plan: HashJoin, region: Region, sink: Sink) {
    const { compilation } = region;
    const isDivided = plan.nullAware && compilation.dividedSource(plan.right) !== undefined;
    this.#pieces = compilation.dividedSource(plan.left) === undefined ? null : {
      slot: piecesSlot(plan, compilation),
      position: positionKey(plan.left, compilation),
    };
    this.#nulls = isDivided ? nullsSlot(plan, compilation) : null;
    const { right } = plan;
    this.#elsewhere = right.kind === "exchange" && right.isKept === true ? right : null;
    this.#plan = plan;
    this.#region = region;
    this.#sink = sink;
    const isTest = plan.join === "semi" || plan.join === "anti";
    this.#probe = compilation.made(compilation.derivedKey(plan, "parts"), () =>
      new HashProbe(compilation, {
        kept: { plan: plan.right, keys: plan.rightKeys },
        otherTypes: plan.leftKeys.map((key) => key.type),
        residual: plan.residual,
        keepsColumns: !isTest || plan.residual !== null,
        ...(this.#elsewhere === null ? {} : { columns: this.#elsewhere.columns }),
      }));
  }

  produce(): void {
    this.#build();
    const plan = this.#plan;
    if (this.#marks) this.#region.reset(this.#probe.marksSlot);
    if (!this.#region.isInline && (plan.join === "inner" || plan.join === "semi" || plan.join === "right")) {
      const { leftKeys: keys, rightKeys: others } = plan;
      offerFilters(this.#region.compilation, plan.left, { keys, others, slot: this.#probe.indexSlot });
    }
    this.#region.produce(plan.left, {
      open: (code) => {
        this.#probe.open(code, this.#marks);
        if (this.#pieces !== null) code.note(this.#key, code.define("pieces", `S.x[${this.#pieces.slot}]`));
        this.#sink.open(code);
      },
      row: (code) => {
        if (plan.join === "semi" || plan.join === "anti") this.#test(code);
        else this.#match(code);
      },
      close: (code) => this.#sink.close(code),
    });
    if (this.#marks) this.#region.loop(plan, this.#unmatched(), this.#sink);
  }

  get #marks(): boolean {
    return this.#plan.join === "right" || this.#plan.join === "full";
  }

  /** Inside of a loop the build side is made once if it does not depend on the loop. */
  #build(): void {
    const { compilation } = this.#region;
    if (this.#elsewhere !== null) {
      return this.#probe.take(this.#region, this.#plan, this.#elsewhere.number);
    }
    if (this.#region.isInline && this.#isBuildClosed()) {
      const { done, program } = compilation.made(compilation.derivedKey(this.#plan, "build"), () => {
        const made = { done: compilation.newSlot(), program: new Program(compilation, { reruns: false }) };
        this.#probe.build(made.program, this.#plan);
        return made;
      });
      this.#region.once(this.#plan, (code) => code.subplan(done, program.pipelines, false));
      return;
    }
    this.#region.reset(...this.#probe.slots);
    this.#probe.build(this.#region, this.#plan);
  }

  /** Whether the build side has the same rows under the same keys in each round of the loop. */
  #isBuildClosed(): boolean {
    const { right, rightKeys } = this.#plan;
    const own = new Set(definedColumns(right));
    return this.#region.compilation.isClosed(right) && rightKeys.every((key) => {
      const { free, freeDefinitions, volatile } = expressionFacts(key);
      return free.every((column) => own.has(column)) && freeDefinitions.size === 0 && !volatile;
    });
  }

  /** Semi and anti joins: whether there is a partner. */
  #test(code: Emitter): void {
    const plan = this.#plan;
    const found = this.#probe.find(code, plan.leftKeys, plan.join === "semi");
    const exists = code.name("found");
    const pieces = this.#piecesAt(code);
    if (pieces !== null) code.emit(`if (${pieces.wasMatched}) ${code.skip}`);
    code.emit(`let ${exists} = false;`);
    this.#partners(code, found, `${found.row} >= 0`, (label) => {
      this.#probe.emitMatch(code, found);
      code.emit(`${exists} = true;`);
      code.emit(`break ${label};`);
    });
    if (pieces !== null) code.emit(`if (${exists}) ${pieces.note}`);
    if (plan.join === "semi") {
      code.emit(`if (!${exists}) ${code.skip}`);
    } else {
      const { index } = code.recall<ProbeNames>(this.#probe);
      code.emit(`if (${exists}${pieces === null ? "" : ` || ${pieces.mayMatch}`}) ${code.skip}`);
      // NOT IN: a NULL on either side leaves the comparison unknown, unless the right side is empty.
      if (plan.nullAware) {
        const [hasNull, hasRows] = this.#nulls === null
          ? [`${index}.hasNull`, `${index}.rows > 0`]
          : [`S.x[${this.#nulls}] === 2`, `S.x[${this.#nulls}] !== undefined`];
        code.emit(`if (${hasNull} || (${hasRows} && (${found.isNull}))) ${code.skip}`);
      }
    }
    this.#sink.row(code);
  }

  /** The code that asks whether the left row has had a partner in another piece, or may have one, and that notes it. */
  #piecesAt(
    code: Emitter,
  ): { readonly wasMatched: string; readonly mayMatch: string; readonly note: string } | null {
    if (this.#pieces === null) return null;
    const pieces = code.recall<string>(this.#key);
    const position = code.recall<string>(this.#pieces.position);
    return {
      wasMatched: `${pieces} !== undefined && ${pieces}.has(${position})`,
      mayMatch: `${pieces} !== undefined && !${pieces}.isLast`,
      note: `if (${pieces} !== undefined) ${pieces}.add(${position});`,
    };
  }

  #match(code: Emitter): void {
    const probe = this.#probe;
    const names = code.recall<ProbeNames>(probe);
    const outer = this.#plan.join === "left" || this.#plan.join === "full";
    const found = probe.find(code, this.#plan.leftKeys, !outer);
    const { row } = found;
    const matched = code.name("matched");
    const pieces = outer ? this.#piecesAt(code) : null;
    if (outer) code.emit(`let ${matched} = ${pieces?.wasMatched ?? "false"};`);
    this.#partners(code, found, outer ? "" : `${row} >= 0`, (label) => {
      const check = () => {
        probe.emitMatch(code, found);
        if (this.#marks) code.emit(`${names.marks}[${row}] = 1;`);
      };
      if (outer) {
        const hasPartner = pieces === null ? matched : `${matched} || ${pieces.mayMatch}`;
        code.block(`if (${row} < 0) `, "conditional", () => code.emit(`if (${hasPartner}) break ${label};`));
        code.block("else ", "row", () => {
          check();
          code.emit(`${matched} = true;`);
          if (pieces !== null) code.emit(pieces.note);
        });
      } else check();
      probe.buffer.bindRow(code, names.buffer, row, outer ? `${row} < 0` : null);
      code.rowBlock(() => this.#sink.row(code));
      if (outer) code.emit(`if (${row} < 0) break ${label};`);
    });
  }

  #partners(code: Emitter, { row }: Found, test: string, body: (label: string) => void): void {
    const label = code.name("partners");
    const { next } = code.recall<ProbeNames>(this.#probe);
    code.innerLoop({
      label,
      declare: "",
      test,
      advance: `${row} = ${next}[${row}]`,
      atMost: this.#probe.atMost,
    }, () => body(label));
  }

  /** Build rows without a partner, extended with NULLs on the left. */
  #unmatched(): LoopSource {
    const left = this.#region.compilation.neededAbove(this.#plan.left);
    return keptRows(this.#probe, {
      wanted: "unmarked",
      emit: (code) => {
        for (const { column, type } of left) code.bind(column, { type, cheap: true, load: () => NULL_VALUE });
      },
    });
  }
}

/** Skips the row unless a condition holds; null: none. */
export function emitOptionalGuards(code: Emitter, condition: Parameters<typeof emitGuards>[1] | null): void {
  if (condition !== null) emitGuards(code, condition);
}
