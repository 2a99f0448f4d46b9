/**
 * Answers of `lang serve` as data: status, headers and what is sent. Nothing here speaks HTTP; files are named by
 * their parts.
 */
import {
  isRefused,
  isSameForRange,
  isUnchanged,
  type RequestHeaders,
  type Validators,
} from "./conditions.ts";
import { type ByteRange, chooseRanges } from "./ranges.ts";

/** Something that can be served. */
export interface Servable extends Validators {
  readonly type: string;
  readonly size: number;
}

/** What is sent: bytes, or parts of what is served. */
export type BodyPart = Uint8Array<ArrayBuffer> | ByteRange;

/** An answer. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Nothing for `HEAD` and for answers without contents. */
  readonly body: readonly BodyPart[];
}

/** The answer is what is served, or a part of it, or that the client has it. */
export function replyWith(
  served: Servable,
  request: { readonly method: string; readonly headers: RequestHeaders },
): Reply {
  const { etag, modified, type, size } = served;
  const { headers } = request;
  const common = {
    ...COMMON_HEADERS,
    "etag": etag,
    ...(modified === null ? {} : { "last-modified": new Date(modified).toUTCString() }),
    // Kept by the browser, and asked for again each time, because it may have changed.
    "cache-control": "no-cache",
  };
  if (isRefused(headers, served)) return plainReply(412, "precondition failed", request.method);
  if (isUnchanged(headers, served)) return { status: 304, headers: common, body: [] };
  const whole: Reply = {
    status: 200,
    headers: { ...common, "content-type": type, "content-length": String(size), "accept-ranges": "bytes" },
    body: size === 0 ? [] : [{ first: 0, last: size - 1 }],
  };
  // `HEAD` answers as `GET` without a range would (RFC 9110, section 14.2).
  if (request.method === "HEAD") return { ...whole, body: [] };
  const choice = isSameForRange(headers, served)
    ? chooseRanges(headers.get("range"), size)
    : { kind: "whole" as const };
  switch (choice.kind) {
    case "whole":
      return whole;
    case "unsatisfiable":
      return {
        ...plainReply(416, "range not satisfiable", request.method),
        headers: {
          ...plainReply(416, "range not satisfiable", request.method).headers,
          "content-range": `bytes */${size}`,
        },
      };
    case "parts":
      return partsReply(choice.parts, served, common);
  }
}

function partsReply(
  parts: readonly ByteRange[],
  served: Servable,
  common: Readonly<Record<string, string>>,
): Reply {
  const { type, size } = served;
  const [only] = parts;
  const rangeText = ({ first, last }: ByteRange) => `bytes ${first}-${last}/${size}`;
  if (parts.length === 1 && only !== undefined) {
    return {
      status: 206,
      headers: {
        ...common,
        "content-type": type,
        "content-range": rangeText(only),
        "content-length": String(only.last - only.first + 1),
        "accept-ranges": "bytes",
      },
      body: [only],
    };
  }
  const boundary = `part-${served.etag.replaceAll(/[^0-9A-Za-z]/g, "")}`;
  const body: BodyPart[] = [];
  let length = 0;
  const text = (value: string) => {
    const bytes = new TextEncoder().encode(value);
    length += bytes.length;
    body.push(bytes);
  };
  for (const part of parts) {
    text(`--${boundary}\r\ncontent-type: ${type}\r\ncontent-range: ${rangeText(part)}\r\n\r\n`);
    body.push(part);
    length += part.last - part.first + 1;
    text("\r\n");
  }
  text(`--${boundary}--\r\n`);
  return {
    status: 206,
    headers: {
      ...common,
      "content-type": `multipart/byteranges; boundary=${boundary}`,
      "content-length": String(length),
    },
    body,
  };
}

/** What every answer says: the declared type is the type, and pages of other origins may not embed what is served. */
const COMMON_HEADERS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
};

/** An answer of one line of text. */
export function plainReply(status: number, text: string, method: string): Reply {
  const bytes = new TextEncoder().encode(`${text}\n`);
  return {
    status,
    headers: {
      ...COMMON_HEADERS,
      "content-type": "text/plain; charset=utf-8",
      "content-length": String(bytes.length),
      "cache-control": "no-cache",
    },
    body: method === "HEAD" ? [] : [bytes],
  };
}
