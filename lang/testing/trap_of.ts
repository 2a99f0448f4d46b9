/** The trap that a piece of work ends with. */
import { WasmTrap } from "../host/wasm_trap.ts";
import type { RawTrap } from "./test_suite.ts";

/** The trap, or null when the work comes to its end; other errors go on. */
export function trapOf(work: () => unknown): RawTrap | null {
  try {
    work();
    return null;
  } catch (error) {
    if (!(error instanceof WasmTrap)) throw error;
    return { report: error.report, origin: error.origin };
  }
}
