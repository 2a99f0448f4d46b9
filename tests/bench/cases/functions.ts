/**
 * Functions of users: the time of a million calls, as a multiple of the same expression in SQL just before. Both go to
 * the same server, so that the ratio holds when the machine's speed drifts.
 */
import type { Benchmark, Scale } from "../benchmark.ts";
import { connect, execute } from "./client.ts";

const ROWS = { smoke: 2_000, full: 1_000_000 } as const;
/** Pairs of measurements, of which the median counts. */
const PAIRS = 5;

/** `a * 3 + b` over doubles as `f`, over integers as `i` and `l`. */
const MODULE =
  "0061736d0100000001130360027c7c017c60027f7f017f60027e7e017e030403000102070d030166000001690001016c00020a290311002000440000000000000840a22001a00b0a00200041036c20016a0b0a00200042037e20017c0b";

const TYPES = { f: "double precision", i: "int", l: "bigint" } as const;

function calls(what: string, name: keyof typeof TYPES): Benchmark {
  const type = TYPES[name];
  const queries = [
    `SELECT sum(a * 3 + b) FROM calls_${name}`,
    `SELECT sum(call_${name}(a, b)) FROM calls_${name}`,
  ];
  return {
    name: `a function over ${what}, 1 million calls`,
    unit: "times SQL",
    higherIsBetter: false,
    bar: "≤ 1.5",
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

/** Over each kind of number. */
export const functions: readonly Benchmark[] = [
  calls("doubles", "f"),
  calls("integers", "i"),
  calls("bigints", "l"),
];
