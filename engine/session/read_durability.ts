/**
 * What must be durable before rows may be sent: a reader sees entries that are applied and not yet on disk, and its
 * answer must not outlive them.
 */
import type { OpNumber } from "../operations/effect.ts";
import type { PlannedStatement } from "../sql/plan/plan.ts";
import type { SessionEngine } from "./session_engine.ts";
import type { CachedPlan } from "../statements/plan_cache.ts";
import type { Transaction } from "../transactions/transaction.ts";
import type { TransactionBlock } from "../statements/transaction_block.ts";

/**
 * The op that must be durable before what was read from the plan's tables may be sent; 0: it may be sent at once.
 * `state`: at which it was read; null: at the newest.
 */
export function readsDurableAt(
  engine: SessionEngine,
  plan: { readonly planned: Pick<PlannedStatement, "tableIds"> },
  state: { readonly snapshot: OpNumber } | null,
): OpNumber {
  if (engine.lacksLease) return engine.readBarrier();
  if (state !== null && isTellable(engine, state.snapshot)) return 0 as OpNumber;
  const newest = engine.visibleAt(plan.planned.tableIds);
  return state === null || engine.shards !== null ? newest : Math.min(newest, state.snapshot) as OpNumber;
}

/** Whether all that there is at the snapshot may be sent. Rows at shards are read at states of their own. */
function isTellable(engine: SessionEngine, snapshot: OpNumber): boolean {
  return snapshot <= engine.durableOp && engine.shards === null;
}

/** The op of the one row that a look-up by id has just found; that of the table's newest write when it found none. */
export function rowDurableAt(engine: SessionEngine, plan: CachedPlan, transaction: Transaction): OpNumber {
  const newest = readsDurableAt(engine, plan, transaction);
  // Without a lease another member may have a later version of the row.
  if (newest === 0 || engine.lacksLease || engine.shards !== null) return newest;
  const store = engine.machine.store(plan.planned.tableIds[0] as number);
  const location = store.lastFound;
  if (location < 0) return newest;
  const op = store.versionOp(location);
  return (op > engine.durableOp ? op : 0) as OpNumber;
}

/** Where a statement has read; `transaction` null: at the newest state. */
export interface StatementRead {
  readonly block: TransactionBlock | null;
  readonly transaction: Transaction | null;
  /** Reads that the transaction had noted before. */
  readonly before: number;
}

/**
 * The same for a statement that may be part of a block. What a modification answers there (a count) is void unless the
 * block commits, which waits for everything that it has seen.
 */
export function tellableAt(
  engine: SessionEngine,
  plan: CachedPlan,
  { block, transaction, before }: StatementRead,
): OpNumber {
  if (block === null) return readsDurableAt(engine, plan, transaction);
  if (plan.planned.columns.length === 0) {
    block.seenOp = Math.max(block.seenOp, engine.visibleAt(plan.planned.tableIds)) as OpNumber;
    return 0 as OpNumber;
  }
  if (!block.transaction.notesReads) return readsDurableAt(engine, plan, block.transaction);
  const proof = proofOf(engine, block);
  if (proof !== 0) return proof;
  const durable = engine.durableOp;
  return (durable === engine.lastOp || isTellable(engine, block.transaction.snapshot)
    ? 0
    : engine.manager.newestRead(block.transaction, before, durable)) as OpNumber;
}

/** The op that must be durable before a block without an entry of its own is said to be committed. */
export function blockDurableAt(engine: SessionEngine, block: TransactionBlock): OpNumber {
  const proof = proofOf(engine, block);
  return proof === 0 && block.seenOp > engine.durableOp ? block.seenOp : proof;
}

/**
 * The op whose commit proves, once for a block, that what it reads is not stale; 0: that is known. A block that has
 * only read has no entry of its own, behind which no other member can have been the primary.
 */
function proofOf(engine: SessionEngine, block: TransactionBlock): OpNumber {
  if (block.isCurrent) return 0 as OpNumber;
  block.isCurrent = true;
  return engine.lacksLease ? engine.readBarrier() : 0 as OpNumber;
}
