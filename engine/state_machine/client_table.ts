/**
 * Exactly-once: the last sequence and reply of each client, part of the replicated state.
 *
 * Kept for the `LIMITS.exactlyOnceClients` clients used most recently in log order, so that every replica forgets the
 * same ones.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import type { ClientRequest } from "../operations/effect.ts";

/** What a client's request meets: it is new, or it has been answered already. */
export type ClientLookup =
  | { readonly kind: "new" }
  | { readonly kind: "repeated"; readonly reply: Uint8Array };

/** Exactly-once: the last sequence and reply of each client, part of the replicated state. */
export class ClientTable {
  /** In order of last use in the log: a Map keeps insertion order. */
  readonly #clients = new Map<string, ClientRequest>();

  /** The clients in order of last use, for a checkpoint. */
  get contents(): readonly ClientRequest[] {
    return [...this.#clients.values()];
  }

  /** Takes over the contents of a checkpoint. */
  restore(contents: readonly ClientRequest[]): void {
    this.#clients.clear();
    for (const client of contents) this.#clients.set(client.clientId, client);
  }

  /** Records a request that the log has ordered. */
  apply(request: ClientRequest): void {
    this.#clients.delete(request.clientId);
    this.#clients.set(request.clientId, request);
    if (this.#clients.size > LIMITS.exactlyOnceClients) {
      const oldest = this.#clients.keys().next();
      if (!oldest.done) this.#clients.delete(oldest.value);
    }
  }

  /**
   * Whether the request must run. The same sequence repeats the stored reply; with another text it is refused
   * (08P01), and so is an older sequence (55000).
   */
  lookup(clientId: string, sequence: bigint, requestDigest: Uint8Array): ClientLookup {
    const last = this.#clients.get(clientId);
    if (last === undefined || sequence > last.sequence) return { kind: "new" };
    if (sequence < last.sequence) {
      throw new DatabaseError(
        SQLSTATE.objectNotInPrerequisiteState,
        `request ${sequence} of client ${clientId} is older than its last request ${last.sequence}`,
        { hint: "Use a higher sequence number for a new request." },
      );
    }
    if (!sameBytes(last.requestDigest, requestDigest)) {
      throw new DatabaseError(
        SQLSTATE.protocolViolation,
        `request ${sequence} of client ${clientId} was already made with another text`,
        { hint: "Use a new sequence number for each new request." },
      );
    }
    return { kind: "repeated", reply: last.reply };
  }
}

function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index]);
}
