/**
 * Positions in statement text: the parser counts UTF-16 units from 0, error messages count code points from 1.
 *
 * Invariant: the conversion is done only when an error is built, never on the way of a statement that succeeds.
 */

/** The position that error messages carry for a UTF-16 offset into the text: code points, counted from 1. */
export function errorPosition(text: string, offset: number): number {
  const end = Math.min(offset, text.length);
  let codePoints = 0;
  for (let index = 0; index < end; index++) {
    const unit = text.charCodeAt(index);
    // The second half of a surrogate pair belongs to the code point that its first half has counted.
    const isSecondHalf = unit >= 0xdc00 && unit <= 0xdfff && index > 0 &&
      isFirstHalf(text.charCodeAt(index - 1));
    if (!isSecondHalf) codePoints++;
  }
  return codePoints + 1;
}

function isFirstHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
