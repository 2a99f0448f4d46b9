/** Connections that break, and recordings that cannot be written. */
import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { AgentSession } from "../../../../lang/servers/agent/session.ts";
import type { ReadLine } from "./line_reader.ts";
import { serveLines } from "./line_service.ts";

/**  An empty environment. */
const NOWHERE = {
  langVersion: "0",
  tests: { run: () => Promise.resolve([]) },
  meter: { measure: () => Promise.reject(new Error("no programs")) },
  programsIn: () => ({ run: () => Promise.reject(new Error("no programs")) }),
  open: () => {
    throw new Error("no packages");
  },
};

function lines(count: number): ReadLine[] {
  return Array.from({ length: count }, () => ({ kind: "line", text: '{"op":"version"}', isUtf8: true }));
}

Deno.test("serveLines(): nothing more is written when the connection has broken", async () => {
  let writes = 0;
  await serveLines(new AgentSession(NOWHERE), {
    lines: lines(5),
    write: () => ++writes < 3 ? Promise.resolve() : Promise.reject(new Error("broken pipe")),
    stopReading: () => {},
  }, null);
  strictEqual(writes, 3);
});

Deno.test("serveLines(): a recording that cannot be written ends the connection and is told", async () => {
  const written: string[] = [];
  await rejects(
    serveLines(new AgentSession(NOWHERE), {
      lines: lines(5),
      write: (text) => {
        written.push(text);
        return Promise.resolve();
      },
      stopReading: () => {},
    }, {
      record: () => {
        throw new Error("disk full");
      },
    }),
    /disk full/,
  );
  deepStrictEqual(written, []);
});
