/** How much memory statements may take together on this machine, unless it is said. */
import v8 from "node:v8";
import { LIMITS } from "../base/limits.ts";

/** A quarter of the machine's memory. Texts are in the heap, so no more than half of that. */
export function usualQueryMemoryBytes(): number {
  const heapBytes = v8.getHeapStatistics().heap_size_limit;
  const bytes = Math.min(Deno.systemMemoryInfo().total / 4, heapBytes / 2);
  return Math.max(LIMITS.leastQueryMemoryBytes, Math.floor(bytes));
}
