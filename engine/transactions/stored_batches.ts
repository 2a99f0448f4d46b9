/**
 * Batches of a transaction that takes much memory, in a temporary file, and read again where they are looked at.
 *
 * One decoded batch is kept, the newest that was looked at. The file goes when the transaction ends.
 */
import { ByteReader, ByteWriter } from "../base/bytes.ts";
import { readBatch, writeBatch } from "../operations/batch_codec.ts";
import type { RowBatch } from "../operations/effect.ts";
import type { SpillBlock, SpillFile } from "../storage/spill_file.ts";

/** A transaction, as far as its end goes. */
interface Ending {
  readonly ended: (() => void)[];
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
      const opened = file = new StoredBatches(this.#open());
      this.#files.set(transaction, opened);
      transaction.ended.push(() => opened.close());
    }
    return file.store(batch);
  }
}

/** The batches of one transaction. */
class StoredBatches {
  readonly #file: SpillFile;
  readonly #writer = new ByteWriter(1 << 20);
  #last: { readonly block: SpillBlock; readonly batch: RowBatch } | null = null;

  constructor(file: SpillFile) {
    this.#file = file;
  }

  store(batch: RowBatch): RowBatch {
    this.#writer.reset();
    writeBatch(this.#writer, batch);
    const block = this.#file.write(this.#writer.view());
    const load = (): RowBatch => this.#load(block);
    return {
      rowCount: batch.rowCount,
      get ids() {
        return load().ids;
      },
      get columns() {
        return load().columns;
      },
    };
  }

  #load(block: SpillBlock): RowBatch {
    if (this.#last?.block === block) return this.#last.batch;
    const batch = readBatch(new ByteReader(this.#file.read(block)));
    this.#last = { block, batch };
    return batch;
  }

  /** Nobody looks at them any more. */
  close(): void {
    this.#last = null;
    this.#file.close();
  }
}
