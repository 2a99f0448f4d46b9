/** A worker's computing of one call on large values. */
import { assertDefined } from "../base/assert.ts";
import { evaluationOf } from "../sharding/fragment_runs.ts";
import { toRemote } from "../sharding/shard_messages.ts";
import { callOfText } from "../sql/fragments/fragment_text.ts";
import { asDatabaseError } from "../statements/statement_errors.ts";
import type { SqlValue } from "../types/value.ts";
import type { CallReply, CallRequest } from "./messages.ts";
import { PartedValue, partsOf, type ValuePart } from "./value_parts.ts";

/** See the file's head. */
export class CallWork {
  readonly #request: CallRequest;
  readonly #called: ReturnType<typeof callOfText>;
  readonly #send: (reply: CallReply) => void;
  readonly #args: SqlValue[] = [];
  #argument: PartedValue | null = null;
  /** Parts of the value that have not been sent; null: it is still to be computed. */
  #parts: Iterator<ValuePart> | null = null;
  /** How often it has been asked to go on. */
  #asked = 0;

  constructor(request: CallRequest, send: (reply: CallReply) => void) {
    this.#request = request;
    this.#called = callOfText(request.text);
    this.#send = send;
  }

  /** Takes a part of the next argument; null: that has ended. */
  add(part: ValuePart | null): void {
    const types = "to" in this.#called ? [this.#called.from] : this.#called.argumentTypes;
    this.#argument ??= new PartedValue(assertDefined(types[this.#args.length], "an argument"));
    if (part !== null) return this.#argument.add(part);
    this.#args.push(this.#argument.value);
    this.#argument = null;
  }

  /** It may go on. */
  goOn(): void {
    this.#asked++;
  }

  /** Whether there is something to do. */
  get isAsked(): boolean {
    return this.#asked > 0;
  }

  /** Computes the value, and sends a part of it. true: that was the last one. */
  step(): boolean {
    const { call } = this.#request;
    this.#asked--;
    try {
      const { done, value } = (this.#parts ??= this.#compute()).next();
      this.#send({ call, part: done === true ? null : value, error: null });
      return done === true;
    } catch (error) {
      this.#send({ call, part: null, error: toRemote(asDatabaseError(error)) });
      return true;
    }
  }

  #compute(): Iterator<ValuePart> {
    const called = this.#called;
    const context = evaluationOf(this.#request.session);
    const [first = null] = this.#args;
    return "to" in called
      ? partsOf(called.to, called.evaluate(context, first))
      : partsOf(called.returnType, called.evaluate(context, ...this.#args));
  }
}
