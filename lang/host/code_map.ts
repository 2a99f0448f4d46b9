/**
 * Where in the sources a compiled program trapped: at its site, and at the calls that led there.
 *
 * A trap inside of the library is reported by the line of the package that called it. What was lowered in place knows
 * where it was called ({@link IrPosition}); for other calls the engine's trace has the offsets in the code, and the
 * places of the source map the rest.
 */
import type { IrPosition } from "../ir/node.ts";
import { isLibraryPath } from "../source/source_file.ts";
import type { CodePosition } from "../wasm/function_encoder.ts";
import { type EncodedModule, lineAndColumn } from "../wasm/module_encoder.ts";
import { callerFirst, type ReportedPosition, type TrapOrigin, type TrapReport } from "./wasm_trap.ts";

/** The places of a module's code. */
export class CodeMap {
  readonly #module: Pick<EncodedModule, "places" | "functionStarts" | "sites">;

  constructor(module: Pick<EncodedModule, "places" | "functionStarts" | "sites">) {
    this.#module = module;
  }

  /** The report with places as far as they are known. */
  located(report: TrapReport, origin: TrapOrigin): TrapReport {
    const site = origin.site === null ? null : this.#module.sites[origin.site]?.place ?? null;
    const places = site === null ? [] : chainOf(site);
    // The innermost call is the trap itself.
    const calls = site === null ? origin.offsets : origin.offsets.slice(1);
    const hasCaller = () => places.some(({ file }) => !isLibraryPath(file));
    for (const offset of calls) {
      if (hasCaller()) break;
      const place = this.#placeAt(offset);
      if (place !== null) places.push(...chainOf(place));
    }
    return places.length === 0 ? report : { ...report, ...callerFirst(places) };
  }

  /** The place of an offset, when its function has any. */
  #placeAt(offset: number): IrPosition | null {
    const { places, functionStarts } = this.#module;
    const start = functionStarts[lastUpTo(functionStarts, offset, (each) => each)];
    const found: CodePosition | undefined = places[lastUpTo(places, offset, (each) => each.offset)];
    return found === undefined || start === undefined || found.offset < start ? null : found.place;
  }
}

/** Index of the last item that is not behind the offset; -1 when all are. */
function lastUpTo<Item>(items: readonly Item[], offset: number, offsetOf: (item: Item) => number): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = items[middle];
    if (item !== undefined && offsetOf(item) <= offset) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function chainOf(place: IrPosition): ReportedPosition[] {
  const chain: ReportedPosition[] = [];
  for (let at: IrPosition | null = place; at !== null; at = at.caller ?? null) {
    chain.push({ file: at.file.path, ...lineAndColumn(at) });
  }
  return chain;
}
