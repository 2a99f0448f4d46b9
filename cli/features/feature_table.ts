/**
 * The shape of the table of build features. A gateway that a build may leave out is reached through a loader of this
 * table only, and every mention of its modules elsewhere in `cli/` is an `import type`, so a build that leaves the
 * loader out links none of the gateway's code.
 */
import type { FeatureName } from "./feature_names.ts";

/** What this build can do. */
export interface Features {
  /** The features that the build was made with, those implied by others included. */
  readonly enabled: readonly FeatureName[];
  /** Loads the PG wire protocol; absent in a build without `pg-gateway`. */
  readonly pgGateway?: () => Promise<typeof import("./pg_gateway.ts")>;
  /** Loads HTTP and WebSocket; absent in a build without `http-gateway`. */
  readonly httpGateway?: () => Promise<typeof import("./http_gateway.ts")>;
  /** Loads the server's side of TLS; absent in a build without `tls`. */
  readonly tls?: () => Promise<typeof import("./tls.ts")>;
  /** Loads external sources over `http:`; absent in a build without `external-sources`. */
  readonly externalSources?: () => Promise<typeof import("./external_sources.ts")>;
  /** Loads TLS for them; absent in a build without `external-sources-tls`. */
  readonly externalSourcesTls?: () => Promise<typeof import("./external_sources_tls.ts")>;
  /** Loads object stores and Parquet; absent in a build without `external-sources-objstore`. */
  readonly externalSourcesObjstore?: () => Promise<typeof import("./external_sources_objstore.ts")>;
}
