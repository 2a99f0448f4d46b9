/**
 * Decoding of short ASCII texts into flat strings.
 *
 * Putting a text together from pieces makes a tree of strings, which costs the garbage collector more than the text,
 * and whoever reads it later the time to flatten it; the platform's decoder costs about a microsecond for each call.
 * One call of `String.fromCharCode` with all units makes a flat string at once; each length has a function of its own
 * with that call.
 */

/** Longer texts are left to the platform's decoder. */
export const MAX_ASCII_TEXT_LENGTH = 96;

type Decoder = (bytes: Uint8Array, start: number) => string | null;

const decoders: (Decoder | undefined)[] = new Array<undefined>(MAX_ASCII_TEXT_LENGTH + 1).fill(undefined);
decoders[0] = () => "";

/** The text of bytes that are all ASCII and at most {@link MAX_ASCII_TEXT_LENGTH} many; null when they are not. */
export function decodeAscii(bytes: Uint8Array, start: number, end: number): string | null {
  const length = end - start;
  if (length > MAX_ASCII_TEXT_LENGTH) return null;
  return (decoders[length] ?? makeDecoder(length))(bytes, start);
}

function makeDecoder(length: number): Decoder {
  const units = Array.from({ length }, (_, index) => `c${index}`);
  const reads = units.map((unit, index) => `const ${unit} = bytes[start + ${index}];`).join("\n");
  const decoder: Decoder = Function(
    "bytes",
    "start",
    `"use strict";\n${reads}\nreturn (${
      units.join(" | ")
    }) < 0x80 ? String.fromCharCode(${units.join()}) : null;`,
  ) as Decoder;
  decoders[length] = decoder;
  return decoder;
}
