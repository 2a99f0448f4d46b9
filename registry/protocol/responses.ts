/** What the hosting service answers, read without asking it. */
import { type Fields, isFields } from "../fields.ts";
import { type IndexEntry } from "../registry_index.ts";
import { type PackageManifest, readPackageManifest } from "../manifest/package_manifest.ts";
import { parseTag, sidecarName, tarballName } from "../names.ts";
import { printable } from "../printable.ts";
import { RegistryError } from "../registry_error.ts";
import { isPlainWeb } from "./trust.ts";

/** One page of releases. */
export interface ReleasesPage {
  /** How many releases it has, whether they are packages or not: it tells the last page. */
  readonly count: number;
  readonly entries: readonly IndexEntry[];
}

/** Reads a page; releases whose tag is not one of the convention, drafts and those without a tarball are left out. */
export function parseReleasesPage(text: string, apiUrl: string): ReleasesPage {
  const list = parseJson(text);
  if (!Array.isArray(list)) throw unexpected("the releases are no list");
  const entries = list.flatMap((release: unknown) => {
    const entry = isFields(release) ? readRelease(release, apiUrl) : null;
    return entry === null ? [] : [entry];
  });
  return { count: list.length, entries };
}

function readRelease(release: Fields, apiUrl: string): IndexEntry | null {
  const { tag_name: tag, html_url: pageUrl, body, draft, assets } = release;
  if (typeof tag !== "string" || draft === true || !Array.isArray(assets)) return null;
  const parsed = parseTag(tag);
  if (parsed === null) return null;
  const tarball = findAsset(assets, tarballName(parsed), apiUrl);
  const sidecar = findAsset(assets, sidecarName(parsed), apiUrl);
  if (tarball === null) return null;
  const manifest = readBody(body);
  const isOwn = manifest !== null && manifest.name === parsed.name;
  return {
    ...parsed,
    tag,
    tarballUrl: tarball.url,
    sidecarUrl: sidecar?.url ?? "",
    pageUrl: typeof pageUrl === "string" && isPlainWeb(pageUrl, apiUrl) ? pageUrl : "",
    tarballApiUrl: tarball.apiUrl,
    sidecarApiUrl: sidecar?.apiUrl ?? null,
    yanked: manifest?.yanked ?? null,
    description: isOwn ? manifest.description : null,
    dependencies: isOwn ? requirementsOf(manifest) : null,
  };
}

interface Asset {
  readonly url: string;
  readonly apiUrl: string | null;
}

function findAsset(assets: readonly unknown[], name: string, apiUrl: string): Asset | null {
  for (const asset of assets) {
    // One that is still being uploaded has another state.
    if (!isFields(asset) || asset["name"] !== name || asset["state"] === "starter") continue;
    const { browser_download_url: url, url: own } = asset;
    if (typeof url !== "string" || !isPlainWeb(url, apiUrl)) continue;
    return { url, apiUrl: typeof own === "string" && isPlainWeb(own, apiUrl) ? own : null };
  }
  return null;
}

function readBody(body: unknown): PackageManifest | null {
  if (typeof body !== "string") return null;
  try {
    return readPackageManifest(body, "the release");
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error;
    return null; // People may write what they like into a release; then nothing is known of it.
  }
}

/** What a manifest of a release requires; paths and repositories of its author mean nothing to others. */
export function requirementsOf({ dependencies }: PackageManifest): ReadonlyMap<string, string> {
  return new Map(
    [...dependencies].flatMap(([name, dependency]) =>
      dependency.kind === "registry" ? [[name, dependency.requirement] as const] : []
    ),
  );
}

/** A release that was made. */
export interface CreatedRelease {
  readonly uploadUrl: string;
  readonly pageUrl: string;
}

/** Reads the answer to the making of a release. */
export function parseCreatedRelease(text: string): CreatedRelease {
  const release = parseJson(text);
  if (!isFields(release)) throw unexpected("the release is no object");
  return addressesOf(release);
}

function addressesOf(release: Fields): CreatedRelease {
  const { upload_url: uploadUrl, html_url: pageUrl } = release;
  if (typeof uploadUrl !== "string" || typeof pageUrl !== "string") {
    throw unexpected("the release has no address to upload to");
  }
  return { uploadUrl, pageUrl };
}

/** A file that a release has. */
export interface HostedFile {
  readonly name: string;
  readonly size: number;
  /** SHA-256 in lower-case digits; null when the service does not tell it. */
  readonly hash: string | null;
  /** Whether it was uploaded to its end. */
  readonly isWhole: boolean;
}

/** A release that is there, as whoever publishes sees it. */
export interface HostedRelease extends CreatedRelease {
  readonly body: string;
  readonly files: readonly HostedFile[];
}

/** Looks for the release of a tag on a page, whose number of releases it gives as well. */
export function findRelease(
  text: string,
  tag: string,
): { readonly count: number; readonly found: HostedRelease | null } {
  const list = parseJson(text);
  if (!Array.isArray(list)) throw unexpected("the releases are no list");
  const release: unknown = list.find((each: unknown) => isFields(each) && each["tag_name"] === tag);
  if (!isFields(release)) return { count: list.length, found: null };
  const { body, assets } = release;
  const files = (Array.isArray(assets) ? assets : []).map((asset: unknown): HostedFile => {
    const { name, size, digest, state } = isFields(asset) ? asset : {};
    return {
      name: typeof name === "string" ? name : "",
      size: typeof size === "number" ? size : -1,
      hash: typeof digest === "string" ? /^sha256:([0-9a-f]{64})$/.exec(digest)?.[1] ?? null : null,
      isWhole: state === "uploaded",
    };
  });
  return {
    count: list.length,
    found: { ...addressesOf(release), body: typeof body === "string" ? body : "", files },
  };
}

/** What a failure says of itself, for people: its message and its single errors, on one line. */
export function failureText(text: string): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "";
  }
  if (!isFields(value) || typeof value["message"] !== "string") return "";
  const { message, errors } = value;
  const details = Array.isArray(errors) ? errors.map(detailText).filter((each) => each !== "") : [];
  return printable(details.length === 0 ? message : `${message}: ${details.join(", ")}`);
}

function detailText(detail: unknown): string {
  if (typeof detail === "string") return detail;
  if (!isFields(detail)) return "";
  const { message, field, code } = detail;
  if (typeof message === "string") return message;
  return [field, code].filter((each) => typeof each === "string").join(" ").replaceAll("_", " ");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unexpected("it is no JSON");
  }
}

function unexpected(reason: string): RegistryError {
  return new RegistryError("bad-answer", `Cannot read the hosting service's answer: ${reason}`, {
    hint: "LANG_API_URL may name something else than the hosting service's API, or a proxy has answered.",
  });
}
