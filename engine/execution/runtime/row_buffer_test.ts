/** What row buffers hold and what memory they account for. */
import assert from "node:assert/strict";
import type { ExecutionState } from "./execution_state.ts";
import { RowBuffer } from "./row_buffer.ts";

function append(buffer: RowBuffer, text: string): void {
  if (buffer.count === buffer.capacity) buffer.grow(buffer.count);
  const [column] = buffer.columns;
  (column?.data as unknown[])[buffer.count++] = text;
}

Deno.test("RowBuffer accounts for texts that come after others were dropped, and gives all memory back", () => {
  let bytes = 0;
  const state = { charge: (more: number) => void (bytes += more) } as unknown as ExecutionState;
  const buffer = new RowBuffer(state, [{ storage: "ref", nullable: true }]);
  for (let row = 0; row < 4096; row++) append(buffer, "x");
  buffer.grow(buffer.count);
  buffer.keep(Int32Array.of(5, 6));
  assert.deepEqual(buffer.columns[0]?.data, ["x", "x"]);
  for (let row = 0; row < 1000; row++) append(buffer, "y".repeat(1000));
  const before = bytes;
  buffer.grow(buffer.count);
  assert.ok(bytes - before >= 1_000_000, `${bytes - before} bytes`);
  buffer.release();
  assert.equal(bytes, 0);
  assert.equal(buffer.count, 0);
});
