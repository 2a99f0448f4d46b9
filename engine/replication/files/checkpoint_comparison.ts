/**
 * Compares this member's checkpoints with the primary's: after the same checkpoints the log makes the same files, byte
 * for byte, so that equal histories have equal ids. The newest few of both are kept, for neither is always ahead.
 *
 * Who leaves a checkpoint out for a full disk has another history from then on, and other files. That shows in
 * checkpoints of the same op, or in two that follow each other at one of them with one of the other's in between.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { type CheckpointProof, historyAfter } from "../../storage/manifest.ts";

const KEPT = 8;

/** See the head of the file. */
export class CheckpointComparison {
  readonly #own: CheckpointProof[] = [];
  readonly #primary: CheckpointProof[] = [];
  #areHistoriesOther = false;

  /** This member has a new checkpoint. Raises XX001 if it is another than the primary's. */
  made(proof: CheckpointProof): void {
    if (!keep(this.#own, proof)) return;
    for (const other of this.#primary) compare(proof, other);
    this.#look();
  }

  /** The primary has that checkpoint. Raises XX001 if this member has another one. */
  heard(proof: CheckpointProof): void {
    if (!keep(this.#primary, proof)) return;
    for (const own of this.#own) compare(own, proof);
    this.#look();
  }

  /** Whether one of the two has left out a checkpoint that the other has made. */
  get areHistoriesOther(): boolean {
    return this.#areHistoriesOther;
  }

  /** The primary's checkpoint has taken the place of this member's. */
  replaced(): void {
    this.#own.length = 0;
    this.#look();
  }

  /** Another member is the primary. */
  primaryChanged(): void {
    this.#primary.length = 0;
    this.#look();
  }

  #look(): void {
    const own = this.#own.at(-1);
    const same = this.#primary.find(({ op }) => op === own?.op);
    this.#areHistoriesOther = same === undefined
      ? leavesOut(this.#own, this.#primary) || leavesOut(this.#primary, this.#own)
      : same.history !== own?.history;
  }
}

/** Whether some of the others' checkpoints is between two that follow each other here. */
function leavesOut(proofs: readonly CheckpointProof[], others: readonly CheckpointProof[]): boolean {
  return proofs.some(({ op, history }, index) => {
    const before = proofs[index - 1];
    if (before === undefined || historyAfter(before.history, op) !== history) return false;
    return others.some((other) => other.op > before.op && other.op < op);
  });
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
