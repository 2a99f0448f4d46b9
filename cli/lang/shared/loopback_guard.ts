/**
 * Who may speak to a server of `lang` over HTTP, by the headers of the request alone: shared by `agent`, `serve` and
 * `mcp`.
 *
 * Pages of other sites reach a server on this machine through the browser of the person who runs it. A `Host` that is
 * no name of the loopback address means that such a site had its name resolved to this machine; an `Origin` other
 * than the server's own, that a page of another site sends the request. Both are refused, and there are no headers
 * that would let such a page read an answer. Programs send no `Origin`.
 */

const LOOPBACK_NAMES: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** A host and its port: the name is in small letters. */
function splitHost(host: string): { readonly name: string; readonly port: string } | null {
  const [, name, port = ""] = /^(\[[0-9a-f:.]+\]|[^:/?#@\s]+)(?::(\d{1,5}))?$/i.exec(host) ?? [];
  return name === undefined ? null : { name: name.toLowerCase(), port };
}

/** Whether a `Host` header names the loopback address. */
export function isLoopbackHost(host: string | null): boolean {
  const parts = host === null ? null : splitHost(host);
  return parts !== null && LOOPBACK_NAMES.has(parts.name);
}

/** Whether an `Origin` header, if there is one, is that of the server itself as `Host` names it. */
export function isOwnOrigin(origin: string | null, host: string | null): boolean {
  return origin === null || host !== null && origin.toLowerCase() === `http://${host.toLowerCase()}`;
}

/**
 * Why a request is refused with 403; null when it may be answered. A server that listens on another address than
 * loopback knows its own names.
 */
export function hostRefusal(
  headers: Headers,
  options: { readonly allowsAnyHost?: boolean } = {},
): string | null {
  const host = headers.get("host");
  if (options.allowsAnyHost !== true && !isLoopbackHost(host)) {
    return "Cannot answer the request: its Host header does not name the loopback address";
  }
  if (!isOwnOrigin(headers.get("origin"), host)) {
    return "Cannot answer the request: its Origin is another site";
  }
  return null;
}

/** Whether an `Authorization` header carries a token; takes the same time wherever they differ. */
export function hasToken(authorization: string | null, token: string): boolean {
  const [, given] = /^bearer +(.*)$/i.exec(authorization ?? "") ?? [];
  if (given === undefined) return false;
  const [left, right] = [new TextEncoder().encode(given), new TextEncoder().encode(token)];
  let difference = left.length ^ right.length;
  for (const [index, byte] of left.entries()) difference |= byte ^ (right[index % right.length] ?? 0);
  return difference === 0;
}
