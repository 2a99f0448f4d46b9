/**
 * A source map, version 3: offsets in the module's bytes as columns of one generated line, as tools for WebAssembly
 * expect. Code of the library that was lowered in place stands at the line that called it, which whoever debugs has
 * before them.
 */
import type { CodePosition } from "./function_encoder.ts";
import { packagePosition } from "./module_encoder.ts";

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** A signed number in base 64 with continuation bits. */
function variableLength(value: number): string {
  let rest = value < 0 ? (-value << 1) | 1 : value << 1;
  let text = "";
  do {
    const digit = rest & 31;
    rest >>>= 5;
    text += DIGITS.charAt(rest > 0 ? digit | 32 : digit);
  } while (rest > 0);
  return text;
}

/**
 * The source map of a module as JSON. Where the code of a function starts, no place of the one before it holds any
 * more.
 */
export function sourceMap(
  places: readonly CodePosition[],
  functionStarts: readonly number[],
  fileName: string,
): string {
  const sources: string[] = [];
  const numbers = new Map<string, number>();
  const segments: string[] = [];
  let [column, source, line, sourceColumn] = [0, 0, 0, 0];
  let next = 0;
  const leaveFunctions = (before: number): void => {
    for (
      let start = functionStarts[next];
      start !== undefined && start < before;
      start = functionStarts[++next]
    ) {
      segments.push(variableLength(start - column));
      column = start;
    }
  };
  for (const { offset, place: inner } of places) {
    leaveFunctions(offset);
    const place = packagePosition(inner);
    const { path } = place.file;
    let number = numbers.get(path);
    if (number === undefined) {
      number = sources.length;
      numbers.set(path, number);
      sources.push(path);
    }
    const placeLine = place.file.lineIndexAt(place.offset);
    const placeColumn = place.offset - (place.file.lineStarts[placeLine] ?? 0);
    segments.push(
      variableLength(offset - column) + variableLength(number - source) + variableLength(placeLine - line) +
        variableLength(placeColumn - sourceColumn),
    );
    [column, source, line, sourceColumn] = [offset, number, placeLine, placeColumn];
  }
  leaveFunctions(Infinity);
  return JSON.stringify({ version: 3, file: fileName, sources, names: [], mappings: segments.join(",") });
}
