/**
 * Lines of a stream of bytes, within limits: no line is held beyond its longest length, and all connections together hold no more than a budget of bytes of lines that
 * are not whole yet.
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

/** Reads lines; the last one need not end with a line break. Lines of white space alone are left out. */
export async function* readLines(
  reader: ReadableStreamDefaultReader<Uint8Array>,
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
