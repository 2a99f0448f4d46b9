/**
 * The two interfaces that make up an external source: who opens its address, and who reads its format.
 *
 * A {@link SourceOpener} answers for URL schemes (`http:`, `s3:`) and gives bytes, as a stream and where it can as
 * ranges. A {@link FormatReader} turns bytes into rows, which it writes column by column into a {@link RowTarget}.
 * Neither knows the other, tables or transactions. Both are linked by the build features only
 * (`cli/features/external_sources*.ts`), so nothing outside of `engine/external` imports them as values.
 */
import type { ExternalSourceDefinition, SourceFormat } from "../catalog/external_source.ts";
import type { Timers } from "../host/host.ts";
import type { HttpClient } from "./http_client.ts";
import type { RowTarget } from "../statements/refresh/row_target.ts";

/** The content of one address: a page of a source, or an object of a store. */
export interface SourceBytes {
  /** Names it in messages: the address without its query and without user information. */
  readonly name: string;
  /** Bytes of the content where that is known before. */
  readonly size: number | null;
  /** Where it finally was, after redirects; addresses of next pages are relative to it. */
  readonly address?: URL;
  /**
   * The whole content, as it came; asked for once. A piece is good until the next one is asked for. Raises when the
   * stream breaks off.
   */
  chunks(): AsyncIterable<Uint8Array>;
  /** Bytes from `start` (inclusive) to `end` (exclusive); null: the content can only be read from its beginning. */
  readonly range: ((start: number, end: number) => Promise<Uint8Array>) | null;
  /** The address of the next page, of a `Link` header with `rel="next"`, as it was written. */
  readonly nextLink: string | null;
  /** Ends the transfer; whatever was under way fails. */
  close(): void;
}

/** What an opener may use. */
export interface OpenContext {
  readonly source: ExternalSourceDefinition;
  /** Aborted, with the error as its reason, when the statement is to end. */
  readonly signal: AbortSignal;
  readonly timers: Timers;
  /** HTTP and HTTPS to addresses that are allowed; it checks each, counts bytes and knows the timeouts. */
  readonly http: HttpClient;
  /** The value of an environment variable; raises 55000 naming it when it is not set. Never to be shown or kept. */
  secret(variable: string): string;
}

/** Opens addresses of some schemes. */
export interface SourceOpener {
  /** With the colon, as `URL.protocol` has them. */
  readonly schemes: readonly string[];
  open(url: URL, context: OpenContext): Promise<SourceBytes>;
}

/** Reads a format. */
export interface FormatReader {
  readonly format: SourceFormat;
  /**
   * Reads one page into the target. Between pieces of about a millisecond's work it awaits `target.pause()`. Answers
   * what the paging path of the source led to, a text or number of the page (empty where it says that there is no
   * more); null: it led nowhere, or the source has none.
   */
  read(bytes: SourceBytes, target: RowTarget, source: ExternalSourceDefinition): Promise<string | null>;
}
