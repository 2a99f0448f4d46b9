/**
 * Keeps the memory of all instances within a bound: when another one would not fit, those that were used least recently
 * are let go. Letting one go loses nothing, for an instance keeps no state from one call to the next.
 */
import { LIMITS } from "../base/limits.ts";

/** Who holds an instance. */
export interface InstanceHolder {
  /** Lets the instance go. */
  release(): void;
}

/** The instances that are held, the least recently used one first. */
export class InstancePool {
  readonly #held = new Map<InstanceHolder, number>();
  #bytes = 0;

  /** Memory of the instances held. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many are held. */
  get count(): number {
    return this.#held.size;
  }

  /** An instance of a holder takes so many bytes from now on; makes room for it. */
  hold(holder: InstanceHolder, bytes: number): void {
    this.forget(holder);
    for (const oldest of this.#held.keys()) {
      if (this.#bytes + bytes <= LIMITS.wasmInstanceBytes && this.#held.size < LIMITS.wasmInstances) break;
      this.forget(oldest);
      oldest.release();
    }
    this.#held.set(holder, bytes);
    this.#bytes += bytes;
  }

  /** The holder has no instance any more. */
  forget(holder: InstanceHolder): void {
    const bytes = this.#held.get(holder);
    if (bytes === undefined) return;
    this.#held.delete(holder);
    this.#bytes -= bytes;
  }
}

/** The pool of this process. */
export const sharedInstances: InstancePool = new InstancePool();
