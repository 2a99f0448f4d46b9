/** Which build feature serves which scheme of an external source. */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { ExternalSources } from "./external_port.ts";

const FEATURES: Readonly<Record<string, string>> = {
  "http:": "external-sources",
  "https:": "external-sources-tls",
  "s3:": "external-sources-objstore",
  "az:": "external-sources-objstore",
};

/** Raises 0A000, with the feature's name, when this program cannot read such addresses. */
export function requireSchemeServed(external: ExternalSources | null, url: string, position?: number): void {
  // What is no address of a known scheme is refused elsewhere.
  const protocol = URL.canParse(url) ? new URL(url).protocol : "";
  const feature = FEATURES[protocol];
  if (feature === undefined || external?.features.includes(feature) === true) return;
  throw new DatabaseError(
    SQLSTATE.featureNotSupported,
    `external sources with ${protocol}// addresses need the build feature "${feature}"`,
    {
      ...(position === undefined ? {} : { position }),
      hint: `This server was built without it: deno task compile --features …,${feature}`,
    },
  );
}
