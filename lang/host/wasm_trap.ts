/** The end of a compiled program before its end, and what is told of it. */

import { isLibraryPath } from "../source/source_file.ts";

/** A place in a source; line and column count from 1. */
export interface ReportedPosition {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** What went wrong and where. */
export interface TrapReport {
  /** As in `typed/trap.ts`. */
  readonly kind: string;
  readonly message: string;
  /**
   * In the package as far as it is known: of what traps inside of the library, the call that led there. Null where
   * nothing is known.
   */
  readonly place: ReportedPosition | null;
  /** Where in the library, when it trapped there. */
  readonly library: ReportedPosition | null;
  /** The sides of a comparison in `expect`; of a snapshot what is there and what was written. */
  readonly sides: { readonly left: string; readonly right: string } | null;
}

const MESSAGES: Readonly<Record<string, string>> = {
  overflow: "Cannot compute: the result does not fit in its type",
  division: "Cannot divide: the right side is zero",
  index: "Cannot take the element: the list has none at this index",
  timeout: "Cannot go on: the limit of time is reached",
  conversion: "Cannot convert: the number does not fit",
  expect: "expect does not hold",
  depth: "Cannot call the function: the calls are too deep",
  memory: "Cannot take memory: the heap is full",
  gas: "Cannot go on: the gas is used up",
};

/** What a trap says when the program said nothing. */
export function trapMessage(kind: string): string {
  return MESSAGES[kind] ?? `Cannot go on: ${kind}`;
}

/** Where a compiled program trapped, as the engine tells it; a {@link CodeMap} knows the places. */
export interface TrapOrigin {
  /** Number of the trap site. */
  readonly site: number | null;
  /** Offsets of the calls in the module's bytes, the innermost first. */
  readonly offsets: readonly number[];
}

/** The end of a compiled program before its end. */
export class WasmTrap extends Error {
  readonly report: TrapReport;
  readonly origin: TrapOrigin;

  constructor(report: TrapReport, origin: TrapOrigin) {
    super(report.message);
    this.name = "WasmTrap";
    this.report = report;
    this.origin = origin;
  }
}

/** From places, the innermost first, the first one in the package, and the one in the library that it led to. */
export function callerFirst(places: readonly ReportedPosition[]): Pick<TrapReport, "place" | "library"> {
  const [first] = places;
  if (first === undefined) return { place: null, library: null };
  if (!isLibraryPath(first.file)) return { place: first, library: null };
  const caller = places.find(({ file }) => !isLibraryPath(file));
  return caller === undefined ? { place: first, library: null } : { place: caller, library: first };
}

/** The end of a program that writes more than it may. */
export function outputTrap(maximumBytes: number): WasmTrap {
  const message = `Cannot go on: it has written more than ${maximumBytes} bytes`;
  return new WasmTrap({ kind: "output", message, place: null, library: null, sides: null }, {
    site: null,
    offsets: [],
  });
}
