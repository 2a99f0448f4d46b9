/**
 * Exactly-once requests: the work and the record of its reply are one transaction, so that a retry finds either both or
 * neither.
 */
import { assert } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { ClientRequest, OpNumber } from "../operations/effect.ts";
import type { MaybePromise } from "../statements/outcome.ts";
import type { Transaction } from "../transactions/transaction.ts";
import type { BlockHost } from "../statements/statement_host.ts";
import type { SessionEngine } from "./session_engine.ts";

/** Nobody hears of it: the connection or the server ends. Whoever asks again is not told that: it is done then. */
const LOST = /^(08|57P)/;
/** How often a request that loses against concurrent ones is run again. */
const ATTEMPTS = 8;

/** Names a request for ever. */
export interface OnceRequest {
  /** 32 lower-case hexadecimal digits. */
  readonly clientId: string;
  readonly sequence: bigint;
  /** Of the request's text, to tell a retry from another request under the same number. */
  readonly digest: Uint8Array;
}

/** What is sent back. */
export interface OnceReply {
  readonly reply: Uint8Array;
  readonly durableOp: OpNumber;
  /** true: the work was done before; this is its stored reply. */
  readonly repeated: boolean;
}

/** A session whose commits may have a client's record. */
interface CommittingSession {
  readonly engine: SessionEngine;
  readonly isFollower: boolean;
  commit(transaction: Transaction, client: (op: OpNumber) => ClientRequest): MaybePromise<OpNumber>;
}

/**
 * Runs the work in one transaction and keeps its reply with it. A request that was made before is answered with the
 * stored reply; so is one that failed, unless it failed because its connection ended. Raises 08P01 for another text
 * under the same number, 55000 for an old number.
 */
export async function runOnce(
  session: Pick<BlockHost, "block" | "beginBlock" | "endBlock" | "requireWritable"> & CommittingSession,
  request: OnceRequest,
  work: () => MaybePromise<Uint8Array>,
  failureReply: (error: DatabaseError) => Uint8Array,
): Promise<OnceReply> {
  assert(session.block === null, "exactly-once requests are transactions of their own");
  if (session.isFollower) session.requireWritable("an exactly-once request");
  const { manager, machine, clientGate } = session.engine;
  await clientGate.enter(request.clientId);
  try {
    const known = machine.clients.lookup(request.clientId, request.sequence, request.digest);
    if (known.kind === "repeated") return { reply: known.reply, durableOp: machine.lastOp, repeated: true };
    const recordOf = (reply: Uint8Array) => (): ClientRequest => ({
      clientId: request.clientId,
      sequence: request.sequence,
      requestDigest: request.digest,
      reply,
    });
    for (let attempt = 1;; attempt++) {
      const block = session.beginBlock(false);
      block.controlled = true;
      try {
        const reply = await work();
        const durableOp = await session.commit(block.transaction, recordOf(reply));
        session.endBlock(false);
        return { reply, durableOp, repeated: false };
      } catch (thrown) {
        session.endBlock(true);
        if (!(thrown instanceof DatabaseError)) throw thrown;
        if (thrown.code === SQLSTATE.serializationFailure && attempt < ATTEMPTS) continue;
        if (LOST.test(thrown.code)) throw thrown;
        const reply = failureReply(thrown);
        const durableOp = await session.commit(manager.begin({ interruptible: true }), recordOf(reply));
        return { reply, durableOp, repeated: false };
      }
    }
  } finally {
    clientGate.leave(request.clientId);
  }
}
