/**
 * Compares this member's checkpoints with the primary's: after the same checkpoints the log makes the same files, byte
 * for byte, so that equal histories have equal ids. The newest few of both are kept, for neither is always ahead.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { CheckpointProof } from "../../storage/manifest.ts";

const KEPT = 8;

/** See the head of the file. */
export class CheckpointComparison {
  readonly #own: CheckpointProof[] = [];
  readonly #primary: CheckpointProof[] = [];

  /** This member has a new checkpoint. Raises XX001 if it is another than the primary's. */
  made(proof: CheckpointProof): void {
    if (!keep(this.#own, proof)) return;
    for (const other of this.#primary) compare(proof, other);
  }

  /** The primary has that checkpoint. Raises XX001 if this member has another one. */
  heard(proof: CheckpointProof): void {
    if (!keep(this.#primary, proof)) return;
    for (const own of this.#own) compare(own, proof);
  }

  /** Whether the primary has made a checkpoint at the same op after others than this member. */
  get areHistoriesOther(): boolean {
    const own = this.#own.at(-1);
    const primary = this.#primary.find(({ op }) => op === own?.op);
    return primary !== undefined && primary.history !== own?.history;
  }
}

/** False if it is there already. */
function keep(proofs: CheckpointProof[], proof: CheckpointProof): boolean {
  if (proofs.at(-1)?.id === proof.id) return false;
  proofs.push(proof);
  if (proofs.length > KEPT) proofs.shift();
  return true;
}

function compare(own: CheckpointProof, primary: CheckpointProof): void {
  if (own.op !== primary.op || own.history !== primary.history || own.id === primary.id) return;
  throw new DatabaseError(
    SQLSTATE.dataCorrupted,
    `the checkpoint of op ${own.op} differs from the primary's: its id is ${own.id}, the primary's ${primary.id}`,
    {
      hint:
        "Empty the data directory of this member, and start it again: it fetches the state from the others. " +
        "dbd --verify-against tells what differs between two directories.",
    },
  );
}
