/**
 * The catalog of one registry, kept in `.lang/registry/<owner>__<repo>/index.json`, so that resolving needs no network.
 *
 *     {"slug": "octo-games/packages", "fetched_at": 1790000000, "last_modified": "…"|null, "etag": "…"|null, "releases": [
 *       {"name": "fx", "version": "0.3.2", "tag": "fx-0.3.2", "tarball_url": "…", "sha256_url": "…"|"", "html_url": "…",
 *        "yanked"?: "reason", "description"?: "…", "dependencies"?: {"noise": "^1.0"},
 *        "tarball_api_url"?: "…", "sha256_api_url"?: "…"}]}
 *
 * `fetched_at` counts whole seconds since 1970. `sha256_url` is empty when the release has no checksum file.
 * `dependencies` are those of the manifest in the release's body, left out when there is no such manifest. The
 * addresses of the API serve private repositories, the others cost nothing of the rate limit.
 */
import { isFields } from "./fields.ts";
import { REGISTRY_LIMITS } from "./limits.ts";
import { isPackageName, isSlug, type PackageVersion } from "./names.ts";
import { isRequirement, isVersion } from "./requirement.ts";

/** One release. */
export interface IndexEntry extends PackageVersion {
  readonly tag: string;
  readonly tarballUrl: string;
  /** Empty: there is none. */
  readonly sidecarUrl: string;
  readonly pageUrl: string;
  readonly tarballApiUrl: string | null;
  readonly sidecarApiUrl: string | null;
  readonly yanked: string | null;
  readonly description: string | null;
  /** Requirements by package; null when they are not known. */
  readonly dependencies: ReadonlyMap<string, string> | null;
}

/** What is known of a registry. */
export interface RegistryIndex {
  readonly slug: string;
  /** Whole seconds since 1970. */
  readonly fetchedAt: number;
  readonly lastModified: string | null;
  readonly etag: string | null;
  readonly releases: readonly IndexEntry[];
}

/** Whether the index is older than an hour, or from the future, at a time in milliseconds. */
export function isStale(index: RegistryIndex, now: number): boolean {
  const age = now - index.fetchedAt * 1000;
  return age >= REGISTRY_LIMITS.indexTimeToLive || age < -REGISTRY_LIMITS.indexTimeToLive;
}

/** The text of `index.json`. */
export function formatIndex(index: RegistryIndex): string {
  const { slug, fetchedAt, lastModified, etag } = index;
  const releases = index.releases.map((entry) => ({
    name: entry.name,
    version: entry.version,
    tag: entry.tag,
    tarball_url: entry.tarballUrl,
    sha256_url: entry.sidecarUrl,
    html_url: entry.pageUrl,
    ...(entry.yanked === null ? {} : { yanked: entry.yanked }),
    ...(entry.description === null ? {} : { description: entry.description }),
    ...(entry.dependencies === null ? {} : { dependencies: Object.fromEntries(entry.dependencies) }),
    ...(entry.tarballApiUrl === null ? {} : { tarball_api_url: entry.tarballApiUrl }),
    ...(entry.sidecarApiUrl === null ? {} : { sha256_api_url: entry.sidecarApiUrl }),
  }));
  const head = JSON.stringify({ slug, fetched_at: fetchedAt, last_modified: lastModified, etag });
  // A line for each release: quick to read for programs, and for people as well.
  return `${head.slice(0, -1)},"releases":[\n${
    releases.map((each) => JSON.stringify(each)).join(",\n")
  }\n]}\n`;
}

/** Reads `index.json` of a registry; null when the text is none, so that it is fetched anew. */
export function readIndex(text: string, slug: string): RegistryIndex | null {
  if (text.length > REGISTRY_LIMITS.indexBytes) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isFields(value) || value["slug"] !== slug || !isSlug(slug)) return null;
  const { fetched_at: fetchedAt, last_modified: lastModified, etag, releases } = value;
  if (typeof fetchedAt !== "number" || !Number.isSafeInteger(fetchedAt) || fetchedAt < 0) return null;
  if (!isTextOrNull(lastModified) || !isTextOrNull(etag) || !Array.isArray(releases)) return null;
  if (releases.length > REGISTRY_LIMITS.pages * REGISTRY_LIMITS.releasesPerPage) return null;
  const entries: IndexEntry[] = [];
  const seen = new Set<string>();
  for (const release of releases) {
    const entry = readEntry(release);
    // The tag is name and version, which may not come twice.
    if (entry === null || seen.has(entry.tag)) return null;
    seen.add(entry.tag);
    entries.push(entry);
  }
  return { slug, fetchedAt, lastModified, etag, releases: entries };
}

function readEntry(value: unknown): IndexEntry | null {
  if (!isFields(value)) return null;
  const { name, version, tag, tarball_url, sha256_url, html_url } = value;
  const { yanked = null, description = null, tarball_api_url = null, sha256_api_url = null } = value;
  const isNamed = typeof name === "string" && isPackageName(name) &&
    typeof version === "string" && isVersion(version);
  if (!isNamed || tag !== `${name}-${version}`) return null;
  if (typeof tarball_url !== "string" || typeof sha256_url !== "string" || typeof html_url !== "string") {
    return null;
  }
  if (!isTextOrNull(yanked) || !isTextOrNull(description)) return null;
  if (!isTextOrNull(tarball_api_url) || !isTextOrNull(sha256_api_url)) return null;
  const dependencies = readRequirements(value["dependencies"]);
  if (dependencies === undefined) return null;
  return {
    name,
    version,
    tag,
    tarballUrl: tarball_url,
    sidecarUrl: sha256_url,
    pageUrl: html_url,
    tarballApiUrl: tarball_api_url,
    sidecarApiUrl: sha256_api_url,
    yanked,
    description,
    dependencies,
  };
}

function readRequirements(value: unknown): ReadonlyMap<string, string> | null | undefined {
  if (value === undefined) return null;
  if (!isFields(value)) return undefined;
  const requirements = new Map<string, string>();
  for (const name of Object.keys(value)) {
    const requirement = value[name];
    const isGood = isPackageName(name) && typeof requirement === "string" && isRequirement(requirement);
    if (!isGood) return undefined;
    requirements.set(name, requirement);
  }
  return requirements;
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === "string";
}
