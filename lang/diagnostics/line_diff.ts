/**
 * The difference of two lists of lines: the shortest list of steps, after E. W. Myers, "An O(ND) Difference Algorithm
 * and Its Variations", 1986.
 *
 * Bounded: when more than {@link MAX_STEPS} lines differ, everything between the common beginning and end is taken
 * out and put in.
 */

/** One line of a difference. */
export interface DiffLine {
  readonly kind: "same" | "remove" | "add";
  readonly text: string;
}

const MAX_STEPS = 2_000;

/** The steps from one list of lines to another. */
export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (
    end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)
  ) end++;
  const same = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ kind: "same", text }));
  return [
    ...same(before.slice(0, start)),
    ...diffMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...same(before.slice(before.length - end)),
  ];
}

function diffMiddle(before: readonly string[], after: readonly string[]): DiffLine[] {
  const total = before.length + after.length;
  const limit = Math.min(total, MAX_STEPS);
  let reached = new Map<number, number>([[1, 0]]);
  const trace: Map<number, number>[] = [];
  for (let steps = 0; steps <= limit; steps++) {
    trace.push(reached);
    const next = new Map(reached);
    for (let diagonal = -steps; diagonal <= steps; diagonal += 2) {
      const down = diagonal === -steps ||
        diagonal !== steps && (next.get(diagonal - 1) ?? -1) < (next.get(diagonal + 1) ?? -1);
      let x = down ? next.get(diagonal + 1) ?? 0 : (next.get(diagonal - 1) ?? 0) + 1;
      while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal]) x++;
      next.set(diagonal, x);
      if (x >= before.length && x - diagonal >= after.length) {
        return walkBack({ before, after, trace, steps });
      }
    }
    reached = next;
  }
  return [
    ...before.map((text): DiffLine => ({ kind: "remove", text })),
    ...after.map((text): DiffLine => ({ kind: "add", text })),
  ];
}

function walkBack(found: {
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly trace: readonly Map<number, number>[];
  readonly steps: number;
}): DiffLine[] {
  const { before, after, trace } = found;
  const lines: DiffLine[] = [];
  let x = before.length;
  let y = after.length;
  for (let steps = found.steps; steps >= 0; steps--) {
    const reached = trace[steps];
    if (reached === undefined) break;
    const diagonal = x - y;
    const down = diagonal === -steps ||
      diagonal !== steps && (reached.get(diagonal - 1) ?? -1) < (reached.get(diagonal + 1) ?? -1);
    const previous = down ? diagonal + 1 : diagonal - 1;
    const fromX = steps === 0 ? 0 : reached.get(previous) ?? 0;
    const fromY = steps === 0 ? 0 : fromX - previous;
    while (x > fromX && y > fromY) {
      x--;
      y--;
      lines.push({ kind: "same", text: before[x] ?? "" });
    }
    if (steps === 0) break;
    if (down) lines.push({ kind: "add", text: after[--y] ?? "" });
    else lines.push({ kind: "remove", text: before[--x] ?? "" });
  }
  return lines.reverse();
}
