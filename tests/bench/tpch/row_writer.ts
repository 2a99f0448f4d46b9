/** Rows of `|`-separated ASCII, written byte by byte into chunks, as the generator makes millions of them. */

const CHUNK_BYTES = 256 * 1024;
/** More than any row takes. */
const MAX_ROW_BYTES = 1024;

const SEPARATOR = 0x7c;
const NEWLINE = 0x0a;
const ZERO = 0x30;
const HYPHEN = 0x2d;

/**
 * Rows of `|`-separated ASCII, written byte by byte into chunks, as the generator makes millions of them. Fields
 * follow one another; each but the first of a row is preceded by a separator.
 */
export class RowWriter {
  #bytes = new Uint8Array(CHUNK_BYTES + MAX_ROW_BYTES);
  #length = 0;
  #isFirst = true;

  /** Whether {@link take} is due. */
  get isFull(): boolean {
    return this.#length >= CHUNK_BYTES;
  }

  /** The rows so far; the writer begins anew. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#bytes = new Uint8Array(CHUNK_BYTES + MAX_ROW_BYTES);
    this.#length = 0;
    return taken;
  }

  /** Ends the row. */
  endRow(): void {
    this.#bytes[this.#length++] = NEWLINE;
    this.#isFirst = true;
  }

  /** A field of ASCII text. */
  text(text: string): this {
    this.#begin();
    this.append(text);
    return this;
  }

  /** More of the same field. */
  append(text: string): this {
    for (let index = 0; index < text.length; index++) {
      this.#bytes[this.#length++] = text.charCodeAt(index);
    }
    return this;
  }

  /** A field of bytes of a pool. */
  bytes(pool: Uint8Array, start: number, length: number): this {
    this.#begin();
    for (let index = start; index < start + length; index++) {
      this.#bytes[this.#length++] = pool[index] ?? 0;
    }
    return this;
  }

  /** A field with a non-negative integer, with leading zeros up to a width. */
  integer(value: number, width = 1): this {
    this.#begin();
    this.#digits(value, width);
    return this;
  }

  /** A field with hundredths: `-1234` is -12.34. */
  hundredths(value: number): this {
    this.#begin();
    if (value < 0) this.#bytes[this.#length++] = HYPHEN;
    const size = Math.abs(value);
    this.#digits(Math.floor(size / 100), 1);
    this.#bytes[this.#length++] = 0x2e;
    this.#digits(size % 100, 2);
    return this;
  }

  /** A field with a name and a number of nine digits after `#`. */
  numbered(name: string, value: number): this {
    this.text(name).append("#");
    this.#digits(value, 9);
    return this;
  }

  #begin(): void {
    if (this.#isFirst) this.#isFirst = false;
    else this.#bytes[this.#length++] = SEPARATOR;
  }

  #digits(value: number, width: number): void {
    let count = 1;
    for (let limit = 10; limit <= value; limit *= 10) count++;
    if (count < width) count = width;
    let rest = value;
    for (let at = this.#length + count - 1; at >= this.#length; at--) {
      const tens = Math.floor(rest / 10);
      this.#bytes[at] = ZERO + rest - tens * 10;
      rest = tens;
    }
    this.#length += count;
  }
}
