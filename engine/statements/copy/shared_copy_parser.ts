/**
 * Parses the data of one COPY: here as long as there is little of it, and in another thread from the batch on behind
 * which it is worth it and a thread is there.
 */
import type { MaybePromise } from "../outcome.ts";
import type { CopyElsewhere, CopyForm, ParsedBatch } from "../parsed_copy.ts";
import type { StatementHost } from "../statement_host.ts";
import { CopyParser } from "./copy_parser.ts";

type CopySession = Pick<StatementHost, "engine" | "evaluation" | "settings">;

/** See the file's head. */
export class SharedCopyParser {
  readonly #session: CopySession;
  readonly #form: CopyForm;
  readonly #emit: (parsed: ParsedBatch) => void;
  readonly #options: CopySession["evaluation"]["textOptions"];
  #parser: CopyParser;
  #elsewhere: CopyElsewhere | null = null;
  #bytes = 0;
  /** From so many bytes on another thread is worth it. */
  #least = Infinity;
  /** The parser is to pause behind its batch. */
  #isAsked = false;

  /** `emit` takes each batch. */
  constructor(session: CopySession, form: CopyForm, emit: (parsed: ParsedBatch) => void) {
    this.#session = session;
    this.#form = form;
    this.#emit = emit;
    this.#options = session.evaluation.textOptions;
    this.#parser = new CopyParser(form, this.#options, emit);
    const { workers } = session.engine;
    if (workers !== null && isForThreads(form)) this.#least = workers.leastCopyBytes(session.settings);
  }

  /** Takes a piece of bytes. */
  write(bytes: Uint8Array, start: number, end: number): MaybePromise<void> {
    if (this.#elsewhere !== null) return this.#elsewhere.write(bytes, start, end);
    this.#bytes += end - start;
    if (this.#bytes >= this.#least) this.#askForThread();
    this.#parser.write(bytes, start, end);
    if (this.#isAsked) this.#handOver();
  }

  #askForThread(): void {
    const { engine: { workers }, settings } = this.#session;
    if (workers?.mayParse(settings) !== true) return;
    this.#least = Infinity;
    this.#isAsked = true;
    this.#parser.pauseBehindBatch();
  }

  #handOver(): void {
    const place = this.#parser.takePlace();
    if (place === null) return;
    this.#isAsked = false;
    const { engine: { workers }, evaluation, settings } = this.#session;
    const given = { evaluation, now: this.#options.now, settings, place };
    this.#elsewhere = workers?.parseCopy(this.#form, given, this.#emit) ?? null;
    if (this.#elsewhere === null) this.#parser = new CopyParser(this.#form, this.#options, this.#emit, place);
  }

  /** The data has ended. */
  finish(): MaybePromise<void> {
    return this.#elsewhere === null ? this.#parser.finish() : this.#elsewhere.finish();
  }

  /** It is loaded, or is not going to be. */
  release(): void {
    this.#elsewhere?.release();
  }
}

/** Names of objects are looked up in the catalog. */
function isForThreads({ table, positions }: CopyForm): boolean {
  return !positions.some((position) =>
    /"kind":"reg(class|type|proc|namespace)"/.test(JSON.stringify(table.columns[position]?.type))
  );
}
