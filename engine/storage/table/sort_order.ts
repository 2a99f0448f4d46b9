/**
 * Sorting permutations. Number keys are sorted by a least-significant-digit radix sort over their order-preserving
 * bit patterns (Knuth, TAOCP vol. 3, 5.2.5), which is stable and linear; digits that do not vary are skipped.
 * Integers of a range below 2^32 are sorted by their distance from the least, in narrower digits. NaN sorts after
 * every number. Other keys are sorted by a bottom-up merge sort. Both come in steps, so that no other work is held up
 * for long.
 */

const RADIX = 65536;
/** Bits of a digit of integers: so many places are written to at once, and stay in the processor's cache. */
const INTEGER_DIGIT_BITS = 12;
/** Integers may lie so far apart; one more stands for NaN. */
const INTEGER_RANGE = 0xfffffffe;
const SMALL = 1024;
/** Keys handled between two yields of {@link sortNumbersInSteps}. */
const STEP_KEYS = 16384;

/** Whether the first `count` keys never decrease (NaN being the greatest). */
export function isAscending(keys: Float64Array, count: number): boolean {
  for (let index = 1; index < count; index++) {
    const left = keys[index - 1] as number;
    const right = keys[index] as number;
    if (left > right || (left !== left && right === right)) return false;
  }
  return true;
}

/** The stable permutation that sorts the first `count` keys ascending: result[0] is the position of the least. */
export function sortOrderOfNumbers(keys: Float64Array, count: number): Uint32Array {
  const sorting = sortNumbersInSteps(keys, count);
  for (;;) {
    const step = sorting.next();
    if (step.done === true) return step.value;
  }
}

/** As {@link sortOrderOfNumbers}; yields every few thousand keys of a pass. */
export function* sortNumbersInSteps(keys: Float64Array, count: number): Generator<void, Uint32Array> {
  const order = new Uint32Array(count);
  let ascending = true;
  for (let from = 0; from < count; from += STEP_KEYS) {
    const to = Math.min(count, from + STEP_KEYS);
    for (let index = from; index < to; index++) order[index] = index;
    // One key of the piece before belongs to the comparison.
    if (ascending) {
      ascending = isAscending(keys.subarray(Math.max(0, from - 1), to), to - Math.max(0, from - 1));
    }
    if (to < count) yield;
  }
  if (ascending) return order;
  if (count <= SMALL) return order.sort((left, right) => comparePositions(keys, left, right));
  const integers = yield* integerRange(keys, count);
  if (integers !== null) return (yield* sortIntegers(keys, order, integers)).order;
  return yield* radixSort(keys, count, order);
}

/** Keys, ascending, and what belongs to each. */
export interface SortedPairs {
  readonly keys: Float64Array;
  readonly values: Uint32Array;
}

/** As {@link sortNumbersInSteps}, of keys with values; both arrays may be taken over. A zero key is 0, not -0. */
export function* sortPairsInSteps(keys: Float64Array, values: Uint32Array): Generator<void, SortedPairs> {
  const count = keys.length;
  if (count > SMALL) {
    const integers = yield* integerRange(keys, count);
    // Sorted by its digits a key need not be fetched from where it was.
    if (integers !== null) {
      const { order, digits } = yield* sortIntegers(keys, values, integers);
      const { least, greatest } = integers;
      const sorted = new Float64Array(count);
      for (let from = 0; from < count; from += STEP_KEYS) {
        const to = Math.min(count, from + STEP_KEYS);
        for (let index = from; index < to; index++) {
          const key = (digits[index] as number) + least;
          sorted[index] = key > greatest ? NaN : key;
        }
        yield;
      }
      return { keys: sorted, values: order };
    }
  }
  const order = yield* sortNumbersInSteps(keys, count);
  const sortedKeys = new Float64Array(count);
  const sortedValues = new Uint32Array(count);
  for (let from = 0; from < count; from += STEP_KEYS) {
    const to = Math.min(count, from + STEP_KEYS);
    for (let index = from; index < to; index++) {
      const position = order[index] as number;
      sortedKeys[index] = (keys[position] as number) + 0;
      sortedValues[index] = values[position] as number;
    }
    yield;
  }
  return { keys: sortedKeys, values: sortedValues };
}

function comparePositions(keys: Float64Array, left: number, right: number): number {
  const a = keys[left] as number;
  const b = keys[right] as number;
  if (a < b) return -1;
  if (a > b) return 1;
  if (a !== a && b === b) return 1;
  if (b !== b && a === a) return -1;
  return left - right;
}

/** Replaces the words of keys `from` … `to` by order-preserving bit patterns: low word at 2·i, high word at 2·i + 1. */
function orderWords(normalized: Float64Array, words: Uint32Array, from: number, to: number): void {
  for (let index = from; index < to; index++) {
    const key = normalized[index] as number;
    const high = words[2 * index + 1] as number;
    if (key !== key) {
      words[2 * index] = 0xffffffff;
      words[2 * index + 1] = 0xffffffff;
    } else if (high >= 0x80000000) {
      words[2 * index] = ~(words[2 * index] as number);
      words[2 * index + 1] = ~high;
    } else {
      words[2 * index + 1] = high ^ 0x80000000;
    }
  }
}

function* radixSort(keys: Float64Array, count: number, order: Uint32Array): Generator<void, Uint32Array> {
  const normalized = new Float64Array(count);
  const words = new Uint32Array(normalized.buffer);
  for (let start = 0; start < count; start += STEP_KEYS) {
    const end = Math.min(count, start + STEP_KEYS);
    // Adding 0 turns -0 into 0.
    for (let index = start; index < end; index++) normalized[index] = (keys[index] as number) + 0;
    orderWords(normalized, words, start, end);
    yield;
  }
  let from: Uint32Array = order;
  let to: Uint32Array = new Uint32Array(count);
  const counts = new Uint32Array(RADIX);
  for (let digit = 0; digit < 4; digit++) {
    const word = digit >> 1;
    const shift = (digit & 1) * 16;
    counts.fill(0);
    for (let start = 0; start < count; start += STEP_KEYS) {
      const end = Math.min(count, start + STEP_KEYS);
      for (let index = start; index < end; index++) {
        const value = ((words[2 * index + word] as number) >>> shift) & 0xffff;
        counts[value] = (counts[value] as number) + 1;
      }
      yield;
    }
    if (counts[((words[word] as number) >>> shift) & 0xffff] === count) continue;
    let sum = 0;
    for (let value = 0; value < RADIX; value++) {
      const next = sum + (counts[value] as number);
      counts[value] = sum;
      sum = next;
    }
    for (let start = 0; start < count; start += STEP_KEYS) {
      const end = Math.min(count, start + STEP_KEYS);
      for (let index = start; index < end; index++) {
        const position = from[index] as number;
        const value = ((words[2 * position + word] as number) >>> shift) & 0xffff;
        const target = counts[value] as number;
        to[target] = position;
        counts[value] = target + 1;
      }
      yield;
    }
    [from, to] = [to, from];
  }
  return from;
}

interface IntegerRange {
  readonly least: number;
  readonly greatest: number;
}

/** The bounds of keys that are integers near each other, or NaN; null when others are among them. */
function* integerRange(keys: Float64Array, count: number): Generator<void, IntegerRange | null> {
  let least = Infinity;
  let greatest = -Infinity;
  for (let start = 0; start < count; start += STEP_KEYS) {
    const end = Math.min(count, start + STEP_KEYS);
    for (let index = start; index < end; index++) {
      const key = keys[index] as number;
      if (key < least) least = key;
      if (key > greatest) greatest = key;
      if (Math.floor(key) !== key && key === key) return null;
    }
    yield;
  }
  return greatest - least <= INTEGER_RANGE ? { least, greatest } : null;
}

/**
 * Sorts positions, or what else stands for each key, by keys that {@link integerRange} has bounds of; the keys'
 * distances too.
 */
function* sortIntegers(
  keys: Float64Array,
  order: Uint32Array,
  { least, greatest }: IntegerRange,
): Generator<void, { readonly order: Uint32Array; readonly digits: Uint32Array }> {
  const count = order.length;
  const beyond = greatest - least + 1;
  let from = order;
  let to: Uint32Array = new Uint32Array(count);
  let digits = new Uint32Array(count);
  let toDigits = new Uint32Array(count);
  let ascending = true;
  let before = 0;
  for (let start = 0; start < count; start += STEP_KEYS) {
    const end = Math.min(count, start + STEP_KEYS);
    for (let index = start; index < end; index++) {
      const key = keys[index] as number;
      const digit = key === key ? key - least : beyond;
      digits[index] = digit;
      if (digit < before) ascending = false;
      before = digit;
    }
    yield;
  }
  if (ascending) return { order, digits };
  const bits = 32 - Math.clz32(beyond);
  const passes = Math.ceil(bits / INTEGER_DIGIT_BITS);
  const width = Math.ceil(bits / passes);
  const mask = (1 << width) - 1;
  const places = new Uint32Array(1 << width);
  for (let shift = 0; shift < bits; shift += width) {
    places.fill(0);
    for (let start = 0; start < count; start += STEP_KEYS) {
      const end = Math.min(count, start + STEP_KEYS);
      for (let index = start; index < end; index++) {
        const digit = ((digits[index] as number) >>> shift) & mask;
        places[digit] = (places[digit] as number) + 1;
      }
      yield;
    }
    let sum = 0;
    for (let digit = 0; digit <= mask; digit++) {
      const next = sum + (places[digit] as number);
      places[digit] = sum;
      sum = next;
    }
    for (let start = 0; start < count; start += STEP_KEYS) {
      const end = Math.min(count, start + STEP_KEYS);
      for (let index = start; index < end; index++) {
        const value = digits[index] as number;
        const digit = (value >>> shift) & mask;
        const place = places[digit] as number;
        places[digit] = place + 1;
        to[place] = from[index] as number;
        toDigits[place] = value;
      }
      yield;
    }
    [from, to] = [to, from];
    [digits, toDigits] = [toDigits, digits];
  }
  return { order: from, digits };
}

/** Positions sorted or merged between two yields of {@link sortInSteps}. */
const STEP_POSITIONS = 1024;

/** The permutation that sorts positions 0 … count-1 by a total order; yields every few thousand comparisons. */
export function* sortInSteps(
  count: number,
  compare: (left: number, right: number) => number,
): Generator<void, Uint32Array> {
  let from: Uint32Array = new Uint32Array(count);
  for (let index = 0; index < count; index++) from[index] = index;
  for (let start = 0; start < count; start += STEP_POSITIONS) {
    from.subarray(start, Math.min(count, start + STEP_POSITIONS)).sort(compare);
    yield;
  }
  let to: Uint32Array = new Uint32Array(count);
  for (let width = STEP_POSITIONS; width < count; width *= 2) {
    for (let start = 0; start < count; start += 2 * width) {
      yield* mergeRuns(from, to, { start, width, compare });
    }
    [from, to] = [to, from];
  }
  return from;
}

function* mergeRuns(
  from: Uint32Array,
  to: Uint32Array,
  run: { readonly start: number; readonly width: number; compare(left: number, right: number): number },
): Generator<void> {
  let left = run.start;
  const middle = Math.min(from.length, run.start + run.width);
  let right = middle;
  const end = Math.min(from.length, run.start + 2 * run.width);
  for (let at = run.start; at < end; at++) {
    const takeLeft = right >= end ||
      (left < middle && run.compare(from[left] as number, from[right] as number) <= 0);
    to[at] = from[takeLeft ? left++ : right++] as number;
    if ((at & (STEP_POSITIONS - 1)) === STEP_POSITIONS - 1) yield;
  }
}
