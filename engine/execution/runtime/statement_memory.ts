/**
 * What one statement holds in sorts, hash tables and materialized rows, against its limit and, once that is more than
 * a little, against the memory of all statements together.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import { SpillNeed } from "../../transactions/signals.ts";
import type { ExecutionContext, MemoryCount } from "./execution.ts";
import type { MemoryShare } from "./query_memory.ts";

/** What values may take beyond the limit: one of them is at most half as large, and counted with what it is made of. */
const MAX_VALUE_BYTES = 2 * LIMITS.maximumValueBytes;

/** What may be too much for a statement that has written to files what it can. */
const IN_MEMORY =
  " It has used temporary files; one value (an array, a document or a text of a whole group) must fit into --query-memory.";

/** What bounds it. */
export type MemoryBounds = Pick<
  ExecutionContext,
  "memoryLimitBytes" | "memoryShare" | "spillFile" | "spills" | "hasSent"
>;

/** See the file's head. */
export class StatementMemory implements MemoryCount {
  /** What it holds now. */
  bytes = 0;
  /** Of these, parts of values that nothing divides. */
  #valueBytes = 0;
  /** Nothing has to be asked up to so many bytes. */
  #granted = 0;
  readonly #bounds: MemoryBounds;

  constructor(bounds: MemoryBounds) {
    this.#bounds = bounds;
  }

  /**
   * Accounts for so much, or gives it back. Beyond the limit the statement is stopped to run anew, if that helps, or
   * ended with 53200.
   */
  charge(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > this.#granted) this.#grow();
  }

  chargeValue(bytes: number): void {
    this.#valueBytes += bytes;
    this.charge(bytes);
  }

  /** What has gone to files as far as it can is bounded by the memory of all statements, where a value needs it. */
  get #limit(): number {
    const { memoryLimitBytes, spills } = this.#bounds;
    return spills === true
      ? memoryLimitBytes + Math.min(this.#valueBytes, MAX_VALUE_BYTES)
      : memoryLimitBytes;
  }

  /** Whether tables could grow to twice their size without stopping the statement. */
  get canDouble(): boolean {
    // Both are there while rows are moved over.
    const bytes = Math.min(3 * this.bytes, this.#limit);
    return bytes <= this.#granted || this.#take(bytes) === null;
  }

  #grow(): void {
    const { memoryLimitBytes } = this.#bounds;
    if (this.bytes > this.#limit) throw this.#beyond(memoryLimitBytes);
    const share = this.#take(this.bytes);
    if (share === null) return;
    // Nobody waits for more than the limit.
    if (this.bytes > memoryLimitBytes) throw this.#beyond(memoryLimitBytes);
    if (this.#bounds.hasSent?.() !== true) throw share.need(this.bytes, this.#canSpill);
    // It waits when its step has ended.
    share.overdraw(this.bytes);
    this.#granted = Math.min(memoryLimitBytes, share.heldBytes);
  }

  /** Takes so much, which the limit allows; or answers what it must be had of. */
  #take(bytes: number): MemoryShare | null {
    const limit = this.#limit;
    const isLittle = bytes <= LIMITS.freeStatementBytes;
    const share = isLittle ? null : this.#bounds.memoryShare?.() ?? null;
    if (share?.grow(bytes) === false) return share;
    this.#granted = Math.min(limit, isLittle ? LIMITS.freeStatementBytes : share?.heldBytes ?? limit);
    return null;
  }

  get #canSpill(): boolean {
    return this.#bounds.spillFile !== undefined;
  }

  #beyond(limit: number): unknown {
    const share = this.#bounds.memoryShare?.();
    if (share?.isCut === true) return share.need(this.bytes, this.#canSpill);
    const error = new DatabaseError(SQLSTATE.outOfMemory, "out of memory", {
      detail: `The statement needs more than its limit of ${
        Math.round(limit / 1048576)
      } MB for sorts, hash tables and results.${this.#bounds.spills === true ? IN_MEMORY : ""}`,
      hint: "Select fewer rows or columns, add a LIMIT or an index, or raise statement_memory.",
    });
    return this.#canSpill && this.#bounds.spills !== true ? new SpillNeed(error) : error;
  }
}
