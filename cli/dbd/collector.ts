/** How V8's collector is set up for a server. */

/**
 * The heap of old objects is collected when it has grown by this share of what was alive after the last time. V8 waits
 * for up to three times as much again, which for a server is memory that others need: under `deno task soak:life` it
 * held 2.5 times what lived.
 */
const GROWTH_PERCENT = 50;

/**
 * Has V8 make every object among the young ones, and collect old ones sooner.
 *
 * V8 notes where in the code objects are made that then live long, and has optimized code make those of such a place
 * among the old ones at once. A server meets many statements for the first time when it has just been started, or
 * when its tables are changed: their literals, columns and keys live on in plans. From then on the same places
 * serve statements whose plan is there, whose objects are garbage a moment later; but old garbage stays until
 * everything is looked through, and keeps what it refers to. Each small collection then copied some megabytes, which
 * cost a point read a fifth of its processor time (`deno task bench aged`).
 */
export async function setUpCollector(): Promise<void> {
  const v8 = await import("node:v8");
  v8.setFlagsFromString("--no-allocation-site-pretenuring");
  v8.setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
