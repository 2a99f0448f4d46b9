/** Paths and the URIs by which editors name them. */

/** Where documents of the library have their places, for editors that show them without a file. */
export const LIBRARY_SCHEME = "lang-library";

/** The absolute path of a `file:` URI with `/`, or null for others. */
export function pathOfUri(uri: string): string | null {
  let parsed: URL;
  try {
    parsed = new URL(uri);
    if (parsed.protocol !== "file:" || parsed.host !== "" && parsed.host !== "localhost") return null;
    const path = decodeURIComponent(parsed.pathname);
    // A drive of Windows has a slash before its letter.
    return /^\/[A-Za-z]:(\/|$)/.test(path) ? path.slice(1) : path;
  } catch {
    return null;
  }
}

/** The URI of an absolute path. */
export function uriOfPath(path: string): string {
  const parts = path.replaceAll("\\", "/").split("/").map(encodeURIComponent);
  return `file://${path.startsWith("/") ? "" : "/"}${parts.join("/")}`;
}

/** `lang-library:/std/list.lang` of `std:list`. */
export function libraryUri(path: string): string {
  return `${LIBRARY_SCHEME}:/${path.replace(":", "/")}.lang`;
}

/** `std:list` of `lang-library:/std/list.lang`; null for other URIs. */
export function libraryPathOfUri(uri: string): string | null {
  const match = /^lang-library:\/+([a-z]+)\/([a-z0-9_]+)\.lang$/.exec(uri);
  return match === null ? null : `${match[1]}:${match[2]}`;
}
