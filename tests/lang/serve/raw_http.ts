/** Requests as bytes, so that nothing normalizes them on their way. */

/** An answer. */
export interface RawAnswer {
  readonly status: number;
  /** By names in small letters. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly text: string;
}

/** Sends one request and reads as much as the answer says that it has. */
export async function rawRequest(
  port: number,
  target: string,
  options: { readonly method?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<RawAnswer> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const { method = "GET" } = options;
  const headers = { host: `127.0.0.1:${port}`, connection: "close", ...options.headers };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const request = new TextEncoder().encode(`${method} ${target} HTTP/1.1\r\n${head}\r\n`);
  for (let rest = request; rest.length > 0;) rest = rest.subarray(await connection.write(rest));
  let bytes = new Uint8Array();
  const buffer = new Uint8Array(65_536);
  while (!isWhole(bytes, method)) {
    const count = await connection.read(buffer);
    if (count === null) break;
    const more = new Uint8Array(bytes.length + count);
    more.set(bytes);
    more.set(buffer.subarray(0, count), bytes.length);
    bytes = more;
  }
  return parse(bytes);
}

function isWhole(bytes: Uint8Array, method: string): boolean {
  const latin = new TextDecoder("latin1").decode(bytes.subarray(0, 8192));
  const end = latin.indexOf("\r\n\r\n");
  if (end < 0) return false;
  const [, length] = /\r\ncontent-length: (\d+)/i.exec(latin.slice(0, end)) ?? [];
  const hasBody = method !== "HEAD" && !/^HTTP\/1\.1 (101|204|304) /.test(latin);
  return !hasBody || length !== undefined && bytes.length >= end + 4 + Number(length);
}

function parse(bytes: Uint8Array<ArrayBuffer>): RawAnswer {
  const latin = new TextDecoder("latin1").decode(bytes);
  const end = latin.indexOf("\r\n\r\n");
  const [first = "", ...lines] = latin.slice(0, end).split("\r\n");
  const headers = new Map(lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  }));
  let body = bytes.slice(end + 4);
  if (headers.get("transfer-encoding") === "chunked") body = joined(body);
  return { status: Number(first.split(" ")[1]), headers, body, text: new TextDecoder().decode(body) };
}

/** Takes chunks apart (RFC 9112, section 7.1). */
function joined(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const latin = new TextDecoder("latin1").decode(bytes);
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for (let at = 0;;) {
    const lineEnd = latin.indexOf("\r\n", at);
    const size = Number.parseInt(latin.slice(at, lineEnd), 16);
    if (!(size > 0)) break;
    parts.push(bytes.slice(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let end = 0;
  for (const part of parts) {
    whole.set(part, end);
    end += part.length;
  }
  return whole;
}
