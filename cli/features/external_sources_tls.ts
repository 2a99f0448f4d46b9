/** The feature `external-sources-tls`: the one place from which TLS for external sources is linked. */
export { denoTls } from "../../engine/host/deno_web_tls.ts";
