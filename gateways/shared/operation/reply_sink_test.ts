/** What a reply has sent is not taken back. */
import { strictEqual, throws } from "node:assert/strict";
import { writeRow } from "../../../engine/statements/row_buffer.ts";
import { DEFAULT_TEXT_OPTIONS } from "../../../engine/types/text_io.ts";
import { ReplySink } from "./reply_sink.ts";

Deno.test("ReplySink.retract() takes back rows that nobody has, and raises 40001 for others", () => {
  const columns = [{ name: "t", type: { kind: "text" }, column: 0, tableId: 0, columnId: 0 }] as const;
  const parts: Uint8Array[] = [];
  const sink = new ReplySink({
    number: 1n,
    target: {
      sendPart: (part) => void parts.push(part),
      isFull: false,
      drained: () => Promise.resolve(),
      copyIn: () => Promise.reject(new Error("nothing is copied")),
    },
    textOptions: () => DEFAULT_TEXT_OPTIONS,
  });
  for (
    const [retractable, bytes, isSent] of [[false, 10, false], [true, 100_000, false], [
      false,
      100_000,
      true,
    ]] as const
  ) {
    parts.length = 0;
    sink.begin(columns, retractable);
    writeRow(sink, columns, ["x".repeat(bytes)]);
    strictEqual(parts.length > 0, isSent);
    if (isSent) throws(() => sink.retract(), { code: "40001" });
    else sink.retract();
  }
});
