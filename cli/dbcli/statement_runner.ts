/**
 * Runs statements and prints their answers in the form asked for: text or JSON. Errors go to standard error, with JSON
 * as the failure object to standard output.
 */
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";
import type { OperationClient } from "../../gateways/binary/client.ts";
import type { CopyChunk } from "../../gateways/binary/client_api.ts";
import type { StatementResult } from "../../gateways/binary/client_result.ts";
import { formatError } from "./error_format.ts";
import { failureJson, resultJson } from "./json_format.ts";
import { isRefresh, withRefreshProgress } from "./refresh_progress.ts";
import { formatResult } from "./table_format.ts";
import type { Terminal } from "./terminal.ts";

/** Data for COPY … FROM STDIN. */
export type CopySource = () => AsyncIterable<CopyChunk> | Iterable<CopyChunk>;

/** Runs statements and prints their answers in the form asked for: text or JSON. */
export class StatementRunner {
  readonly client: OperationClient;
  readonly terminal: Terminal;
  readonly json: boolean;
  /** Print how long each statement took. */
  timing = false;

  readonly #connect: (() => Promise<OperationClient>) | undefined;

  /** `connect` opens another connection to the same server. */
  constructor(
    options: {
      readonly client: OperationClient;
      readonly terminal: Terminal;
      readonly json: boolean;
      readonly connect?: () => Promise<OperationClient>;
    },
  ) {
    this.client = options.client;
    this.#connect = options.connect;
    this.terminal = options.terminal;
    this.json = options.json;
  }

  /** Runs a text; answers whether it succeeded. `copySource` has the data when it is a COPY … FROM STDIN. */
  async run(text: string, copySource: CopySource): Promise<boolean> {
    const startedAt = performance.now();
    const succeeded = await this.attempt(text, async () => {
      const results = isCopyIn(text)
        ? [await this.client.copyIn(text, copySource())]
        : isCopyOut(text)
        ? [await this.client.copyOut(text, (bytes) => this.terminal.outBytes(bytes))]
        : await this.#runWatched(text);
      // The data itself is the answer of a COPY to standard output.
      if (!isCopyOut(text)) { for (const result of results) this.print(result); }
    });
    if (this.timing && !this.json) {
      this.terminal.out(`Time: ${(performance.now() - startedAt).toFixed(3)} ms\n`);
    }
    return succeeded;
  }

  #runWatched(text: string): Promise<StatementResult[]> {
    const { terminal } = this;
    const connect = this.#connect;
    if (connect === undefined || !terminal.isErrorWatched || !isRefresh(text)) return this.client.run(text);
    return withRefreshProgress(text, { terminal, connect }, () => this.client.run(text));
  }

  /** Does something that may raise a DatabaseError, which is then printed; answers whether it succeeded. */
  async attempt(text: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      this.printError(error, text);
      return false;
    }
  }

  /** Prints one answer. */
  print(result: StatementResult): void {
    for (const notice of result.notices) {
      this.terminal.error(`${notice.severity}:  ${notice.message}\n`);
      if (notice.hint !== undefined) this.terminal.error(`HINT:  ${notice.hint}\n`);
    }
    if (!this.json) this.terminal.out(formatResult(result));
    else if (result.kind !== "empty") this.terminal.out(resultJson(result));
  }

  /** Prints an error. */
  printError(error: DatabaseError, text: string): void {
    if (this.json) this.terminal.out(failureJson(error));
    else this.terminal.error(formatError(error, text));
  }
}

/** Whether a text is a COPY that wants data. */
export function isCopyIn(text: string): boolean {
  return /^\s*copy\b/i.test(text) && /\bfrom\s+stdin\b/i.test(text);
}

function isCopyOut(text: string): boolean {
  return /^\s*copy\b/i.test(text) && /\bto\s+stdout\b/i.test(text);
}

/** Whether going on makes no sense, because there is no server to talk to. */
export function isConnectionError(error: unknown): boolean {
  return error instanceof DatabaseError &&
    (error.code === SQLSTATE.connectionException || error.code === SQLSTATE.adminShutdown);
}
