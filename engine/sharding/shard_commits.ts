/**
 * Commits of transactions whose rows are at shards. All shards concerned are asked in one turn whether they agree; when
 * all of them do, the transaction gets its entry in the engine's log, in the order of asking, which is sent to them
 * (`shard_group.ts`). Any number may be on their way at a time.
 *
 * The order of asking is that of the log, so a shard needs to look only at what was asked before: nothing that comes
 * later can get in between.
 */
import { removeItem } from "../base/remove_item.ts";
import type { OpNumber, Slice } from "../operations/effect.ts";
import type { RoutedEngine } from "../session/engine_parts.ts";
import type { Asking } from "./asking.ts";
import type { ShardGroup } from "./shard_group.ts";
import type { BranchCommit } from "./shard_messages.ts";

/** What is to be committed. */
export interface ShardCommit {
  /** By shard. */
  readonly parts: ReadonlyMap<number, BranchCommit>;
  /** The router knows that nothing has come in the way: the shards are not waited for. */
  readonly isCertain: boolean;
  /** How long the shards may take to agree; 0: for ever. */
  readonly milliseconds: number;
  /** What shards are to apply. */
  readonly slices: readonly Slice[];
  /** Appends the entry. Raises when the transaction has ended meanwhile. */
  append(): Promise<OpNumber>;
  /** The entry of this op is on its way to the shards. */
  onSent(op: number): void;
}

/** What is to be committed, and needs not be asked. */
type AtOnce = Pick<ShardCommit, "slices" | "onSent"> & { append(): OpNumber };

const NONE: ReadonlyMap<number, number> = new Map();

/** See the file's head. */
export class ShardCommits {
  readonly #engine: RoutedEngine;
  readonly #group: ShardGroup;
  readonly #asking: Asking;
  /** Resolves when the one that was asked last has its entry, or gets none. */
  #last: Promise<void> = Promise.resolve();
  /** How many were asked and have no entry yet. */
  #askedCount = 0;
  /** What was asked and was not sent. */
  readonly #open: Promise<OpNumber>[] = [];

  constructor(engine: RoutedEngine, group: ShardGroup, asking: Asking) {
    this.#engine = engine;
    this.#asking = asking;
    this.#group = group;
  }

  /** Whether an entry may be appended now: whatever was asked has its own, and it goes to the shards at once. */
  get isIdle(): boolean {
    return this.#askedCount === 0 && !this.#group.waitsForCommits;
  }

  /** The same for what needs not be asked: appends it, while it {@link isIdle}. */
  commitAtOnce({ slices, append, onSent }: AtOnce): OpNumber {
    this.#group.expect(slices, { calls: NONE, onSent });
    return append();
  }

  /**
   * Answers the op of the entry when it is on its way to the shards. Raises 40001 when one of them does not agree, not
   * before all that was on its way then has been sent: whoever tries again sees it. Raises 57014 when one does not
   * answer in time; nothing has been committed then.
   */
  async commit(commit: ShardCommit): Promise<OpNumber> {
    const committing = this.#commit(commit);
    this.#open.push(committing);
    try {
      return await committing;
    } catch (error) {
      removeItem(this.#open, committing);
      await Promise.allSettled(this.#open);
      throw error;
    } finally {
      removeItem(this.#open, committing);
    }
  }

  async #commit(commit: ShardCommit): Promise<OpNumber> {
    const op = await this.#inOrder(commit);
    if (this.#group.waitsForCommits) await this.#engine.whenDurable(op);
    return op;
  }

  async #inOrder(commit: ShardCommit): Promise<OpNumber> {
    const { parts, isCertain, milliseconds, slices, append, onSent } = commit;
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    this.#askedCount++;
    const asked = [...parts].map(([shard, part]) => ({ shard, part, ...this.#ask(shard, part, isCertain) }));
    // Who has not answered may agree yet.
    const calls = new Map(
      asked.flatMap(({ shard, part, call }) => part.effects === null ? [] : [[shard, call]]),
    );
    try {
      const votes = await this.#asking.within(asked, milliseconds);
      for (const [index, { shard }] of asked.entries()) {
        if (votes[index]?.status === "rejected") calls.delete(shard);
      }
      await before;
      for (const vote of votes) if (vote.status === "rejected") throw vote.reason;
      this.#group.expect(slices, { calls, onSent });
      return await append();
    } catch (error) {
      for (const [shard, agreed] of calls) this.#group.port(shard).tellLater({ kind: "give_up", agreed });
      throw error;
    } finally {
      this.#askedCount--;
      resolve();
    }
  }

  #ask(shard: number, commit: BranchCommit, isCertain: boolean): { call: number; done: Promise<unknown> } {
    const port = this.#group.port(shard);
    if (!isCertain) return port.call({ kind: "agree", commit });
    const number = port.number();
    port.tellLater({ kind: "keep", number, commit });
    return { call: number, done: Promise.resolve() };
  }
}
