/** User-defined functions through an engine: rows that take long, restarts, traps of the language, replayed logs. */
import assert from "node:assert/strict";
import { denoHost } from "../host/deno_host.ts";
