/** What aggregates hold that collect their values into one: an array, a text or a document. */
import type { MemoryUser } from "./memory_user.ts";

/** Bytes that are accounted for at a time. */
const STEP_BYTES = 1 << 14;
/** What a number takes, and anything else besides its content. */
const NUMBER_BYTES = 8;
const OBJECT_BYTES = 24;

/** See the file's head. */
export class CollectedValues {
  readonly #state: MemoryUser;
  #charged = 0;
  #pending = 0;

  constructor(state: MemoryUser) {
    this.#state = state;
  }

  /** Counts a value. */
  add(value: unknown): void {
    this.#pending += bytesOf(value);
    if (this.#pending < STEP_BYTES) return;
    this.#charged += this.#pending;
    this.#state.chargeValue(this.#pending);
    this.#pending = 0;
  }

  /** They are held no longer. */
  release(): void {
    this.#state.chargeValue(-this.#charged);
    this.#charged = this.#pending = 0;
  }
}

function bytesOf(value: unknown): number {
  if (typeof value === "string") return OBJECT_BYTES + value.length;
  if (value instanceof Uint8Array) return OBJECT_BYTES + value.byteLength;
  return typeof value === "object" && value !== null ? 2 * OBJECT_BYTES : NUMBER_BYTES;
}
