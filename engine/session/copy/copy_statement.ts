/** Placeholder until COPY is there. */
export function runCopy(): never {
  throw new Error("COPY");
}
