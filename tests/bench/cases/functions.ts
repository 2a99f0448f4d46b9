/**
 * Functions of users: the time of a million calls, as a multiple of the same expression in SQL just before. Both go to
 * the same server, so that the ratio holds when the machine's speed drifts.
 */
import type { Benchmark, Scale } from "../benchmark.ts";
import { connect, execute } from "./client.ts";

const ROWS = { smoke: 2_000, full: 1_000_000 } as const;
/** Pairs of measurements, of which the median counts. */
const PAIRS = 5;

/** The expressions below, as exports of their names. */
const MODULE =
  "0061736d0100000001130360027c7c017c60027f7f017f60027e7e017e0307060001020102000728060166000001690001016c0002066c6f6e675f690003066c6f6e675f6c0004066c6f6e675f6600050a6a0611002000440000000000000840a22001a00b0a00200041036c20016a0b0a00200042037e20017c0b11002000411f6c200141076d6a41f1076f0b11002000421f7e200142077f7c42f107810b1c0020002000a220012001a2a09f20009944000000000000f03fa0a30b";

const REMAINDER = "(a * 31 + b / 7) % 1009";
const CASES = {
  f: { type: "double precision", sql: "a * 3 + b", bar: "≤ 1.5" },
  i: { type: "int", sql: "a * 3 + b", bar: "≤ 1.5" },
  l: { type: "bigint", sql: "a * 3 + b", bar: "≤ 1.5" },
  long_f: { type: "double precision", sql: "sqrt(a * a + b * b) / (abs(a) + 1)", bar: "≤ 1.5" },
  long_i: { type: "int", sql: REMAINDER, bar: "≤ 1.5" },
  long_l: { type: "bigint", sql: REMAINDER, bar: "≤ 1.5" },
} as const;

function calls(name: keyof typeof CASES): Benchmark {
  const { type, sql, bar } = CASES[name];
  const queries = [
    `SELECT sum(${sql}) FROM calls_${name}`,
    `SELECT sum(call_${name}(a, b)) FROM calls_${name}`,
  ];
  return {
    name: `1 million calls of ${sql} over ${type}`,
    unit: "times SQL",
    higherIsBetter: false,
    bar,
    alone: true,
    prepare: (peer, scale: Scale) =>
      execute(peer, [
        `DROP TABLE IF EXISTS calls_${name}`,
        `CREATE OR REPLACE FUNCTION call_${name}(a ${type}, b ${type}) RETURNS ${type} LANGUAGE WASM ` +
        `AS '\\x${MODULE}' EXPORT '${name}'`,
        `CREATE TABLE calls_${name} (a ${type} NOT NULL, b ${type} NOT NULL)`,
        `INSERT INTO calls_${name} SELECT n * 7 % 1000003, n % 97 FROM generate_series(1, ${ROWS[scale]}) n`,
        "CHECKPOINT",
      ]),
    measure: async (peer) => {
      const client = connect(peer);
      try {
        const ratios: number[] = [];
        for (let pair = 0; pair <= PAIRS; pair++) {
          const times: number[] = [];
          for (const query of queries) {
            const start = performance.now();
            await client.unsafe(query);
            times.push(performance.now() - start);
          }
          // The first pair compiles.
          if (pair > 0) ratios.push((times[1] ?? 0) / (times[0] ?? 1));
        }
        return ratios.toSorted((a, b) => a - b)[PAIRS >> 1] ?? NaN;
      } finally {
        await client.end();
      }
    },
  };
}

/** The cheapest expressions, of which a call would be the largest part, and longer ones. */
export const functions: readonly Benchmark[] = (Object.keys(CASES) as (keyof typeof CASES)[]).map(calls);
