/** The head of an HTTP answer. */

/** What the head says. */
export interface AnswerHead {
  readonly status: number;
  /** Names in lower case; values of one name joined with `, `. */
  readonly headers: ReadonlyMap<string, string>;
  /** The connection can be used again. */
  readonly keepAlive: boolean;
}

const MAX_HEADERS = 500;

/** The head of these lines; a text says what is wrong with it. */
export function parseHead(lines: readonly string[]): AnswerHead | string {
  const status = /^HTTP\/1\.([01]) (\d{3})(?: .*)?$/.exec(lines[0] ?? "");
  if (status === null) return "the first line is no status";
  if (lines.length > MAX_HEADERS) return "too many headers";
  const headers = new Map<string, string>();
  for (const line of lines.slice(1)) {
    const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):(.*)$/.exec(line);
    if (match === null) return "a header has no name";
    const name = (match[1] as string).toLowerCase(), value = (match[2] as string).trim();
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  const connection = (headers.get("connection") ?? "").toLowerCase();
  const keepAlive = status[1] === "1" ? !connection.includes("close") : connection.includes("keep-alive");
  return { status: Number(status[2]), headers, keepAlive };
}

/** The target of the first link with `rel="next"` in a `Link` header (RFC 8288), or null. */
export function nextLink(header: string | undefined): string | null {
  if (header === undefined) return null;
  const links = /<([^>]*)>((?:\s*;\s*[\w!#$&+.^`|~*-]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;,"]*))?)*)/g;
  for (const [, target, parameters] of header.matchAll(links)) {
    const rel = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(parameters ?? "");
    const names = (rel?.[1] ?? rel?.[2] ?? "").toLowerCase().split(/\s+/);
    if (names.includes("next")) return target ?? null;
  }
  return null;
}
