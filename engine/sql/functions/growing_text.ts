/**
 * A text that many pieces are put to: V8 writes them down in one go when the text is first read, which takes a tenth
 * of a second for a million. Here each block is written down as soon as its pieces are there.
 */
import { maximumTextLength, textTooLong } from "./characters.ts";

/** Shorter texts are just texts. */
const BLOCK_LENGTH = 1 << 16;

/** {@link textOf} reads it, {@link append} uses it up. */
export type GrowingText = string | LongText;

interface LongText {
  blocks: string;
  /** What comes behind them. */
  readonly pieces: string[];
  /** Of all. */
  length: number;
}

/** The text with another one behind. Raises 54000 when that is too long. */
export function append(text: GrowingText, piece: string): GrowingText {
  const length = text.length + piece.length;
  if (length > maximumTextLength) throw textTooLong();
  if (typeof text === "string") {
    return length < BLOCK_LENGTH ? text + piece : { blocks: "", pieces: [text, piece], length };
  }
  text.pieces.push(piece);
  text.length = length;
  if (length - text.blocks.length >= BLOCK_LENGTH) {
    text.blocks = textOf(text);
    text.pieces.length = 0;
  }
  return text;
}

/** The text as it is now. */
export function textOf(text: GrowingText): string {
  return typeof text === "string" ? text : text.blocks + text.pieces.join("");
}
