/**
 * Requests that are repeated, wait for rate limits and follow redirects, with the token only where it belongs.
 *
 * Reading is repeated after a failure on the way, a cut answer or a status from 500 on. Writing is repeated only when
 * the service has surely not done it: a rate limit or 503.
 */
import { REGISTRY_LIMITS } from "../limits.ts";
import { failureOf, judgeAnswer, pauseBefore, waitText } from "../protocol/retry.ts";
import type { HttpRequest } from "../protocol/requests.ts";
import { isPlainWeb, mayCarryToken, mayUploadTo } from "../protocol/trust.ts";
import type { RegistryHost, Watchdog } from "../ports.ts";
import { RegistryError } from "../registry_error.ts";
import { type HttpAnswer, NetworkFailure, Sender } from "./sender.ts";

/** What a request is for. */
export interface Purpose {
  /** `read the releases of octo/packages`, for messages. */
  readonly doing: string;
  readonly slug: string;
  readonly token: string | null;
}

/** A whole answer. */
export interface TextAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A part of an answer that is read on. */
interface OpenAnswer extends HttpAnswer {
  readonly watchdog: Watchdog;
}

/** Sends requests until they succeed or cannot. */
export class HttpClient {
  readonly #host: RegistryHost;
  readonly #sender: Sender;

  constructor(host: RegistryHost) {
    this.#host = host;
    this.#sender = new Sender(host);
  }

  /** A whole answer with status below 400; every other one is an error. */
  async text(request: HttpRequest, purpose: Purpose, limit: number): Promise<TextAnswer> {
    return await this.exchange(request, purpose, async (answer) => {
      const parts: Uint8Array[] = [];
      let size = 0;
      await this.read(answer, (bytes) => {
        size += bytes.length;
        if (size > limit) {
          throw new RegistryError(
            "too-large",
            `Cannot ${purpose.doing}: the answer has more than ${limit} bytes`,
          );
        }
        parts.push(bytes);
      });
      const whole = await new Blob(parts.map((part) => new Uint8Array(part))).text();
      return { status: answer.status, headers: answer.headers, text: whole };
    });
  }

  /** Sends a request, whose answer `take` reads to its end; both are done again when they fail on the way. */
  async exchange<T>(
    request: HttpRequest | (() => Promise<HttpRequest>),
    purpose: Purpose,
    take: (answer: OpenAnswer) => Promise<T>,
  ): Promise<T> {
    const { clock } = this.#host;
    for (let attempt = 1;; attempt++) {
      const built = typeof request === "function" ? await request() : request;
      const mayRepeat = built.method === "GET" && attempt < REGISTRY_LIMITS.attempts;
      const watchdog = clock.watchdog(REGISTRY_LIMITS.silence);
      try {
        const answer = await this.#follow(built, purpose, watchdog);
        if (answer.status < 400) return await take({ ...answer, watchdog });
        const verdict = judgeAnswer(answer, attempt, clock.now());
        const isSafe = built.method === "GET" || answer.status < 500 || answer.status === 503;
        if (verdict.kind !== "again" || !isSafe) {
          const { token, ...rest } = purpose;
          const hasToken = token !== null;
          throw failureOf(answer, { ...rest, text: answer.text, hasToken, now: clock.now() });
        }
        await this.#pause(purpose, verdict.reason, verdict.milliseconds);
      } catch (error) {
        if (!(error instanceof NetworkFailure)) throw error;
        const reason = `${error.host ?? new URL(built.url).host}: ${error.message}`;
        if (!mayRepeat) throw this.#unreachable(purpose, reason, error);
        await this.#pause(purpose, reason, pauseBefore(attempt));
      } finally {
        watchdog.stop();
      }
    }
  }

  /** Reads a body to its end. */
  async read(
    { body, headers, watchdog }: OpenAnswer,
    take: (bytes: Uint8Array<ArrayBuffer>) => void,
  ): Promise<void> {
    if (body === null) return;
    const reader = body.getReader();
    let received = 0;
    try {
      for (;;) {
        const { done, value } = await reader.read().catch((error) => {
          throw new NetworkFailure("the answer was cut off", error);
        });
        if (done) break;
        watchdog.touch();
        received += value.length;
        take(value);
      }
    } finally {
      await reader.cancel().catch(() => {});
    }
    const length = headers.get("content-encoding") === null ? headers.get("content-length") : null;
    if (length !== null && Number(length) !== received) {
      throw new NetworkFailure("the answer was cut off", null);
    }
  }

  async #follow(request: HttpRequest, { doing, token }: Purpose, watchdog: Watchdog): Promise<HttpAnswer> {
    const { apiUrl } = this.#host.surroundings;
    let { url } = request;
    for (let hops = 0;; hops++) {
      const isTold = mayCarryToken(url, apiUrl) || request.method === "POST" && mayUploadTo(url, apiUrl);
      const answer = await this.#sender.send({ ...request, url }, {
        token: isTold ? token : null,
        signal: watchdog.signal,
      });
      const location = answer.headers.get("location");
      if (![301, 302, 303, 307, 308].includes(answer.status) || location === null) return answer;
      await answer.body?.cancel();
      const next = URL.canParse(location, url) ? new URL(location, url).href : null;
      const refuse = (reason: string) => new RegistryError("bad-redirect", `Cannot ${doing}: ${reason}`);
      if (request.method === "POST") {
        throw refuse(`the repository has moved to ${next ?? location}; write its new name into [registry]`);
      }
      if (next === null || !isPlainWeb(next, apiUrl)) throw refuse("the server redirects to no safe address");
      if (hops >= REGISTRY_LIMITS.redirects) throw refuse("the server redirects too often");
      url = next;
    }
  }

  async #pause({ doing }: Purpose, reason: string, milliseconds: number): Promise<void> {
    this.#host.reporter.note(`Cannot ${doing} yet: ${reason}; trying again in ${waitText(milliseconds)}`);
    await this.#host.clock.sleep(milliseconds);
  }

  #unreachable({ doing }: Purpose, reason: string, error: NetworkFailure): RegistryError {
    const { proxy } = this.#host.surroundings;
    return new RegistryError("network", `Cannot ${doing}: ${reason}`, {
      cause: error,
      hint: `\`lang pkg fetch --offline\` uses what is on this machine. ${
        proxy === null
          ? "A proxy is taken from HTTPS_PROXY."
          : `Requests go through the proxy ${proxy}, by HTTPS_PROXY; NO_PROXY names hosts that do not.`
      }`,
    });
  }
}
