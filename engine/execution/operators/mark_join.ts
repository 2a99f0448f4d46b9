/**
 * Semi and anti hash joins that keep the left input: rows of the right one mark the kept rows with their keys, and those with
 * a mark, or without, are given out at the end in their order. For a right input that is the larger one.
 *
 * A kept row with a NULL in a key stands in no chain and is never marked, as its comparisons are never true.
 */
import type { Plan } from "../../sql/plan/plan.ts";
import { emitTruth } from "../codegen/condition.ts";
import { BufferCode, bufferColumn, codeColumn, type ReadNames } from "../codegen/buffer_code.ts";
import type { Emitter } from "../codegen/emitter.ts";
import { KeyCode } from "../codegen/key_code.ts";
import type { LoopSource, Region, Sink } from "../codegen/region.ts";
import type { ExecutionState } from "../runtime/execution_state.ts";
import { NULL_CODE } from "../runtime/hashing.ts";
import { HashIndex } from "../runtime/hash_index.ts";
import { firstCode, indexOver, marksOf } from "./hash_join.ts";
import { produce } from "./produce.ts";

type HashJoin = Extract<Plan, { kind: "hash_join" }>;

interface ProbeNames {
  readonly index: string;
  readonly next: string;
  readonly marks: string;
  readonly buffer: ReadNames;
}

/** Puts a semi or anti join whose left side is kept into a region. */
export function produceMarkJoin(plan: HashJoin, region: Region, sink: Sink): void {
  new MarkJoinCode(plan, region).produce(sink);
}

class MarkJoinCode {
  readonly #plan: HashJoin;
  readonly #region: Region;
  readonly #keys: readonly KeyCode[];
  readonly #buffer: BufferCode;
  readonly #indexSlot: number;
  readonly #marksSlot: number;

  constructor(plan: HashJoin, region: Region) {
    const { compilation } = region;
    this.#plan = plan;
    this.#region = region;
    const parts = compilation.made(compilation.derivedKey(plan, "parts"), () => {
      const keys = plan.leftKeys.map((key, index) =>
        new KeyCode(compilation, key.type, plan.rightKeys[index]?.type ?? key.type)
      );
      const kept = compilation.neededAbove(plan.left);
      const buffer = new BufferCode(compilation, [
        ...keys.map(() => codeColumn),
        ...kept.map(({ column, type }) => bufferColumn(column, type, compilation.mayBeNull(column))),
      ]);
      return { keys, buffer, indexSlot: compilation.newSlot(), marksSlot: compilation.newSlot() };
    });
    this.#keys = parts.keys;
    this.#buffer = parts.buffer;
    this.#indexSlot = parts.indexSlot;
    this.#marksSlot = parts.marksSlot;
  }

  produce(sink: Sink): void {
    const region = this.#region;
    region.reset(
      this.#buffer.slot,
      this.#indexSlot,
      this.#marksSlot,
      ...this.#keys.flatMap((key) => key.slots),
    );
    this.#keep();
    produce(this.#plan.right, region, {
      open: (code) => this.#openProbe(code),
      row: (code) => this.#mark(code),
      close: () => {},
    });
    region.loop(this.#plan, this.#kept(), sink);
  }

  #keep(): void {
    const { left, leftKeys } = this.#plan;
    const buffer = this.#buffer;
    produce(left, this.#region, {
      open: (code) => {
        for (const key of this.#keys) key.open(code);
        buffer.openAppend(code);
      },
      row: (code) => {
        const codes = leftKeys.map((expression, index) => ({
          code: this.#keys[index]?.emit(code, expression, "add") ?? "0",
          isNull: null,
        }));
        const payload = buffer.columns.slice(codes.length)
          .flatMap(({ column }) => column === null ? [] : [code.column(column)]);
        buffer.append(code, [...codes, ...payload]);
      },
      close: (code) => buffer.closeAppend(code),
    });
    this.#region.once(this.#plan, (code) => {
      const layout = code.constant("layout", buffer.columns);
      const index = `${code.use("indexOver", indexOver)}(S, ${buffer.slot}, ${layout}, ${this.#keys.length})`;
      code.emit(`S.x[${this.#indexSlot}] = ${code.work(index)};`);
    });
  }

  /** How many kept rows have the same hash at most; those that a probe looks at. */
  readonly #atMost = (state: ExecutionState): number => {
    const index = state.x[this.#indexSlot];
    return index instanceof HashIndex ? index.longestChain : Infinity;
  };

  #openProbe(code: Emitter): void {
    for (const key of this.#keys) key.open(code);
    const index = code.define("index", `S.x[${this.#indexSlot}]`);
    const names: ProbeNames = {
      index,
      next: code.define("next", `${index}.next`),
      marks: code.define("marks", `${code.use("marksOf", marksOf)}(S, ${this.#marksSlot}, ${index}.rows)`),
      buffer: this.#buffer.openRead(code),
    };
    code.note(this, names);
  }

  #mark(code: Emitter): void {
    const { rightKeys, residual } = this.#plan;
    const names = code.recall<ProbeNames>(this);
    const codes = rightKeys.map((expression, index) =>
      this.#keys[index]?.emit(code, expression, "find") ?? "0"
    );
    const row = code.name("j");
    const isNull = codes.map((key) => `${key} === ${NULL_CODE}`).join(" || ") || "false";
    code.emit(`let ${row} = ${isNull} ? -1 : ${firstCode(code, names.index, codes)};`);
    const differs = codes.map((key, index) => `${names.buffer.columns[index]?.data}[${row}] !== ${key}`);
    code.innerLoop({
      label: code.name("partners"),
      declare: "",
      test: `${row} >= 0`,
      advance: `${row} = ${names.next}[${row}]`,
      atMost: this.#atMost,
    }, () => {
      code.emit(`if (${[`${names.marks}[${row}] !== 0`, ...differs].join(" || ")}) continue;`);
      if (residual !== null) {
        this.#buffer.bindRow(code, names.buffer, row);
        const holds = emitTruth(code, residual);
        code.emit(`if (!(${holds})) continue;`);
      }
      code.emit(`${names.marks}[${row}] = 1;`);
    });
  }

  /** The kept rows that the join gives out. */
  #kept(): LoopSource {
    const buffer = this.#buffer;
    const key = {};
    const wanted = this.#plan.join === "semi" ? "===" : "!==";
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
        code.emit(`if (${marks}[${index}] ${wanted} 0) ${code.skip}`);
        buffer.bindRow(code, names, index);
      },
    };
  }
}
