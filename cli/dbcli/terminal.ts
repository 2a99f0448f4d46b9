/** Standard output and error of the program, and lines of standard input. */

/** Where the program writes. */
export interface Terminal {
  /** Answers. */
  out(text: string): void;
  outBytes(bytes: Uint8Array): void;
  /** Errors, notices and progress. */
  error(text: string): void;
  /** Whether a person watches standard error, so that progress may be drawn there. */
  readonly isErrorWatched: boolean;
}

/** Nobody reads the answers any more. */
export class OutputClosed extends Error {}

/** The terminal of this process. */
export function processTerminal(): Terminal {
  const encoder = new TextEncoder();
  return {
    out: (text) => writeAll(Deno.stdout, encoder.encode(text)),
    outBytes: (bytes) => writeAll(Deno.stdout, bytes),
    error: (text) => writeAll(Deno.stderr, encoder.encode(text)),
    isErrorWatched: Deno.stderr.isTerminal(),
  };
}

function writeAll(stream: { writeSync(bytes: Uint8Array): number }, bytes: Uint8Array): void {
  let rest = bytes;
  try {
    while (rest.length > 0) rest = rest.subarray(stream.writeSync(rest));
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) throw new OutputClosed();
    throw error;
  }
}

/** The lines of a stream of bytes, without their line breaks. */
export async function* linesOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: false });
  let parts: string[] = [];
  for await (const bytes of source) {
    const lines = decoder.decode(bytes, { stream: true }).split("\n");
    const last = lines.pop() ?? "";
    for (const line of lines) {
      parts.push(line);
      yield withoutReturn(parts.length === 1 ? line : parts.join(""));
      parts = [];
    }
    if (last !== "") parts.push(last);
  }
  const rest = parts.join("") + decoder.decode();
  if (rest !== "") yield withoutReturn(rest);
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
