/** The requests to the hosting service, built without sending them. */
import { REGISTRY_LIMITS } from "../limits.ts";
import { type PackageVersion, tagOf } from "../names.ts";

/** A request; header names are in small letters. */
export interface HttpRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A JSON value, or bytes. */
  readonly body: Readonly<Record<string, unknown>> | Uint8Array<ArrayBuffer> | null;
}

/** The service's own address. */
export const DEFAULT_API_URL = "https://api.github.com";
const API_HEADERS = {
  "accept": "application/vnd.github+json",
  "x-github-api-version": "2022-11-28",
} as const;

/** What an earlier answer said of itself. */
export interface Validators {
  readonly lastModified: string | null;
  readonly etag: string | null;
}

/** One page of a registry's releases; with validators, only if it has changed. */
export function listReleasesRequest(
  { apiUrl, slug, page, validators }: {
    readonly apiUrl: string;
    readonly slug: string;
    readonly page: number;
    readonly validators: Validators | null;
  },
): HttpRequest {
  const query = `per_page=${REGISTRY_LIMITS.releasesPerPage}&page=${page}`;
  return {
    method: "GET",
    url: `${repositoryUrl(apiUrl, slug)}/releases?${query}`,
    headers: {
      ...API_HEADERS,
      ...(typeof validators?.lastModified === "string"
        ? { "if-modified-since": validators.lastModified }
        : {}),
      ...(typeof validators?.etag === "string" ? { "if-none-match": validators.etag } : {}),
    },
    body: null,
  };
}

/** Makes a release whose body is the manifest's text. */
export function createReleaseRequest(
  { apiUrl, slug, release, manifest }: {
    readonly apiUrl: string;
    readonly slug: string;
    readonly release: PackageVersion;
    readonly manifest: string;
  },
): HttpRequest {
  return {
    method: "POST",
    url: `${repositoryUrl(apiUrl, slug)}/releases`,
    headers: API_HEADERS,
    body: { tag_name: tagOf(release), body: manifest, draft: false, prerelease: false },
  };
}

/** Adds a file to a release. */
export function uploadAssetRequest(
  { uploadUrl, name, contentType, bytes }: {
    readonly uploadUrl: string;
    readonly name: string;
    readonly contentType: "application/gzip" | "text/plain";
    readonly bytes: Uint8Array<ArrayBuffer>;
  },
): HttpRequest {
  return {
    method: "POST",
    // The address comes as a template: `…/assets{?name,label}`.
    url: `${uploadUrl.replace(/\{[^}]*\}$/, "")}?name=${encodeURIComponent(name)}`,
    headers: { ...API_HEADERS, "content-type": contentType },
    body: bytes,
  };
}

/** A release's file, from a byte on. */
export function downloadRequest(url: string, from = 0): HttpRequest {
  return {
    method: "GET",
    url,
    headers: {
      "accept": "application/octet-stream",
      ...(from > 0 ? { "range": `bytes=${from}-` } : {}),
    },
    body: null,
  };
}

function repositoryUrl(apiUrl: string, slug: string): string {
  const [owner = "", repository = ""] = slug.split("/");
  return `${apiUrl.replace(/\/+$/, "")}/repos/${encodeURIComponent(owner)}/${encodeURIComponent(repository)}`;
}
