/**
 * What must be durable before rows may be sent: a reader sees entries that are applied and not yet on disk, and its
 * answer must not outlive them.
 */
import type { OpNumber } from "../operations/effect.ts";
import type { PlannedStatement } from "../sql/plan/plan.ts";
import type { SessionEngine } from "./session_engine.ts";
import type { CachedPlan } from "../statements/plan_cache.ts";
import type { TransactionBlock } from "../statements/transaction_block.ts";

/** The op that must be durable before what was read from the plan's tables may be sent; 0: it may be sent at once. */
export function readsDurableAt(
  engine: SessionEngine,
  plan: { readonly planned: Pick<PlannedStatement, "tableIds"> },
): OpNumber {
  return engine.lacksLease ? engine.readBarrier() : engine.visibleAt(plan.planned.tableIds);
}

/** The op of the one row that a look-up by id has just found; that of the table's newest write when it found none. */
export function rowDurableAt(engine: SessionEngine, plan: CachedPlan): OpNumber {
  const newest = readsDurableAt(engine, plan);
  // Without a lease another member may have a later version of the row.
  if (newest === 0 || engine.lacksLease || engine.shards !== null) return newest;
  const store = engine.machine.store(plan.planned.tableIds[0] as number);
  const location = store.lastFound;
  if (location < 0) return newest;
  const op = store.versionOp(location);
  return (op > engine.durableOp ? op : 0) as OpNumber;
}

/**
 * The same for a statement that may be part of a block. What a modification answers
 * there (a count) is void unless the block commits, and the commit comes behind everything it has seen.
 */
export function tellableAt(
  engine: SessionEngine,
  plan: CachedPlan,
  block: TransactionBlock | null,
  readsBefore: number,
): OpNumber {
  if (block === null || !block.transaction.notesReads) return readsDurableAt(engine, plan);
  if (plan.planned.columns.length === 0) return 0 as OpNumber;
  const proof = proofOf(engine, block);
  if (proof !== 0) return proof;
  const durable = engine.durableOp;
  return (durable === engine.lastOp
    ? 0
    : engine.manager.newestRead(block.transaction, readsBefore, durable)) as OpNumber;
}

/**
 * The op whose commit proves, once for a block, that what it reads is not stale; 0: that is known. A block that has
 * only read has no entry of its own, behind which no other member can have been the primary.
 */
export function proofOf(engine: SessionEngine, block: TransactionBlock): OpNumber {
  if (block.isCurrent) return 0 as OpNumber;
  block.isCurrent = true;
  return engine.lacksLease ? engine.readBarrier() : 0 as OpNumber;
}
