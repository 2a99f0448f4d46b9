/**
 * `s3://bucket/key` and `az://container/blob`: which HTTPS address an object has, and how requests for it are signed.
 * Secrets are read from the environment for each REFRESH and are part of no message.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { Clock } from "../../host/host.ts";
import { unixMillisecondsFromTimestamp } from "../../types/date_time.ts";
import type { HttpResponse } from "../http_client.ts";
import { sourceError } from "../source_errors.ts";
import type { OpenContext, SourceBytes, SourceOpener } from "../source_reader.ts";
import { httpTime, sharedKeyHeaders } from "./azure_shared_key.ts";
import { type ObjectAddress, openObject } from "./object_reader.ts";
import { amazonTime, EMPTY_HASH, encodeSegment, isoTime, signedHeaders } from "./signature_v4.ts";

const DEFAULT_REGION = "us-east-1";
const AZURE_VERSION = "2021-08-06";

/** The opener of `s3:` and `az:` addresses. */
export function objectStoreOpener(clock: Pick<Clock, "now">): SourceOpener {
  const now = (): number => unixMillisecondsFromTimestamp(clock.now());
  return {
    schemes: ["s3:", "az:"],
    async open(url: URL, context: OpenContext): Promise<SourceBytes> {
      const address = url.protocol === "s3:"
        ? amazonObject(url, context, now)
        : azureObject(url, context, now);
      return await openObject(address, context);
    },
  };
}

/** The key within its bucket or container. Raises 22023. */
function keyOf(url: URL): string {
  const name = `${url.protocol}//${url.host}${url.pathname}`;
  if (url.search !== "") throw invalid(`the address of ${name} must not have a query`);
  let key: string;
  try {
    key = decodeURIComponent(url.pathname.slice(1));
  } catch {
    throw invalid(`${name} is not a valid address: its percent signs encode no text`);
  }
  if (key === "" || key.endsWith("/")) {
    throw invalid(
      `${name} names no object`,
      "An address ends with the name of one object; several are not read as one.",
    );
  }
  return key;
}

function invalid(message: string, hint?: string): DatabaseError {
  return new DatabaseError(SQLSTATE.invalidParameterValue, message, hint === undefined ? {} : { hint });
}

function objectUrl(endpoint: URL, container: string | null, key: string): URL {
  const base = endpoint.pathname.replace(/\/+$/, "");
  const segments = key.split("/").map(encodeSegment);
  const path = [base, ...(container === null ? [] : [encodeSegment(container)]), ...segments].join("/");
  const url = new URL(endpoint.origin);
  url.pathname = path;
  // An address is normalized where a segment is a dot or two, and would name another object.
  if (url.pathname !== path) throw invalid(`the key "${key}" cannot be part of an address`);
  return url;
}

function amazonObject(url: URL, { source, secret }: OpenContext, now: () => number): ObjectAddress {
  const key = keyOf(url);
  const bucket = url.hostname;
  const region = source.region ?? DEFAULT_REGION;
  const { auth, endpoint } = source;
  // With a dot in its name a bucket has no certificate of its own.
  const isOwnHost = endpoint === null && !bucket.includes(".") && bucket === bucket.toLowerCase();
  const host = isOwnHost ? `${bucket}.s3.${region}.amazonaws.com` : `s3.${region}.amazonaws.com`;
  const credentials = auth?.kind === "s3"
    ? {
      keyId: printable(auth.keyIdVariable, secret),
      secret: printable(auth.secretVariable, secret),
      region,
      service: "s3",
    }
    : null;
  const target = objectUrl(new URL(endpoint ?? `https://${host}`), isOwnHost ? null : bucket, key);
  return {
    name: `s3://${bucket}/${key}`,
    url: target,
    headers(method, headers) {
      if (credentials === null) return headers;
      const all = { ...headers, "x-amz-content-sha256": EMPTY_HASH, "x-amz-date": amazonTime(now()) };
      return signedHeaders({ method, url: target, headers: all }, credentials);
    },
    hint({ headers }: HttpResponse) {
      const elsewhere = headers.get("x-amz-bucket-region");
      return elsewhere !== undefined && /^[a-z0-9-]{1,40}$/.test(elsewhere) && elsewhere !== region
        ? `The bucket is in another region: REGION '${elsewhere}'`
        : undefined;
    },
  };
}

function azureObject(url: URL, { source, secret }: OpenContext, now: () => number): ObjectAddress {
  const key = keyOf(url);
  const container = url.hostname;
  const { auth, endpoint } = source;
  const account = auth?.kind === "azure" ? auth.account : null;
  if (account !== null && !/^[a-z0-9]{3,24}$/.test(account)) {
    throw invalid(
      `"${account}" is not the name of a storage account`,
      "It is 3 to 24 lower-case letters and digits.",
    );
  }
  if (account === null && endpoint === null) {
    throw invalid(
      "an az:// address without AUTH AZURE needs ENDPOINT",
      "ENDPOINT 'https://account.blob.core.windows.net'",
    );
  }
  const secretKey = auth?.kind === "azure" ? printable(auth.keyVariable, secret) : null;
  const target = objectUrl(new URL(endpoint ?? `https://${account}.blob.core.windows.net`), container, key);
  return {
    name: `az://${container}/${key}`,
    url: target,
    headers(method, headers) {
      const milliseconds = now();
      const all = {
        ...headers,
        "x-ms-date": httpTime(milliseconds, isoTime(milliseconds)),
        "x-ms-version": AZURE_VERSION,
      };
      if (account === null || secretKey === null || auth?.kind !== "azure") return all;
      const signed = sharedKeyHeaders({ method, url: target, headers: all }, { account, key: secretKey });
      if (signed !== undefined) return signed;
      throw new DatabaseError(
        SQLSTATE.objectNotInPrerequisiteState,
        `the value of the environment variable "${auth.keyVariable}" is not a key of a storage account`,
        { hint: "Keys are in base64, as the portal shows them." },
      );
    },
    hint: () => undefined,
  };
}

/** A secret, which goes into headers or signatures. */
function printable(variable: string, secret: (variable: string) => string): string {
  const value = secret(variable).trim();
  if (/^[\x21-\x7e]+$/.test(value)) return value;
  throw sourceError(`the value of the environment variable "${variable}" has characters that no key has`);
}
