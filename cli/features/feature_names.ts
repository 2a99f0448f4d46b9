/**
 * The build features by name, and which of them bring others with them. Pure data: read by the programs, by the
 * compile task and by tests.
 */

/** Every build feature, in the order in which it is printed. */
export const featureNames = [
  "pg-gateway",
  "http-gateway",
  "tls",
  "external-sources",
  "external-sources-tls",
  "external-sources-objstore",
] as const;

/** The name of a build feature. */
export type FeatureName = typeof featureNames[number];

/** The features that have modules in this version; a build that names another one fails. */
export const servedFeatureNames: readonly FeatureName[] = [
  "pg-gateway",
  "http-gateway",
  "tls",
  "external-sources",
  "external-sources-tls",
  "external-sources-objstore",
];

/** What choosing a feature chooses besides it. */
const implied: Readonly<Partial<Record<FeatureName, readonly FeatureName[]>>> = {
  "external-sources-tls": ["external-sources"],
  "external-sources-objstore": ["external-sources", "external-sources-tls"],
};

/** The chosen features and those they imply, without repetition, in the order of {@link featureNames}. */
export function withImpliedFeatures(chosen: readonly FeatureName[]): FeatureName[] {
  const all = new Set(chosen.flatMap((name) => [name, ...(implied[name] ?? [])]));
  return featureNames.filter((name) => all.has(name));
}
