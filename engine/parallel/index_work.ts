/** A worker's making of an index file: it reads the segment, encodes and sorts the keys, and sends the file's bytes. */
import { DatabaseError } from "../base/errors.ts";
import type { Disk } from "../host/disk.ts";
import type { BlockCache } from "../storage/table/block_cache.ts";
import type { FinishedChunkFile } from "../storage/table/chunk_file.ts";
import { StoredSegment } from "../storage/table/stored_segment.ts";
import type { IndexReply, IndexRequest } from "./messages.ts";

/** What it works with. */
export interface IndexWorkOptions {
  readonly disk: Disk;
  readonly cache: BlockCache;
  send(reply: IndexReply): void;
}

/** See the file's head. */
export class IndexWork {
  readonly #request: IndexRequest;
  readonly #options: IndexWorkOptions;
  /** Opened by itself, for its transaction may have other columns than others see. */
  #segment: StoredSegment | null = null;
  #work: Generator<void, FinishedChunkFile> | null = null;

  constructor(request: IndexRequest, options: IndexWorkOptions) {
    this.#request = request;
    this.#options = options;
  }

  /** Works for about a millisecond. true: it has ended. */
  step(): boolean {
    try {
      const { done, value } = (this.#work ??= this.#begin()).next();
      if (done !== true) return false;
      this.#end(value);
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      // Who asked makes the file then, and says what is wrong with the disk or the rows.
      this.#end(null);
    }
    return true;
  }

  #begin(): Generator<void, FinishedChunkFile> {
    const { segment, definition, index } = this.#request;
    const { disk, cache } = this.#options;
    this.#segment = new StoredSegment(segment, disk, cache, () => definition);
    return this.#segment.buildIndex(index, definition, {
      // The bytes follow one another.
      writeAt: (_, bytes) => this.#say({ bytes: bytes.slice(), ended: null }),
    });
  }

  #end(finished: FinishedChunkFile | null): void {
    this.#segment?.close();
    this.#say({ bytes: null, ended: { finished } });
  }

  #say(said: Pick<IndexReply, "bytes" | "ended">): void {
    this.#options.send({ build: this.#request.build, ...said });
  }
}
