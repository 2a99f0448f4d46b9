/**
 * What hash joins share: rows of one side kept in a buffer with a {@link HashIndex}, and the loop over the partners
 * of a row of the other side.
 *
 * A row first asks the filters of the keys, one after the other, so that one without a partner ends before its other
 * columns are read.
 */
import { assertDefined } from "../../base/assert.ts";
import type { ColumnRef, Expression } from "../../sql/plan/expression.ts";
import type { Fragment, Plan } from "../../sql/plan/plan.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { emitTruth } from "../codegen/condition.ts";
import { BufferCode, bufferColumn, bufferOf, codeColumn, type ReadNames } from "../codegen/buffer_code.ts";
import type { Compilation } from "../codegen/compilation.ts";
import type { Emitter } from "../codegen/emitter.ts";
import { hashOf, KeyCode } from "../codegen/key_code.ts";
import type { LoopSource, Region } from "../codegen/region.ts";
import type { ExecutionState } from "../runtime/execution_state.ts";
import { NULL_CODE } from "../runtime/hashing.ts";
import { HashIndex } from "../runtime/hash_index.ts";
import { type Interner, KeptTable } from "../runtime/kept_table.ts";
import { type ColumnLayout, RowBuffer } from "../runtime/row_buffer.ts";
import { type FilterNames, missesFilter, nameFilter } from "./runtime_filter.ts";

/** One side of a join: what gives its rows, and the keys. */
interface Side {
  readonly plan: Plan;
  readonly keys: readonly Expression[];
}

/** What the code of a join knows of the kept rows. */
export interface ProbeNames {
  readonly index: string;
  readonly next: string;
  readonly filters: readonly FilterNames[];
  /** Of an index over one key. */
  readonly heads: Readonly<Record<"rows" | "mask" | "direct" | "minimum", string>> | null;
  readonly buffer: ReadNames;
  /** Empty when the join takes no marks. */
  readonly marks: string;
}

/** A look at the hash table for one row. */
export interface Found {
  /** The variable with the row of the bucket that is looked at, or -1. */
  readonly row: string;
  /** A test for a row of the bucket that has other keys; empty: none has. */
  readonly differs: string;
  /** A test for a NULL among the keys that are looked for. */
  readonly isNull: string;
}

/** The kept side of a hash join. */
export class HashProbe {
  readonly keys: readonly KeyCode[];
  readonly buffer: BufferCode;
  readonly indexSlot: number;
  readonly marksSlot: number;
  readonly #kept: Side;
  readonly #residual: Expression | null;

  /**
   * `keepsColumns`: whether anybody reads more of the kept rows than their keys; `columns`: what is kept besides these,
   * where that is not known by who reads it.
   */
  constructor(
    compilation: Compilation,
    { kept, otherTypes, residual, keepsColumns, columns }: {
      readonly kept: Side;
      readonly otherTypes: readonly SqlType[];
      readonly residual: Expression | null;
      readonly keepsColumns: boolean;
      readonly columns?: Fragment["columns"];
    },
  ) {
    this.#kept = kept;
    this.#residual = residual;
    this.keys = kept.keys.map((key, index) =>
      new KeyCode(compilation, key.type, otherTypes[index] ?? key.type)
    );
    const needed = columns ?? (keepsColumns ? compilation.neededAbove(kept.plan) : []);
    // Whoever knows the columns only keeps and reads them in the same layout.
    const mayBeNull = (column: ColumnRef): boolean => columns !== undefined || compilation.mayBeNull(column);
    this.buffer = new BufferCode(compilation, [
      ...this.keys.map(() => codeColumn),
      ...needed.map(({ column, type }) => bufferColumn(column, type, mayBeNull(column))),
    ]);
    this.indexSlot = compilation.newSlot();
    this.marksSlot = compilation.newSlot();
  }

  /** Slots to forget when the region runs again. */
  get slots(): readonly number[] {
    return [this.buffer.slot, this.indexSlot, ...this.keys.flatMap((key) => key.slots)];
  }

  /** The table that {@link build} has made. `isLast`: nobody else of the execution reads it. */
  give(state: ExecutionState, isLast: boolean): KeptTable {
    const { buffer, indexSlot, keys } = this;
    const [rows, index, ...interners] = [buffer.slot, indexSlot, ...keys.map(({ slot }) => slot)]
      .map((slot) => state.x[slot]);
    if (isLast) { for (const slot of this.slots) state.x[slot] = undefined; }
    const types = buffer.columns.map(({ type }) => type);
    return new KeptTable({
      rows: (rows ?? new RowBuffer(state, buffer.columns)) as RowBuffer,
      types,
      index: index as HashIndex,
      interners: interners as Interner[],
    });
  }

  /** Puts the table of another execution in the place of one that is built; `owner` is the join. */
  take(region: Region, owner: Plan, number: number): void {
    const slots = [this.buffer.slot, this.indexSlot, ...this.keys.map(({ slot }) => slot)];
    region.once(owner, (code) => {
      code.emit(`${code.use("takeKept", takeKept)}(S, ${number}, [${slots.join(", ")}]);`);
    });
  }

  /** How many kept rows have the same hash at most; those that a look-up goes through. */
  readonly atMost = (state: ExecutionState): number => {
    const index = state.x[this.indexSlot];
    return index instanceof HashIndex ? index.longestChain : Infinity;
  };

  /** Keeps the rows and makes their index; `owner` is the join. */
  build(region: Region, owner: Plan): void {
    const { buffer, keys } = this;
    const { plan, keys: expressions } = this.#kept;
    region.produce(plan, {
      open: (code) => {
        for (const key of keys) key.open(code);
        const source = region.compilation.dividedSource(plan);
        if (source?.kind === "counted" && source.total !== undefined) {
          code.emit(`${buffer.get(code)}.expect(${source.total()});`);
        }
        buffer.openAppend(code);
      },
      row: (code) => {
        const codes = expressions.map((expression, index) => ({
          code: keys[index]?.emit(code, expression, "add") ?? "0",
          isNull: null,
        }));
        const payload = buffer.columns.slice(codes.length)
          .flatMap(({ column }) => column === null ? [] : [code.column(column)]);
        buffer.append(code, [...codes, ...payload]);
      },
      close: (code) => buffer.closeAppend(code),
    });
    region.once(owner, (code) => {
      const layout = code.constant("layout", buffer.columns);
      const index = `${code.use("indexOver", indexOver)}(S, ${buffer.slot}, ${layout}, ${keys.length})`;
      code.emit(`S.x[${this.indexSlot}] = ${code.work(index)};`);
    });
  }

  /** Declares what {@link find} uses. */
  open(code: Emitter, takesMarks: boolean): ProbeNames {
    for (const key of this.keys) key.open(code);
    const index = code.define("index", `S.x[${this.indexSlot}]`);
    const names: ProbeNames = {
      index,
      next: code.define("next", `${index}.next`),
      filters: this.keys.map((_key, position) =>
        nameFilter(code, code.define("filter", `${index}.filters[${position}]`))
      ),
      heads: this.keys.length !== 1 ? null : {
        rows: code.define("heads", `${index}.heads`),
        mask: code.define("mask", `${index}.mask`),
        direct: code.define("direct", `${index}.direct`),
        minimum: code.define("minimum", `${index}.minimum`),
      },
      buffer: this.buffer.openRead(code),
      marks: takesMarks
        ? code.define("marks", `${code.use("marksOf", marksOf)}(S, ${this.marksSlot}, ${index}.rows)`)
        : "",
    };
    code.note(this, names);
    return names;
  }

  /** Emits the search for a row's bucket. `skips`: rows without a partner end here. */
  find(code: Emitter, expressions: readonly Expression[], skips: boolean): Found {
    const names = code.recall<ProbeNames>(this);
    const passes: string[] = [];
    const codes = this.keys.map((each, index) => {
      const key = each.emit(code, assertDefined(expressions[index], "an expression for each key"), "find");
      const filter = assertDefined(names.filters[index], "a filter for each key");
      const { words, mask, low, high } = filter;
      const bit = `${words}[(${key} & ${mask}) >>> 5] & (1 << ${key})`;
      if (skips) code.emit(`if (${missesFilter(key, filter)}) ${code.skip}`);
      else passes.push(`${key} >= ${low} && ${key} <= ${high} && (${bit}) !== 0`);
      return key;
    });
    const row = code.name("j");
    const isNull = codes.map((key) => `${key} === ${NULL_CODE}`).join(" || ") || "false";
    const first = firstCode(code, names, codes);
    const tests = [`!(${isNull})`, ...passes].join(" && ");
    code.emit(`let ${row} = ${tests} ? ${first} : -1;`);
    const others = codes.map((key, index) => `${names.buffer.columns[index]?.data}[${row}] !== ${key}`)
      .join(" || ");
    // Rows of a bucket that is a key itself have no other.
    const differs = names.heads === null ? others : `!${names.heads.direct} && ${others}`;
    return { row, differs, isNull };
  }

  /**
   * Emits the test of a row of the bucket: it goes on to the next one unless the keys and the join's condition hold.
   */
  emitMatch(code: Emitter, { row, differs }: Found): void {
    if (differs !== "") code.emit(`if (${differs}) continue;`);
    if (this.#residual === null) return;
    this.buffer.bindRow(code, code.recall<ProbeNames>(this).buffer, row);
    const holds = emitTruth(code, this.#residual);
    code.emit(`if (!(${holds})) continue;`);
  }
}

/** The kept side of a join whose code is there. */
export function probeOf(compilation: Compilation, plan: Plan): HashProbe {
  const made = compilation.made<HashProbe | null>(compilation.derivedKey(plan, "parts"), () => null);
  return assertDefined(made ?? undefined, "the kept side of a join");
}

/** The expression of the first row of the keys' bucket, or -1; the keys have passed their filters. */
function firstCode(code: Emitter, { index, heads }: ProbeNames, codes: readonly string[]): string {
  if (heads === null) return `${index}.firstByHash(${hashOf(code, codes)})`;
  const { rows, direct, minimum, mask } = heads;
  const [only] = codes;
  return `${rows}[${direct} ? ${only} - ${minimum} : ${hashOf(code, codes)} & ${mask}] - 1`;
}

function takeKept({ context, x }: ExecutionState, number: number, slots: readonly number[]): void {
  const { rows, index, interners } = KeptTable.of(context.kept?.(number));
  [rows, index, ...interners].forEach((part, place) => x[assertDefined(slots[place], "a slot")] = part);
}

/** An index over a buffer's key columns, which come first; it is work to be done. */
function indexOver(
  state: ExecutionState,
  bufferSlot: number,
  layout: readonly ColumnLayout[],
  keyCount: number,
): HashIndex {
  const buffer = bufferOf(state, bufferSlot, layout);
  return new HashIndex(
    state.userOf(bufferSlot),
    buffer,
    Array.from({ length: keyCount }, (_, index) => index),
  );
}

/** The build rows that a join has marked, or the others, with what else is to be done for each of them. */
export function keptRows(
  probe: HashProbe,
  options: { readonly wanted: "marked" | "unmarked"; readonly emit?: (code: Emitter) => void },
): LoopSource {
  const { buffer, marksSlot } = probe;
  const key = {};
  const skipped = options.wanted === "marked" ? "===" : "!==";
  return {
    kind: "counted",
    count: (code) => {
      const names = buffer.openRead(code);
      const marks = code.define(
        "marks",
        `${code.use("marksOf", marksOf)}(S, ${marksSlot}, ${names.buffer}.count)`,
      );
      code.note(key, { names, marks });
      return `${names.buffer}.count`;
    },
    bind: (code, index) => {
      const { names, marks } = code.recall<{ names: ReadNames; marks: string }>(key);
      code.emit(`if (${marks}[${index}] ${skipped} 0) ${code.skip}`);
      buffer.bindRow(code, names, index);
      options.emit?.(code);
    },
  };
}

/** The marks of kept rows that found a partner. */
export function marksOf(state: ExecutionState, slot: number, rows: number): Uint8Array {
  const known = state.x[slot];
  if (known instanceof Uint8Array) return known;
  state.charge(rows);
  const made = new Uint8Array(rows);
  state.x[slot] = made;
  return made;
}
