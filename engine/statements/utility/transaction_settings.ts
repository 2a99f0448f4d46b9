/**
 * The settings that are modes of a transaction: SET, SET TRANSACTION, BEGIN and `set_config` change them under the
 * same rules, and they end with the transaction whatever they were set by.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { levelOf } from "../../transactions/isolation_level.ts";
import type { BlockHost } from "../statement_host.ts";

/** Whether a setting is a mode of the transaction. */
export function isTransactionMode(name: string): boolean {
  return name.toLowerCase().startsWith("transaction_");
}

/**
 * Sets a mode of the transaction that is open; without a block it lasts as long as the statement. `inQuery`: by a
 * function that a query calls. Answers the value as it is kept. Raises 22023 and 25001.
 */
export function setTransactionMode(
  session: Pick<BlockHost, "settings" | "block" | "need">,
  name: string,
  value: string,
  options: { readonly inQuery: boolean } = { inQuery: false },
): string {
  const { settings, block } = session;
  const before = settings.get(name);
  // The setting's own rules come first: they know which values there are, and write them in one way.
  settings.beginScope();
  let wanted: string;
  try {
    settings.set(name, value, { local: true });
    wanted = settings.get(name);
  } finally {
    settings.endScope(true);
  }
  const hasQueried = options.inQuery || block?.hasQueried === true;
  const isNested = block?.isNested === true;
  const refuse = (message: string) => new DatabaseError(SQLSTATE.activeSqlTransaction, message);
  switch (name.toLowerCase()) {
    case "transaction_isolation":
      if (wanted === before) break;
      if (hasQueried) throw refuse("SET TRANSACTION ISOLATION LEVEL must be called before any query");
      if (isNested) {
        throw refuse("SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction");
      }
      block?.transaction.isolate(levelOf(wanted), session.need.floor);
      break;
    case "transaction_deferrable":
      if (isNested) {
        throw refuse("SET TRANSACTION [NOT] DEFERRABLE cannot be called within a subtransaction");
      }
      if (hasQueried) throw refuse("SET TRANSACTION [NOT] DEFERRABLE must be called before any query");
      break;
    case "transaction_read_only":
      setReadOnly(session, wanted === "on");
      break;
  }
  if (block !== null) settings.set(name, wanted, { local: true });
  return wanted;
}

/** Makes the block read-only, or takes that back, which only its beginning allows. */
function setReadOnly({ block }: Pick<BlockHost, "block">, readOnly: boolean): void {
  if (block === null) return;
  const { transaction } = block;
  if (!readOnly && transaction.readOnly && (block.isNested || block.hasQueried)) {
    throw new DatabaseError(
      SQLSTATE.activeSqlTransaction,
      block.isNested
        ? "cannot set transaction read-write mode inside a read-only transaction"
        : "transaction read-write mode must be set before any query",
    );
  }
  transaction.readOnly = readOnly;
  transaction.neverWrites = readOnly && !block.isNested && !transaction.hasEffects;
}
