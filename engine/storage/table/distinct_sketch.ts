/**
 * Estimating how many distinct values a column holds: HyperLogLog (P. Flajolet et al., AofA 2007) with 1 024 registers,
 * a standard error of about 3 %, and linear counting for small numbers. Sketches of disjoint rows can be merged.
 */

const REGISTERS = 1024;
const INDEX_BITS = 10;
const ALPHA = 0.7213 / (1 + 1.079 / REGISTERS);

/** A sketch of a set of hashes. */
export class DistinctSketch {
  readonly registers: Uint8Array;

  constructor(registers: Uint8Array = new Uint8Array(REGISTERS)) {
    this.registers = registers;
  }

  /** Number of bytes that a sketch takes. */
  static readonly byteLength = REGISTERS;

  /** Adds a well mixed 32-bit hash. */
  add(hash: number): void {
    const index = hash >>> (32 - INDEX_BITS);
    const rank = Math.clz32(hash << INDEX_BITS) + 1;
    const bounded = rank > 32 - INDEX_BITS ? 32 - INDEX_BITS + 1 : rank;
    if (bounded > (this.registers[index] as number)) this.registers[index] = bounded;
  }

  /** Adds all that another sketch has seen. */
  merge(other: DistinctSketch): void {
    for (let index = 0; index < REGISTERS; index++) {
      const theirs = other.registers[index] as number;
      if (theirs > (this.registers[index] as number)) this.registers[index] = theirs;
    }
  }

  /** The estimated number of distinct hashes. */
  estimate(): number {
    let sum = 0;
    let zeros = 0;
    for (let index = 0; index < REGISTERS; index++) {
      const register = this.registers[index] as number;
      sum += 2 ** -register;
      if (register === 0) zeros++;
    }
    const raw = ALPHA * REGISTERS * REGISTERS / sum;
    if (raw <= 2.5 * REGISTERS && zeros > 0) return Math.round(REGISTERS * Math.log(REGISTERS / zeros));
    // 32-bit hashes collide when there are many.
    return Math.round(
      raw > 4294967296 / 30 ? -4294967296 * Math.log(1 - Math.min(raw / 4294967296, 0.999999)) : raw,
    );
  }
}
