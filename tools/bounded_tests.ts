/**
 * Loaded before every test file (`deno test --preload`): a test that hangs fails its file, and the others go on. It is
 * the last resort; what waits for something says for what itself, and sooner. `TEST_LIMIT_MILLISECONDS` is for the
 * test of this.
 */

/** Ten times as long as the longest test takes on a slow machine, or one that has to fetch what it needs. */
const LIMIT_MILLISECONDS = 600_000;

// Tests may have timers of their own for a while.
const { setTimeout, clearTimeout } = globalThis;
let timer: ReturnType<typeof setTimeout> | undefined;

Deno.test.beforeEach(() => {
  const limit = Number(Deno.env.get("TEST_LIMIT_MILLISECONDS") ?? LIMIT_MILLISECONDS);
  timer = setTimeout(() => {
    throw new Error(`a test hangs: it is not over after ${limit / 1000} seconds`);
  }, limit);
});
Deno.test.afterEach(() => clearTimeout(timer));
