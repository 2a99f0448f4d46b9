/** BEGIN, COMMIT, ROLLBACK, SAVEPOINT, RELEASE, ROLLBACK TO, with PostgreSQL's warnings. */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type {
  BeginTransaction,
  CommitTransaction,
  ReleaseSavepoint,
  RollbackToSavepoint,
  RollbackTransaction,
  Savepoint,
  SetConstraints,
  TransactionModes,
} from "../../sql/parser/ast.ts";
import { type MaybePromise, type StatementOutcome, whenDone } from "../outcome.ts";
import type { BlockHost } from "../statement_host.ts";
import { setTransactionMode } from "./transaction_settings.ts";

/** BEGIN, START TRANSACTION. */
export function begin(session: BlockHost, statement: BeginTransaction): StatementOutcome {
  if (session.status === "block") {
    session.notice({
      severity: "WARNING",
      code: SQLSTATE.activeSqlTransaction,
      message: "there is already a transaction in progress",
    });
  }
  session.beginBlock(true);
  applyModes(session, statement.modes);
  return session.outcome(statement.startTransaction ? "START TRANSACTION" : "BEGIN", null, "done");
}

/** COMMIT, END. */
export function commit(session: BlockHost, statement: CommitTransaction): MaybePromise<StatementOutcome> {
  warnWithoutBlock(session, statement.chain, "COMMIT");
  const modes = modesOf(session);
  return whenDone(session.commitBlock("COMMIT"), (outcome) => {
    if (statement.chain) chain(session, modes);
    return outcome;
  });
}

/** AND CHAIN: a new block with the modes of the one before. */
function chain(session: BlockHost, modes: TransactionModes): void {
  session.beginBlock(true);
  applyModes(session, modes);
}

function modesOf({ settings, block }: BlockHost): TransactionModes {
  return {
    isolation: settings.get("transaction_isolation").replaceAll(" ", "_") as TransactionModes["isolation"],
    readOnly: block?.transaction.readOnly ?? null,
    deferrable: settings.isOn("transaction_deferrable"),
  };
}

/** ROLLBACK, ABORT. */
export function rollback(session: BlockHost, statement: RollbackTransaction): StatementOutcome {
  warnWithoutBlock(session, statement.chain, "ROLLBACK");
  const modes = modesOf(session);
  const outcome = session.rollbackBlock("ROLLBACK");
  if (statement.chain) chain(session, modes);
  return outcome;
}

/** SAVEPOINT. */
export function savepoint(session: BlockHost, statement: Savepoint): StatementOutcome {
  requireBlock(session, "SAVEPOINT").savepoint(statement.name, session.cursors.declared);
  return session.outcome("SAVEPOINT", null, "done");
}

/** RELEASE SAVEPOINT. */
export function release(session: BlockHost, statement: ReleaseSavepoint): StatementOutcome {
  requireBlock(session, "RELEASE SAVEPOINT").release(statement.name);
  return session.outcome("RELEASE", null, "done");
}

/** ROLLBACK TO SAVEPOINT. */
export function rollbackTo(session: BlockHost, statement: RollbackToSavepoint): StatementOutcome {
  session.cursors.closeSince(requireBlock(session, "ROLLBACK TO SAVEPOINT").rollbackTo(statement.name));
  return session.outcome("ROLLBACK", null, "done");
}

/** Applies the modes of BEGIN or SET TRANSACTION to the current block. */
export function applyModes(session: BlockHost, modes: TransactionModes): void {
  if (modes.isolation !== null) {
    setTransactionMode(session, "transaction_isolation", modes.isolation.replaceAll("_", " "));
  }
  if (modes.readOnly !== null) {
    setTransactionMode(session, "transaction_read_only", modes.readOnly ? "on" : "off");
  }
  if (modes.deferrable !== null) {
    setTransactionMode(session, "transaction_deferrable", modes.deferrable ? "on" : "off");
  }
}

function requireBlock(session: BlockHost, command: string): NonNullable<BlockHost["block"]> {
  const { block } = session;
  if (block === null || !block.explicit) {
    throw new DatabaseError(
      SQLSTATE.noActiveSqlTransaction,
      `${command} can only be used in transaction blocks`,
    );
  }
  return block;
}

function warnWithoutBlock(session: BlockHost, chain: boolean, command: string): void {
  if (session.block?.explicit === true) return;
  if (chain) {
    throw new DatabaseError(
      SQLSTATE.noActiveSqlTransaction,
      `${command} AND CHAIN can only be used in transaction blocks`,
    );
  }
  session.notice({
    severity: "WARNING",
    code: SQLSTATE.noActiveSqlTransaction,
    message: "there is no transaction in progress",
  });
}

/** SET CONSTRAINTS. */
export function setConstraints(session: BlockHost, statement: SetConstraints): StatementOutcome {
  const ids = statement.names.flatMap((name) => deferrableIds(session, name));
  if (session.block === null) {
    session.notice({
      severity: "WARNING",
      code: SQLSTATE.noActiveSqlTransaction,
      message: "SET CONSTRAINTS can only be used in transaction blocks",
    });
  } else {
    session.block.transaction.deferred.setMode(
      statement.names.length === 0 ? null : ids,
      statement.deferred ? "deferred" : "immediate",
    );
  }
  return session.outcome("SET CONSTRAINTS", null, "done");
}

/** The deferrable constraints of a name, in the first schema of the search path that has one. */
function deferrableIds(session: BlockHost, name: SetConstraints["names"][number]): number[] {
  const schemas = name.schema === null ? session.evaluation.searchPath : [name.schema];
  for (const schema of schemas) {
    const found = session.catalog.tables.filter((table) => table.schema === schema)
      .flatMap((table) => table.constraints.filter((constraint) => constraint.name === name.name));
    if (found.length === 0) continue;
    return found.map((constraint) => {
      if (constraint.kind === "foreign_key" && constraint.deferrable) return constraint.id;
      throw new DatabaseError(SQLSTATE.wrongObjectType, `constraint "${name.name}" is not deferrable`);
    });
  }
  throw new DatabaseError(SQLSTATE.undefinedObject, `constraint "${name.name}" does not exist`);
}
