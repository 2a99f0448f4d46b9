/**
 * The host functions that a program may call: the functions that the library declares as `extern`.
 */

/** Values that go in and out. */
export type HostValue = number | bigint | boolean | string | Uint8Array | null;

/** One call of an `extern` function. */
export interface HostCall {
  /** `lang:host/log@1.0.0`. */
  readonly module: string;
  readonly name: string;
  readonly args: readonly HostValue[];
}

/** Answers the calls of a program. */
export interface Host {
  call(call: HostCall): HostValue;
}

/**
 * A host that writes down every call, and answers from a table by `module name`; `null` is the answer of what returns
 * nothing.
 */
export class RecordingHost implements Host {
  readonly calls: HostCall[] = [];
  readonly #answers: ReadonlyMap<string, (args: readonly HostValue[]) => HostValue>;

  constructor(answers: ReadonlyMap<string, (args: readonly HostValue[]) => HostValue> = new Map()) {
    this.#answers = answers;
  }

  call(call: HostCall): HostValue {
    this.calls.push(call);
    return this.#answers.get(`${call.module} ${call.name}`)?.(call.args) ?? null;
  }

  /** What was printed, a line for each call. */
  get output(): string {
    return this.calls.filter((call) => call.module.startsWith("lang:host/log@"))
      .map((call) => `${String(call.args[0])}\n`).join("");
  }
}
