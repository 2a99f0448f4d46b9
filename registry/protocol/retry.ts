/** Whether and when a request is sent again, and what its failure means to people. */
import { REGISTRY_LIMITS } from "../limits.ts";
import { failureText } from "./responses.ts";
import { RegistryError } from "../registry_error.ts";

/** The part of an answer that decides. */
export interface AnswerHead {
  readonly status: number;
  readonly headers: Headers;
  /** What a failure says. */
  readonly text?: string;
}

/** What is done about an answer. */
export type Verdict =
  | { readonly kind: "take" }
  | { readonly kind: "again"; readonly milliseconds: number; readonly reason: string }
  | { readonly kind: "fail" };

/** Judges the answer to an attempt; attempts count from 1, `now` in milliseconds. */
export function judgeAnswer(head: AnswerHead, attempt: number, now: number): Verdict {
  if (head.status < 400) return { kind: "take" };
  if (attempt >= REGISTRY_LIMITS.attempts) return { kind: "fail" };
  if (isRateLimited(head)) {
    const milliseconds = rateLimitWait(head, now);
    return milliseconds === null || milliseconds > REGISTRY_LIMITS.rateLimitWait
      ? { kind: "fail" }
      : { kind: "again", milliseconds, reason: "the rate limit is used up" };
  }
  if (head.status < 500 && head.status !== 408) return { kind: "fail" };
  const asked = retryAfter(head, now);
  if (asked !== null && asked > REGISTRY_LIMITS.rateLimitWait) return { kind: "fail" };
  return {
    kind: "again",
    milliseconds: asked ?? pauseBefore(attempt),
    reason: `the server answered with status ${head.status}`,
  };
}

/** The pause after an attempt that failed on its way. */
export function pauseBefore(attempt: number): number {
  return REGISTRY_LIMITS.firstPause * 2 ** (attempt - 1);
}

/** Whether the answer means that too much was asked. */
function isRateLimited({ status, headers, text = "" }: AnswerHead): boolean {
  if (status === 429) return true;
  if (status !== 403) return false;
  // Of its second limit, on requests at the same time, the service may tell in words alone.
  return headers.get("x-ratelimit-remaining") === "0" || headers.has("retry-after") ||
    /rate limit/i.test(failureText(text));
}

/** Milliseconds until the service takes requests again, by its headers; null when they do not say. */
export function rateLimitWait(head: AnswerHead, now: number): number | null {
  const asked = retryAfter(head, now);
  if (asked !== null) return asked;
  const reset = head.headers.get("x-ratelimit-reset");
  if (reset === null || !/^\d{1,12}$/.test(reset)) return null;
  return Math.max(0, Number(reset) * 1000 - now);
}

function retryAfter({ headers }: AnswerHead, now: number): number | null {
  const text = headers.get("retry-after")?.trim();
  if (text === undefined || text === "") return null;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/** The failure that an answer means, in words. */
export function failureOf(
  head: AnswerHead,
  { text, doing, slug, hasToken, now }: {
    readonly text: string;
    /** What was tried: `read the releases of octo/packages`. */
    readonly doing: string;
    readonly slug: string;
    readonly hasToken: boolean;
    readonly now: number;
  },
): RegistryError {
  const said = failureText(text);
  const behind = said === "" ? "" : ` (${said})`;
  const fail = (code: string, reason: string, hint: string | null = null) =>
    new RegistryError(code, `Cannot ${doing}: ${reason}${behind}`, { hint });
  if (isRateLimited(head)) {
    const wait = rateLimitWait(head, now);
    const until = wait === null ? "" : `; it takes requests again in ${waitText(wait)}`;
    return fail(
      "rate-limited",
      `the hosting service's rate limit is used up${until}`,
      hasToken
        ? null
        : "With a token it takes 5000 requests an hour instead of 60: `lang pkg login`, or HOST_TOKEN.",
    );
  }
  const login = `\`lang pkg login ${slug}\` stores a token; it needs the scope \`repo\`.`;
  switch (head.status) {
    case 401:
      return fail("unauthorized", "the hosting service does not accept the token", login);
    case 403:
      return fail("forbidden", hasToken ? "the token does not allow it" : "it needs a token", login);
    case 404:
      return fail(
        "not-found",
        `${slug} does not exist, or ${hasToken ? "the token does not reach it" : "it is private"}`,
        hasToken
          ? "Look at `[registry]` in project.toml."
          : `Look at \`[registry]\` in project.toml. ${login}`,
      );
    case 416:
      return fail("bad-range", "the server has no such part of the file");
    case 422:
      return fail("refused", "the hosting service refuses it");
    default:
      return fail(
        "server-failed",
        `the hosting service answered with status ${head.status}${againText(head, now)}`,
      );
  }
}

/** When the service says itself that it will take requests again. */
function againText(head: AnswerHead, now: number): string {
  const asked = retryAfter(head, now);
  return asked === null ? "" : `; it takes requests again in ${waitText(asked)}`;
}

/** `1 second`, `12 minutes`: a wait, rounded up. */
export function waitText(milliseconds: number): string {
  const seconds = Math.max(1, Math.ceil(milliseconds / 1000));
  const [count, unit] = seconds < 120 ? [seconds, "second"] : [Math.ceil(seconds / 60), "minute"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
