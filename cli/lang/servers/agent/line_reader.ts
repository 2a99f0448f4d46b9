/**
 * Lines of a stream of bytes, within limits: no line is held beyond its longest length, and all connections together
 * hold no more than a budget of bytes of lines that are not whole yet.
 */

const NEWLINE = 0x0a;

/** Bytes that several readers may hold together. */
export class ByteBudget {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** Takes bytes, if there are so many. */
  take(bytes: number): boolean {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }

  /** Gives bytes back. */
  give(bytes: number): void {
    this.#left += bytes;
  }
}

/** A line, or why there is none; then nothing more is read. */
export type ReadLine =
  | { readonly kind: "line"; readonly text: string; readonly isUtf8: boolean }
  | { readonly kind: "too_large" }
  | { readonly kind: "busy" };

/** Gives bytes as they come, as the reader of a stream does. */
export interface ChunkReader {
  read(): Promise<ReadableStreamReadResult<Uint8Array>>;
}

/** Reads a connection, which stays open when its other side has nothing more to say. */
export class ConnectionReader implements ChunkReader {
  readonly #connection: Deno.Conn;
  readonly #buffer = new Uint8Array(65_536);
  readonly #canceled = Promise.withResolvers<null>();

  constructor(connection: Deno.Conn) {
    this.#connection = connection;
  }

  /** What comes next; it is overwritten by the next call. */
  async read(): Promise<ReadableStreamReadResult<Uint8Array>> {
    const reading = this.#connection.read(this.#buffer);
    // Nobody waits for it when reading was canceled.
    reading.catch(() => {});
    const count = await Promise.race([reading, this.#canceled.promise]);
    return count === null ? { done: true } : { done: false, value: this.#buffer.subarray(0, count) };
  }

  /** Ends reading, as if nothing more came. */
  cancel(): void {
    this.#canceled.resolve(null);
  }
}

/** Reads lines; the last one need not end with a line break. Lines of white space alone are left out. */
export async function* readLines(
  reader: ChunkReader,
  { maximumBytes, budget }: { readonly maximumBytes: number; readonly budget: ByteBudget },
): AsyncGenerator<ReadLine> {
  let parts: Uint8Array[] = [];
  let length = 0;
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      let rest = chunk.value;
      for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
        if (length + end > maximumBytes) return yield { kind: "too_large" };
        const line = lineOf([...parts, rest.subarray(0, end)]);
        budget.give(length);
        parts = [];
        length = 0;
        rest = rest.subarray(end + 1);
        if (line !== null) yield line;
      }
      if (length + rest.length > maximumBytes) return yield { kind: "too_large" };
      if (rest.length === 0) continue;
      if (!budget.take(rest.length)) return yield { kind: "busy" };
      // A copy, so that a large chunk does not stay for a short rest of it.
      parts.push(rest.slice());
      length += rest.length;
    }
    const line = lineOf(parts);
    if (line !== null) yield line;
  } finally {
    budget.give(length);
  }
}

/** Bytes as a line; null when it has nothing but white space. */
export function lineOf(parts: readonly Uint8Array[]): ReadLine | null {
  const bytes = parts.length === 1 && parts[0] !== undefined ? parts[0] : joined(parts);
  let text: string;
  let isUtf8 = true;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    text = new TextDecoder().decode(bytes);
    isUtf8 = false;
  }
  return text.trim() === "" ? null : { kind: "line", text, isUtf8 };
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
