/**
 * The path that a request asks for, read from its target as it came (RFC 9112, section 3.2), before anything
 * normalizes it.
 *
 * A path with `..` is refused in every spelling that a proxy or file system might resolve: raw, percent-encoded in part
 * or whole and in any case, encoded again and again, as overlong UTF-8, with backslashes. Then it is decoded once.
 */
import { LANG_LIMITS } from "../../limits.ts";

/** What a target asks for. */
export type RequestTarget =
  /** Begins with `/`, decoded. */
  | { readonly kind: "path"; readonly path: string }
  /** It leads upwards, in one spelling or another. */
  | { readonly kind: "forbidden" }
  /** It can be no file's name. */
  | { readonly kind: "unknown" };

/** Two bytes that careless decoders take for a dot (overlong UTF-8). */
const OVERLONG_DOT = "\xc0\xae";

/** Reads a target: `/path?query`, or a whole URL as proxies get it. */
export function readTarget(target: string): RequestTarget {
  const raw = target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "").replace(/[?#].*$/s, "");
  if (leadsUp(raw)) return { kind: "forbidden" };
  let path: string;
  try {
    path = decodeURIComponent(raw === "" ? "/" : raw);
  } catch {
    return { kind: "unknown" };
  }
  // deno-lint-ignore no-control-regex -- control characters are what is looked for
  const isName = path.startsWith("/") && !/[\x00-\x1f\x7f\\]/.test(path) && !path.includes("//");
  return isName ? { kind: "path", path } : { kind: "unknown" };
}

function leadsUp(raw: string): boolean {
  let text = raw;
  for (let layer = 0; layer < LANG_LIMITS.maximumPathEncodings; layer++) {
    if (text.replaceAll(OVERLONG_DOT, ".").includes("..")) return true;
    // Bytes as they are, valid UTF-8 or not.
    const decoded = text.replace(
      /%([0-9a-f]{2})/gi,
      (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)),
    );
    if (decoded === text) return false;
    text = decoded;
  }
  return true;
}
