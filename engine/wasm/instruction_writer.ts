/** Writes WebAssembly instructions, those that rewritten modules are made of beside their own. */
import { WasmByteWriter } from "../base/wasm_byte_writer.ts";
import { F32, F64, type ValueType } from "./module_structure.ts";

const EMPTY_BLOCK = 0x40;

/** A writer with a method for each kind of instruction; opcodes without operands go through {@link byte}. */
export class InstructionWriter extends WasmByteWriter {
  /** local.get */
  localGet(index: number): void {
    this.byte(0x20);
    this.unsigned(index);
  }

  /** local.set */
  localSet(index: number): void {
    this.byte(0x21);
    this.unsigned(index);
  }

  /** local.tee */
  localTee(index: number): void {
    this.byte(0x22);
    this.unsigned(index);
  }

  /** global.get */
  globalGet(index: number): void {
    this.byte(0x23);
    this.unsigned(index);
  }

  /** global.set */
  globalSet(index: number): void {
    this.byte(0x24);
    this.unsigned(index);
  }

  /** i32.const */
  i32(value: number): void {
    this.byte(0x41);
    this.signed(value);
  }

  /** call */
  call(index: number): void {
    this.byte(0x10);
    this.unsigned(index);
  }

  /** Begins `block`, `loop` or `if` without operands and results. */
  begin(opcode: 0x02 | 0x03 | 0x04): void {
    this.byte(opcode);
    this.byte(EMPTY_BLOCK);
  }

  /** end */
  end(): void {
    this.byte(0x0b);
  }

  /** Puts the float of a variable on the stack, any NaN as the canonical one; takes the variable's value. */
  canonical(type: ValueType, local: number): void {
    this.localGet(local);
    if (type === F32) {
      this.byte(0x43);
      this.float32(NaN);
    } else {
      this.byte(0x44);
      this.float64(NaN);
    }
    this.localGet(local);
    this.localGet(local);
    this.byte(type === F64 ? 0x61 : 0x5b);
    this.byte(0x1b);
  }

  /** Takes a cost from a counter; traps when the counter falls below 0. The cost is what `cost` puts on the stack. */
  spend(counter: { readonly global: number; readonly local: number }, cost: () => void): void {
    this.globalGet(counter.global);
    cost();
    this.byte(0x6b);
    this.localTee(counter.local);
    this.globalSet(counter.global);
    this.localGet(counter.local);
    this.i32(0);
    this.byte(0x48);
    this.begin(0x04);
    this.byte(0x00);
    this.end();
  }
}
