/** Several statements of one text: one transaction unless they steer it themselves, with turns for others between. */
import type { SliceTurns } from "../host/slice_turns.ts";
import type { OpNumber } from "../operations/effect.ts";
import type { ParsedStatement } from "../sql/parser/ast.ts";
import type { MaybePromise, StatementOutcome } from "../statements/outcome.ts";
import { endsBlock, standsAlone } from "../statements/statement_kind.ts";
import type { TransactionBlock } from "../statements/transaction_block.ts";

/** How long the statements of one text run before others get their turn. */
const TURN_MICROSECONDS = 2_000;

/** A session, as far as its blocks go. */
export interface SeveralHost {
  readonly block: TransactionBlock | null;
  readonly engine: { monotonic(): number; readonly slices: SliceTurns };
  beginBlock(explicit: boolean): TransactionBlock;
  commitBlock(tag: string): MaybePromise<StatementOutcome>;
  checkCanceled(): void;
}

/** Runs all of them, each by `run`; `onOutcome` is called after each, in order. */
export async function runSeveral(
  session: SeveralHost,
  statements: readonly ParsedStatement[],
  run: (parsed: ParsedStatement, index: number) => MaybePromise<StatementOutcome>,
  onOutcome: (outcome: StatementOutcome) => void,
): Promise<void> {
  const { engine } = session;
  let turnEnd = engine.monotonic() + TURN_MICROSECONDS;
  for (const [index, parsed] of statements.entries()) {
    const { statement } = parsed;
    if (session.block === null && !endsBlock(statement) && !standsAlone(statement)) session.beginBlock(false);
    let outcome = await run(parsed, index);
    const isLast = index === statements.length - 1;
    const { block } = session;
    if (isLast && block !== null && !block.explicit && !block.controlled) {
      const committed = await session.commitBlock("");
      outcome = { ...outcome, durableOp: Math.max(outcome.durableOp, committed.durableOp) as OpNumber };
    }
    onOutcome(outcome);
    if (isLast || engine.monotonic() < turnEnd) continue;
    await engine.slices.next(TURN_MICROSECONDS);
    session.checkCanceled();
    turnEnd = engine.monotonic() + TURN_MICROSECONDS;
  }
}
