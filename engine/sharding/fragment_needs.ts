/** What travels with a fragment beside its text, and what its rows take. */
import type { GatheredBatch } from "../execution/runtime/execution.ts";
import type { EvaluationContext } from "../sql/functions/definition.ts";
import type { SessionFacts } from "./shard_messages.ts";

/** Rough memory of a value beside its text. */
const VALUE_BYTES = 16;

/** What a fragment may ask of a session. */
export function factsOf(evaluation: EvaluationContext): SessionFacts {
  const { transactionTimestamp, statementTimestamp, timeZone, dateStyle } = evaluation;
  const { intervalStyle, byteaOutput, user, database, searchPath } = evaluation;
  return {
    transactionTimestamp,
    statementTimestamp,
    timeZone,
    dateStyle,
    intervalStyle,
    byteaOutput,
    user,
    database,
    searchPath,
  };
}

/** Roughly the bytes of a batch. */
export function batchBytes({ rowCount, columns }: GatheredBatch): number {
  let bytes = rowCount * columns.length * VALUE_BYTES;
  for (const column of columns) {
    if (column instanceof Float64Array) continue;
    for (let row = 0; row < rowCount; row++) {
      const value = column[row];
      if (typeof value === "string" || value instanceof Uint8Array) bytes += value.length;
    }
  }
  return bytes;
}
