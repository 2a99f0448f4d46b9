/** The cached indexes of a package's registries, and asking the registries for what is newer. */
import { REGISTRY_LIMITS } from "../limits.ts";
import { indexFolder } from "../names.ts";
import { listReleasesRequest } from "../protocol/requests.ts";
import { parseReleasesPage } from "../protocol/responses.ts";
import type { RegistryHost } from "../ports.ts";
import { formatIndex, type IndexEntry, isStale, readIndex, type RegistryIndex } from "../registry_index.ts";
import { RegistryError } from "../registry_error.ts";
import type { HttpClient } from "./http_client.ts";
import { tokenFor } from "./tokens.ts";

/** Where the index of a registry is. */
export function indexPath(root: string, slug: string): string {
  return `${root}/.lang/registry/${indexFolder(slug)}/index.json`;
}

/** The indexes that are cached. */
export async function cachedIndexes(
  host: RegistryHost,
  root: string,
  slugs: readonly string[],
): Promise<RegistryIndex[]> {
  const found = await Promise.all(slugs.map(async (slug) => {
    const index = await cachedIndex(host, root, slug);
    if (index === "damaged") {
      host.reporter.warn(
        `The cached index of ${slug} is damaged and is not used; \`lang pkg update --refresh\` reads it anew`,
      );
      return null;
    }
    return index;
  }));
  return found.filter((each) => each !== null);
}

async function cachedIndex(
  host: RegistryHost,
  root: string,
  slug: string,
): Promise<RegistryIndex | "damaged" | null> {
  const text = await host.files.readText(indexPath(root, slug));
  if (text === null) return null;
  return readIndex(text, slug) ?? "damaged";
}

/**
 * Asks for the indexes that are missing or older than an hour, or for all of them from the beginning.
 * An extra registry that cannot be asked is a warning; the default one without a cache is an error.
 */
export async function refreshIndexes(
  { host, http, root, slugs, all }: {
    readonly host: RegistryHost;
    readonly http: HttpClient;
    readonly root: string;
    readonly slugs: readonly string[];
    readonly all: boolean;
  },
): Promise<RegistryIndex[]> {
  const indexes = await Promise.all(slugs.map(async (slug, place) => {
    const known = await cachedIndex(host, root, slug);
    const cached = known === "damaged" ? null : known;
    if (!all && cached !== null && !isStale(cached, host.clock.now())) return cached;
    try {
      return await refreshIndex({ host, http, root, slug, cached: all ? null : cached });
    } catch (error) {
      if (!(error instanceof RegistryError)) throw error;
      if (place === 0 && cached === null) throw error;
      const instead = cached === null ? "it is left out" : "its cached index is used";
      host.reporter.warn(`${error.message}; ${instead}`);
      return cached;
    }
  }));
  return indexes.filter((each) => each !== null);
}

async function refreshIndex(
  { host, http, root, slug, cached }: {
    readonly host: RegistryHost;
    readonly http: HttpClient;
    readonly root: string;
    readonly slug: string;
    readonly cached: RegistryIndex | null;
  },
): Promise<RegistryIndex> {
  const { apiUrl } = host.surroundings;
  const token = await tokenFor(host, slug);
  const purpose = { doing: `read the releases of ${slug}`, slug, token };
  const seconds = Math.floor(host.clock.now() / 1000);
  const save = async (index: RegistryIndex) => {
    try {
      await host.files.write(indexPath(root, slug), formatIndex(index));
    } catch (error) {
      if (!(error instanceof RegistryError)) throw error;
      // What was read serves this command all the same, in a folder that may not be written to.
      host.reporter.warn(`${error.message}; the next command will ask again`);
    }
    return index;
  };
  const releases = new Map<string, IndexEntry>();
  let [lastModified, etag]: (string | null)[] = [null, null];
  for (let page = 1; page <= REGISTRY_LIMITS.pages; page++) {
    const validators = page === 1 ? cached : null;
    const request = listReleasesRequest({ apiUrl, slug, page, validators });
    const answer = await http.text(request, purpose, REGISTRY_LIMITS.pageBytes);
    if (answer.status === 304 && cached !== null) return await save({ ...cached, fetchedAt: seconds });
    if (page === 1) {
      [lastModified, etag] = [answer.headers.get("last-modified"), answer.headers.get("etag")];
    }
    const { count, entries } = parseReleasesPage(answer.text, apiUrl);
    // A release that is published meanwhile pushes others to the next page, where they come again.
    for (const entry of entries) {
      if (!releases.has(entry.tag)) releases.set(entry.tag, entry);
    }
    if (count < REGISTRY_LIMITS.releasesPerPage) break;
    const isLast = !/rel="next"/.test(answer.headers.get("link") ?? "");
    if (page === REGISTRY_LIMITS.pages && !isLast) {
      host.reporter.warn(`${slug} has more than ${count * page} releases; those before are not seen`);
    }
  }
  return await save({
    slug,
    fetchedAt: seconds,
    lastModified: lastModified ?? null,
    etag: etag ?? null,
    releases: [...releases.values()],
  });
}
