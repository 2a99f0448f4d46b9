/** The feature `external-sources`: the one place from which the reading of external sources is linked. */
export { AllowedHosts } from "../../engine/external/address_guard.ts";
export { externalSources } from "../../engine/external/external_sources.ts";
export { denoWeb } from "../../engine/host/deno_web.ts";
