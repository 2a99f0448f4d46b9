/**
 * A growing buffer into which JSON is written as UTF-8 bytes: no strings are put together on the way out.
 *
 * Lone surrogates become U+FFFD, so that the bytes are always valid UTF-8. Limit: 2^31 - 1 bytes.
 */

const encoder = new TextEncoder();
const HEX = encoder.encode("0123456789abcdef");
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SHORT_TEXT_UNITS = 64;
const INITIAL_BYTES = 4096;

/** What a control character is written as, by its code; 0: as `\u00xx`. */
const SHORT_ESCAPES = new Uint8Array(32);
SHORT_ESCAPES[8] = 0x62;
SHORT_ESCAPES[9] = 0x74;
SHORT_ESCAPES[10] = 0x6e;
SHORT_ESCAPES[12] = 0x66;
SHORT_ESCAPES[13] = 0x72;

/** A growing buffer into which JSON is written as UTF-8 bytes: no strings are put together on the way out. */
export class JsonBuffer {
  #bytes = new Uint8Array(INITIAL_BYTES);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Cuts back to a former length. */
  truncate(length: number): void {
    if (length < this.#length) this.#length = length;
  }

  /** A copy of the bytes from a position on. */
  slice(start = 0, end: number = this.#length): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(start, end);
  }

  /** The bytes, which are given away; the buffer is empty afterwards. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#bytes = new Uint8Array(Math.min(this.#bytes.length, 1 << 17));
    this.#length = 0;
    return taken;
  }

  /** One byte. */
  byte(value: number): void {
    if (this.#length === this.#bytes.length) this.#grow(1);
    this.#bytes[this.#length++] = value;
  }

  /** Bytes as they are. */
  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Text as it is. */
  text(text: string): void {
    this.#reserve(text.length * 3);
    if (text.length <= SHORT_TEXT_UNITS) {
      const bytes = this.#bytes;
      let at = this.#length, index = 0;
      for (; index < text.length; index++) {
        const code = text.charCodeAt(index);
        if (code >= 0x80) break;
        bytes[at++] = code;
      }
      if (index === text.length) {
        this.#length = at;
        return;
      }
    }
    this.#length += encoder.encodeInto(text, this.#bytes.subarray(this.#length)).written;
  }

  /** A JSON string. */
  string(text: string): void {
    // Six bytes are the most that one unit can take: \u00xx.
    this.#reserve(text.length * 6 + 2);
    const bytes = this.#bytes;
    let at = this.#length;
    bytes[at++] = QUOTE;
    let index = 0;
    for (; index < text.length; index++) {
      const code = text.charCodeAt(index);
      if (code >= 0x80) break;
      if (code < 0x20 || code === QUOTE || code === BACKSLASH) at = escape(bytes, at, code);
      else bytes[at++] = code;
    }
    if (index < text.length) at = this.#wideString(text.slice(index), at);
    bytes[at++] = QUOTE;
    this.#length = at;
  }

  /** A JSON string of UTF-8 bytes. */
  utf8String(source: Uint8Array, start: number, end: number): void {
    this.#reserve((end - start) * 6 + 2);
    const bytes = this.#bytes;
    let at = this.#length;
    bytes[at++] = QUOTE;
    for (let index = start; index < end; index++) {
      const code = source[index] as number;
      if (code < 0x20 || code === QUOTE || code === BACKSLASH) at = escape(bytes, at, code);
      else bytes[at++] = code;
    }
    bytes[at++] = QUOTE;
    this.#length = at;
  }

  /** Bytes of JSON that are valid already, in one line. */
  json(text: string): void {
    // Between tokens line breaks are white space, and inside of strings there are none.
    this.text(/[\r\n]/.test(text) ? text.replace(/[\r\n]+/g, " ") : text);
  }

  /** The rest of a string that has characters beyond ASCII; room for six bytes a unit is there. */
  #wideString(rest: string, start: number): number {
    const bytes = this.#bytes;
    let at = start, plain = 0;
    for (let index = 0; index < rest.length; index++) {
      const code = rest.charCodeAt(index);
      if (code >= 0x20 && code !== QUOTE && code !== BACKSLASH) continue;
      at += encoder.encodeInto(rest.slice(plain, index), bytes.subarray(at)).written;
      at = escape(bytes, at, code);
      plain = index + 1;
    }
    return at + encoder.encodeInto(plain === 0 ? rest : rest.slice(plain), bytes.subarray(at)).written;
  }

  #reserve(extra: number): void {
    if (this.#length + extra > this.#bytes.length) this.#grow(extra);
  }

  #grow(extra: number): void {
    const grown = new Uint8Array(Math.max(this.#length + extra, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}

function escape(bytes: Uint8Array, start: number, code: number): number {
  let at = start;
  bytes[at++] = BACKSLASH;
  if (code >= 0x20) bytes[at++] = code;
  else {
    const short = SHORT_ESCAPES[code] as number;
    if (short !== 0) bytes[at++] = short;
    else {
      bytes[at++] = 0x75;
      bytes[at++] = 0x30;
      bytes[at++] = 0x30;
      bytes[at++] = HEX[code >> 4] as number;
      bytes[at++] = HEX[code & 15] as number;
    }
  }
  return at;
}
