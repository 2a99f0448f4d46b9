/** Errors of `lang` itself, each with a code whose page says what to send. */

/** The codes, by the work that was being done. */
export const INTERNAL_CODES = {
  checking: "IC0001",
  compiling: "IC0002",
  running: "IC0003",
  other: "IC0004",
} as const;

/** What was being done. */
export type InternalWork = keyof typeof INTERNAL_CODES;

/** An error of `lang`, not of the program that it works on; `cause` is what was thrown. */
export class InternalError extends Error {
  readonly code: string;

  constructor(work: InternalWork, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = "InternalError";
    this.code = INTERNAL_CODES[work];
  }
}

/** What is wrong with a program and shows only while it is compiled; `code` is that of the page which says more. */
export class ProgramError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = "ProgramError";
    this.code = code;
  }
}

/** Does work in which nothing can go wrong but by an error of `lang`, or by one that the program turns out to have. */
export function internally<T>(work: InternalWork, task: () => T): T {
  try {
    return task();
  } catch (error) {
    if (error instanceof InternalError || error instanceof ProgramError) throw error;
    throw new InternalError(work, error);
  }
}
