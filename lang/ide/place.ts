/** Lines and columns as people count, and offsets. */
import type { SourceFile } from "../source/source_file.ts";

/**
 * The offset of a line and column, which count from 1, columns in code points; null where the file has no such place.
 */
export function offsetAt(file: SourceFile, line: number, column: number): number | null {
  const start = file.lineStarts[line - 1];
  if (start === undefined || column < 1) return null;
  const text = file.lineText(line - 1);
  let offset = 0;
  for (let left = column - 1; left > 0; left--) {
    const code = text.codePointAt(offset);
    if (code === undefined) return null;
    offset += code > 0xffff ? 2 : 1;
  }
  return start + offset;
}
