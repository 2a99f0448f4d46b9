/** The external sources of a server, as far as its build has them. */
import type { ExternalSources } from "../../engine/statements/refresh/external_port.ts";
import type { Clock } from "../../engine/host/host.ts";
import type { Features } from "../features/feature_table.ts";
import { flagOf, type ServerSettings, UsageError } from "./settings.ts";

/** What reads external sources; undefined in a build without them. Raises {@link UsageError}. */
export async function openExternalSources(
  settings: Pick<ServerSettings, "externalAllowedHosts" | "externalParquetPageBytes">,
  features: Features,
  clock: Clock,
): Promise<ExternalSources | undefined> {
  const { externalAllowedHosts: hosts } = settings;
  if (features.externalSources === undefined) {
    if (hosts.length === 0) return undefined;
    throw new UsageError(`${flagOf("external_allow")} needs a build with the feature "external-sources"`);
  }
  const { AllowedHosts, denoWeb, externalSources } = await features.externalSources();
  const tls = await features.externalSourcesTls?.();
  const stores = await features.externalSourcesObjstore?.();
  try {
    return externalSources({
      features: features.enabled,
      web: denoWeb(tls === undefined ? {} : { upgradeToTls: tls.denoTls() }),
      allowed: new AllowedHosts(hosts),
      ...(stores === undefined ? {} : {
        openers: [stores.objectStoreOpener(clock)],
        readers: [
          stores.parquetReader({
            platform: stores.pagePlatform,
            maximumPageBytes: settings.externalParquetPageBytes,
          }),
        ],
      }),
    });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new UsageError(`${flagOf("external_allow")} takes HOST or HOST:PORT, not "${error.message}"`);
  }
}
