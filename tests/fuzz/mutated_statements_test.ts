/** Mutated statements through the statement entry of each protocol. */
import { deepStrictEqual } from "node:assert/strict";
import { PROTOCOLS } from "./frames/fuzzed_server.ts";
import { runMutatedStatements } from "./mutated_statements.ts";

/** Most go where a statement takes the least time: the engine behind the protocols is the same. */
const STATEMENTS = { pg: 3_000, binary: 2_000, http: 1_000, websocket: 500 } as const;

let seed = 1;
for (const protocol of PROTOCOLS) {
  const count = STATEMENTS[protocol], first = seed;
  seed += count;
  Deno.test(`The ${protocol} gateway answers ${count} mutated statements without a bug`, async () => {
    deepStrictEqual(await runMutatedStatements(protocol, { seed: first, count }), []);
  });
}
