/**
 * Conditions of requests (RFC 9110, section 13): whether a client has the file already, and whether a part fits the
 * part that it has.
 */

/** What tells versions of a file apart. */
export interface Validators {
  /** With its quotes; weak ones begin with `W/`. */
  readonly etag: string;
  /** Milliseconds since 1970; null when it is not known. */
  readonly modified: number | null;
}

/** The headers of a request, by names in small letters. */
export interface RequestHeaders {
  get(name: string): string | null;
}

/** Whether the answer is 304: `If-None-Match` counts, and only without it `If-Modified-Since`. */
export function isUnchanged(headers: RequestHeaders, { etag, modified }: Validators): boolean {
  const known = headers.get("if-none-match");
  if (known !== null) {
    return known.trim() === "*" ||
      entityTags(known).some((each) => withoutWeakness(each) === withoutWeakness(etag));
  }
  const since = dateOf(headers.get("if-modified-since"));
  return since !== null && modified !== null && wholeSeconds(modified) <= since;
}

/**
 * Whether the condition of a conditional update fails, for which the answer is 412: nothing here is changed, but RFC
 * 9110 asks for it.
 */
export function isRefused(headers: RequestHeaders, { etag, modified }: Validators): boolean {
  const wanted = headers.get("if-match");
  if (wanted !== null) {
    return wanted.trim() !== "*" &&
      !entityTags(wanted).some((each) => each === etag && !each.startsWith("W/"));
  }
  const since = dateOf(headers.get("if-unmodified-since"));
  return since !== null && modified !== null && wholeSeconds(modified) > since;
}

/** Whether `Range` counts: without `If-Range`, or when that names this version, by a strong tag or by its date. */
export function isSameForRange(headers: RequestHeaders, { etag, modified }: Validators): boolean {
  const condition = headers.get("if-range")?.trim();
  if (condition === undefined) return true;
  if (condition.startsWith('"') || condition.startsWith("W/")) {
    return condition === etag && !etag.startsWith("W/");
  }
  const since = dateOf(condition);
  return since !== null && modified !== null && wholeSeconds(modified) === since;
}

function entityTags(list: string): string[] {
  return list.match(/(?:W\/)?"[^"]*"/g) ?? [];
}

function withoutWeakness(etag: string): string {
  return etag.startsWith("W/") ? etag.slice(2) : etag;
}

/** Milliseconds of a date as HTTP writes it. */
function dateOf(text: string | null): number | null {
  if (text === null) return null;
  const value = Date.parse(text);
  return Number.isNaN(value) ? null : value;
}

function wholeSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000) * 1000;
}
