/** Rejections that nobody waits for: in a simulation they are failures like all others. */

/** Runs the work, and reports rejections that are not handled meanwhile. */
export async function withRejections<T>(
  report: (reason: unknown) => void,
  work: () => Promise<T>,
): Promise<T> {
  const onRejection = (event: PromiseRejectionEvent): void => {
    event.preventDefault();
    report(event.reason);
  };
  globalThis.addEventListener("unhandledrejection", onRejection);
  try {
    return await work();
  } finally {
    globalThis.removeEventListener("unhandledrejection", onRejection);
  }
}
