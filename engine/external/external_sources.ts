/**
 * Reads an external source: opens one page after the other and hands each to the reader of its format.
 *
 * Caps: pages, bytes of a page, bytes in all; a page whose address was read before ends the fetch with an error, for
 * it would go round for ever.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { SourcePathError } from "../catalog/source_path.ts";
import type { ExternalSourceDefinition } from "../catalog/external_source.ts";
import type { Web } from "../host/web.ts";
import type { ExternalSources, SourceRequest } from "../statements/refresh/external_port.ts";
import type { RowTarget } from "../statements/refresh/row_target.ts";
import type { AllowedHosts } from "./address_guard.ts";
import { type Caps, pageContent } from "./content.ts";
import { csvReader } from "./csv_reader.ts";
import { jsonReader } from "./json_reader.ts";
import { ndjsonReader } from "./ndjson_reader.ts";
import { WebHttpClient } from "./http_client.ts";
import { followed, httpOpener } from "./http_source.ts";
import { SOURCE_LIMITS } from "./limits.ts";
import { capError, shownAddress, sourceError } from "./source_errors.ts";
import type { FormatReader, OpenContext, SourceBytes, SourceOpener } from "./source_reader.ts";

/** What the sources of a server are made of. */
export interface ExternalSourcesOptions {
  /** The build features of this program. */
  readonly features: readonly string[];
  readonly web: Web;
  readonly allowed: AllowedHosts;
  /** Openers besides that of http and https. */
  readonly openers?: readonly SourceOpener[];
  /** Readers besides those of JSON, NDJSON and CSV. */
  readonly readers?: readonly FormatReader[];
  /** Smaller caps, for tests. */
  readonly caps?: Caps;
}

/** Sources that are read over the web port. */
export function externalSources(options: ExternalSourcesOptions): ExternalSources {
  return { features: options.features, read: (request) => new SourceRun(options, request).read() };
}

/** One reading of one source. */
class SourceRun {
  readonly #options: ExternalSourcesOptions;
  readonly #request: SourceRequest;
  readonly #source: ExternalSourceDefinition;
  readonly #target: RowTarget;
  readonly #http: WebHttpClient;
  readonly #caps: Caps;
  #foundNext = false;

  constructor(options: ExternalSourcesOptions, request: SourceRequest) {
    this.#options = options;
    this.#request = request;
    this.#source = request.source;
    this.#target = request.target;
    this.#caps = options.caps ?? SOURCE_LIMITS;
    const { timers, signal } = request;
    this.#http = new WebHttpClient({ web: options.web, timers, signal, allowed: options.allowed });
  }

  async read(): Promise<readonly string[]> {
    const first = new URL(this.#source.url);
    first.hash = "";
    const seen = new Set<string>();
    try {
      for (let url: URL | null = first; url !== null;) {
        if (seen.has(url.href)) {
          throw sourceError(
            `page ${seen.size + 1} of the source has an address that was read before: ${shownAddress(url)}`,
            {
              hint: "The source's pages go round in a circle.",
            },
          );
        }
        if (seen.size === this.#caps.pages) {
          throw capError(`the source has more than ${this.#caps.pages} pages`);
        }
        seen.add(url.href);
        this.#target.beginPage();
        url = await this.#page(url, first);
      }
    } finally {
      this.#http.close();
    }
    return this.#remarks();
  }

  /** Reads a page. Answers the address of the next one. */
  async #page(url: URL, first: URL): Promise<URL | null> {
    const opener = [httpOpener, ...(this.#options.openers ?? [])].find((each) =>
      each.schemes.includes(url.protocol)
    );
    const reader = [jsonReader, ndjsonReader, csvReader, ...(this.#options.readers ?? [])]
      .find((each) => each.format === this.#source.format);
    if (opener === undefined || reader === undefined) {
      throw new DatabaseError(
        SQLSTATE.featureNotSupported,
        `this server was built without what reads ${
          opener === undefined ? url.protocol : this.#source.format
        }`,
      );
    }
    const context: OpenContext = {
      source: this.#source,
      signal: this.#request.signal,
      timers: this.#request.timers,
      http: this.#http,
      secret: (variable) => this.#secret(variable),
    };
    const bytes = await opener.open(url, context);
    const { range } = bytes;
    const counted: SourceBytes = {
      ...bytes,
      range: range === null ? null : (start, end) => this.#countedRange(range(start, end)),
      chunks: () =>
        pageContent(bytes.chunks(), { name: bytes.name, progress: this.#target.progress, caps: this.#caps }),
    };
    try {
      const found = await reader.read(counted, this.#target, this.#source);
      return this.#next(bytes, found, first);
    } catch (thrown) {
      if (this.#request.signal.aborted) throw this.#request.signal.reason;
      if (thrown instanceof SourcePathError) throw sourceError(thrown.message);
      throw thrown;
    } finally {
      bytes.close();
    }
  }

  /** A range of an object is no page: what counts is all that is read. */
  async #countedRange(reading: Promise<Uint8Array>): Promise<Uint8Array> {
    const bytes = await reading;
    const { progress } = this.#target;
    progress.bytes += bytes.length;
    if (progress.bytes > this.#caps.totalBytes) {
      throw capError(`the source is larger than ${this.#caps.totalBytes / (1 << 20)} MiB in all`);
    }
    return bytes;
  }

  #next(bytes: SourceBytes, found: string | null, first: URL): URL | null {
    const { page } = this.#source;
    if (page === null) return null;
    const from = bytes.address ?? first;
    if (page.kind === "next_link") {
      if (bytes.nextLink === null) return null;
      this.#foundNext = true;
      return followed(from, bytes.nextLink, "continues");
    }
    if (found === null) return null;
    this.#foundNext = true;
    if (found === "") return null;
    if (page.kind === "next_json") return followed(from, found, "continues");
    if (found.length > SOURCE_LIMITS.addressCharacters) {
      throw sourceError(`the cursor of ${bytes.name} is too long`);
    }
    const url = new URL(first);
    url.searchParams.set(page.parameter, found);
    return url;
  }

  #secret(variable: string): string {
    const value = this.#options.web.variable(variable);
    if (value !== undefined && value !== "") return value;
    throw new DatabaseError(
      SQLSTATE.objectNotInPrerequisiteState,
      `the environment variable "${variable}" of the server is not set`,
      { hint: "AUTH of this external source names it. Set it and start the server again." },
    );
  }

  /** What the source had nothing of, which is a misspelt name more often than not. */
  #remarks(): string[] {
    const remarks: string[] = [];
    if (this.#target.progress.rows > 0) {
      for (const column of this.#target.columns) {
        if (this.#target.found[column.position] === 1) continue;
        remarks.push(`column "${column.name}": no row has a value at "${column.from}"`);
      }
    }
    const { page } = this.#source;
    if (page !== null && page.kind !== "next_link" && !this.#foundNext) {
      remarks.push(`PAGE: nothing is at "${page.path}", so there was one page`);
    }
    return remarks;
  }
}
