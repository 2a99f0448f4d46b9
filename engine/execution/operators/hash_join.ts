/**
 * Hash joins: the right input is kept in a buffer with a {@link HashIndex}, rows of the left input look for partners.
 *
 * The loop over partners has one body for matches and for the row that an outer join extends with NULLs. RIGHT and FULL
 * mark the build rows that found a partner and give out the others at the end.
 */
import type { Plan } from "../../sql/plan/plan.ts";
import { BufferCode, bufferColumn, bufferOf, codeColumn, type ReadNames } from "../codegen/buffer_code.ts";
import type { Compilation } from "../codegen/compilation.ts";
import type { Emitter } from "../codegen/emitter.ts";
import { NULL_VALUE } from "../codegen/emitter.ts";
import { emitGuards, emitTruth } from "../codegen/condition.ts";
import { KeyCode } from "../codegen/key_code.ts";
import { type LoopSource, Program, type Region, type Sink } from "../codegen/region.ts";
import type { ExecutionState } from "../runtime/execution_state.ts";
import { hashCode, hashMore, NULL_CODE } from "../runtime/hashing.ts";
import { HashIndex } from "../runtime/hash_index.ts";
import type { ColumnLayout } from "../runtime/row_buffer.ts";
import { isClosed } from "./materialise.ts";
import { produceMarkJoin } from "./mark_join.ts";
import { produce } from "./produce.ts";

type HashJoin = Extract<Plan, { kind: "hash_join" }>;

/** Puts a hash join into a region. */
export function produceHashJoin(plan: HashJoin, region: Region, sink: Sink): void {
  if (plan.keepsLeft === true) produceMarkJoin(plan, region, sink);
  else new HashJoinCode(plan, region, sink).produce();
}

/** The expression of the first build row of the keys' bucket, or -1. */
export function firstCode(code: Emitter, index: string, codes: readonly string[]): string {
  const [only] = codes;
  if (codes.length === 1) return `${index}.first(${only})`;
  const hash = codes.reduce(
    (sum, key, position) =>
      position === 0
        ? `${code.use("hashCode", hashCode)}(${key})`
        : `${code.use("hashMore", hashMore)}(${sum}, ${key})`,
    "0",
  );
  return `${index}.firstByHash(${hash})`;
}

/** An index over a buffer's key columns, which come first; it is work to be done. */
export function indexOver(
  state: ExecutionState,
  bufferSlot: number,
  layout: readonly ColumnLayout[],
  keyCount: number,
): HashIndex {
  const buffer = bufferOf(state, bufferSlot, layout);
  return new HashIndex(state, buffer, Array.from({ length: keyCount }, (_, index) => index));
}

/** The marks of build rows that found a partner. */
export function marksOf(state: ExecutionState, slot: number, rows: number): Uint8Array {
  const known = state.x[slot];
  if (known instanceof Uint8Array) return known;
  state.charge(rows);
  const made = new Uint8Array(rows);
  state.x[slot] = made;
  return made;
}

interface ProbeNames {
  readonly index: string;
  readonly next: string;
  readonly buffer: ReadNames;
  readonly marks: string;
}

interface JoinParts {
  readonly keys: readonly KeyCode[];
  readonly buffer: BufferCode;
  readonly indexSlot: number;
  readonly marksSlot: number;
}

function makeParts(plan: HashJoin, compilation: Compilation): JoinParts {
  const keys = plan.rightKeys.map((key, index) =>
    new KeyCode(compilation, key.type, plan.leftKeys[index]?.type ?? key.type)
  );
  const isTest = plan.join === "semi" || plan.join === "anti";
  const needed = isTest && plan.residual === null ? [] : compilation.neededAbove(plan.right);
  const buffer = new BufferCode(compilation, [
    ...keys.map(() => codeColumn),
    ...needed.map(({ column, type }) => bufferColumn(column, type, compilation.mayBeNull(column))),
  ]);
  return { keys, buffer, indexSlot: compilation.newSlot(), marksSlot: compilation.newSlot() };
}

class HashJoinCode {
  readonly #plan: HashJoin;
  readonly #region: Region;
  readonly #sink: Sink;
  readonly #keys: readonly KeyCode[];
  readonly #buffer: BufferCode;
  readonly #indexSlot: number;
  readonly #marksSlot: number;

  constructor(plan: HashJoin, region: Region, sink: Sink) {
    const { compilation } = region;
    this.#plan = plan;
    this.#region = region;
    this.#sink = sink;
    const parts = compilation.made(compilation.derivedKey(plan, "parts"), () => makeParts(plan, compilation));
    this.#keys = parts.keys;
    this.#buffer = parts.buffer;
    this.#indexSlot = parts.indexSlot;
    this.#marksSlot = parts.marksSlot;
  }

  produce(): void {
    this.#build();
    const plan = this.#plan;
    if (this.#marks) this.#region.reset(this.#marksSlot);
    produce(plan.left, this.#region, {
      open: (code) => {
        this.#openProbe(code);
        this.#sink.open(code);
      },
      row: (code) => this.#probe(code),
      close: (code) => this.#sink.close(code),
    });
    if (this.#marks) this.#region.loop(plan, this.#unmatched(), this.#sink);
  }

  /** How many build rows have the same hash at most; those that a probe looks at. */
  readonly #atMost = (state: ExecutionState): number => {
    const index = state.x[this.#indexSlot];
    return index instanceof HashIndex ? index.longestChain : Infinity;
  };

  get #marks(): boolean {
    return this.#plan.join === "right" || this.#plan.join === "full";
  }

  /** Inside of a loop the build side is made once if it does not depend on the loop. */
  #build(): void {
    const { compilation } = this.#region;
    if (this.#region.isInline && isClosed(this.#plan.right, compilation)) {
      const { done, program } = compilation.made(compilation.derivedKey(this.#plan, "build"), () => {
        const made = { done: compilation.newSlot(), program: new Program(compilation, { reruns: false }) };
        this.#buildIn(made.program);
        return made;
      });
      this.#region.once(this.#plan, (code) => code.procedure(done, program.stages, false));
      return;
    }
    this.#region.reset(this.#buffer.slot, this.#indexSlot, ...this.#keys.flatMap((key) => key.slots));
    this.#buildIn(this.#region);
  }

  #buildIn(region: Region): void {
    const { right, rightKeys } = this.#plan;
    const buffer = this.#buffer;
    produce(right, region, {
      open: (code) => {
        for (const key of this.#keys) key.open(code);
        buffer.openAppend(code);
      },
      row: (code) => {
        const codes = this.#keys.map((key, index) => {
          const expression = rightKeys[index];
          return { code: expression === undefined ? "0" : key.emit(code, expression, "add"), isNull: null };
        });
        const payload = buffer.columns.slice(codes.length)
          .map(({ column }) => column === null ? NULL_VALUE : code.column(column));
        buffer.append(code, [...codes, ...payload]);
      },
      close: (code) => buffer.closeAppend(code),
    });
    region.once(this.#plan, (code) => {
      const layout = code.constant("layout", buffer.columns);
      const index = `${code.use("indexOver", indexOver)}(S, ${buffer.slot}, ${layout}, ${this.#keys.length})`;
      code.emit(`S.x[${this.#indexSlot}] = ${code.work(index)};`);
    });
  }

  #openProbe(code: Emitter): void {
    for (const key of this.#keys) key.open(code);
    const index = code.define("index", `S.x[${this.#indexSlot}]`);
    const names: ProbeNames = {
      index,
      next: code.define("next", `${index}.next`),
      buffer: this.#buffer.openRead(code),
      marks: this.#marks
        ? code.define("marks", `${code.use("marksOf", marksOf)}(S, ${this.#marksSlot}, ${index}.rows)`)
        : "",
    };
    code.note(this, names);
  }

  #probe(code: Emitter): void {
    const plan = this.#plan;
    const names = code.recall<ProbeNames>(this);
    const codes = plan.leftKeys.map((expression, index) =>
      this.#keys[index]?.emit(code, expression, "find") ?? "0"
    );
    const row = code.name("j");
    const isNull = codes.map((key) => `${key} === ${NULL_CODE}`).join(" || ") || "false";
    code.emit(`let ${row} = ${isNull} ? -1 : ${firstCode(code, names.index, codes)};`);
    const differs = codes.map((key, index) => `${names.buffer.columns[index]?.data}[${row}] !== ${key}`).join(
      " || ",
    );
    if (plan.join === "semi" || plan.join === "anti") this.#test(code, names, { row, differs, isNull });
    else this.#match(code, names, row, differs);
  }

  /** Semi and anti joins: whether there is a partner. */
  #test(
    code: Emitter,
    names: ProbeNames,
    { row, differs, isNull }: { readonly row: string; readonly differs: string; readonly isNull: string },
  ): void {
    const plan = this.#plan;
    const found = code.name("found");
    code.emit(`let ${found} = false;`);
    const label = code.name("partners");
    code.innerLoop({
      label,
      declare: "",
      test: `${row} >= 0`,
      advance: `${row} = ${names.next}[${row}]`,
      atMost: this.#atMost,
    }, () => {
      if (differs !== "") code.emit(`if (${differs}) continue;`);
      if (plan.residual !== null) {
        this.#buffer.bindRow(code, names.buffer, row);
        const test = emitTruth(code, plan.residual);
        code.emit(`if (!(${test})) continue;`);
      }
      code.emit(`${found} = true;`);
      code.emit(`break ${label};`);
    });
    if (plan.join === "semi") {
      code.emit(`if (!${found}) ${code.skip}`);
    } else {
      code.emit(`if (${found}) ${code.skip}`);
      // NOT IN: a NULL on either side leaves the comparison unknown, unless the right side is empty.
      if (plan.nullAware) {
        code.emit(`if (${names.index}.hasNull || (${names.index}.rows > 0 && (${isNull}))) ${code.skip}`);
      }
    }
    this.#sink.row(code);
  }

  #match(code: Emitter, names: ProbeNames, row: string, differs: string): void {
    const plan = this.#plan;
    const outer = plan.join === "left" || plan.join === "full";
    const matched = code.name("matched");
    if (outer) code.emit(`let ${matched} = false;`);
    const label = code.name("partners");
    code.innerLoop({
      label,
      declare: "",
      test: outer ? "" : `${row} >= 0`,
      advance: `${row} = ${names.next}[${row}]`,
      atMost: this.#atMost,
    }, () => {
      const check = () => {
        if (differs !== "") code.emit(`if (${differs}) continue;`);
        if (plan.residual !== null) {
          this.#buffer.bindRow(code, names.buffer, row);
          const holds = emitTruth(code, plan.residual);
          code.emit(`if (!(${holds})) continue;`);
        }
        if (this.#marks) code.emit(`${names.marks}[${row}] = 1;`);
      };
      if (outer) {
        code.block(`if (${row} < 0) `, "conditional", () => code.emit(`if (${matched}) break ${label};`));
        code.block("else ", "row", () => {
          check();
          code.emit(`${matched} = true;`);
        });
      } else check();
      this.#buffer.bindRow(code, names.buffer, row, outer ? `${row} < 0` : null);
      code.rowBlock(() => this.#sink.row(code));
      if (outer) code.emit(`if (${row} < 0) break ${label};`);
    });
  }

  /** Build rows without a partner, extended with NULLs on the left. */
  #unmatched(): LoopSource {
    const buffer = this.#buffer;
    const key = {};
    const left = this.#region.compilation.neededAbove(this.#plan.left);
    return {
      kind: "counted",
      count: (code) => {
        const names = buffer.openRead(code);
        const marks = code.define(
          "marks",
          `${code.use("marksOf", marksOf)}(S, ${this.#marksSlot}, ${names.buffer}.count)`,
        );
        code.note(key, { names, marks });
        return `${names.buffer}.count`;
      },
      bind: (code, index) => {
        const { names, marks } = code.recall<{ names: ReadNames; marks: string }>(key);
        code.emit(`if (${marks}[${index}] !== 0) ${code.skip}`);
        buffer.bindRow(code, names, index);
        for (const { column, type } of left) code.bind(column, { type, cheap: true, load: () => NULL_VALUE });
      },
    };
  }
}

/** Skips the row unless a condition holds; null: none. */
export function emitOptionalGuards(code: Emitter, condition: Parameters<typeof emitGuards>[1] | null): void {
  if (condition !== null) emitGuards(code, condition);
}
