/**
 * The passes that make functions smaller and faster, also in a debug build; before ownership is decided.
 */
import type { IrFunction } from "./node.ts";

/** Runs the passes on all functions. */
export function optimise(_functions: readonly IrFunction[], _roots: readonly IrFunction[]): void {
}
