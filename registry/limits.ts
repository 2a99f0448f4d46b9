/** What the registry's commands allow at most, and the numbers that the convention fixes. */
import { assert } from "../engine/base/assert.ts";

/** Limits; sizes in bytes, times in milliseconds. */
export const REGISTRY_LIMITS = {
  /** An index older than this is asked for again before it is used by what may use the network. */
  indexTimeToLive: 60 * 60 * 1000,
  /** Releases that one answer holds at most. */
  releasesPerPage: 100,
  /** Pages that are asked for. */
  pages: 50,
  /** Text of one page of releases, or of another answer of the API. */
  pageBytes: 64 * 1024 * 1024,
  /** A checksum file. */
  sidecarBytes: 4096,
  /** A cached index. */
  indexBytes: 256 * 1024 * 1024,
  /** A tarball, packed. */
  tarballBytes: 256 * 1024 * 1024,
  /** Files and folders in a tarball. */
  archiveEntries: 10_000,
  /** All that comes out of a tarball. */
  unpackedBytes: 256 * 1024 * 1024,
  /** Characters of a version or a requirement. */
  requirementLength: 200,
  /** Characters of a server's text that a message shows. */
  quotedLength: 500,
  /** A path in a tarball. */
  pathBytes: 1024,
  /** Times that one request is sent. */
  attempts: 4,
  /** The first pause between two attempts; each is twice as long as the one before. */
  firstPause: 500,
  /** The longest wait for a rate limit to end; when it is longer, the command ends and says until when. */
  rateLimitWait: 120_000,
  /** How long a server may say nothing. */
  silence: 60_000,
  /** Redirects that one request follows. */
  redirects: 5,
  /** Downloads at the same time. */
  parallelDownloads: 6,
  /** Dead ends that the resolver comes to before it gives up. */
  resolverConflicts: 20_000,
  /** Packages that depend on one another. */
  packages: 5000,
  /** Rounds of fetching and resolving until nothing is missing. */
  fetchRounds: 50,
} as const;

assert(
  REGISTRY_LIMITS.releasesPerPage * REGISTRY_LIMITS.pages === 5000,
  "an index has at most 5000 releases",
);
