/** Memory given back while the server is idle. */
import { deepStrictEqual as equal, ok } from "node:assert/strict";
import { collectMemory, IdleWatch } from "./idle_memory.ts";

/** Looks of which each says how much processor time went by, in milliseconds, and how much memory there is, in MB. */
function dueAt(looks: readonly (readonly [processor: number, resident: number])[]): number[] {
  const watch = new IdleWatch({ processorMicroseconds: 0, residentBytes: 100e6 });
  const due: number[] = [];
  let processor = 0;
  for (const [index, [milliseconds, resident]] of looks.entries()) {
    processor += milliseconds * 1000;
    const usage = { processorMicroseconds: processor, residentBytes: resident * 1e6 };
    if (!watch.isDue(usage)) continue;
    due.push(index);
    watch.collected({ ...usage, residentBytes: 150e6 });
  }
  return due;
}

Deno.test("IdleWatch.isDue() once the process was idle for a while and holds more than before", () => {
  const idle = (count: number, resident: number) =>
    Array<readonly [number, number]>(count).fill([1, resident]);
  equal(dueAt(idle(50, 160)), [], "nothing to gain");
  equal(
    dueAt([[400, 300], ...idle(65, 300)]),
    [20, 40, 60],
    "a collection that did not help is as if none was",
  );
  equal(dueAt([[400, 300], ...idle(19, 300), [50, 300], ...idle(19, 300), [50, 300]]), [], "work in between");
  equal(dueAt([[400, 300], ...idle(20, 300), ...idle(50, 160)]), [20], "no growth since the collection");
});

Deno.test("collectMemory() frees what is not referenced", async () => {
  let arrays: Float64Array[] | null = Array.from({ length: 200 }, () => new Float64Array(100_000));
  const before = Deno.memoryUsage().external;
  ok(before > 150e6 && arrays.length === 200);
  arrays = null;
  await collectMemory();
  const after = Deno.memoryUsage().external;
  ok(before - after > 150e6, `${before - after} bytes freed`);
});
