/**
 * Opens `http:` and `https:` addresses: redirects, credentials, what the server's status means.
 *
 * Invariant: credentials go to the origin of the source's own address only, be it by a redirect or as a next page.
 * Every address on the way is checked by the client anew. A request is sent again as long as no answer has come that
 * can be used; once its rows are being read, a connection that breaks off ends the REFRESH.
 */
import { SQLSTATE } from "../base/errors.ts";
import { DatabaseError } from "../base/errors.ts";
import type { SourceFormat } from "../catalog/external_source.ts";
import { attempted, passingFailure, passingStatus } from "./attempts.ts";
import type { HttpRequest, HttpResponse } from "./http_client.ts";
import { nextLink } from "./http_head.ts";
import { SOURCE_LIMITS } from "./limits.ts";
import { shownAddress, sourceError } from "./source_errors.ts";
import type { OpenContext, SourceBytes, SourceOpener } from "./source_reader.ts";

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

const ACCEPTS: Readonly<Record<SourceFormat, string>> = {
  json: "application/json, */*;q=0.5",
  ndjson: "application/x-ndjson, application/json;q=0.5, */*;q=0.1",
  csv: "text/csv, */*;q=0.5",
  parquet: "*/*",
};

/** See the file's head. */
export const httpOpener: SourceOpener = {
  schemes: ["http:", "https:"],
  async open(url: URL, context: OpenContext): Promise<SourceBytes> {
    const origin = new URL(context.source.url).origin;
    let at = url;
    for (let redirects = 0;; redirects++) {
      const headers = {
        accept: ACCEPTS[context.source.format],
        "accept-encoding": "gzip",
        "user-agent": "dbd",
        ...(at.origin === origin ? credentials(context) : {}),
      };
      const response = await attempted(() => answerOf({ method: "GET", url: at, headers }, context), context);
      if (!REDIRECTS.has(response.status)) return content(response, at);
      response.close();
      if (redirects === SOURCE_LIMITS.redirects) {
        throw sourceError(`${shownAddress(url)} redirects more than ${SOURCE_LIMITS.redirects} times`);
      }
      at = followed(at, response.headers.get("location"), "redirects");
    }
  },
};

/** A 200 or a redirect; everything else is an error, which may pass. */
async function answerOf(request: HttpRequest, context: OpenContext): Promise<HttpResponse> {
  const response = await context.http.request(request).catch((thrown: unknown) => {
    throw passingFailure(thrown, context);
  });
  const { status } = response;
  if (status === 200 || REDIRECTS.has(status)) return response;
  response.close();
  const hint = "See AUTH, and the environment variable that it names.";
  throw passingStatus(
    response,
    sourceError(
      `${shownAddress(request.url)} answers with status ${status}`,
      status === 401 || status === 403 ? { hint } : {},
    ),
  );
}

/** The address that another one leads to. Raises HV000 where it may not. */
export function followed(from: URL, target: string | undefined, verb: "redirects" | "continues"): URL {
  const shown = shownAddress(from);
  if (target === undefined) throw sourceError(`${shown} ${verb} without saying where`);
  if (target.length > SOURCE_LIMITS.addressCharacters || !URL.canParse(target, from)) {
    throw sourceError(`${shown} ${verb} to what is not an address`);
  }
  const to = new URL(target, from);
  to.hash = "";
  if (to.protocol !== "http:" && to.protocol !== "https:") {
    throw sourceError(`${shown} ${verb} to a ${to.protocol} address, which is not followed`);
  }
  if (from.protocol === "https:" && to.protocol === "http:") {
    throw sourceError(`${shown} ${verb} to ${shownAddress(to)}, which is not encrypted, and is not followed`);
  }
  if (to.username !== "" || to.password !== "") {
    throw sourceError(`${shown} ${verb} to an address with a user name, which is not followed`);
  }
  return to;
}

function credentials({ source, secret }: OpenContext): Record<string, string> {
  const { auth } = source;
  if (auth?.kind === "bearer") return { authorization: `Bearer ${headerValue(auth.variable, secret)}` };
  if (auth?.kind === "header") return { [auth.header.toLowerCase()]: headerValue(auth.variable, secret) };
  return {};
}

function headerValue(variable: string, secret: (variable: string) => string): string {
  const value = secret(variable).trim();
  if (/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value)) return value;
  throw new DatabaseError(
    SQLSTATE.objectNotInPrerequisiteState,
    `the value of the environment variable "${variable}" cannot be sent in a header`,
  );
}

function content(response: HttpResponse, url: URL): SourceBytes {
  const name = shownAddress(url);
  const { headers } = response;
  const coding = (headers.get("content-encoding") ?? "identity").trim().toLowerCase();
  if (coding !== "identity" && coding !== "gzip" && coding !== "x-gzip") {
    response.close();
    throw sourceError(`${name} is encoded as ${coding.slice(0, 40)}, which was not asked for`);
  }
  const length = headers.get("content-length");
  return {
    name,
    address: url,
    size: coding === "identity" && length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : null,
    chunks: () => response.body(),
    range: null,
    nextLink: nextLink(headers.get("link")),
    close: () => response.close(),
  };
}
