/**
 * Registers that clients read and write, and whether what they saw is linearizable: each operation takes effect at one
 * moment between its call and its answer (J. Wing, C. Gong, "Testing and verifying concurrent objects", 1993, with the
 * memory of G. Lowe, "Testing for linearizability", 2017).
 *
 * A write without an answer may take effect at any time after its call, or never.
 */

/** One operation on a register. Values are unique for all writes; 0 is what is there at first. */
export interface RegisterOperation {
  readonly kind: "read" | "write";
  /** What was written, or seen. */
  readonly value: number;
  readonly start: number;
  /** Infinity: there was no answer. */
  readonly end: number;
  /** Who did it, for people. */
  readonly by?: string;
}

/** Whether there is an order in which one register would answer like this. */
export function isLinearizable(operations: readonly RegisterOperation[]): boolean {
  // A write without an answer that nobody has seen may be left out: it may never have come.
  const seenValues = new Set(operations.filter(({ kind }) => kind === "read").map(({ value }) => value));
  const all = operations.filter(({ end, value }) => end !== Infinity || seenValues.has(value))
    .toSorted((a, b) => a.start - b.start);
  const isDone = new Uint8Array(all.length);
  const seen = new Set<string>();
  let first = 0;
  let open = all.filter(({ end }) => end !== Infinity).length;
  const stack: { readonly next: Iterator<number>; readonly value: number; readonly taken: number }[] = [];

  /** Those that may come next: called before the first of the others was answered. */
  function* candidates(): Generator<number> {
    let firstEnd = Infinity;
    for (let at = first; at < all.length; at++) {
      const operation = all[at];
      if (operation !== undefined && isDone[at] === 0) firstEnd = Math.min(firstEnd, operation.end);
    }
    for (let at = first; at < all.length && (all[at]?.start ?? Infinity) <= firstEnd; at++) {
      if (isDone[at] === 0) yield at;
    }
  }

  let value = 0;
  let next: Iterator<number> = candidates();
  for (;;) {
    if (open === 0) return true;
    const { value: at, done } = next.next();
    if (done === true) {
      const last = stack.pop();
      if (last === undefined) return false;
      isDone[last.taken] = 0;
      if (all[last.taken]?.end !== Infinity) open++;
      first = Math.min(first, last.taken);
      [value, next] = [last.value, last.next];
      continue;
    }
    const operation = all[at];
    if (operation === undefined || (operation.kind === "read" && operation.value !== value)) continue;
    isDone[at] = 1;
    const after = operation.kind === "write" ? operation.value : value;
    let from = first;
    while (isDone[from] === 1) from++;
    const state = `${after}:${from}:${isDone.subarray(from).join("")}`;
    if (seen.has(state)) {
      isDone[at] = 0;
      continue;
    }
    seen.add(state);
    stack.push({ next, value, taken: at });
    if (operation.end !== Infinity) open--;
    first = from;
    value = after;
    next = candidates();
  }
}
