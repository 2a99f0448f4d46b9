/**
 * How wide a text is in a terminal: columns of its code points, and a line made ready to be shown above carets.
 *
 * After Unicode's East Asian Width (UAX 11): wide and full-width characters take two columns, combining marks and
 * joiners none. Emoji sequences are taken character by character, as most terminals do.
 */

const ZERO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]$/u;

/** Ranges of wide characters that matter in sources. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x231a, 0x231b],
  [0x2329, 0x232a],
  [0x23e9, 0x23ec],
  [0x23f0, 0x23f0],
  [0x23f3, 0x23f3],
  [0x25fd, 0x25fe],
  [0x2614, 0x2615],
  [0x2648, 0x2653],
  [0x267f, 0x267f],
  [0x2693, 0x2693],
  [0x26a1, 0x26a1],
  [0x26aa, 0x26ab],
  [0x26bd, 0x26be],
  [0x26c4, 0x26c5],
  [0x26ce, 0x26ce],
  [0x26d4, 0x26d4],
  [0x26ea, 0x26ea],
  [0x26f2, 0x26f3],
  [0x26f5, 0x26f5],
  [0x26fa, 0x26fa],
  [0x26fd, 0x26fd],
  [0x2705, 0x2705],
  [0x270a, 0x270b],
  [0x2728, 0x2728],
  [0x274c, 0x274c],
  [0x274e, 0x274e],
  [0x2753, 0x2755],
  [0x2757, 0x2757],
  [0x2795, 0x2797],
  [0x27b0, 0x27b0],
  [0x27bf, 0x27bf],
  [0x2b1b, 0x2b1c],
  [0x2b50, 0x2b50],
  [0x2b55, 0x2b55],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18aff],
  [0x1b000, 0x1b2ff],
  [0x1f004, 0x1f004],
  [0x1f0cf, 0x1f0cf],
  [0x1f18e, 0x1f18e],
  [0x1f191, 0x1f19a],
  [0x1f200, 0x1f320],
  [0x1f32d, 0x1f335],
  [0x1f337, 0x1f37c],
  [0x1f37e, 0x1f393],
  [0x1f3a0, 0x1f3ca],
  [0x1f3cf, 0x1f3d3],
  [0x1f3e0, 0x1f3f0],
  [0x1f3f4, 0x1f3f4],
  [0x1f3f8, 0x1f43e],
  [0x1f440, 0x1f440],
  [0x1f442, 0x1f4fc],
  [0x1f4ff, 0x1f53d],
  [0x1f54b, 0x1f54e],
  [0x1f550, 0x1f567],
  [0x1f57a, 0x1f57a],
  [0x1f595, 0x1f596],
  [0x1f5a4, 0x1f5a4],
  [0x1f5fb, 0x1f64f],
  [0x1f680, 0x1f6c5],
  [0x1f6cc, 0x1f6cc],
  [0x1f6d0, 0x1f6d2],
  [0x1f6d5, 0x1f6d7],
  [0x1f6dc, 0x1f6df],
  [0x1f6eb, 0x1f6ec],
  [0x1f6f4, 0x1f6fc],
  [0x1f7e0, 0x1f7eb],
  [0x1f90c, 0x1f9ff],
  [0x1fa70, 0x1faff],
  [0x20000, 0x3fffd],
];

const TAB_WIDTH = 4;

/** Columns of one code point; tabs and other control characters are the business of {@link displayLine}. */
function characterWidth(character: string): number {
  const codePoint = character.codePointAt(0) ?? 0;
  if (codePoint < 0x300) return 1;
  if (ZERO_WIDTH.test(character)) return 0;
  let low = 0;
  let high = WIDE.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const [first, last] = WIDE[middle] ?? [0, 0];
    if (codePoint < first) high = middle - 1;
    else if (codePoint > last) low = middle + 1;
    else return 2;
  }
  return 1;
}

/** A line as it is shown, and the column of each of its UTF-16 offsets; one more column stands for the end. */
export interface DisplayLine {
  readonly text: string;
  readonly columns: readonly number[];
}

/** Tabs become spaces, control characters and such as turn the direction of text their names. */
export function displayLine(line: string): DisplayLine {
  let text = "";
  let column = 0;
  const columns: number[] = [];
  for (const character of line) {
    const shown = shownCharacter(character, column);
    for (let unit = 0; unit < character.length; unit++) columns.push(column);
    text += shown;
    column += shown === character ? characterWidth(character) : shown.length;
  }
  columns.push(column);
  return { text, columns };
}

function shownCharacter(character: string, column: number): string {
  if (character === "\t") return " ".repeat(TAB_WIDTH - column % TAB_WIDTH);
  const codePoint = character.codePointAt(0) ?? 0;
  const isHidden = codePoint < 0x20 || (codePoint >= 0x7f && codePoint < 0xa0) ||
    (codePoint >= 0x202a && codePoint <= 0x202e) || (codePoint >= 0x2066 && codePoint <= 0x2069) ||
    codePoint === 0xfeff || codePoint === 0x200b;
  return isHidden ? `<U+${codePoint.toString(16).toUpperCase().padStart(4, "0")}>` : character;
}
