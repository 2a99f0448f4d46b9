/**
 * Helper functions of the run-time: blocks that grow, slices, comparison of bytes, and arithmetic that WebAssembly
 * lacks. Each is written when it is first used.
 */
import type { Allocator } from "./allocator.ts";
import { blockBytes, retainElements, timesSize } from "./cells.ts";
import { BLOCK_HEADER, CAPACITY_OFFSET, type Layout, LENGTH_OFFSET } from "./layout.ts";
import { get, i32, type IrExpression, type IrFunction, type IrLocal, load, op } from "./node.ts";
import { RawBuilder } from "./raw_builder.ts";
import { floatRemainder, multiplyOverflows } from "./runtime_arithmetic.ts";

/** The least capacity of a block that grows, in bytes. */
const LEAST_GROWTH = 32;

/** Makes helpers. */
export class Runtime {
  readonly #allocator: Allocator;
  readonly #register: (target: IrFunction) => void;
  readonly #made = new Map<string, IrFunction>();

  constructor(allocator: Allocator, register: (target: IrFunction) => void) {
    this.#allocator = allocator;
    this.#register = register;
  }

  #once(name: string, write: (out: RawBuilder) => void): IrFunction {
    const known = this.#made.get(name);
    if (known !== undefined) return known;
    const out = new RawBuilder(name);
    this.#made.set(name, out.function);
    write(out);
    this.#register(out.function);
    return out.function;
  }

  #name(name: string, element: Layout): string {
    return `${name}.${element.hasPointers ? element.key : `plain${element.size}`}`;
  }

  /** An empty block with room; sets its header. */
  newBlock(out: RawBuilder, element: Layout, length: IrExpression, capacity: IrExpression): IrLocal {
    const block = out.local("block", this.#allocator.takeAny(blockBytes(capacity, element.size)));
    out.store(get(block), 0, i32(1));
    out.store(get(block), LENGTH_OFFSET, length);
    out.store(get(block), CAPACITY_OFFSET, capacity);
    return block;
  }

  /**
   * `(own block, least, wish) -> block`: a block of one's own with room for `least` elements; a new one gets room for
   * `wish`.
   */
  reserve(element: Layout): IrFunction {
    return this.#once(this.#name("reserve", element), (out) => {
      const block = out.parameter("block");
      const least = out.parameter("least");
      const wish = out.parameter("wish");
      out.result();
      const isOwn = out.local("is_own", op("i32.eq", load("i32.load", get(block), 0), i32(1)));
      out.if(get(isOwn), () => {
        out.if(
          op("i32.le_u", get(least), load("i32.load", get(block), CAPACITY_OFFSET)),
          () => out.return(get(block)),
        );
      });
      out.if(op("i32.lt_u", get(wish), get(least)), () => out.set(wish, get(least)));
      const length = out.local("length", load("i32.load", get(block), LENGTH_OFFSET));
      const grown = this.newBlock(out, element, get(length), get(wish));
      out.if(op("i32.eqz", get(block)), () => out.return(get(grown)));
      out.copy(
        op("i32.add", get(grown), i32(BLOCK_HEADER)),
        op("i32.add", get(block), i32(BLOCK_HEADER)),
        timesSize(get(length), element.size),
      );
      out.if(get(isOwn), () => {
        const old = load("i32.load", get(block), CAPACITY_OFFSET);
        this.#allocator.giveAny(out, get(block), blockBytes(old, element.size));
      }, () => {
        retainElements(out, grown, element);
        out.store(get(block), 0, op("i32.sub", load("i32.load", get(block), 0), i32(1)));
      });
      out.return(get(grown));
    });
  }

  /** `(own block) -> block`: a block of one's own with room for one more element. */
  reserveOne(element: Layout): IrFunction {
    return this.#once(this.#name("reserve_one", element), (out) => {
      const block = out.parameter("block");
      out.result();
      const length = out.local("length", load("i32.load", get(block), LENGTH_OFFSET));
      const capacity = out.local("capacity", load("i32.load", get(block), CAPACITY_OFFSET));
      out.if(
        op(
          "i32.and",
          op("i32.lt_u", get(length), get(capacity)),
          op("i32.eq", load("i32.load", get(block), 0), i32(1)),
        ),
        () => out.return(get(block)),
      );
      const least = op("i32.add", get(length), i32(1));
      out.return({
        kind: "call",
        function: this.reserve(element),
        args: [get(block), least, this.#growth(element, get(length))],
      });
    });
  }

  /** Half as much again, at least a few. */
  #growth(element: Layout, length: IrExpression): IrExpression {
    const few = Math.max(2, Math.floor(LEAST_GROWTH / Math.max(1, element.size)));
    return op("i32.add", op("i32.add", length, op("i32.shr_u", length, i32(1))), i32(few));
  }

  /** `(own left, right) -> block`: the elements of both. */
  append(element: Layout): IrFunction {
    return this.#once(this.#name("append", element), (out) => {
      const left = out.parameter("left");
      const right = out.parameter("right");
      out.result();
      const added = out.local("added", load("i32.load", get(right), LENGTH_OFFSET));
      out.if(op("i32.eqz", get(added)), () => out.return(get(left)));
      const length = out.local("length", load("i32.load", get(left), LENGTH_OFFSET));
      const sum = out.local("sum", op("i32.add", get(length), get(added)));
      // The left one may be the right one as well: then it is shared, and copied here.
      out.set(left, {
        kind: "call",
        function: this.reserve(element),
        args: [get(left), get(sum), op("i32.add", get(sum), op("i32.shr_u", get(length), i32(1)))],
      });
      const end = out.local(
        "end",
        op("i32.add", op("i32.add", get(left), i32(BLOCK_HEADER)), timesSize(get(length), element.size)),
      );
      out.copy(
        get(end),
        op("i32.add", get(right), i32(BLOCK_HEADER)),
        timesSize(get(added), element.size),
      );
      if (element.hasPointers) this.#retainRange(out, element, get(end), get(added));
      out.store(get(left), LENGTH_OFFSET, get(sum));
      out.return(get(left));
    });
  }

  /** One count more for the pointers of so many elements from an address on. */
  #retainRange(out: RawBuilder, element: Layout, start: IrExpression, count: IrExpression): void {
    const at = out.local("at", start);
    const end = out.local("stop", op("i32.add", get(at), timesSize(count, element.size)));
    out.block("done", (done) => {
      out.loop("each", (again) => {
        out.if(op("i32.ge_u", get(at), get(end)), () => out.branch(done));
        for (const [index, slot] of element.slots.entries()) {
          if (slot.pointer === null) continue;
          const inner = out.local("inner", load("i32.load", get(at), element.offsets[index] ?? 0));
          out.retain(inner);
        }
        out.set(at, op("i32.add", get(at), i32(element.size)));
        out.branch(again);
      });
    });
  }

  /** `(block, start, end) -> block`: a new block of the elements between. */
  slice(element: Layout): IrFunction {
    return this.#once(this.#name("slice", element), (out) => {
      const block = out.parameter("block");
      const start = out.parameter("start");
      const end = out.parameter("end");
      out.result();
      const count = out.local("count", op("i32.sub", get(end), get(start)));
      out.if(op("i32.eqz", get(count)), () => out.return(i32(0)));
      const copy = this.newBlock(out, element, get(count), get(count));
      out.copy(
        op("i32.add", get(copy), i32(BLOCK_HEADER)),
        op("i32.add", op("i32.add", get(block), i32(BLOCK_HEADER)), timesSize(get(start), element.size)),
        timesSize(get(count), element.size),
      );
      retainElements(out, copy, element);
      out.return(get(copy));
    });
  }

  /** `(count) -> block`: a block of so many elements that are not set, or 0. */
  unset(element: Layout): IrFunction {
    return this.#once(this.#name("unset", element), (out) => {
      const count = out.parameter("count");
      out.result();
      out.if(op("i32.eqz", get(count)), () => out.return(i32(0)));
      const block = this.newBlock(out, element, get(count), get(count));
      out.return(get(block));
    });
  }

  /** `(block, start, end)`: releases the elements between, which are not part of the block any more. */
  releaseRange(element: Layout): IrFunction {
    return this.#once(this.#name("release_range", element), (out) => {
      const block = out.parameter("block");
      const start = out.parameter("start");
      const end = out.parameter("end");
      out.block("done", (done) => {
        out.loop("each", (again) => {
          out.if(op("i32.ge_s", get(start), get(end)), () => out.branch(done));
          const at = out.local("at", op("i32.add", get(block), timesSize(get(start), element.size)));
          for (const [index, slot] of element.slots.entries()) {
            if (slot.pointer === null) continue;
            out.call(
              slot.pointer.release(),
              load("i32.load", get(at), BLOCK_HEADER + (element.offsets[index] ?? 0)),
            );
          }
          out.set(start, op("i32.add", get(start), i32(1)));
          out.branch(again);
        });
      });
    });
  }

  /** `(left, right) -> i32`: whether two blocks have the same bytes. */
  equalBytes(): IrFunction {
    return this.#once("equal_bytes", (out) => {
      const left = out.parameter("left");
      const right = out.parameter("right");
      out.result();
      out.if(op("i32.eq", get(left), get(right)), () => out.return(i32(1)));
      const length = out.local("length", load("i32.load", get(left), LENGTH_OFFSET));
      out.if(
        op("i32.ne", get(length), load("i32.load", get(right), LENGTH_OFFSET)),
        () => out.return(i32(0)),
      );
      const end = out.local("end", op("i32.add", get(left), get(length)));
      const wordsEnd = out.local("words_end", op("i32.add", get(left), op("i32.and", get(length), i32(-8))));
      out.block("words", (done) => {
        out.loop("each_word", (again) => {
          out.if(op("i32.ge_u", get(left), get(wordsEnd)), () => out.branch(done));
          out.if(
            op(
              "i64.ne",
              load("i64.load", get(left), BLOCK_HEADER),
              load("i64.load", get(right), BLOCK_HEADER),
            ),
            () => out.return(i32(0)),
          );
          out.set(left, op("i32.add", get(left), i32(8)));
          out.set(right, op("i32.add", get(right), i32(8)));
          out.branch(again);
        });
      });
      out.block("bytes", (done) => {
        out.loop("each_byte", (again) => {
          out.if(op("i32.ge_u", get(left), get(end)), () => out.branch(done));
          out.if(
            op(
              "i32.ne",
              load("i32.load8_u", get(left), BLOCK_HEADER),
              load("i32.load8_u", get(right), BLOCK_HEADER),
            ),
            () => out.return(i32(0)),
          );
          out.set(left, op("i32.add", get(left), i32(1)));
          out.set(right, op("i32.add", get(right), i32(1)));
          out.branch(again);
        });
      });
      out.return(i32(1));
    });
  }

  /** `(left, right) -> i32`: -1, 0 or 1 by the first byte that differs, then by length. */
  compareBytes(): IrFunction {
    return this.#once("compare_bytes", (out) => {
      const left = out.parameter("left");
      const right = out.parameter("right");
      out.result();
      const leftLength = out.local("left_length", load("i32.load", get(left), LENGTH_OFFSET));
      const rightLength = out.local("right_length", load("i32.load", get(right), LENGTH_OFFSET));
      const shorter = out.local("shorter", get(leftLength));
      out.if(op("i32.lt_u", get(rightLength), get(shorter)), () => out.set(shorter, get(rightLength)));
      const end = out.local("end", op("i32.add", get(left), get(shorter)));
      out.block("done", (done) => {
        out.loop("each", (again) => {
          out.if(op("i32.ge_u", get(left), get(end)), () => out.branch(done));
          const a = out.local("a", load("i32.load8_u", get(left), BLOCK_HEADER));
          const b = out.local("b", load("i32.load8_u", get(right), BLOCK_HEADER));
          out.if(op("i32.ne", get(a), get(b)), () => out.return(signOf(get(a), get(b))));
          out.set(left, op("i32.add", get(left), i32(1)));
          out.set(right, op("i32.add", get(right), i32(1)));
          out.branch(again);
        });
      });
      out.return(signOf(get(leftLength), get(rightLength)));
    });
  }

  /** `(code point) -> block`: its text. */
  charText(): IrFunction {
    return this.#once("char_text", (out) => {
      const code = out.parameter("code");
      out.result();
      const block = out.local("block", this.#allocator.take(BLOCK_HEADER + 4));
      const finish = (bytes: number, word: IrExpression): void => {
        out.store(get(block), 0, i32(1));
        out.store(get(block), LENGTH_OFFSET, i32(bytes));
        out.store(get(block), CAPACITY_OFFSET, i32(4));
        out.store(get(block), BLOCK_HEADER, word);
        out.return(get(block));
      };
      const tail = (shift: number, place: number): IrExpression =>
        op(
          "i32.shl",
          op("i32.or", op("i32.and", op("i32.shr_u", get(code), i32(shift)), i32(63)), i32(128)),
          i32(place),
        );
      const head = (shift: number, mark: number): IrExpression =>
        op("i32.or", op("i32.shr_u", get(code), i32(shift)), i32(mark));
      out.if(op("i32.lt_u", get(code), i32(0x80)), () => finish(1, get(code)));
      out.if(
        op("i32.lt_u", get(code), i32(0x800)),
        () => finish(2, op("i32.or", head(6, 0xc0), tail(0, 8))),
      );
      out.if(
        op("i32.lt_u", get(code), i32(0x10000)),
        () => finish(3, op("i32.or", op("i32.or", head(12, 0xe0), tail(6, 8)), tail(0, 16))),
      );
      finish(
        4,
        op("i32.or", op("i32.or", op("i32.or", head(18, 0xf0), tail(12, 8)), tail(6, 16)), tail(0, 24)),
      );
    });
  }

  /**
   * `(pointer, length) -> block`: a block of so many elements of a size that the host has allocated, which are freed.
   */
  receive(size = 1): IrFunction {
    return this.#once(size === 1 ? "receive" : `receive_${size}`, (out) => {
      const pointer = out.parameter("pointer");
      const length = out.parameter("length");
      out.result();
      out.if(op("i32.eqz", get(length)), () => out.return(i32(0)));
      const bytes = size === 1 ? length : out.local("bytes", op("i32.mul", get(length), i32(size)));
      const block = out.local(
        "block",
        this.#allocator.takeAny(op("i32.add", get(bytes), i32(BLOCK_HEADER))),
      );
      out.store(get(block), 0, i32(1));
      out.store(get(block), LENGTH_OFFSET, get(length));
      out.store(get(block), CAPACITY_OFFSET, get(length));
      out.copy(op("i32.add", get(block), i32(BLOCK_HEADER)), get(pointer), get(bytes));
      this.#allocator.giveAny(out, get(pointer), get(bytes));
      out.return(get(block));
    });
  }

  /** `(bytes) -> pointer`: memory that the host fills. */
  allocate(): IrFunction {
    return this.#once("allocate_for_host", (out) => {
      const bytes = out.parameter("bytes");
      out.result();
      // Nothing is freed for no bytes, so nothing is taken.
      out.if(op("i32.eqz", get(bytes)), () => out.return(i32(8)));
      out.return(this.#allocator.takeAny(get(bytes)));
    });
  }

  /** `(old, old bytes, alignment, bytes) -> pointer`: what the component model asks for memory with. */
  reallocate(): IrFunction {
    return this.#once("reallocate_for_host", (out) => {
      const old = out.parameter("old");
      const oldBytes = out.parameter("old_bytes");
      const alignment = out.parameter("alignment");
      const bytes = out.parameter("bytes");
      out.result();
      out.if(op("i32.eqz", get(bytes)), () => out.return(get(alignment)));
      const made = out.local("made", this.#allocator.takeAny(get(bytes)));
      out.if(get(oldBytes), () => {
        const kept = out.local("kept", get(oldBytes));
        out.if(op("i32.gt_u", get(kept), get(bytes)), () => out.set(kept, get(bytes)));
        out.copy(get(made), get(old), get(kept));
        this.#allocator.giveAny(out, get(old), get(oldBytes));
      });
      out.return(get(made));
    });
  }

  /** `(x, y) -> remainder`, exact, with the sign of `x`. */
  floatRemainder(type: "f64" | "f32"): IrFunction {
    return this.#once(`remainder.${type}`, (out) => {
      if (type === "f64") {
        floatRemainder(out);
        return;
      }
      const x = out.parameter("x", "f32");
      const y = out.parameter("y", "f32");
      out.result("f32");
      out.return(op("f32.demote_f64", {
        kind: "call",
        function: this.floatRemainder("f64"),
        args: [op("f64.promote_f32", get(x)), op("f64.promote_f32", get(y))],
      }));
    });
  }

  /** `(a, b) -> i32`: whether the product of two `i64` does not fit. */
  multiplyOverflows(): IrFunction {
    return this.#once("multiply_overflows", multiplyOverflows);
  }
}

function signOf(left: IrExpression, right: IrExpression): IrExpression {
  return op("i32.sub", op("i32.gt_u", left, right), op("i32.lt_u", left, right));
}
