/**
 * The allocator: size classes with a free list each, and a frontier that moves up through the linear memory.
 *
 * Sizes up to 64 are rounded to a multiple of 8, larger ones to a quarter of a power of two, so that at most a fifth
 * is lost. Who frees says how large the block is; blocks have no header of their own. Freed blocks go to the list of
 * their class and are never joined: memory that is free stays with its class, and a program in a steady state takes
 * none. All is deterministic: the same calls give the same addresses.
 */
import {
  get,
  i32,
  type IrExpression,
  type IrFunction,
  type IrGlobal,
  load,
  op,
  type TrapSite,
} from "./node.ts";
import { RawBuilder } from "./raw_builder.ts";

/** Sizes from here on are in quarters of powers of two. */
const FINE_LIMIT = 64;
/** Classes: 8 fine ones, then 4 for each power of two from 2^6 to 2^30, counted from 1. */
export const CLASS_COUNT = 8 + 25 * 4 + 1;
/** Largest block in bytes. */
const MAX_BLOCK = 0x7000_0000;

/** The class of a size and the bytes that blocks of the class have. */
export function sizeClass(bytes: number): { readonly index: number; readonly rounded: number } {
  if (bytes <= FINE_LIMIT) {
    const index = Math.max(1, (bytes + 7) >>> 3);
    return { index, rounded: index * 8 };
  }
  const power = 31 - Math.clz32(bytes - 1);
  const quarter = ((bytes - 1) >>> (power - 2)) & 3;
  return { index: 8 + (power - 6) * 4 + quarter + 1, rounded: (5 + quarter) << (power - 2) };
}

/** Makes the allocator's functions when they are asked for. */
export class Allocator {
  readonly #heads: () => number;
  readonly #site: () => TrapSite;
  readonly #register: (target: IrFunction) => void;
  readonly #heapBytes: IrGlobal;
  readonly #frontier: IrGlobal;
  readonly #hasGas: boolean;
  #take: IrFunction | null = null;
  #give: IrFunction | null = null;
  #takeAny: IrFunction | null = null;
  #giveAny: IrFunction | null = null;

  constructor(options: {
    /** Address of the heads of the free lists. */
    readonly heads: () => number;
    readonly site: () => TrapSite;
    readonly register: (target: IrFunction) => void;
    readonly heapBytes: IrGlobal;
    readonly frontier: IrGlobal;
    /** Whether what is taken is charged by its size. */
    readonly hasGas: boolean;
  }) {
    this.#heads = options.heads;
    this.#site = options.site;
    this.#register = options.register;
    this.#heapBytes = options.heapBytes;
    this.#frontier = options.frontier;
    this.#hasGas = options.hasGas;
  }

  /** An expression that takes a block of a size known now. */
  take(bytes: number): IrExpression {
    const { index, rounded } = sizeClass(bytes);
    return {
      kind: "call",
      function: this.#takeFunction(),
      args: [i32(this.#heads() + index * 4), i32(rounded)],
    };
  }

  /** An expression that takes a block of any size; traps when the heap is full. */
  takeAny(bytes: IrExpression): IrExpression {
    return { kind: "call", function: this.#takeAnyFunction(), args: [bytes] };
  }

  /** Gives a block of a size known now back. */
  give(out: RawBuilder, pointer: IrExpression, bytes: number): void {
    const { index, rounded } = sizeClass(bytes);
    out.call(this.#giveFunction(), pointer, i32(this.#heads() + index * 4), i32(rounded));
  }

  /** Gives a block of any size back. */
  giveAny(out: RawBuilder, pointer: IrExpression, bytes: IrExpression): void {
    out.call(this.#giveAnyFunction(), pointer, bytes);
  }

  #addHeapBytes(out: RawBuilder, bytes: IrExpression, operation: string): void {
    out.add({
      kind: "set-global",
      global: this.#heapBytes,
      value: op(operation, { kind: "global", global: this.#heapBytes }, bytes),
    });
  }

  #takeFunction(): IrFunction {
    if (this.#take !== null) return this.#take;
    const out = new RawBuilder("allocate_class");
    this.#take = out.function;
    const head = out.parameter("head");
    const bytes = out.parameter("bytes");
    out.result();
    this.#addHeapBytes(out, get(bytes), "i32.add");
    if (this.#hasGas) out.add({ kind: "charge", amount: 0, bytes: op("i32.shr_u", get(bytes), i32(3)) });
    const found = out.local("found", load("i32.load", get(head), 0));
    out.if(get(found), () => {
      out.store(get(head), 0, load("i32.load", get(found), 0));
      out.return(get(found));
    });
    const frontier: IrExpression = { kind: "global", global: this.#frontier };
    out.set(found, frontier);
    const end = out.local("end", op("i32.add", get(found), get(bytes)));
    const site = this.#site();
    out.check(op("i32.lt_u", get(end), get(found)), site);
    const have = out.local("have", { kind: "memory-size" });
    const need = out.local(
      "need",
      op(
        "i32.add",
        op("i32.shr_u", op("i32.sub", get(end), i32(1)), i32(16)),
        i32(1),
      ),
    );
    out.if(op("i32.gt_u", get(need), get(have)), () => {
      // Half as much again when the host gives it, so that growing stays rare; else what is needed.
      const wish = out.local("wish", op("i32.shr_u", get(have), i32(1)));
      const least = out.local("least", op("i32.sub", get(need), get(have)));
      out.if(op("i32.lt_u", get(wish), get(least)), () => out.set(wish, get(least)));
      out.if(op("i32.eq", { kind: "memory-grow", pages: get(wish) }, i32(-1)), () => {
        out.check(op("i32.eq", { kind: "memory-grow", pages: get(least) }, i32(-1)), site);
      });
    });
    out.add({ kind: "set-global", global: this.#frontier, value: get(end) });
    out.return(get(found));
    this.#register(out.function);
    return out.function;
  }

  #giveFunction(): IrFunction {
    if (this.#give !== null) return this.#give;
    const out = new RawBuilder("free_class");
    this.#give = out.function;
    const pointer = out.parameter("pointer");
    const head = out.parameter("head");
    const bytes = out.parameter("bytes");
    this.#addHeapBytes(out, get(bytes), "i32.sub");
    out.store(get(pointer), 0, load("i32.load", get(head), 0));
    out.store(get(head), 0, get(pointer));
    this.#register(out.function);
    return out.function;
  }

  /** Sets `head` and `rounded` from `bytes`, as {@link sizeClass} does. */
  #classify(out: RawBuilder, bytes: IrExpression): { head: IrExpression; rounded: IrExpression } {
    const size = out.local("size", bytes);
    out.if(op("i32.eqz", get(size)), () => out.set(size, i32(1)));
    const index = out.declare("index");
    const rounded = out.declare("rounded");
    out.if(op("i32.le_u", get(size), i32(FINE_LIMIT)), () => {
      out.set(index, op("i32.shr_u", op("i32.add", get(size), i32(7)), i32(3)));
      out.set(rounded, op("i32.shl", get(index), i32(3)));
    }, () => {
      const last = out.local("last", op("i32.sub", get(size), i32(1)));
      const power = out.local("power", op("i32.sub", i32(29), op("i32.clz", get(last))));
      const quarter = out.local("quarter", op("i32.and", op("i32.shr_u", get(last), get(power)), i32(3)));
      // `power` is two less than the power of two, so 8 + (power + 2 - 6) * 4 + quarter + 1.
      out.set(
        index,
        op("i32.add", op("i32.shl", get(power), i32(2)), op("i32.sub", get(quarter), i32(7))),
      );
      out.set(rounded, op("i32.shl", op("i32.add", get(quarter), i32(5)), get(power)));
    });
    return {
      head: op("i32.add", op("i32.shl", get(index), i32(2)), i32(this.#heads())),
      rounded: get(rounded),
    };
  }

  #takeAnyFunction(): IrFunction {
    if (this.#takeAny !== null) return this.#takeAny;
    const out = new RawBuilder("allocate");
    this.#takeAny = out.function;
    const bytes = out.parameter("bytes");
    out.result();
    out.check(op("i32.gt_u", get(bytes), i32(MAX_BLOCK)), this.#site());
    const { head, rounded } = this.#classify(out, get(bytes));
    out.return({ kind: "call", function: this.#takeFunction(), args: [head, rounded] });
    this.#register(out.function);
    return out.function;
  }

  #giveAnyFunction(): IrFunction {
    if (this.#giveAny !== null) return this.#giveAny;
    const out = new RawBuilder("free");
    this.#giveAny = out.function;
    const pointer = out.parameter("pointer");
    const bytes = out.parameter("bytes");
    const { head, rounded } = this.#classify(out, get(bytes));
    out.call(this.#giveFunction(), get(pointer), head, rounded);
    this.#register(out.function);
    return out.function;
  }
}
