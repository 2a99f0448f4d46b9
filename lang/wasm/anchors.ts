/**
 * Instructions of a module that can be found again in another reading of it.
 *
 * An optimizer reads the code as a tree and keeps no offsets. Calls, constants, accesses and operations are the same
 * in both, in the same order; control, variables and what is thrown away need not be. So the n-th of these anchors in
 * a function's bytes is the n-th in its tree.
 */

/** Where the code of a function begins, and the offsets of its anchors. */
export interface FunctionAnchors {
  readonly start: number;
  readonly offsets: readonly number[];
}

/** The anchors of each function of a module's own, in the order of the code section. */
export function anchorsOf(bytes: Uint8Array): FunctionAnchors[] {
  const reader = new Reader(bytes);
  reader.at = 8;
  while (reader.at < bytes.length) {
    const section = reader.byte();
    const end = reader.unsigned() + reader.at;
    if (section === CODE_SECTION) return Array.from({ length: reader.unsigned() }, () => reader.body());
    reader.at = end;
  }
  return [];
}

const CODE_SECTION = 10;

/** A section of a module. */
export interface Section {
  readonly start: number;
  readonly end: number;
  /** Of a custom one. */
  readonly name: string | null;
}

/** The sections of a module, in their order. */
export function sectionsOf(bytes: Uint8Array): Section[] {
  const reader = new Reader(bytes);
  const sections: Section[] = [];
  for (reader.at = 8; reader.at < bytes.length;) {
    const start = reader.at;
    const id = reader.byte();
    const length = reader.unsigned();
    const end = reader.at + length;
    sections.push({ start, end, name: id === 0 ? reader.text() : null });
    reader.at = end;
  }
  return sections;
}

class Reader {
  readonly #bytes: Uint8Array;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  byte(): number {
    const byte = this.#bytes[this.at++];
    if (byte === undefined) throw new Error("Cannot read the code of a module: it ends too early");
    return byte;
  }

  unsigned(): number {
    let value = 0;
    for (let factor = 1;; factor *= 128) {
      const byte = this.byte();
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }

  text(): string {
    const length = this.unsigned();
    const start = this.at;
    this.at += length;
    return new TextDecoder().decode(this.#bytes.subarray(start, this.at));
  }

  skipNumber(): void {
    while (this.byte() >= 128);
  }

  /** The anchors of one function. */
  body(): FunctionAnchors {
    const length = this.unsigned();
    const start = this.at;
    const end = start + length;
    for (let groups = this.unsigned(); groups > 0; groups--) {
      this.skipNumber();
      this.byte();
    }
    const offsets: number[] = [];
    while (this.at < end) {
      const offset = this.at;
      if (this.#instruction()) offsets.push(offset);
    }
    return { start, offsets };
  }

  /** Reads over an instruction; whether it is an anchor. */
  #instruction(): boolean {
    const code = this.byte();
    switch (code) {
      case 0x02: // block
      case 0x03: // loop
      case 0x04: // if
      case 0x0c: // br
      case 0x0d: // br_if
      case 0x20: // local.get
      case 0x21: // local.set
      case 0x22: // local.tee
        this.skipNumber();
        return false;
      case 0x0e: // br_table
        for (let labels = this.unsigned() + 1; labels > 0; labels--) this.skipNumber();
        return false;
      case 0x00: // unreachable
      case 0x01: // nop
      case 0x05: // else
      case 0x0b: // end
      case 0x0f: // return
      case 0x1a: // drop
        return false;
      case 0x11: // call_indirect
        this.skipNumber();
        this.skipNumber();
        return true;
      case 0x10: // call
      case 0x23: // global.get
      case 0x24: // global.set
      case 0x3f: // memory.size
      case 0x40: // memory.grow
      case 0x41: // i32.const
      case 0x42: // i64.const
        this.skipNumber();
        return true;
      case 0x43:
        this.at += 4;
        return true;
      case 0x44:
        this.at += 8;
        return true;
      case 0xfc:
        // The copy takes two memories, filling one, conversions none.
        for (let immediates = [2, 1][this.unsigned() - 0x0a] ?? 0; immediates > 0; immediates--) {
          this.skipNumber();
        }
        return true;
      default:
        if (code >= 0x28 && code <= 0x3e) {
          this.skipNumber();
          this.skipNumber();
          return true;
        }
        if (code === 0x1b || (code >= 0x45 && code <= 0xc4)) return true;
        throw new Error(
          `Cannot read the code of a module: the instruction 0x${code.toString(16)} is not known`,
        );
    }
  }
}
