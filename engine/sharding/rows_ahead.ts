/**
 * Rows that are fetched before the statement that changes them begins. A statement by itself asks the row's shard for
 * it without a transaction. If nobody has changed it when it comes, and nothing is on its way that has been asked and
 * not been appended, the statement runs with it in one piece up to its entry, as without shards: nobody can come in
 * between, so it takes no locks and notes no reads. As soon as it needs anything else it is a transaction like others.
 */
import type { RowId } from "../operations/effect.ts";
import type { FragmentPoint } from "../sql/plan/plan.ts";
import type { AheadRow } from "../statements/statement_host.ts";
import type { Transaction } from "../transactions/transaction.ts";
import { isRetrySignal } from "../transactions/signals.ts";
import type { SqlValue } from "../types/value.ts";
import type { Branch, GivenRow } from "./branch.ts";
import type { FetchedTable } from "./fetched_table.ts";
import type { Fetches } from "./fetches.ts";
import type { CommittedChanges } from "./committed_changes.ts";
import type { Routes } from "./routes.ts";
import { MissedPoints } from "./missed_points.ts";
import { type Inquiries, Inquiry, type InquiryPatience } from "./inquiries.ts";
import type { Points } from "./points.ts";
import type { FetchedRows, ShardReply, ShardRequest } from "./shard_messages.ts";

/** What it needs of the router. */
export interface AheadRouter {
  readonly inquiries: Inquiries;
  readonly routes: Routes;
  readonly changes: CommittedChanges;
  /** Whether an entry may be appended now, and shards know all definitions. */
  isQuiet(): boolean;
  /** Whether a statement by itself could ever commit in one piece. */
  mayBeQuiet(): boolean;
  has(tableId: number): boolean;
  branchOf(transaction: Transaction): Branch;
  table(transaction: Transaction, tableId: number): FetchedTable;
  readonly fetches: Fetches;
}

/** What is wanted, by whom. */
export interface AheadRequest {
  readonly transaction: Transaction | null;
  readonly parameters: readonly SqlValue[];
  readonly milliseconds: number;
  readonly abort: AbortSignal;
}

/** A row of the newest state. */
class SoleRow extends Inquiry<GivenRow> {
  readonly #row: AheadRow;
  /** How many commits the router had seen. */
  readonly #cut: number;
  #rows: FetchedRows | null = null;

  constructor(patience: InquiryPatience, row: AheadRow, cut: number) {
    super(patience);
    this.#row = row;
    this.#cut = cut;
  }

  request(): Extract<ShardRequest, { readonly kind: "fetch" }> {
    const { tableId, id } = this.#row;
    return { kind: "fetch", call: this.call, stop: this.stop, branch: null, tableId, wanted: rowOf(id) };
  }

  protected take(value: ShardReply["value"]): boolean {
    this.#rows ??= value as FetchedRows | null;
    return false;
  }

  protected answer(): GivenRow {
    const { tableId, id } = this.#row;
    return { tableId, id, rows: this.#rows, cut: this.#cut };
  }
}

/** See the file's head. */
export class RowsAhead {
  readonly #router: AheadRouter;
  #nextCopy = 0;
  readonly #anyCopy = { copyAt: (count: number): number => this.#nextCopy++ % count };

  constructor(router: AheadRouter) {
    this.#router = router;
  }

  /** Fetches the row; null: nothing is to be waited for. */
  fetch(point: FragmentPoint, request: AheadRequest): Promise<GivenRow | null> | null {
    const { routes, has } = this.#router;
    const { tableId } = point;
    if (!has(tableId)) return null;
    const id = routes.idOf(point, request.parameters);
    if (id === null) return null;
    const { transaction, abort } = request;
    return transaction === null
      ? this.#alone({ tableId, id }, request)
      : this.#within(transaction, { tableId, id }, abort);
  }

  /** For a block, at its cut. */
  #within(transaction: Transaction, { tableId, id }: AheadRow, abort: AbortSignal): Promise<null> | null {
    const router = this.#router;
    if (transaction.writtenTo(tableId)?.byId.get(id) !== undefined) return null;
    const branch = router.branchOf(transaction);
    try {
      const table = router.table(transaction, tableId);
      if (table.knows(id)) return null;
      const missed = new MissedPoints(transaction.locks.length);
      missed.note(table, { kind: "id", id }, id);
      return router.fetches.missed({ transaction, branch, abort }, missed).then(() => null);
    } catch (thrown) {
      // The statement meets it as well, and can be run at a newer cut.
      if (isRetrySignal(thrown)) return null;
      throw thrown;
    }
  }

  #alone({ tableId, id }: AheadRow, { milliseconds, abort }: AheadRequest): Promise<GivenRow | null> | null {
    const { inquiries, routes, changes, mayBeQuiet } = this.#router;
    if (!mayBeQuiet()) return null;
    const [shard, ...more] = routes.ofPoint(this.#anyCopy, tableId, { kind: "id", id });
    if (shard === undefined || more.length > 0) return null;
    return inquiries.ask(new SoleRow({ abort, milliseconds }, { tableId, id }, changes.count), shard);
  }

  /** Gives it to the transaction of its statement, if it is still the newest one. */
  give(transaction: Transaction, given: GivenRow): void {
    const router = this.#router;
    const { tableId, id, rows } = given;
    // Where votes are open it would not commit at once, and might wait for who has asked for them.
    if (!router.isQuiet() || !this.isNewest(given)) return;
    const branch = router.branchOf(transaction);
    branch.cut = given.cut;
    branch.cutFor = transaction.statements + 1;
    const table = router.table(transaction, tableId);
    if (rows !== null) table.add(rows, rowOf(id));
    table.know([id]);
    branch.given = given;
  }

  /** Whether nobody has changed the row since it was asked for. */
  isNewest({ tableId, id, cut }: GivenRow): boolean {
    const { changes } = this.#router;
    return changes.remembers(cut) && !changes.hasBulk(tableId, cut) && !changes.hasChanged(tableId, id, cut);
  }
}

/** What is asked for one row. */
function rowOf(id: RowId): Points {
  return { kind: "points", ids: [id], lookups: [], ranges: [] };
}
