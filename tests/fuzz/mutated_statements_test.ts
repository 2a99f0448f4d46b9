/** 10 000 mutated statements through the statement entry of each protocol. */
import { deepStrictEqual } from "node:assert/strict";
import { PROTOCOLS } from "./frames/fuzzed_server.ts";
import { runMutatedStatements } from "./mutated_statements.ts";

const STATEMENTS = 10_000;

for (const [index, protocol] of PROTOCOLS.entries()) {
  Deno.test(`The ${protocol} gateway answers ${STATEMENTS} mutated statements without a bug`, async () => {
    // Other statements for each: the engine behind them is the same.
    const seed = 1 + index * STATEMENTS;
    deepStrictEqual(await runMutatedStatements(protocol, { seed, count: STATEMENTS }), []);
  });
}
