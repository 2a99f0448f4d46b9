/** An index file of a segment that another thread makes: its bytes come piece by piece. */
import type { IndexDefinition, TableDefinition } from "../../catalog/definitions.ts";
import type { DiskFile } from "../../host/disk.ts";
import type { StoredFile } from "../access/readable_table.ts";
import type { FinishedChunkFile } from "./chunk_file.ts";

/** What the file is of, and what becomes of it. */
export interface IndexFileOptions {
  readonly segment: StoredFile;
  /** The table as it has the index. */
  readonly definition: TableDefinition;
  readonly index: Pick<IndexDefinition, "id" | "columns">;
  create(): DiskFile;
  /** Removes it, once it has been closed. */
  remove(): void;
  /** Takes it on; false: nobody needs it any more. */
  take(file: DiskFile, finished: FinishedChunkFile): boolean;
}

/** See the file's head. */
export class IndexFile {
  readonly #options: IndexFileOptions;
  #file: DiskFile | null = null;
  #size = 0;

  constructor(options: IndexFileOptions) {
    this.#options = options;
  }

  get segment(): StoredFile {
    return this.#options.segment;
  }

  get definition(): TableDefinition {
    return this.#options.definition;
  }

  get index(): Pick<IndexDefinition, "id" | "columns"> {
    return this.#options.index;
  }

  /** Writes behind what is there. */
  write(bytes: Uint8Array): void {
    const file = this.#file ??= this.#options.create();
    file.writeAt(this.#size, bytes);
    this.#size += bytes.length;
  }

  /** All of it is written. */
  finish(finished: FinishedChunkFile): void {
    const file = this.#file;
    if (file === null || !this.#options.take(file, finished)) return this.drop();
    this.#file = null;
  }

  /** It is not going to be finished. */
  drop(): void {
    if (this.#file === null) return;
    this.#file.close();
    this.#file = null;
    this.#options.remove();
  }
}
