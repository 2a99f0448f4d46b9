/**
 * The passes that make functions smaller and faster, also in a debug build; before ownership is decided.
 */
import { cleanUp } from "./cleanup.ts";
import { useFacts } from "./facts.ts";
import type { IrFunction } from "./node.ts";

/** Runs the passes on a function. */
export function optimize(target: IrFunction): void {
  if (target.isRaw) return;
  cleanUp(target, { isCounted: false });
  useFacts(target);
}

/** Runs what is left to do when counting has been written. */
export function optimizeCounted(target: IrFunction): void {
  if (!target.isRaw) cleanUp(target, { isCounted: true });
}
