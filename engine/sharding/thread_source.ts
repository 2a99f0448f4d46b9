/**
 * Where the code of a shard's thread is. An executable that is made of the sources has a module of the same exports in
 * this one's place, which knows where it is (`tools/compile/thread_module.ts`).
 */

/** The address of the code that a shard's thread runs. */
export function threadSource(): string {
  return new URL("./shard_worker.ts", import.meta.url).href;
}
