/**
 * DO: a PL/pgSQL block, run once, in the transaction that is open or one of its own.
 *
 * In its own transaction it is a single statement like any other: a serialization conflict is not the client's
 * business, and the block runs again.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import type { OpNumber } from "../../operations/effect.ts";
import type { Statement } from "../../sql/parser/ast.ts";
import type { Block } from "../../sql/procedural/block.ts";
import { parseBlock } from "../../sql/procedural/parse_block.ts";
import type { StatementOutcome } from "../outcome.ts";
import type { ProceduralHost } from "../statement_host.ts";
import { BlockRun } from "./run_block.ts";

/** Runs a DO. Raises 42704 for another language than plpgsql. */
export async function runDo(
  session: ProceduralHost,
  statement: Statement & { readonly kind: "do" },
): Promise<StatementOutcome> {
  if (statement.language !== "plpgsql") {
    throw new DatabaseError(SQLSTATE.undefinedObject, `language "${statement.language}" does not exist`, {
      hint: "DO runs blocks of PL/pgSQL.",
    });
  }
  const block = parse(statement.code);
  if (session.block !== null) return await runOnce(session, block);
  for (let attempt = 1;; attempt++) {
    session.beginBlock(false);
    try {
      const outcome = await runOnce(session, block);
      const { durableOp } = await session.commitBlock("");
      return { ...outcome, durableOp: Math.max(durableOp, outcome.durableOp) as OpNumber };
    } catch (thrown) {
      const isConflict = thrown instanceof DatabaseError && RETRIED.has(thrown.code);
      if (!isConflict || attempt >= LIMITS.maximumConflictRetries) throw thrown;
      session.takeNotices();
      session.endBlock(true);
      await session.engine.yieldToLoop();
    }
  }
}

const RETRIED: ReadonlySet<string> = new Set([SQLSTATE.serializationFailure, SQLSTATE.deadlockDetected]);

async function runOnce(session: ProceduralHost, block: Block): Promise<StatementOutcome> {
  const run = new BlockRun(session);
  const { fragments } = run;
  try {
    await run.run(block);
  } finally {
    // Those of a block that failed are sent as well.
    for (const notice of fragments.notices) session.notice(notice);
  }
  return { ...session.outcome("DO", null, "done"), durableOp: fragments.durableOp };
}

/** Parses the code; a position in it would not be one of the client's text. */
function parse(code: string): Block {
  try {
    return parseBlock(code);
  } catch (thrown) {
    if (!(thrown instanceof DatabaseError)) throw thrown;
    const { position, ...fields } = thrown.fields();
    const before = [...code].slice(0, (position ?? 1) - 1);
    const line = before.filter((character) => character === "\n").length + 1;
    throw new DatabaseError(thrown.code, thrown.message, {
      ...fields,
      where: `compilation of PL/pgSQL function "inline_code_block" near line ${line}`,
    });
  }
}
