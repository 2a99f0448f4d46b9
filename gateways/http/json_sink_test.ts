/** Lines that have been sent are not taken back. */
import { strictEqual, throws } from "node:assert/strict";
import { writeRow } from "../../engine/statements/row_buffer.ts";
import { DEFAULT_TEXT_OPTIONS } from "../../engine/types/text_io.ts";
import { JsonSink } from "./json_sink.ts";

Deno.test("JsonSink.retract() takes back rows that nobody has, and raises 40001 for others", () => {
  const columns = [{ name: "t", type: { kind: "text" }, column: 0, tableId: 0, columnId: 0 }] as const;
  let sent = 0;
  const target = { sendLines: () => void sent++, isFull: false, drained: () => Promise.resolve() };
  const sink = new JsonSink({ textOptions: () => DEFAULT_TEXT_OPTIONS, form: "lines", target });
  for (
    const [retractable, bytes, isSent] of [[false, 10, false], [true, 100_000, false], [
      false,
      100_000,
      true,
    ]] as const
  ) {
    sent = 0;
    sink.begin(columns, retractable);
    writeRow(sink, columns, ["x".repeat(bytes)]);
    strictEqual(sent > 0, isSent);
    if (isSent) throws(() => sink.retract(), { code: "40001" });
    else sink.retract();
  }
});
