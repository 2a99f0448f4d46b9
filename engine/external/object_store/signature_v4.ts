/**
 * Amazon's signature version 4 for requests without a body (AWS documentation, "Authenticating Requests: Using the
 * Authorization Header"). Tested with the published examples.
 */
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { encodeUtf8 } from "../../base/bytes.ts";

/** What a request is signed with. */
export interface S3Credentials {
  readonly keyId: string;
  readonly secret: string;
  readonly region: string;
  /** `s3`, except in tests. */
  readonly service: string;
}

/** A request without a body. */
export interface SignedRequest {
  readonly method: string;
  readonly url: URL;
  /** Names in lower case, without `host`. All of them are signed. */
  readonly headers: Readonly<Record<string, string>>;
}

const ALGORITHM = "AWS4-HMAC-SHA256";

/** The SHA-256 of no bytes, which is what requests without a body sign. */
export const EMPTY_HASH = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/** A moment as `20130524T000000Z`; milliseconds since 1970. */
export function amazonTime(milliseconds: number): string {
  return isoTime(milliseconds).replaceAll(/[-:]|\.\d+/g, "");
}

/** A moment as `2013-05-24T00:00:00.000Z`, without asking the platform for the time. */
export function isoTime(milliseconds: number): string {
  const days = Math.floor(milliseconds / 86_400_000);
  // Civil from days (Hinnant): eras of 400 years that begin in March.
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const day = shifted - era * 146_097;
  const year = Math.floor(
    (day - Math.floor(day / 1460) + Math.floor(day / 36_524) - Math.floor(day / 146_096)) / 365,
  );
  const dayOfYear = day - (365 * year + Math.floor(year / 4) - Math.floor(year / 100));
  const month = Math.floor((5 * dayOfYear + 2) / 153);
  const inDay = milliseconds - days * 86_400_000;
  const two = (value: number): string => String(value).padStart(2, "0");
  const date = [
    String(year + era * 400 + (month >= 10 ? 1 : 0)).padStart(4, "0"),
    two(month < 10 ? month + 3 : month - 9),
    two(dayOfYear - Math.floor((153 * month + 2) / 5) + 1),
  ].join("-");
  const time = [
    Math.floor(inDay / 3_600_000),
    Math.floor(inDay / 60_000) % 60,
    Math.floor(inDay / 1000) % 60,
  ];
  return `${date}T${time.map(two).join(":")}.${String(Math.floor(inDay % 1000)).padStart(3, "0")}Z`;
}

/** Percent-encodes all but the unreserved characters, as signatures want it. */
export function encodeSegment(text: string): string {
  return encodeURIComponent(text)
    .replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** The headers of a request with its signature; `x-amz-date` must be one of them. */
export function signedHeaders(request: SignedRequest, credentials: S3Credentials): Record<string, string> {
  const { method, url, headers } = request;
  const time = headers["x-amz-date"] ?? "";
  const scope = `${time.slice(0, 8)}/${credentials.region}/${credentials.service}/aws4_request`;
  const signed = Object.entries({ ...headers, host: url.host })
    .map(([name, value]) => [name, value.trim().replaceAll(/ +/g, " ")] as const)
    .sort(([left], [right]) => left < right ? -1 : 1);
  const names = signed.map(([name]) => name).join(";");
  const query = [...url.searchParams].map(([name, value]) => `${encodeSegment(name)}=${encodeSegment(value)}`)
    .sort();
  const canonical = [
    method,
    url.pathname,
    query.join("&"),
    ...signed.map(([name, value]) => `${name}:${value}`),
    "",
    names,
    headers["x-amz-content-sha256"] ?? EMPTY_HASH,
  ].join("\n");
  const text = [ALGORITHM, time, scope, sha256(encodeUtf8(canonical)).toHex()].join("\n");
  let key = encodeUtf8(`AWS4${credentials.secret}`);
  for (const part of scope.split("/")) key = hmac(sha256, key, encodeUtf8(part));
  const signature = hmac(sha256, key, encodeUtf8(text)).toHex();
  const authorization =
    `${ALGORITHM} Credential=${credentials.keyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...headers, authorization };
}
