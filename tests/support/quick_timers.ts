/** Time-outs of seconds in milliseconds, for code that has no timers of its host. */

/** Until it is disposed of, time-outs that are begun in this thread take a hundredth; they end in the same order. */
export function quickTimers(): Disposable {
  const { setTimeout } = globalThis;
  globalThis.setTimeout = Object.assign(
    (run: () => void, milliseconds = 0) => setTimeout(run, milliseconds / 100),
    setTimeout,
  );
  return {
    [Symbol.dispose]: () => {
      globalThis.setTimeout = setTimeout;
    },
  };
}
