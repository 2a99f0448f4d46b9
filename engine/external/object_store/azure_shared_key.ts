/**
 * Azure's Shared Key for requests without a body to the Blob service (Microsoft's documentation, "Authorize with Shared
 * Key"). Tested with the documented texts and against Azurite.
 */
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { encodeUtf8 } from "../../base/bytes.ts";
import type { SignedRequest } from "./signature_v4.ts";

/** What a request is signed with. */
export interface AzureCredentials {
  readonly account: string;
  /** As the portal shows it, in base64. */
  readonly key: string;
}

/** Headers whose values are signed in this order, without their names. */
const STANDARD_HEADERS = [
  "content-encoding",
  "content-language",
  "content-length",
  "content-md5",
  "content-type",
  "date",
  "if-modified-since",
  "if-match",
  "if-none-match",
  "if-unmodified-since",
  "range",
];

const DAYS = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** A moment as `Fri, 26 Jun 2015 23:39:12 GMT`; `iso` is the same as text. */
export function httpTime(milliseconds: number, iso: string): string {
  const weekday = DAYS[((Math.floor(milliseconds / 86_400_000) % 7) + 7) % 7];
  const month = MONTHS[Number(iso.slice(5, 7)) - 1];
  return `${weekday}, ${iso.slice(8, 10)} ${month} ${iso.slice(0, 4)} ${iso.slice(11, 19)} GMT`;
}

/** The text that is signed. */
export function textToSign({ method, url, headers }: SignedRequest, account: string): string {
  const ours = Object.entries(headers).filter(([name]) => name.startsWith("x-ms-"))
    .sort(([left], [right]) => left < right ? -1 : 1).map(([name, value]) => `${name}:${value.trim()}`);
  const names = [...new Set([...url.searchParams.keys()].map((name) => name.toLowerCase()))].sort();
  const query = names.map((name) => {
    const values = [...url.searchParams].filter(([each]) => each.toLowerCase() === name).map(([, value]) =>
      value
    );
    return `${name}:${values.sort().join(",")}`;
  });
  return [
    method,
    ...STANDARD_HEADERS.map((name) => headers[name] ?? ""),
    ...ours,
    [`/${account}${url.pathname}`, ...query].join("\n"),
  ].join("\n");
}

/** The headers of a request with its signature; undefined when the key is no base64. */
export function sharedKeyHeaders(
  request: SignedRequest,
  { account, key }: AzureCredentials,
): Record<string, string> | undefined {
  const secret = decodeBase64(key);
  if (secret === undefined) return undefined;
  const signature = hmac(sha256, secret, encodeUtf8(textToSign(request, account)));
  return { ...request.headers, authorization: `SharedKey ${account}:${encodeBase64(signature)}` };
}

function decodeBase64(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text) || text.length % 4 !== 0) return undefined;
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function encodeBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
