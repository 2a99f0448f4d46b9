/** The effects of a transaction: catalog changes first, then rows by table, then sequences. */
import type { Catalog } from "../catalog/catalog.ts";
import type { CatalogChange } from "../catalog/catalog_change.ts";
import type { Effect, EffectSource } from "../operations/effect.ts";
import type { TableWriteSet } from "./write_set.ts";

type SequenceEffect = Extract<Effect, { kind: "sequence" }>;

/** What a transaction has done. */
export interface Done {
  readonly changes: readonly CatalogChange[];
  readonly writeSets: Iterable<TableWriteSet>;
  readonly sequences: readonly Effect[];
}

/** All of them. `lists`: whether an effect may delete a list of rows. */
export function effectList({ changes, writeSets, sequences }: Done, lists: boolean): Effect[] {
  const effects: Effect[] = changes.map((change) => ({ kind: "ddl", change }));
  for (const writeSet of writeSets) writeSet.appendEffects(effects, lists);
  if (sequences.length > 0) effects.push(...sequences);
  return effects;
}

/** One after the other, for a transaction of many. */
export function effectSource(
  { changes, writeSets, sequences }: Done,
  estimatedBytes: number,
  lists: boolean,
): EffectSource {
  const sets = [...writeSets];
  let count = changes.length + sequences.length;
  for (const writeSet of sets) count += writeSet.effectCount(lists);
  const each = function* (): Generator<Effect, void> {
    for (const change of changes) yield { kind: "ddl", change };
    for (const writeSet of sets) yield* writeSet.effects(lists);
    yield* sequences;
  };
  return { count, estimatedBytes, each };
}

/** Those of rows, which the stage can have. */
export function* rowEffects(writeSets: Iterable<TableWriteSet>): Generator<Effect, void> {
  for (const writeSet of writeSets) yield* writeSet.effects(true);
}

/** All of them, for a transaction whose {@link rowEffects} are in the stage, in so many bytes. */
export function stagedEffects({ changes, sequences }: Done, byteCount: number): EffectSource {
  const effects: Effect[] = [
    ...changes.map((change): Effect => ({ kind: "ddl", change })),
    { kind: "staged", byteCount },
    ...sequences,
  ];
  return { count: effects.length, estimatedBytes: 0, each: () => effects };
}

/** The last of the values that a transaction has noted for each sequence. */
export function lastSequences(
  noted: readonly SequenceEffect[],
  catalog: Catalog,
  newest: { newestSequenceValue(id: number): Pick<SequenceEffect, "value" | "called"> | undefined },
): readonly Effect[] {
  if (noted.length === 0) return noted;
  const last = new Map<number, Effect>();
  for (const effect of noted) {
    const id = effect.sequenceId;
    if (catalog.sequence(id) === undefined && catalog.table(id) === undefined) continue;
    // Others that asked later may have committed already: the value in the log must not go back.
    last.set(id, { ...effect, ...newest.newestSequenceValue(id) });
  }
  return [...last.values()];
}
