/**
 * Names of the convention: slugs of registries, tags and files of releases, sources in the lockfile.
 *
 *     slug      owner/repository
 *     tag       name-version, split at the last dash that precedes a digit
 *     tarball   name-version.tar.gz, and next to it name-version.tar.gz.sha256
 *     source    registry+host://owner/repository
 */
import { RegistryError } from "./registry_error.ts";
import { isVersion } from "./requirement.ts";

/** The registry of packages that name no other. */
export const OFFICIAL_REGISTRY = "lang-registry/packages";

/** A release's package. */
export interface PackageVersion {
  readonly name: string;
  readonly version: string;
}

/** Whether a package may have this name. */
export function isPackageName(name: string): boolean {
  return /^[a-z][a-z0-9_-]{0,63}$/.test(name);
}

/** Whether it is `owner/repository`. */
export function isSlug(text: string): boolean {
  return /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})\/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/.test(text);
}

/** Takes a slug, or says why it is none. */
export function checkSlug(text: string): string {
  if (isSlug(text)) return text;
  throw new RegistryError("bad-slug", `Cannot use the registry "${text}": it is no owner/repository`, {
    kind: "usage",
    hint: "A registry is a repository of the hosting service: `octo-games/packages`.",
  });
}

/** The tag of a release, and the first part of its files' names. */
export function tagOf({ name, version }: PackageVersion): string {
  return `${name}-${version}`;
}

/** What a tag stands for; null when it is none of the convention. */
export function parseTag(tag: string): PackageVersion | null {
  let dash = -1;
  for (let index = tag.length - 2; index >= 0 && dash < 0; index--) {
    if (tag[index] === "-" && /[0-9]/.test(tag[index + 1] ?? "")) dash = index;
  }
  if (dash < 0) return null;
  const [name, version] = [tag.slice(0, dash), tag.slice(dash + 1)];
  return isPackageName(name) && isVersion(version) ? { name, version } : null;
}

/** Whether the tag of a package is read as the same package again: `fx 1.0.0-1` would be read as `fx-1.0.0 1`. */
export function hasReadableTag(release: PackageVersion): boolean {
  const parsed = parseTag(tagOf(release));
  return parsed !== null && parsed.name === release.name && parsed.version === release.version;
}

/** Name of the tarball. */
export function tarballName(release: PackageVersion): string {
  return `${tagOf(release)}.tar.gz`;
}

/** Name of the file with its checksum. */
export function sidecarName(release: PackageVersion): string {
  return `${tarballName(release)}.sha256`;
}

/** Folder of a registry's index, below `.lang/registry/`. */
export function indexFolder(slug: string): string {
  return slug.replace("/", "__");
}

/** Where a locked package comes from. */
export type Source =
  | { readonly kind: "registry"; readonly slug: string }
  | { readonly kind: "path"; readonly path: string }
  | { readonly kind: "git"; readonly url: string; readonly commit: string };

/** A source as the lockfile has it. */
export function sourceText(source: Source): string {
  switch (source.kind) {
    case "registry":
      return `registry+host://${source.slug}`;
    case "path":
      return `path+file://${source.path}`;
    case "git":
      return `git+${source.url}#${source.commit}`;
  }
}

/** Reads a source; null when it is none. */
export function parseSource(text: string): Source | null {
  const registry = /^registry\+host:\/\/(.+)$/.exec(text)?.[1];
  if (registry !== undefined) return isSlug(registry) ? { kind: "registry", slug: registry } : null;
  const path = /^path\+file:\/\/(.+)$/.exec(text)?.[1];
  if (path !== undefined) return { kind: "path", path };
  const [, url, commit] = /^git\+(.+)#([0-9a-f]{40}|[0-9a-f]{64})$/.exec(text) ?? [];
  return url === undefined || commit === undefined ? null : { kind: "git", url, commit };
}
