/**
 * How a member begins again whose disk was replaced: it may have voted and acknowledged, and knows nothing of it.
 *
 * It asks all members, until f+1 have answered, among them the primary of the latest view that any of them is in. Then
 * it enters that view as a backup; and it votes for a later one when it has the log that this primary had.
 */
import type { Recovery, RecoveryResponse } from "./message.ts";
import type { ReplicaCore } from "./replica_core.ts";
import { RESEND_MILLISECONDS } from "./timeouts.ts";

/** See the head of the file. */
export class DiskRecovery {
  readonly #core: ReplicaCore;
  /** Names the question: an answer to another life of this member says nothing. */
  readonly #nonce: number;
  readonly #responses = new Map<number, RecoveryResponse>();
  #askedAt = -Infinity;

  constructor(core: ReplicaCore) {
    this.#core = core;
    this.#nonce = core.ports.random(2 ** 32);
  }

  tick(): void {
    const core = this.#core;
    const now = core.ports.now();
    if (core.isWritingSuperblock || now - this.#askedAt < RESEND_MILLISECONDS) return;
    this.#askedAt = now;
    core.sendToAll({ kind: "recovery", from: core.index, view: core.view, nonce: this.#nonce });
  }

  /** Another member asks. */
  onRecovery({ from, nonce }: Recovery): void {
    const core = this.#core;
    const op = core.isPrimary ? core.log.lastOp : null;
    core.send(from, { kind: "recovery_response", from: core.index, view: core.view, nonce, op });
  }

  /** Goes on as a backup once enough is known. */
  onRecoveryResponse(message: RecoveryResponse): void {
    const core = this.#core;
    if (core.isWritingSuperblock || message.nonce !== this.#nonce) return;
    this.#responses.set(message.from, message);
    const responses = [...this.#responses.values()];
    if (responses.length < core.quorum) return;
    const view = Math.max(...responses.map((response) => response.view));
    const primary = this.#responses.get(core.primaryOf(view));
    if (primary === undefined || primary.view !== view || primary.op === null) return;
    core.view = view;
    core.voteBan = { view, op: primary.op };
    core.storeState(() => {
      core.status = "view_change";
      core.heard();
    });
  }
}
