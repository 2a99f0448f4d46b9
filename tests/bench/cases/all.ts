/** The benchmarks by the name they are asked for. */
import type { Benchmark } from "../benchmark.ts";
import { analytics } from "./analytics.ts";
import { copy } from "./copy.ts";
import { copyTriggers } from "./copy_triggers.ts";
import { firstContact } from "./first_contact.ts";
import { functions } from "./functions.ts";
import { growth } from "./growth.ts";
import { largeTable, ranges } from "./large_table.ts";
import { parquet } from "./parquet.ts";
import { clientGrowth, overTls, pgbench } from "./pgbench.ts";
import { memory, restart } from "./restart.ts";
import { stalls } from "./stalls.ts";
import { sysbench } from "./sysbench.ts";
import { tpch, tpchGrowth } from "./tpch.ts";

/** A smoke run has one number of clients of each script. */
const SMOKE_CLIENTS = 8;

/** What `deno task bench NAME` can name. */
export const BENCHMARKS: Readonly<Record<string, readonly Benchmark[]>> = {
  "point-read": (["simple", "extended", "prepared"] as const).flatMap((mode) =>
    ([[1, "≥ 0.9"], [8, "≥ 1.1"], [32, "≥ 1.15"]] as const).map(([clients, bar]) => ({
      ...pgbench("point read", mode, clients, bar),
      isFullOnly: clients !== SMOKE_CLIENTS,
    }))
  ),
  "tls": overTls,
  "point-write": ([[1, "–"], [8, "≥ 0.8"], [32, "–"]] as const).map(([clients, bar]) => ({
    ...pgbench("point write", "prepared", clients, bar),
    isFullOnly: clients !== SMOKE_CLIENTS,
  })),
  "tpc-b": [
    ...([[1, "≥ 1.2"], [8, "≥ 1.1"], [32, "≥ 1.6"]] as const).map(([clients, bar]) => ({
      ...pgbench("TPC-B", "simple", clients, bar),
      isFullOnly: clients !== SMOKE_CLIENTS,
    })),
    pgbench("TPC-B", "prepared", 8, "≥ 1.3", 10),
  ],
  "insert": [pgbench("single-row insert", "prepared", 32, "≥ 1.5")],
  "copy": [...copy, ...copyTriggers],
  "range": ranges,
  "large-table": largeTable,
  "restart": restart,
  "memory": memory,
  "stalls": stalls,
  "growth": growth,
  "client-growth": clientGrowth,
  "sysbench": sysbench,
  "first-contact": firstContact,
  "analytics": analytics,
  "tpch": tpch,
  "tpch-growth": tpchGrowth,
  "parquet": parquet,
  "functions": functions,
};
