/** Index files that workers make: each has some of them, one after the other. */
import { DatabaseError } from "../base/errors.ts";
import type { IndexFile } from "../storage/table/index_file.ts";
import type { IndexReply } from "./messages.ts";
import type { WorkerPort } from "./worker_port.ts";

interface Build {
  readonly file: IndexFile;
  readonly worker: WorkerPort;
  /** It has ended, however. */
  resolve(): void;
}

/** See the file's head. */
export class IndexBuilds {
  readonly #builds = new Map<number, Build>();
  #next = 1;

  /** Has all of them made; resolves when they are there, or cannot be made by a worker. */
  async run(files: readonly IndexFile[], workers: readonly WorkerPort[]): Promise<void> {
    if (workers.length === 0) return;
    await Promise.all(
      files.map((file, place) => this.#begin(file, workers[place % workers.length] as WorkerPort)),
    );
  }

  #begin(file: IndexFile, worker: WorkerPort): Promise<void> {
    const { segment, definition, index } = file;
    const build = this.#next++;
    return new Promise((resolve) => {
      this.#builds.set(build, { file, worker, resolve });
      worker.tell({ kind: "index", build, segment, definition, index });
    });
  }

  take({ build: number, bytes, ended }: IndexReply): void {
    const build = this.#builds.get(number);
    if (build === undefined) return;
    try {
      if (bytes !== null) build.file.write(bytes);
      if (ended === null) return;
      if (ended.finished !== null) build.file.finish(ended.finished);
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      // It is made here then, which says what is wrong with the disk.
    }
    this.#end(number, build);
  }

  /** A worker cannot go on. */
  lost(worker: WorkerPort): void {
    for (const [number, build] of this.#builds) if (build.worker === worker) this.#end(number, build);
  }

  #end(number: number, { file, resolve }: Build): void {
    this.#builds.delete(number);
    file.drop();
    resolve();
  }
}
