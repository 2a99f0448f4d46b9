/** What fragments have given to one transaction, as long as the statement runs that wants it. */
import type { BatchSource, GatheredBatch, PlaceWork } from "../execution/runtime/execution.ts";
import type { Fragment } from "../sql/plan/plan.ts";
import type { SqlValue } from "../types/value.ts";
import { toStored } from "../types/stored_value.ts";
import { readKey } from "../transactions/read_key.ts";
import type { ReadPredicate } from "../transactions/read_set.ts";

/** The rows of one fragment with these parameters. */
export interface Gathered {
  readonly parameters: readonly SqlValue[];
  /** By shard, those that have some. */
  readonly batches: readonly (readonly GatheredBatch[])[];
  readonly reads: readonly ReadPredicate[];
  /** What each shard has done. */
  readonly work: readonly PlaceWork[];
  /** Whose rows are not there. */
  readonly failedShards: readonly number[];
}

/** Batches, one after the other. */
export function inOrder(batches: readonly GatheredBatch[]): BatchSource {
  let next = 0;
  return () => batches[next++];
}

/** See the file's head. */
export class GatheredRows {
  /** By text: a statement that is planned anew has other objects. */
  readonly #byFragment = new Map<string, Gathered>();
  readonly #working = new Map<string, { readonly work: readonly PlaceWork[] }>();
  /** The statement that they are for, by its number in the transaction. */
  #statement = -1;

  /** Rows that have come for this statement. */
  of(
    { text, parameters: named }: Fragment,
    parameters: readonly SqlValue[],
    statement: number,
  ): Gathered | undefined {
    if (this.#statement !== statement) {
      this.#byFragment.clear();
      this.#working.clear();
      this.#statement = statement;
    }
    const known = this.#byFragment.get(text);
    if (known === undefined || known.parameters === parameters) return known;
    const isSame = named.every(({ index, type }) => {
      const [one, other] = [known.parameters[index] ?? null, parameters[index] ?? null];
      return one === other || readKey([toStored(type, one)]) === readKey([toStored(type, other)]);
    });
    return isSame ? known : undefined;
  }

  /** What each shard has done for a fragment when it was gathered last. */
  lastWork({ text }: Fragment): readonly PlaceWork[] | null {
    return this.#working.get(text)?.work ?? null;
  }

  /** Keeps rows for the statement that has asked last. */
  keep(fragment: Fragment, gathered: Gathered): void {
    this.#byFragment.set(fragment.text, gathered);
    this.working(fragment, gathered);
  }

  /** Notes what runs a fragment for the statement that has asked last. */
  working({ text }: Fragment, run: { readonly work: readonly PlaceWork[] }): void {
    this.#working.set(text, run);
  }

  forget(): void {
    this.#byFragment.clear();
  }
}
