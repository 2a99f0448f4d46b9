/** Planning that is stopped when its turn is over, and begun again when others had theirs: `engine/base/pieces.ts`. */
import { Pieces } from "../base/pieces.ts";
import type { Catalog } from "../catalog/catalog.ts";

/** How long is planned before others get their turn; tests change it. */
export const planningPieces = { microseconds: 4_000 };

/** When definitions have changed so often meanwhile, the rest is planned in one piece. */
const MAX_CHANGES = 64;

/** What names mean. */
interface Names {
  readonly catalog: Catalog;
  readonly evaluation: { readonly searchPath: readonly string[] };
}

/** See the file's head. */
export class PlanningInPieces {
  readonly #engine: { monotonic(): number };
  #pieces: Pieces | undefined;
  #catalog: Catalog | null = null;
  #searchPath: readonly string[] = [];
  #changes = 0;

  constructor(engine: { monotonic(): number }) {
    this.#engine = engine;
  }

  /** Plans for one piece of time; null: it is not at its end, and is to be run again. Raises what `plan` raises. */
  run<T>(
    { catalog, evaluation: { searchPath } }: Names,
    plan: (pieces: Pieces | undefined) => T,
  ): { readonly value: T } | null {
    if (catalog !== this.#catalog || !isSamePath(searchPath, this.#searchPath)) {
      // What was bound before names what there was.
      this.#pieces = this.#changes++ < MAX_CHANGES ? new Pieces(() => this.#engine.monotonic()) : undefined;
      this.#catalog = catalog;
      this.#searchPath = searchPath;
    }
    const pieces = this.#pieces;
    if (pieces === undefined) return { value: plan(pieces) };
    return pieces.run(planningPieces.microseconds, () => plan(pieces));
  }
}

/** Whether two search paths are the same. */
export function isSamePath(left: readonly string[], right: readonly string[]): boolean {
  if (left === right) return true;
  if (left.length !== right.length) return false;
  for (let i = 0; i < left.length; i++) if (left[i] !== right[i]) return false;
  return true;
}
