/** Mistakes of `lang` itself, each with a code whose page says what to send. */

/** The codes, by the work that was being done. */
export const INTERNAL_CODES = {
  checking: "IC0001",
  compiling: "IC0002",
  running: "IC0003",
  other: "IC0004",
} as const;

/** What was being done. */
export type InternalWork = keyof typeof INTERNAL_CODES;

/** A mistake of `lang`, not of the program that it works on; `cause` is what was thrown. */
export class InternalError extends Error {
  readonly code: string;

  constructor(work: InternalWork, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = "InternalError";
    this.code = INTERNAL_CODES[work];
  }
}

/** Does work in which nothing can go wrong but by a mistake of `lang`. */
export function internally<T>(work: InternalWork, task: () => T): T {
  try {
    return task();
  } catch (error) {
    if (error instanceof InternalError) throw error;
    throw new InternalError(work, error);
  }
}
