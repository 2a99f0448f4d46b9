/**
 * Which hosts get a token, and which addresses are followed at all.
 *
 * A token goes to the API's own origin, and for uploads to the same host or its `uploads.` sibling, never over a
 * weaker scheme and never along a redirect elsewhere. Addresses that answers name are followed over https, or over
 * http when the API itself is asked so.
 */

/** Whether a request to the address may carry the token. */
export function mayCarryToken(url: string, apiUrl: string): boolean {
  const [target, api] = [parseUrl(url), parseUrl(apiUrl)];
  return target !== null && api !== null && target.origin === api.origin && !hasUser(target);
}

/** Whether an upload address that the API has given may get the file and the token. */
export function mayUploadTo(url: string, apiUrl: string): boolean {
  const [target, api] = [parseUrl(url.replace(/\{[^}]*\}$/, "")), parseUrl(apiUrl)];
  if (target === null || api === null || target.protocol !== api.protocol || hasUser(target)) return false;
  const sibling = `uploads.${api.hostname.replace(/^api\./, "")}`;
  return target.hostname === api.hostname || target.hostname === sibling;
}

/** Whether an address that an answer names may be asked, without a token. */
export function isPlainWeb(url: string, apiUrl: string): boolean {
  const [target, api] = [parseUrl(url), parseUrl(apiUrl)];
  if (target === null || hasUser(target)) return false;
  if (target.protocol === "https:") return true;
  return target.protocol === "http:" && api?.protocol === "http:" && target.hostname === api.hostname;
}

function hasUser(url: URL): boolean {
  return url.username !== "" || url.password !== "";
}

function parseUrl(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
}
