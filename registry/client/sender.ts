/**
 * Sends one request through the hosting service's own client. It follows no redirect and repeats nothing: that is
 * decided above.
 */
import { Octokit } from "@octokit/core";
import type { HttpRequest } from "../protocol/requests.ts";
import type { RegistryHost } from "../ports.ts";

/** An answer; its body is a stream when it was a success, a text otherwise. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>> | null;
  /** What a failure says. */
  readonly text: string;
}

/** The request did not get to an answer. */
export class NetworkFailure extends Error {
  /** Who was asked, where a redirect has led to another host. */
  readonly host: string | null;

  constructor(reason: string, cause: unknown, host: string | null = null) {
    super(reason, { cause });
    this.name = "NetworkFailure";
    this.host = host;
  }
}

/** Sends requests. */
export class Sender {
  readonly #octokit: Octokit;

  constructor(host: RegistryHost) {
    const silent = () => {};
    this.#octokit = new Octokit({
      baseUrl: host.surroundings.apiUrl,
      userAgent: host.surroundings.userAgent,
      log: { debug: silent, info: silent, warn: silent, error: silent },
      request: { fetch: host.fetch },
    });
  }

  /** Sends a request. */
  async send(
    request: HttpRequest,
    options: { readonly token: string | null; readonly signal: AbortSignal },
  ): Promise<HttpAnswer> {
    const { token, signal } = options;
    try {
      const response = await this.#octokit.request({
        method: request.method,
        url: request.url,
        headers: { ...request.headers, ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
        ...(request.body === null ? {} : { data: request.body }),
        request: { redirect: "manual", parseSuccessResponseBody: false, signal },
      });
      const body: unknown = response.data;
      return {
        status: response.status,
        headers: headersOf(response.headers),
        body: body instanceof ReadableStream ? body : null,
        text: "",
      };
    } catch (error) {
      const answer = answerOf(error);
      if (answer !== null) return answer;
      throw new NetworkFailure(reasonOf(error, signal), error, new URL(request.url).host);
    }
  }
}

/** The client throws for statuses from 400 on and for 304; those are answers too. */
function answerOf(error: unknown): HttpAnswer | null {
  if (typeof error !== "object" || error === null || !("response" in error)) return null;
  const { response } = error;
  if (typeof response !== "object" || response === null) return null;
  if (!("status" in response) || typeof response.status !== "number") return null;
  const headers = "headers" in response ? response.headers : {};
  const data = "data" in response ? response.data : "";
  return {
    status: response.status,
    headers: headersOf(typeof headers === "object" && headers !== null ? { ...headers } : {}),
    body: null,
    text: typeof data === "string" ? data : JSON.stringify(data),
  };
}

function headersOf(fields: Readonly<Record<string, unknown>>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) headers.set(name, String(value));
  }
  return headers;
}

function reasonOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted && signal.reason instanceof Error) return signal.reason.message;
  const text = messages(error).join(": ");
  if (/dns|resolve|lookup|name or service/i.test(text)) return "its name is not found; is there a network?";
  if (/refused/i.test(text)) return "nobody answers there (connection refused)";
  if (/unreachable/i.test(text)) return "the network is unreachable";
  if (/InvalidContentType/.test(text)) return "it does not speak https";
  if (/tunnel|proxy/i.test(text)) return `the proxy refuses (${lastPart(text)})`;
  if (/certificate|tls/i.test(text)) return `its certificate is not accepted (${lastPart(text)})`;
  if (/closed|reset|eof|before message completed/i.test(text)) return "the connection was closed";
  return lastPart(text);
}

function messages(error: unknown): string[] {
  const found: string[] = [];
  for (let at = error; at instanceof Error && found.length < 5; at = at.cause) found.push(at.message);
  return found;
}

function lastPart(text: string): string {
  return text.split(": ").at(-1)?.trim().slice(0, 200) ?? text;
}
