/**
 * Ranges of bytes (RFC 9110, section 14): which parts of a file a request asks for.
 *
 * A header that cannot be read is ignored, as the standard wants it, and so is one that asks for more parts than any
 * player does or for parts that overlap, which costs more than the whole file. Parts that begin behind the end are
 * left out; when nothing is left, none can be given.
 */
import { LANG_LIMITS } from "../../limits.ts";

/** A part of a file: from its first to its last byte. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** What is to be sent. */
export type RangeChoice =
  | { readonly kind: "whole" }
  /** One or more. */
  | { readonly kind: "parts"; readonly parts: readonly ByteRange[] }
  | { readonly kind: "unsatisfiable" };

const WHOLE: RangeChoice = { kind: "whole" };

/** What a `Range` header asks for. */
export function chooseRanges(header: string | null, size: number): RangeChoice {
  const [, list] = /^\s*bytes\s*=\s*(.*?)\s*$/i.exec(header ?? "") ?? [];
  if (list === undefined) return WHOLE;
  const specifications = list.split(",").map((each) => each.trim()).filter((each) => each !== "");
  if (specifications.length === 0 || specifications.length > LANG_LIMITS.maximumRangeParts) return WHOLE;
  const parts: ByteRange[] = [];
  for (const specification of specifications) {
    const part = readRange(specification, size);
    if (part === null) return WHOLE;
    if (part.first <= part.last) parts.push(part);
  }
  if (parts.length === 0) return { kind: "unsatisfiable" };
  const sorted = [...parts].sort((left, right) => left.first - right.first);
  const overlaps = sorted.some((part, index) => part.first <= (sorted[index - 1]?.last ?? -1));
  return overlaps ? WHOLE : { kind: "parts", parts };
}

/**
 * `5-9`, `5-` or `-5`; null when it is none of them. A range with its first byte behind its last lies behind the end.
 */
function readRange(text: string, size: number): ByteRange | null {
  const [, from, to] = /^(\d*)\s*-\s*(\d*)$/.exec(text) ?? [];
  if (from === undefined || to === undefined || from === "" && to === "") return null;
  if (from === "") return { first: Math.max(0, size - Number(to)), last: Number(to) === 0 ? -1 : size - 1 };
  const [first, last] = [Number(from), to === "" ? size - 1 : Math.min(Number(to), size - 1)];
  if (to !== "" && Number(to) < first) return null;
  return first >= size ? { first: size, last: -1 } : { first, last };
}
