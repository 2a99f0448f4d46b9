/**
 * What REFRESH asks of the world: rows of an external source. Implemented by `engine/external`, which a build has only
 * with the feature `external-sources`, and by fakes in tests.
 */
import type { ExternalSourceDefinition } from "../../catalog/external_source.ts";
import type { Timers } from "../../host/host.ts";
import type { RowTarget } from "./row_target.ts";

/** What is to be read. */
export interface SourceRequest {
  readonly source: ExternalSourceDefinition;
  /** Gets the rows, and counts pages and bytes. */
  readonly target: RowTarget;
  /** Aborted, with the error as its reason, when the statement is to end. */
  readonly signal: AbortSignal;
  readonly timers: Timers;
}

/** Sources outside of the database. */
export interface ExternalSources {
  /** The build features that this program has of `external-sources`, `external-sources-tls` and `…-objstore`. */
  readonly features: readonly string[];
  /** Reads all pages of a source into the target; rejects when anything fails. Answers what users should know. */
  read(request: SourceRequest): Promise<readonly string[]>;
}
