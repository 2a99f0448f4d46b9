/**
 * Writes the rewritten code of one function: its own bytes, and between them what counts gas and the depth of calls,
 * makes NaNs canonical, and marks what is written to the memory.
 *
 * What is added needs variables of its own. They follow those of the function, one for each type and position on the
 * stack, and hold nothing from one instruction to the next.
 */
import { WasmByteWriter } from "../base/wasm_byte_writer.ts";
import { BULK_SHIFT } from "./instruction_table.ts";
import { InstructionWriter } from "./instruction_writer.ts";
import { CHUNK_SHIFT, type Layout } from "./layout.ts";
import { I32, type ValueType } from "./module_structure.ts";

/** An operand on the stack. */
export interface Operand {
  readonly type: ValueType;
  /** Whether it may be a NaN whose bits the specification leaves open. */
  readonly isOpen: boolean;
}

/** The rewritten code of one function. */
export class BodyEmitter {
  readonly #code = new InstructionWriter();
  readonly #source: Uint8Array;
  readonly #layout: Layout;
  readonly #firstLocal: number;
  readonly #declarations: Uint8Array;
  readonly #groups: number;
  readonly #locals = new Map<number, number>();
  readonly #localTypes: ValueType[] = [];
  #copied: number;

  /**
   * `declarations` are the function's own declarations of variables, in `groups` groups; `firstLocal` is the first
   * index behind them, and `start` the offset of the first instruction.
   */
  constructor(
    source: Uint8Array,
    layout: Layout,
    place: {
      readonly declarations: Uint8Array;
      readonly groups: number;
      readonly firstLocal: number;
      readonly start: number;
    },
  ) {
    this.#source = source;
    this.#layout = layout;
    this.#firstLocal = place.firstLocal;
    this.#declarations = place.declarations;
    this.#groups = place.groups;
    this.#copied = place.start;
  }

  /** Copies the function's own code up to an offset. */
  copyTo(offset: number): void {
    if (offset > this.#copied) this.#code.bytes(this.#source.subarray(this.#copied, offset));
    this.#copied = offset;
  }

  /** Leaves out the function's own code up to an offset. */
  skipTo(offset: number): void {
    this.#copied = offset;
  }

  /** Takes the cost of the code that follows. */
  charge(cost: number): void {
    if (cost === 0) return;
    const code = this.#code;
    code.spend(this.#counter(this.#layout.gasGlobal), () => code.i32(cost));
  }

  /** Takes the callee's frame from the room of the stack. */
  enterCall(cost: number): void {
    if (cost === 0) return;
    const code = this.#code;
    code.spend(this.#counter(this.#layout.depthGlobal), () => code.i32(cost));
  }

  /** Gives the callee's frame back. */
  leaveCall(cost: number): void {
    if (cost === 0) return;
    const code = this.#code;
    code.globalGet(this.#layout.depthGlobal);
    code.i32(cost);
    code.byte(0x6a);
    code.globalSet(this.#layout.depthGlobal);
  }

  /** Makes open NaNs canonical; the operands are the topmost ones, the deepest first. */
  canonicalize(operands: readonly Operand[]): void {
    const code = this.#code;
    const locals = operands.map(({ type }, index) => this.#local(type, index));
    for (let index = operands.length - 1; index >= 0; index--) code.localSet(locals[index] ?? 0);
    for (const [index, { type, isOpen }] of operands.entries()) {
      const local = locals[index] ?? 0;
      if (isOpen) code.canonical(type, local);
      else code.localGet(local);
    }
  }

  /** Marks what the store writes that follows; its address and value are on the stack. */
  markStore(type: ValueType, offset: number): void {
    const map = this.#layout.map;
    if (map === null) return;
    const code = this.#code;
    const address = this.#local(I32, 0);
    const value = this.#local(type, 1);
    code.localSet(value);
    code.localTee(address);
    // A mark covers the chunk after its own as well, which is more than small offsets and the value's size.
    if (offset > 256) {
      code.i32(offset);
      code.byte(0x6a);
    }
    code.i32(CHUNK_SHIFT);
    code.byte(0x76);
    code.i32(1);
    code.bytes(Uint8Array.of(0x3a, 0x40, 1, 0));
    code.localGet(address);
    code.localGet(value);
  }

  /** Writes a bulk instruction, whose last operand is a count: charged by it, and marked if it writes memory. */
  bulk(
    instruction: Uint8Array,
    { writesMemory, shift = BULK_SHIFT }: { writesMemory: boolean; shift?: number },
  ): void {
    const code = this.#code;
    const locals = [0, 1, 2].map((position) => this.#local(I32, position));
    const [target = 0, source = 0, count = 0] = locals;
    code.localSet(count);
    code.localSet(source);
    code.localSet(target);
    code.spend(this.#counter(this.#layout.gasGlobal), () => {
      code.localGet(count);
      code.i32(shift);
      code.byte(0x76);
    });
    for (const local of locals) code.localGet(local);
    code.bytes(instruction);
    if (!writesMemory || this.#layout.map === null) return;
    code.localGet(target);
    code.localGet(count);
    code.call(this.#layout.map.markFunction);
  }

  /** Calls a function of the rewriter instead of an instruction. */
  callHelper(index: number): void {
    this.#code.call(index);
  }

  /** The body: declarations of variables, then code, without the length before it. */
  take(): WasmByteWriter {
    const out = new WasmByteWriter();
    out.unsigned(this.#groups + this.#localTypes.length);
    out.bytes(this.#declarations);
    for (const type of this.#localTypes) {
      out.unsigned(1);
      out.byte(type);
    }
    out.bytes(this.#code.view());
    return out;
  }

  #counter(global: number): { readonly global: number; readonly local: number } {
    return { global, local: this.#local(I32, 3) };
  }

  /** A variable for a type and a position. */
  #local(type: ValueType, position: number): number {
    const key = type * 1024 + position;
    const known = this.#locals.get(key);
    if (known !== undefined) return known;
    const index = this.#firstLocal + this.#localTypes.length;
    this.#localTypes.push(type);
    this.#locals.set(key, index);
    return index;
  }
}
