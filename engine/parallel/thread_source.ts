/**
 * Where the code of a worker's thread is. An executable that is made of the sources has a module of the same exports in
 * this one's place, which holds that code as a text (`tools/compile/thread_module.ts`).
 */

/** The address of the code that a worker's thread runs. */
export function threadSource(): string {
  return new URL("./worker_main.ts", import.meta.url).href;
}
