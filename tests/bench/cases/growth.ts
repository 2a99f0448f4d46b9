/** How the cost of transactional work grows with the data: the same work on 0.1, 1 and 10 million rows. */
import type { Benchmark, Peer, Scale } from "../benchmark.ts";
import { execute, transactionRate } from "./client.ts";
import { loadReadings } from "./large_table.ts";

const SIZES = [100_000, 1_000_000, 10_000_000] as const;
const SMOKE_ROWS = 1_000;

/** Work by name; what is measured is the time of one transaction. */
const WORK = {
  "point read": "\\set id random(1, :rows)\nSELECT value FROM growing WHERE id = :id;\n",
  "point write": "\\set id random(1, :rows)\nUPDATE growing SET value = value + 1 WHERE id = :id;\n",
  "range read of 100 rows":
    "\\set low random(1, :rows - 100)\nSELECT id, value FROM growing WHERE at BETWEEN :low AND :low + 99;\n",
  "max by index": "SELECT max(place) FROM growing;\n",
} as const;

/** The size of the table that each peer has now. */
const sizes = new Map<Peer, number>();

/** Every work on every size. */
export const growth: readonly Benchmark[] = SIZES.flatMap((size, index) => [
  {
    name: `load and index, ${size.toLocaleString("en")} rows`,
    unit: "s",
    higherIsBetter: false,
    growth: { group: "load and index", size },
    isFullOnly: index > 0,
    maximumRounds: 1,
    prepare: async () => {},
    measure: async (peer: Peer, scale: Scale): Promise<number> => {
      const rows = scale === "smoke" ? SMOKE_ROWS : size;
      await execute(peer, ["DROP TABLE IF EXISTS growing"]);
      const start = performance.now();
      await loadReadings(peer, rows, "growing");
      sizes.set(peer, rows);
      return (performance.now() - start) / 1000;
    },
  },
  ...Object.entries(WORK).map(([name, script]): Benchmark => ({
    driver: "pgbench",
    name: `${name}, ${size.toLocaleString("en")} rows`,
    unit: "µs",
    higherIsBetter: false,
    growth: { group: name, size },
    isFullOnly: index > 0,
    prepare: async (peer, scale) => {
      const rows = scale === "smoke" ? SMOKE_ROWS : size;
      if (sizes.get(peer) === rows) return;
      await execute(peer, ["DROP TABLE IF EXISTS growing"]);
      await loadReadings(peer, rows, "growing");
      sizes.set(peer, rows);
    },
    measure: async (peer, scale) => {
      const rows = scale === "smoke" ? SMOKE_ROWS : size;
      const rate = await transactionRate(peer, script, {
        mode: "prepared",
        clients: 1,
        variables: { rows },
        seconds: scale === "smoke" ? null : 3,
      });
      return 1e6 / rate;
    },
  })),
]);
