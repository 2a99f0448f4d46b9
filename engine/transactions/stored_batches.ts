/**
 * Batches that take much memory, in a temporary file, and read again where they are looked at.
 *
 * One decoded batch is kept, the newest that was looked at. The file goes when nobody holds it any more: the statement
 * that has filled it, and each transaction that has one of its batches.
 */
import { ByteReader, ByteWriter } from "../base/bytes.ts";
import { readBatch, writeBatch } from "../operations/batch_codec.ts";
import type { BatchColumn, RowBatch } from "../operations/effect.ts";
import type { SpillBlock, SpillFile } from "../host/spill_file.ts";

/** A transaction, as far as its end goes. */
interface Ending {
  readonly ended: (() => void)[];
}

/** The ids of a batch that was stored without them. */
export type IdsOf = (columns: readonly BatchColumn[]) => Float64Array;

interface StoredBatch {
  readonly file: StoredBatches;
  readonly block: SpillBlock;
}

const stored = new WeakMap<RowBatch, StoredBatch>();

/** The file that a batch is in; undefined: it is in memory. */
export function fileOf(batch: RowBatch): StoredBatches | undefined {
  return stored.get(batch)?.file;
}

/** The files of all transactions. */
export class BatchStore {
  readonly #open: () => SpillFile;
  readonly #files = new WeakMap<Ending, StoredBatches>();

  constructor(open: () => SpillFile) {
    this.#open = open;
  }

  /** The batch with its arrays in the file of the transaction. Raises 53100 on a full disk. */
  storeFor(transaction: Ending, batch: RowBatch): RowBatch {
    let file = this.#files.get(transaction);
    if (file === undefined) {
      file = new StoredBatches(this.#open());
      file.holdFor(transaction);
      file.release();
      this.#files.set(transaction, file);
    }
    return file.store(batch);
  }
}

/** The batch as a transaction keeps it: where it is, or in the transaction's own file if there is a store. */
export function keptBatch(transaction: Ending, batch: RowBatch, store: BatchStore | null): RowBatch {
  const file = fileOf(batch);
  if (file === undefined) return store?.storeFor(transaction, batch) ?? batch;
  file.holdFor(transaction);
  return batch;
}

/** See the head of the file. */
export class StoredBatches {
  readonly #file: SpillFile;
  readonly #writer = new ByteWriter(1 << 20);
  readonly #transactions = new Set<Ending>();
  #isWritten = false;
  #last: { readonly block: SpillBlock; readonly idsOf: IdsOf | null; readonly batch: RowBatch } | null = null;

  constructor(file: SpillFile) {
    this.#file = file;
  }

  /** The batch with its arrays in the file. Raises 53100 on a full disk. */
  store(batch: RowBatch): RowBatch {
    this.#writer.reset();
    writeBatch(this.#writer, batch);
    return this.#batchIn(this.#file.write(this.#writer.view()), batch.rowCount, null);
  }

  /** The same batch with other ids. */
  withIds(batch: RowBatch, idsOf: IdsOf): RowBatch {
    const known = stored.get(batch);
    if (known?.file !== this) return { ...batch, ids: idsOf(batch.columns) };
    return this.#batchIn(known.block, batch.rowCount, idsOf);
  }

  #batchIn(block: SpillBlock, rowCount: number, idsOf: IdsOf | null): RowBatch {
    const load = (): RowBatch => this.#load(block, idsOf);
    const batch: RowBatch = {
      rowCount,
      get ids() {
        return load().ids;
      },
      get columns() {
        return load().columns;
      },
    };
    stored.set(batch, { file: this, block });
    return batch;
  }

  #load(block: SpillBlock, idsOf: IdsOf | null): RowBatch {
    const last = this.#last?.block === block ? this.#last : null;
    if (last?.idsOf === idsOf) return last.batch;
    const read = last?.batch ?? readBatch(new ByteReader(this.#file.read(block)));
    const batch = idsOf === null ? read : { ...read, ids: idsOf(read.columns) };
    this.#last = { block, idsOf, batch };
    return batch;
  }

  /** The transaction has batches of it until it ends. */
  holdFor(transaction: Ending): void {
    if (this.#transactions.has(transaction)) return;
    this.#transactions.add(transaction);
    transaction.ended.push(() => {
      this.#transactions.delete(transaction);
      this.#closeUnheld();
    });
  }

  /** The statement that has filled it needs it no longer. */
  release(): void {
    this.#isWritten = true;
    this.#closeUnheld();
  }

  #closeUnheld(): void {
    if (this.#transactions.size > 0 || !this.#isWritten) return;
    this.#last = null;
    this.#file.close();
  }
}
