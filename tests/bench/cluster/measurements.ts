/** What is measured, in the report's order. */
import { bulk } from "./bulk.ts";
import { failovers } from "./failover.ts";
import { memberWork } from "./members.ts";
import { rates } from "./rates.ts";
import type { Measurement } from "./servers.ts";

/** See the head of the file. */
export const MEASUREMENTS: readonly Measurement[] = [...rates, ...memberWork, ...failovers, ...bulk];
