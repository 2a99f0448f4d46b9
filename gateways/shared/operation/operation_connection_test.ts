/** How requests that come together share turns. */
import { ok, strictEqual as equal } from "node:assert/strict";
import { memoryHost } from "../../../engine/host/memory_host.ts";
import { Engine } from "../../../engine/session/engine.ts";
import { framedMessages, OperationConnection } from "./operation_connection.ts";
import { encodeRequest } from "./operation_codec.ts";
import { DurabilityWatch } from "./outbox.ts";

Deno.test("OperationConnection answers a part of many requests that came together, then others get a turn", async () => {
  const engine = await Engine.open({ host: memoryHost(), directory: ":memory:" });
  const watch = new DurabilityWatch(engine);
  let answers = 0;
  const connection = new OperationConnection({
    engine,
    watch,
    onInternalError: (error) => {
      throw error;
    },
    transport: {
      send: (messages) => answers += [...framedMessages(messages)].length,
      backlogBytes: 0,
      setPaused: () => {},
      end: () => {},
    },
  });
  try {
    const count = 1000;
    for (let number = 1; number <= count; number++) {
      connection.receive(
        encodeRequest({ number: BigInt(number), client: null, operation: { kind: "ping" } }),
      );
    }
    connection.flush();
    ok(answers > 0 && answers <= 100, `${answers} answers in the first turn`);
    equal(connection.waitingRequests, count - answers);
    while (connection.isBusy) await engine.yieldToLoop();
    equal(answers, count);
  } finally {
    connection.closed();
    watch.close();
    await engine.close();
  }
});
