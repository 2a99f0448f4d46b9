/** What a sink has sent is not taken back, whichever protocol it is of; and reads do not need that. */
import { ok, strictEqual, throws } from "node:assert/strict";
import { TestClient } from "../../engine/statements/copy/client_for_test.ts";
import type { ResultSink } from "../../engine/statements/outcome.ts";
import { writeRow } from "../../engine/statements/row_buffer.ts";
import { DEFAULT_TEXT_OPTIONS } from "../../engine/types/text_io.ts";
import { JsonSink } from "../http/json_sink.ts";
import { ReplySink } from "./operation/reply_sink.ts";

const textOptions = () => DEFAULT_TEXT_OPTIONS;

/** By protocol: a sink that counts in pieces what it sends, and what it has not sent. */
const SINKS = {
  reply: (sent: Uint8Array[]) => {
    const sendPart = (part: Uint8Array) => void sent.push(part);
    const copyIn = () => Promise.reject(new Error("nothing is copied"));
    const target = { sendPart, isFull: false, drained: () => Promise.resolve(), copyIn };
    return new ReplySink({ number: 1n, target, textOptions });
  },
  json: (sent: Uint8Array[]) => {
    const sendLines = (lines: Uint8Array) => void sent.push(lines);
    return new JsonSink({
      textOptions,
      form: "lines",
      target: { sendLines, isFull: false, drained: () => Promise.resolve() },
    });
  },
} satisfies Record<string, (sent: Uint8Array[]) => ResultSink>;

for (const [protocol, make] of Object.entries(SINKS)) {
  Deno.test(`the sink of ${protocol} takes back rows that nobody has, and raises 40001 for others`, () => {
    const columns = [{ name: "t", type: { kind: "text" }, column: 0, tableId: 0, columnId: 0 }] as const;
    const sent: Uint8Array[] = [];
    const sink = make(sent);
    for (
      const [retractable, bytes, isSent] of [
        [false, 10, false],
        [true, 100_000, false],
        [false, 100_000, true],
      ] as const
    ) {
      sent.length = 0;
      sink.begin(columns, retractable);
      writeRow(sink, columns, ["x".repeat(bytes)]);
      strictEqual(sent.length > 0, isSent);
      if (isSent) throws(() => sink.retract(), { code: "40001" });
      else sink.retract();
    }
  });

  Deno.test(`a look-up of many rows goes on when the sink of ${protocol} has sent some of them`, async () => {
    const client = await TestClient.open();
    await client.run(
      "CREATE TABLE t (id INT PRIMARY KEY, k INT, v TEXT); CREATE INDEX ON t (k)",
      "INSERT INTO t SELECT n, CASE WHEN n % 4 = 0 THEN -1 ELSE n END, repeat('x', 1000) FROM generate_series(1, 20000) n",
    );
    const sql = "SELECT id, v FROM t WHERE k = -1";
    // It is taken for one that finds few.
    ok((await client.rows(`EXPLAIN ${sql}`)).join().includes("Index Scan"));
    const sent: Uint8Array[] = [];
    const sink = make(sent);
    let rows = 0, other = Promise.resolve<unknown>(null);
    const drained = sent.push.bind(sent);
    sent.push = (...parts) => {
      // Others change what is being read.
      if (sent.length === 0) {
        other = Promise.resolve().then(() => TestClient.over(client.engine).run("DELETE FROM t"));
      }
      return drained(...parts);
    };
    await client.session.simple(sql, sink, ({ rowCount }) => rows = rowCount ?? 0);
    await other;
    strictEqual(rows, 5000);
    ok(sent.reduce((sum, part) => sum + part.length, 0) > 4_500_000);
    // What it has read in is not read in again.
    strictEqual((await client.rows(sql)).length, 0);
    strictEqual(client.engine.manager.activeCount, 0);
    await client.close();
  });
}
