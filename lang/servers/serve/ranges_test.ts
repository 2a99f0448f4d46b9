/** Tests of ranges and of the answers to them (RFC 9110, section 14). */
import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { chooseRanges } from "./ranges.ts";
import { type BodyPart, replyWith } from "./reply.ts";

function parts(header: string, size = 100): string {
  const choice = chooseRanges(header, size);
  return choice.kind === "parts"
    ? choice.parts.map(({ first, last }) => `${first}-${last}`).join()
    : choice.kind;
}

Deno.test("chooseRanges() reads single, open, suffix and several ranges", () => {
  const cases: Readonly<Record<string, string>> = {
    "bytes=0-9": "0-9",
    "bytes=90-": "90-99",
    "bytes=-5": "95-99",
    "bytes=-500": "0-99",
    "bytes=95-1000": "95-99",
    "BYTES = 1-2": "1-2",
    "bytes=0-0,5-6, -1": "0-0,5-6,99-99",
    "bytes=50-59,0-9": "50-59,0-9",
    "bytes=0-9,200-300": "0-9",
    "bytes=100-": "unsatisfiable",
    "bytes=-0": "unsatisfiable",
    "bytes=200-300,400-": "unsatisfiable",
  };
  for (const [header, expected] of Object.entries(cases)) strictEqual(parts(header), expected, header);
  strictEqual(parts("bytes=0-", 0), "unsatisfiable");
});

Deno.test("chooseRanges() ignores what it cannot read and what costs more than the whole file", () => {
  const ignored = [
    "bytes=",
    "bytes=a-b",
    "bytes=5-2",
    "bytes=-",
    "lines=0-1",
    "0-1",
    "bytes=0-9,5-15",
    "bytes=1-2,x",
  ];
  for (
    const header of [
      ...ignored,
      `bytes=${Array.from({ length: 17 }, (_, n) => `${n * 2}-${n * 2}`).join()}`,
    ]
  ) {
    strictEqual(parts(header), "whole", header);
  }
  strictEqual(chooseRanges(null, 5).kind, "whole");
});

const FILE = { etag: '"abc"', modified: Date.UTC(2024, 0, 2, 3, 4, 5, 678), size: 26, type: "text/plain" };
const LETTERS = new TextEncoder().encode("abcdefghijklmnopqrstuvwxyz");

function ask(headers: Record<string, string>, method = "GET") {
  const reply = replyWith(FILE, { method, headers: new Headers(headers) });
  const bytes = (part: BodyPart) =>
    part instanceof Uint8Array ? part : LETTERS.subarray(part.first, part.last + 1);
  const body = reply.body.map((part) => new TextDecoder().decode(bytes(part))).join("");
  return { ...reply, body };
}

Deno.test("replyWith() sends one part as itself and several as multipart/byteranges", () => {
  const one = ask({ range: "bytes=2-4" });
  deepStrictEqual([one.status, one.body, one.headers["content-range"], one.headers["content-length"]], [
    206,
    "cde",
    "bytes 2-4/26",
    "3",
  ]);
  const several = ask({ range: "bytes=0-1,-2" });
  strictEqual(several.status, 206);
  match(several.headers["content-type"] ?? "", /^multipart\/byteranges; boundary=part-abc$/);
  strictEqual(
    several.body,
    "--part-abc\r\ncontent-type: text/plain\r\ncontent-range: bytes 0-1/26\r\n\r\nab\r\n" +
      "--part-abc\r\ncontent-type: text/plain\r\ncontent-range: bytes 24-25/26\r\n\r\nyz\r\n--part-abc--\r\n",
  );
  strictEqual(several.headers["content-length"], String(several.body.length));
  const none = ask({ range: "bytes=26-" });
  deepStrictEqual([none.status, none.headers["content-range"]], [416, "bytes */26"]);
});

Deno.test("replyWith() answers conditions: 304, 412, and a range only of the same version", () => {
  const whole = ask({});
  deepStrictEqual([whole.status, whole.body.length, whole.headers["last-modified"]], [
    200,
    26,
    "Tue, 02 Jan 2024 03:04:05 GMT",
  ]);
  const status = (headers: Record<string, string>) => ask(headers).status;
  strictEqual(status({ "if-none-match": '"abc"' }), 304);
  strictEqual(status({ "if-none-match": 'W/"abc"' }), 304);
  strictEqual(status({ "if-none-match": '"x", "abc"' }), 304);
  strictEqual(status({ "if-none-match": "*" }), 304);
  strictEqual(status({ "if-none-match": '"x"' }), 200);
  strictEqual(status({ "if-modified-since": "Tue, 02 Jan 2024 03:04:05 GMT" }), 304);
  strictEqual(status({ "if-modified-since": "Tue, 02 Jan 2024 03:04:04 GMT" }), 200);
  strictEqual(status({ "if-modified-since": "yesterday" }), 200);
  // The tag counts more than the time.
  strictEqual(status({ "if-none-match": '"x"', "if-modified-since": "Tue, 02 Jan 2024 03:04:05 GMT" }), 200);
  strictEqual(status({ "if-match": '"x"' }), 412);
  strictEqual(status({ "if-match": '"x", "abc"' }), 200);
  strictEqual(status({ "if-unmodified-since": "Tue, 02 Jan 2024 03:04:04 GMT" }), 412);
  strictEqual(status({ range: "bytes=0-1", "if-range": '"abc"' }), 206);
  strictEqual(status({ range: "bytes=0-1", "if-range": '"x"' }), 200);
  strictEqual(status({ range: "bytes=0-1", "if-range": "Tue, 02 Jan 2024 03:04:05 GMT" }), 206);
  strictEqual(status({ range: "bytes=0-1", "if-range": "Tue, 02 Jan 2024 03:04:04 GMT" }), 200);
  deepStrictEqual(ask({ "if-none-match": '"abc"' }).body, "");
});

Deno.test("replyWith() answers HEAD like GET, without contents and without regard to ranges", () => {
  const head = ask({ range: "bytes=0-1" }, "HEAD");
  deepStrictEqual([head.status, head.body, head.headers], [200, "", ask({}).headers]);
});
