/** The trap that a piece of work ends with. */
import { type TrapReport, trapReportOf } from "../host/trap_report.ts";

/** The trap, or null when the work comes to its end; other errors go on. */
export function trapOf(work: () => unknown): TrapReport | null {
  try {
    work();
    return null;
  } catch (error) {
    const trap = trapReportOf(error);
    if (trap === null) throw error;
    return trap;
  }
}
