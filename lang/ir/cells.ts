/**
 * The functions that let cells and blocks go, and that give a shared one's holder a copy of his own.
 *
 * `release` takes one from the count and frees at zero, with what is inside. A cell that contains cells of its own
 * kind lets them go in a loop, so that a long chain needs no stack: cells whose count came to zero are linked through
 * their first word. Cells that contain their own kind in another way, as trees with lists of trees do, are let go by
 * calls, but never deeper than a few: what lies deeper waits in a list of its kind until the outermost call is done.
 * `unshare` is called for a count that is not one; the empty block, 0, stays 0.
 */
import type { Allocator } from "./allocator.ts";
import {
  BLOCK_HEADER,
  CAPACITY_OFFSET,
  type CellContents,
  type CellFunctions,
  type CellKind,
  type CellVariant,
  type Layout,
  LENGTH_OFFSET,
  RELEASE_OFFSET,
  TAG_OFFSET,
} from "./layout.ts";
import {
  get,
  i32,
  type IrExpression,
  type IrFunction,
  type IrGlobal,
  type IrLocal,
  load,
  op,
  type Statement,
} from "./node.ts";
import { RawBuilder } from "./raw_builder.ts";

/** How many calls within one another let go what contains its own kind. */
const RELEASE_DEPTH = 32;

/** Cells that wait to be let go: the first one, and the function for them. */
interface Waiting {
  readonly first: IrGlobal;
  readonly release: IrFunction;
}

/** Makes the functions of cells. */
export class CellFunctionMaker implements CellFunctions {
  readonly #allocator: Allocator;
  readonly #register: (target: IrFunction) => void;
  /** Blocks whose elements have no pointers differ in nothing but the size of an element. */
  readonly #plainReleases = new Map<number, IrFunction>();
  readonly #plainUnshares = new Map<number, IrFunction>();
  readonly #global: (name: string) => IrGlobal;
  /** The kinds whose cells may have to wait. */
  readonly #waiting: Waiting[] = [];
  #releaseWaiting: RawBuilder | null = null;
  /** Whether function values capture what may hold function values, so that chains of them may be long. */
  #hasChainsOfClosures = false;
  #closureRelease: RawBuilder | null = null;

  constructor(
    allocator: Allocator,
    register: (target: IrFunction) => void,
    global: (name: string) => IrGlobal,
  ) {
    this.#allocator = allocator;
    this.#register = register;
    this.#global = global;
  }

  /** Writes what could not be written before all functions were asked for. */
  finish(): void {
    if (this.#closureRelease !== null) this.#writeClosureRelease(this.#closureRelease);
    const out = this.#releaseWaiting;
    if (out === null) return;
    const depth = this.#global("release_depth");
    out.add({ kind: "set-global", global: depth, value: i32(1) });
    out.loop("again", (again) => {
      for (const { first, release } of this.#waiting) {
        out.if({ kind: "global", global: first }, () => {
          const pointer = out.local("pointer", { kind: "global", global: first });
          out.add({ kind: "set-global", global: first, value: load("i32.load", get(pointer), 0) });
          out.store(get(pointer), 0, i32(1));
          out.call(release, get(pointer));
          out.branch(again);
        });
      }
    });
    out.add({ kind: "set-global", global: depth, value: i32(0) });
  }

  /** Writes what frees a cell, whose count came to zero, so that calls of it within one another end. */
  #bounded(out: RawBuilder, pointer: IrLocal, free: () => void): void {
    if (this.#releaseWaiting === null) {
      this.#releaseWaiting = new RawBuilder("release_waiting");
      this.#register(this.#releaseWaiting.function);
    }
    const first = this.#global(`waiting_${this.#waiting.length}`);
    this.#waiting.push({ first, release: out.function });
    const global = this.#global("release_depth");
    const depth = out.local("depth", { kind: "global", global });
    out.if(op("i32.ge_u", get(depth), i32(RELEASE_DEPTH)), () => {
      out.store(get(pointer), 0, { kind: "global", global: first });
      out.add({ kind: "set-global", global: first, value: get(pointer) });
      out.return();
    });
    out.add({ kind: "set-global", global, value: op("i32.add", get(depth), i32(1)) });
    free();
    out.add({ kind: "set-global", global, value: get(depth) });
    const outermost = this.#releaseWaiting.function;
    out.if(op("i32.eqz", get(depth)), () => out.call(outermost));
  }

  /** @inheritdoc */
  release(cell: CellKind, made: (target: IrFunction) => void): IrFunction {
    const { contents } = cell;
    switch (contents.kind) {
      case "block":
        return this.#releaseBlock(cell, contents.element, made);
      case "variants":
        return this.#releaseCell(cell, contents, made);
      case "closure":
        return this.#releaseClosure();
    }
  }

  /** @inheritdoc */
  unshare(cell: CellKind): IrFunction {
    const { contents } = cell;
    switch (contents.kind) {
      case "block":
        return this.#unshareBlock(cell, contents.element);
      case "variants":
        return this.#unshareCell(cell, contents);
      case "closure":
        throw new Error("Cannot make a function value unique: nothing can be written in it");
    }
  }

  /** Takes one from the count; what `last` writes runs when it was the last one. */
  #countDown(out: RawBuilder, pointer: IrLocal): void {
    out.if(op("i32.eqz", get(pointer)), () => out.return());
    const count = out.local("count", load("i32.load", get(pointer), 0));
    out.if(op("i32.ne", get(count), i32(1)), () => {
      out.store(get(pointer), 0, op("i32.sub", get(count), i32(1)));
      out.return();
    });
  }

  #releaseBlock(cell: CellKind, element: Layout, made: (target: IrFunction) => void): IrFunction {
    const known = element.hasPointers ? undefined : this.#plainReleases.get(element.size);
    if (known !== undefined) return known;
    const out = new RawBuilder(element.hasPointers ? `release.${cell.name}` : `release.plain${element.size}`);
    if (!element.hasPointers) this.#plainReleases.set(element.size, out.function);
    const target = out.function;
    // Known before its body is written: elements may hold blocks of the same kind.
    made(target);
    this.#register(target);
    const pointer = out.parameter("pointer");
    this.#countDown(out, pointer);
    const free = (): void => {
      if (element.hasPointers) {
        forElements(out, pointer, element, (at) => {
          for (const [index, slot] of element.slots.entries()) {
            if (slot.pointer === null) continue;
            out.call(
              slot.pointer.release(),
              load("i32.load", get(at), BLOCK_HEADER + (element.offsets[index] ?? 0)),
            );
          }
        });
      }
      this.#allocator.giveAny(
        out,
        get(pointer),
        blockBytes(load("i32.load", get(pointer), CAPACITY_OFFSET), element.size),
      );
    };
    if (element.hasPointers && mayNest(cell)) this.#bounded(out, pointer, free);
    else free();
    return target;
  }

  #releaseCell(
    cell: CellKind,
    contents: CellContents & { readonly kind: "variants" },
    made: (target: IrFunction) => void,
  ): IrFunction {
    const out = new RawBuilder(`release.${cell.name}`);
    const target = out.function;
    made(target);
    this.#register(target);
    const pointer = out.parameter("pointer");
    this.#countDown(out, pointer);
    const holdsItself = contents.variants.some((variant) =>
      variant.fields.some((field) => field.layout.slots.some((slot) => slot.pointer === cell))
    );
    const pending = holdsItself ? out.local("pending", i32(0)) : null;
    const freeOne = (): void => {
      this.#eachVariant(out, get(pointer), contents, (variant) => {
        for (const { offset, slot } of pointersOf(variant)) {
          const child = load("i32.load", get(pointer), offset);
          if (slot !== cell || pending === null) {
            out.call(slot.release(), child);
            continue;
          }
          const inner = out.local("inner", child);
          out.if(get(inner), () => {
            const count = out.local("inner_count", load("i32.load", get(inner), 0));
            out.if(op("i32.eq", get(count), i32(1)), () => {
              out.store(get(inner), 0, get(pending));
              out.set(pending, get(inner));
            }, () => out.store(get(inner), 0, op("i32.sub", get(count), i32(1))));
          });
        }
        this.#allocator.give(out, get(pointer), variant.size);
      });
    };
    const free = (): void => {
      if (pending === null) return freeOne();
      out.loop("next", (again) => {
        freeOne();
        out.if(get(pending), () => {
          out.set(pointer, get(pending));
          out.set(pending, load("i32.load", get(pointer), 0));
          out.branch(again);
        });
      });
    };
    if (mayNest(cell)) this.#bounded(out, pointer, free);
    else free();
    return target;
  }

  #releaseClosure(): IrFunction {
    const out = new RawBuilder("release.closure");
    out.parameter("pointer");
    this.#register(out.function);
    this.#closureRelease = out;
    return out.function;
  }

  #writeClosureRelease(out: RawBuilder): void {
    const [pointer] = out.function.parameters;
    if (pointer === undefined) return;
    this.#countDown(out, pointer);
    const free = (): void =>
      out.add({
        kind: "call",
        call: {
          kind: "indirect",
          parameters: [{ type: "i32", pointer: null }],
          results: [],
          index: load("i32.load", get(pointer), RELEASE_OFFSET),
          args: [get(pointer)],
        },
      });
    if (this.#hasChainsOfClosures) this.#bounded(out, pointer, free);
    else free();
  }

  /** The function that frees a closure of certain captured values, whose count has come to zero. */
  freeClosure(name: string, captured: CellVariant): IrFunction {
    const out = new RawBuilder(`free.${name}`);
    const pointer = out.parameter("pointer");
    for (const { offset, slot } of pointersOf(captured)) {
      if (holdsClosures(slot)) this.#hasChainsOfClosures = true;
      out.call(slot.release(), load("i32.load", get(pointer), offset));
    }
    this.#allocator.give(out, get(pointer), captured.size);
    this.#register(out.function);
    return out.function;
  }

  #unshareBlock(cell: CellKind, element: Layout): IrFunction {
    const known = element.hasPointers ? undefined : this.#plainUnshares.get(element.size);
    if (known !== undefined) return known;
    const out = new RawBuilder(element.hasPointers ? `unshare.${cell.name}` : `unshare.plain${element.size}`);
    if (!element.hasPointers) this.#plainUnshares.set(element.size, out.function);
    const pointer = out.parameter("pointer");
    out.result();
    out.if(op("i32.eqz", get(pointer)), () => out.return(i32(0)));
    const length = out.local("length", load("i32.load", get(pointer), LENGTH_OFFSET));
    const bytes = out.local("bytes", blockBytes(get(length), element.size));
    const copy = out.local("copy", this.#allocator.takeAny(get(bytes)));
    out.copy(get(copy), get(pointer), get(bytes));
    out.store(get(copy), CAPACITY_OFFSET, get(length));
    retainElements(out, copy, element);
    this.#leaveOld(out, pointer, copy);
    this.#register(out.function);
    return out.function;
  }

  #unshareCell(cell: CellKind, contents: CellContents & { readonly kind: "variants" }): IrFunction {
    const out = new RawBuilder(`unshare.${cell.name}`);
    const pointer = out.parameter("pointer");
    out.result();
    const copy = out.declare("copy");
    this.#eachVariant(out, get(pointer), contents, (variant) => {
      out.set(copy, this.#allocator.take(variant.size));
      out.copy(get(copy), get(pointer), i32(variant.size));
      for (const { offset } of pointersOf(variant)) {
        const inner = out.local("inner", load("i32.load", get(copy), offset));
        out.retain(inner);
      }
    });
    this.#leaveOld(out, pointer, copy);
    this.#register(out.function);
    return out.function;
  }

  #leaveOld(out: RawBuilder, pointer: IrLocal, copy: IrLocal): void {
    out.store(get(copy), 0, i32(1));
    out.store(get(pointer), 0, op("i32.sub", load("i32.load", get(pointer), 0), i32(1)));
    out.return(get(copy));
  }

  /** Writes what is to be done for each variant of a cell. */
  #eachVariant(
    out: RawBuilder,
    pointer: IrExpression,
    contents: CellContents & { readonly kind: "variants" },
    write: (variant: CellVariant) => void,
  ): void {
    const variants = contents.variants.filter((_, index) => index !== contents.nullVariant);
    const only = variants[0];
    if (only === undefined) return;
    if (variants.length === 1) {
      write(only);
      return;
    }
    // Variants without pointers and of one size are freed alike.
    const groups = new Map<string, { variant: CellVariant; tags: number[] }>();
    for (const variant of variants) {
      const pointers = pointersOf(variant).map(({ offset, slot }) => `${offset}:${slot.name}`).join();
      const key = `${variant.size}|${pointers}`;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, { variant, tags: [variant.tag] });
      else group.tags.push(variant.tag);
    }
    const all = [...groups.values()];
    if (all.length === 1) {
      write(only);
      return;
    }
    let chain: Statement[] = out.collect(() => write(all[all.length - 1]?.variant ?? only));
    for (let index = all.length - 2; index >= 0; index--) {
      const group = all[index];
      if (group === undefined) continue;
      const tests = group.tags.map((tag) => op("i32.eq", load("i32.load", pointer, TAG_OFFSET), i32(tag)));
      const condition = tests.reduce((left, right) => op("i32.or", left, right));
      chain = [{ kind: "if", condition, then: out.collect(() => write(group.variant)), otherwise: chain }];
    }
    for (const statement of chain) out.add(statement);
  }
}

/** The kinds of the cells that a cell holds. */
function heldBy({ contents }: CellKind): CellKind[] {
  switch (contents.kind) {
    case "block":
      return contents.element.slots.flatMap((slot) => slot.pointer ?? []);
    case "variants":
      return contents.variants.flatMap((variant) => pointersOf(variant).map(({ slot }) => slot));
    case "closure":
      return [];
  }
}

/** Whether a kind is that of function values, or holds some in any way. */
function holdsClosures(from: CellKind): boolean {
  const seen = new Set([from]);
  for (const kind of seen) {
    if (kind.contents.kind === "closure") return true;
    for (const held of heldBy(kind)) seen.add(held);
  }
  return false;
}

/** Whether calls that let cells of a kind go may come back to it: one kind on each way round is enough. */
function mayNest(cell: CellKind): boolean {
  const isBlock = cell.contents.kind === "block";
  const seen = new Set(heldBy(cell).filter((held) => held !== cell || isBlock));
  for (const kind of seen) {
    if (kind === cell) return true;
    // On a way through a cell of variants, that one is bounded.
    if (isBlock && kind.contents.kind !== "block") continue;
    for (const held of heldBy(kind)) seen.add(held);
  }
  return false;
}

/** Bytes of a block with room for so many elements. */
export function blockBytes(capacity: IrExpression, elementSize: number): IrExpression {
  return op("i32.add", timesSize(capacity, elementSize), i32(BLOCK_HEADER));
}

/** A number of elements in bytes. */
export function timesSize(count: IrExpression, elementSize: number): IrExpression {
  if (elementSize === 1) return count;
  const power = 31 - Math.clz32(elementSize);
  if (elementSize > 0 && elementSize === 1 << power) return op("i32.shl", count, i32(power));
  return op("i32.mul", count, i32(elementSize));
}

/** Pointers in the fields of a variant with their offsets in the cell. */
export function pointersOf(variant: CellVariant): { readonly offset: number; readonly slot: CellKind }[] {
  const found: { offset: number; slot: CellKind }[] = [];
  for (const field of variant.fields) {
    for (const [index, slot] of field.layout.slots.entries()) {
      if (slot.pointer !== null) {
        found.push({ offset: field.offset + (field.layout.offsets[index] ?? 0), slot: slot.pointer });
      }
    }
  }
  return found;
}

/** Runs over a block's elements; the address lies so that the first slot's offset is that of the header. */
function forElements(
  out: RawBuilder,
  block: IrLocal,
  element: Layout,
  write: (at: IrLocal) => void,
): void {
  const at = out.local("at", get(block));
  const end = out.local(
    "end",
    op("i32.add", get(block), timesSize(load("i32.load", get(block), LENGTH_OFFSET), element.size)),
  );
  out.block("done", (done) => {
    out.loop("elements", (again) => {
      out.if(op("i32.ge_u", get(at), get(end)), () => out.branch(done));
      write(at);
      out.set(at, op("i32.add", get(at), i32(element.size)));
      out.branch(again);
    });
  });
}

/** One count more for each pointer in a block's elements. */
export function retainElements(out: RawBuilder, block: IrLocal, element: Layout): void {
  if (!element.hasPointers) return;
  forElements(out, block, element, (at) => {
    for (const [index, slot] of element.slots.entries()) {
      if (slot.pointer === null) continue;
      const inner = out.local(
        "inner",
        load("i32.load", get(at), BLOCK_HEADER + (element.offsets[index] ?? 0)),
      );
      out.retain(inner);
    }
  });
}
