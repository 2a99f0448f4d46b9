/**
 * Bytes as WebAssembly's binary format writes them: LEB128 numbers, names, sections.
 *
 * Numbers are written in their shortest form, so that the same module gives the same bytes.
 */

const ENCODER = new TextEncoder();

/** A growing array of bytes. */
export class WasmByteWriter {
  #bytes = new Uint8Array(256);
  #view = new DataView(this.#bytes.buffer);
  /** Bytes written. */
  length = 0;

  #reserve(count: number): void {
    if (this.length + count <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.length + count));
    grown.set(this.#bytes.subarray(0, this.length));
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }

  /** One byte. */
  byte(value: number): void {
    if (this.length === this.#bytes.length) this.#reserve(1);
    this.#bytes[this.length++] = value;
  }

  /** Unsigned LEB128. */
  unsigned(value: number): void {
    let rest = value >>> 0;
    while (rest >= 0x80) {
      this.byte((rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    this.byte(rest);
  }

  /** Signed LEB128 of 32 bits. */
  signed(value: number): void {
    let rest = value | 0;
    while (rest < -64 || rest > 63) {
      this.byte((rest & 0x7f) | 0x80);
      rest >>= 7;
    }
    this.byte(rest & 0x7f);
  }

  /** Signed LEB128 of 64 bits. */
  signed64(value: bigint): void {
    let rest = BigInt.asIntN(64, value);
    while (rest < -64n || rest > 63n) {
      this.byte(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    this.byte(Number(rest & 0x7fn));
  }

  /** A float of 32 bits; every NaN as the canonical one. */
  float32(value: number): void {
    this.#reserve(4);
    if (Number.isNaN(value)) this.#view.setUint32(this.length, 0x7fc00000, true);
    else this.#view.setFloat32(this.length, value, true);
    this.length += 4;
  }

  /** A float of 64 bits; every NaN as the canonical one. */
  float64(value: number): void {
    this.#reserve(8);
    if (Number.isNaN(value)) this.#view.setBigUint64(this.length, 0x7ff8000000000000n, true);
    else this.#view.setFloat64(this.length, value, true);
    this.length += 8;
  }

  /** Bytes as they are. */
  bytes(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#bytes.set(value, this.length);
    this.length += value.length;
  }

  /** A name: its length in bytes, then UTF-8. */
  text(value: string): void {
    const bytes = ENCODER.encode(value);
    this.unsigned(bytes.length);
    this.bytes(bytes);
  }

  /** Another writer's bytes behind their length. */
  sized(value: WasmByteWriter): void {
    this.unsigned(value.length);
    this.bytes(value.view());
  }

  /** A section: its number, then its bytes behind their length. */
  section(number: number, value: WasmByteWriter): void {
    this.byte(number);
    this.sized(value);
  }

  /** A byte that was written before. */
  at(offset: number): number {
    return this.#bytes[offset] ?? 0;
  }

  /** Overwrites a byte. */
  patch(offset: number, value: number): void {
    this.#bytes[offset] = value;
  }

  /** Forgets what was written from an offset on. */
  truncate(length: number): void {
    this.length = length;
  }

  /** The bytes, not copied; valid until the next write. */
  view(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }

  /** A copy of the bytes. */
  take(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.length);
  }
}

/** Bytes that LEB128 needs for an unsigned number. */
export function unsignedLength(value: number): number {
  let count = 1;
  for (let rest = value >>> 7; rest !== 0; rest >>>= 7) count++;
  return count;
}
