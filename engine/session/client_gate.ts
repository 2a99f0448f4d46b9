/**
 * Lets one exactly-once request per client run at a time, so that a retry that overtakes its first try waits for it and
 * then finds the reply.
 */

/** See the file's head. */
export class ClientGate {
  readonly #busy = new Map<string, (() => void)[]>();

  /** Resolves when no other request of the client is running. */
  enter(clientId: string): Promise<void> {
    const waiting = this.#busy.get(clientId);
    if (waiting === undefined) {
      this.#busy.set(clientId, []);
      return Promise.resolve();
    }
    return new Promise((resolve) => waiting.push(resolve));
  }

  /** Lets the next request of the client go on. */
  leave(clientId: string): void {
    const waiting = this.#busy.get(clientId);
    const next = waiting?.shift();
    if (next !== undefined) next();
    else this.#busy.delete(clientId);
  }
}
