/**
 * A stream of bytes from one thread to another through memory that both share. One thread writes, one reads; neither
 * waits inside: the writer learns how much had room, the reader how much there is.
 */

/** Bytes in front of the ring's own. */
const HEADER_BYTES = 64;
/** How many bytes were written and read in all, modulo 2^32, and whether the writer waits for room. */
const WRITTEN = 0, READ = 1, WANTS_ROOM = 2;

/** See the file's head. */
export class ByteRing {
  readonly #counters: Int32Array;
  readonly #bytes: Uint8Array;
  readonly #mask: number;

  /** The ring in a memory that {@link ByteRing.memory} has made. */
  constructor(memory: SharedArrayBuffer) {
    this.#counters = new Int32Array(memory, 0, 3);
    this.#bytes = new Uint8Array(memory, HEADER_BYTES);
    this.#mask = this.#bytes.length - 1;
  }

  /** Memory for a ring of that many bytes, a power of two. */
  static memory(capacity: number): SharedArrayBuffer {
    if ((capacity & (capacity - 1)) !== 0) throw new RangeError("a ring's size is a power of two");
    return new SharedArrayBuffer(HEADER_BYTES + capacity);
  }

  /** How many bytes can be read. */
  get available(): number {
    return (Atomics.load(this.#counters, WRITTEN) - (this.#counters[READ] as number)) >>> 0;
  }

  /** How many bytes can be written. */
  get room(): number {
    const used = ((this.#counters[WRITTEN] as number) - Atomics.load(this.#counters, READ)) >>> 0;
    return this.#bytes.length - used;
  }

  /** For the writer: the reader is to say when it has read something. */
  wantRoom(): void {
    Atomics.store(this.#counters, WANTS_ROOM, 1);
  }

  /** For the reader: whether the writer waits for room; asked once. */
  takeWish(): boolean {
    return Atomics.load(this.#counters, WANTS_ROOM) === 1 &&
      Atomics.exchange(this.#counters, WANTS_ROOM, 0) === 1;
  }

  /** Writes as much of the bytes as has room; answers how many. */
  write(bytes: Uint8Array): number {
    const count = Math.min(bytes.length, this.room);
    if (count === 0) return 0;
    const written = this.#counters[WRITTEN] as number;
    const at = written & this.#mask;
    const first = Math.min(count, this.#bytes.length - at);
    this.#bytes.set(first === bytes.length ? bytes : bytes.subarray(0, first), at);
    if (first < count) this.#bytes.set(bytes.subarray(first, count), 0);
    Atomics.store(this.#counters, WRITTEN, (written + count) | 0);
    return count;
  }

  /** Reads as many bytes as there are and the target takes; answers how many. */
  read(target: Uint8Array): number {
    const count = Math.min(target.length, this.available);
    if (count === 0) return 0;
    const read = this.#counters[READ] as number;
    const at = read & this.#mask;
    const first = Math.min(count, this.#bytes.length - at);
    target.set(this.#bytes.subarray(at, at + first));
    if (first < count) target.set(this.#bytes.subarray(0, count - first), first);
    Atomics.store(this.#counters, READ, (read + count) | 0);
    return count;
  }
}
