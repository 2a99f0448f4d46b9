/**
 * The build features of this program; from the sources all that this version serves are on.
 *
 * `cli/dbd.ts` starts an optional gateway only through this table, like this:
 *
 *     const { startPgServer } = await features.pgGateway?.() ?? refuse("pg-gateway");
 *
 * `deno task compile --features a,b` puts a generated module with the chosen loaders in the place of this file (an
 * import map entry, see `tools/compile.ts`); a loader that is missing there is code that is not linked. Invariants:
 * nothing else in `cli/` imports `gateways/pg`, `gateways/http` or `gateways/tls` as a value (`check-layers` fails on
 * it); a feature that gets a module of its own gets a file in `cli/features/`, a loader here and in
 * `feature_table.ts`, and a line in `tools/compile/feature_module.ts`.
 */
import { servedFeatureNames } from "./features/feature_names.ts";
import type { Features } from "./features/feature_table.ts";

/** The features of this build. */
export const features: Features = {
  enabled: servedFeatureNames,
  pgGateway: () => import("./features/pg_gateway.ts"),
  httpGateway: () => import("./features/http_gateway.ts"),
  tls: () => import("./features/tls.ts"),
  externalSources: () => import("./features/external_sources.ts"),
  externalSourcesTls: () => import("./features/external_sources_tls.ts"),
  externalSourcesObjstore: () => import("./features/external_sources_objstore.ts"),
};
