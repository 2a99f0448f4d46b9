/**
 * The cluster version: which bytes the members of a cluster write, and what they say to each other.
 *
 * A release speaks a range of versions, its own and the one before. Each pair of members speaks the lower of their
 * newest. What lasts (log, catalog, checkpoints) is written as the *active* version has it: a setting in the catalog,
 * so that it comes with an entry, holds from its op on at every member, and is in every checkpoint. The primary raises
 * it when all members speak a later one; a release that does not speak it is refused from then on. A server that is
 * alone has nobody to wait for: its newest is active.
 *
 * 1: what releases spoke before there was a cluster version. 2: files of the log are of format 3, with marks.
 * 3: an effect may delete or change many rows. 4: what is too large for one entry is staged.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";

/** The versions that a release speaks. */
export interface VersionRange {
  readonly oldest: number;
  readonly newest: number;
}

/** Those of this release. */
export const SPOKEN_VERSIONS: VersionRange = { oldest: 1, newest: 4 };

/** What it is kept under among the settings of the catalog: of the role without a name, which no statement sets. */
export const CLUSTER_VERSION_SETTING = "/cluster_version";

/** The version that the settings of a catalog have. */
export function versionOfSettings(settings: Readonly<Record<string, string>>): number {
  return Number(settings[CLUSTER_VERSION_SETTING] ?? 1);
}

/** Raises 0A000 for data of a version that only later releases speak. */
export function requireSpoken({ oldest, newest }: VersionRange, version: number): void {
  if (version <= newest) return;
  throw new DatabaseError(
    SQLSTATE.featureNotSupported,
    `the data is of version ${version} of the cluster's protocol, and this release speaks ${oldest} to ${newest}`,
    { hint: "Start a later release with it." },
  );
}
