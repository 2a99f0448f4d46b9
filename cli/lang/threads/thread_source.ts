/**
 * Where the code of threads is. An executable that is made of the sources has a module of the same exports in this
 * one's place, which knows where it is (`tools/compile/thread_module.ts`).
 */

/** The address of the code that threads run. */
export function threadSource(): string {
  return new URL("./thread_main.ts", import.meta.url).href;
}
