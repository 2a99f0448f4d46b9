/** How a program ended before its end, in the words of both evaluators. */
import { ExpectationTrap, ProgramTrap, type Site } from "../interpret/trap.ts";
import type { CodeMap } from "./code_map.ts";
import { callerFirst, type ReportedPosition, trapMessage, type TrapReport, WasmTrap } from "./wasm_trap.ts";

/**
 * What is known of a trap of either evaluator, of a compiled program with the places that the map of its code knows;
 * null for other errors.
 */
export function trapReportOf(error: unknown, map: CodeMap | null = null): TrapReport | null {
  if (error instanceof WasmTrap) return map?.located(error.report, error.origin) ?? error.report;
  if (!(error instanceof ProgramTrap)) return null;
  const places = [error.site, ...error.calls].map(placeOf);
  const sides = error instanceof ExpectationTrap && error.sides !== null
    ? { left: error.sides.left, right: error.sides.right }
    : null;
  const isSaid = error.kind === "panic" || error.kind === "index";
  const message = isSaid ? error.message : trapMessage(error.kind);
  return { kind: error.kind, message, ...callerFirst(places), sides };
}

function placeOf({ file, span }: Site): ReportedPosition {
  const { line, column } = file.positionOf(span);
  return { file: file.path, line, column };
}
