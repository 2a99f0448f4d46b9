/** A worker's parsing of the data of a COPY, piece by piece. */
import { textOptions } from "../sql/functions/casts.ts";
import type { EvaluationContext } from "../sql/functions/definition.ts";
import { toRemote } from "../sharding/shard_messages.ts";
import { CopyParser } from "../statements/copy/copy_parser.ts";
import type { CopyReply, CopyRequest } from "./messages.ts";

/** See the file's head. */
export class CopyWork {
  readonly #request: CopyRequest;
  readonly #send: (reply: CopyReply) => void;
  readonly #pieces: (Uint8Array | null)[] = [];
  #parser: CopyParser | null = null;
  /** It has ended, or cannot go on: what comes is left alone. */
  #isOver = false;

  constructor(request: CopyRequest, send: (reply: CopyReply) => void) {
    this.#request = request;
    this.#send = send;
  }

  /** Takes a piece of the data; null: there are no more. */
  add(piece: Uint8Array | null): void {
    if (!this.#isOver) this.#pieces.push(piece);
  }

  /** Parses a piece. false: there is none. */
  step(): boolean {
    const piece = this.#pieces.shift();
    if (piece === undefined) return false;
    try {
      const parser = this.#parser ??= this.#begin();
      if (piece === null) parser.finish();
      else parser.write(piece);
      this.#isOver = piece === null;
      this.#say({ pieces: piece === null ? 0 : 1, isLast: this.#isOver });
    } catch (error) {
      this.#isOver = true;
      this.#pieces.splice(0);
      this.#say({ error: toRemote(error) });
    }
    return true;
  }

  #begin(): CopyParser {
    const { form, session, place } = this.#request;
    // Nothing is looked up: types whose texts need that are parsed by the thread of the sessions.
    const options = textOptions(session as EvaluationContext);
    return new CopyParser(form, options, (parsed) => this.#say({ parsed }), place);
  }

  #say(said: Partial<CopyReply>): void {
    const nothing = { parsed: null, pieces: 0, error: null, isLast: false };
    this.#send({ copy: this.#request.copy, ...nothing, ...said });
  }
}
