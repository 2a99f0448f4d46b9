/** See `http_exchange.ts`. */
export interface HttpRequest {
  readonly method: "GET" | "HEAD" | "PUT" | "POST";
  readonly url: URL;
  /** Names in lower case. `host`, `connection` and `accept-encoding` are the client's own. */
  readonly headers: Readonly<Record<string, string>>;
}
/** An answer whose header has come. */
export interface HttpResponse {
  readonly status: number;
  /** Names in lower case; values of one name joined with `, `. */
  readonly headers: ReadonlyMap<string, string>;
  readonly url: URL;
  body(): AsyncIterable<Uint8Array>;
  close(): void;
}
/** HTTP and HTTPS. */
export interface HttpClient {
  /** Sends one request; redirects are not followed. */
  request(request: HttpRequest): Promise<HttpResponse>;
}
