/** The fragments that a shard has been given, and their code. */
import { assertDefined } from "../base/assert.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { FragmentCode } from "./fragment_runs.ts";
import { KnownFragments } from "./known_fragments.ts";

type Runs = typeof import("./fragment_runs.ts");

interface Known {
  readonly text: string;
  code: FragmentCode | null;
}

/** See the file's head. */
export class ShardFragments {
  readonly #known = new KnownFragments<Known>();
  #runs: Runs | null = null;

  /** The code of a fragment, whose `text` comes with the first request for it. A promise while code is loaded. */
  code(
    { fragment, text }: { readonly fragment: number; readonly text: string | null },
    catalog: Catalog,
  ): FragmentCode | Promise<FragmentCode> {
    if (text !== null) this.#known.add(fragment, { text, code: null });
    const known = assertDefined(this.#known.get(fragment), `fragment ${fragment}`);
    if (this.#runs !== null) return codeOf(known, catalog, this.#runs);
    // A shard that is never asked for work stays without the code for it.
    return import("./fragment_runs.ts").then((runs) => codeOf(known, catalog, this.#runs = runs));
  }
}

function codeOf(known: Known, catalog: Catalog, { FragmentCode }: Runs): FragmentCode {
  if (known.code?.isFor(catalog) !== true) known.code = new FragmentCode(known.text, catalog);
  return known.code;
}
