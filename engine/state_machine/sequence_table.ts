/**
 * Values of sequences. The logged value is replicated state; what this node has handed out since may be ahead of it,
 * because a transaction that rolls back leaves a gap, as in PostgreSQL. An entry logs what had been handed out when
 * it was formed, not what its own transaction got: transactions commit in another order than they ask, and the value
 * must not go back.
 */
import { assertDefined } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { SequenceDefinition } from "../catalog/definitions.ts";

/** The state of one sequence: `called` false means that the next value is `value` itself. */
export interface SequenceValue {
  readonly sequenceId: number;
  readonly value: number | bigint;
  readonly called: boolean;
}

/** Values of sequences. */
export class SequenceTable {
  readonly #logged = new Map<number, SequenceValue>();
  readonly #handedOut = new Map<number, SequenceValue>();
  /** Sequences that this node has advanced itself; the others follow the log. */
  readonly #advanced = new Set<number>();

  /** Logged values, for a checkpoint. */
  get contents(): readonly SequenceValue[] {
    return [...this.#logged.values()];
  }

  /** Takes over the contents of a checkpoint. */
  restore(contents: readonly SequenceValue[]): void {
    for (const value of contents) {
      this.#logged.set(value.sequenceId, value);
      this.#handedOut.set(value.sequenceId, value);
    }
  }

  create(definition: SequenceDefinition): void {
    const value = { sequenceId: definition.id, value: definition.start, called: false };
    this.#logged.set(definition.id, value);
    if (!this.#handedOut.has(definition.id)) this.#handedOut.set(definition.id, value);
  }

  drop(sequenceId: number): void {
    this.#logged.delete(sequenceId);
    this.#handedOut.delete(sequenceId);
  }

  /** Applies a logged value. What this node has handed out is at least as far already. */
  apply(sequenceId: number, value: number | bigint, called: boolean): void {
    const next = { sequenceId, value, called };
    this.#logged.set(sequenceId, next);
    if (!this.#advanced.has(sequenceId)) this.#handedOut.set(sequenceId, next);
  }

  /** Forgets what this node has handed out beyond the logged values. */
  followLog(): void {
    this.#advanced.clear();
    this.#handedOut.clear();
    for (const [sequenceId, value] of this.#logged) this.#handedOut.set(sequenceId, value);
  }

  /** The next value (not yet logged). Raises 2200H at the end of a sequence that does not cycle. */
  next(definition: SequenceDefinition): number | bigint {
    const current = this.#current(definition);
    const value = current.called ? this.#advance(definition, current.value) : current.value;
    this.#handedOut.set(definition.id, { sequenceId: definition.id, value, called: true });
    this.#advanced.add(definition.id);
    return value;
  }

  /** Sets the value, as setval does. */
  set(definition: SequenceDefinition, value: number | bigint, called: boolean): void {
    if (value < definition.minimum || value > definition.maximum) {
      throw new DatabaseError(
        SQLSTATE.numericValueOutOfRange,
        `setval: value ${value} is out of bounds for sequence "${definition.name}" (${definition.minimum}..${definition.maximum})`,
      );
    }
    this.#handedOut.set(definition.id, { sequenceId: definition.id, value, called });
    this.#advanced.add(definition.id);
  }

  /** What has been handed out last, committed or not; undefined for a sequence of which nothing has. */
  newest(sequenceId: number): SequenceValue | undefined {
    return this.#handedOut.get(sequenceId);
  }

  /** What has been handed out and no entry says. */
  get unlogged(): readonly SequenceValue[] {
    return [...this.#handedOut.values()].filter(({ sequenceId, value, called }) => {
      const logged = this.#logged.get(sequenceId);
      return logged !== undefined && (logged.value !== value || logged.called !== called);
    });
  }

  /** The state as this node knows it, for `SELECT last_value FROM sequence`. */
  state(definition: SequenceDefinition): SequenceValue {
    return this.#current(definition);
  }

  #current(definition: SequenceDefinition): SequenceValue {
    // A sequence created by a transaction that has not committed yet is not visible to others.
    return this.#handedOut.get(definition.id) ??
      { sequenceId: definition.id, value: definition.start, called: false };
  }

  #advance(definition: SequenceDefinition, value: number | bigint): number | bigint {
    const next = BigInt(value) + BigInt(definition.increment);
    const ascending = definition.increment > 0;
    const exhausted = ascending ? next > BigInt(definition.maximum) : next < BigInt(definition.minimum);
    if (exhausted) {
      if (!definition.cycle) {
        const bound = ascending
          ? `maximum value of sequence "${definition.name}" (${definition.maximum})`
          : `minimum value of sequence "${definition.name}" (${definition.minimum})`;
        throw new DatabaseError(SQLSTATE.sequenceGeneratorLimitExceeded, `nextval: reached ${bound}`);
      }
      return ascending ? definition.minimum : definition.maximum;
    }
    const small = Number(next);
    return assertDefined(Number.isSafeInteger(small) ? small : next, "sequence value");
  }
}
