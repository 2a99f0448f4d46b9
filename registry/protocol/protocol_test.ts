/** Requests, answers, trust and retries, without a network. */
import { deepStrictEqual, match, strictEqual, throws } from "node:assert/strict";
import {
  createReleaseRequest,
  downloadRequest,
  listReleasesRequest,
  uploadAssetRequest,
} from "./requests.ts";
import { printable } from "../printable.ts";
import { failureText, parseCreatedRelease, parseReleasesPage } from "./responses.ts";
import { failureOf, judgeAnswer, rateLimitWait, waitText } from "./retry.ts";
import { isPlainWeb, mayCarryToken, mayUploadTo } from "./trust.ts";

const API = "https://api.github.com";
const ENTERPRISE = "https://code.example/api/v3";
const release = { name: "fx", version: "0.3.2" };

Deno.test("requests are those of the document", () => {
  const list = listReleasesRequest({
    apiUrl: `${API}/`,
    slug: "o/r",
    page: 7,
    validators: { lastModified: "Mon", etag: '"e"' },
  });
  strictEqual(
    `${list.method} ${list.url}`,
    "GET https://api.github.com/repos/o/r/releases?per_page=100&page=7",
  );
  deepStrictEqual([list.headers["if-modified-since"], list.headers["if-none-match"]], ["Mon", '"e"']);
  const create = createReleaseRequest({ apiUrl: API, slug: "o/r", release, manifest: "text" });
  strictEqual(`${create.method} ${create.url}`, "POST https://api.github.com/repos/o/r/releases");
  deepStrictEqual(create.body, { tag_name: "fx-0.3.2", body: "text", draft: false, prerelease: false });
  const upload = uploadAssetRequest({
    uploadUrl: "https://uploads.github.com/repos/o/r/releases/1/assets{?name,label}",
    name: "fx-0.3.2+a.tar.gz",
    contentType: "application/gzip",
    bytes: new Uint8Array(1),
  });
  strictEqual(upload.url, "https://uploads.github.com/repos/o/r/releases/1/assets?name=fx-0.3.2%2Ba.tar.gz");
  strictEqual(upload.headers["content-type"], "application/gzip");
  strictEqual(downloadRequest("https://x.example", 5).headers["range"], "bytes=5-");
  strictEqual(downloadRequest("https://x.example").headers["range"], undefined);
});

Deno.test("mayCarryToken(): the API's own origin alone", () => {
  const check = (url: string, expected: boolean) => strictEqual(mayCarryToken(url, API), expected, url);
  check("https://api.github.com/repos/o/r", true);
  check("http://api.github.com/repos/o/r", false);
  check("https://api.github.com:444/", false);
  check("https://api.github.com.evil.example/", false);
  check("https://github.com/o/r", false);
  check("https://user@api.github.com/", false);
  check("no address", false);
});

Deno.test("mayUploadTo(): the same host or its uploads. sibling, over the same scheme", () => {
  const check = (url: string, api: string, expected: boolean) =>
    strictEqual(mayUploadTo(url, api), expected, url);
  check("https://uploads.github.com/repos/o/r/releases/1/assets{?name,label}", API, true);
  check("https://api.github.com/upload", API, true);
  check("https://code.example/api/uploads/x", ENTERPRISE, true);
  check("https://uploads.code.example/x", ENTERPRISE, true);
  check("http://uploads.github.com/x", API, false);
  check("https://uploads.evil.example/x", API, false);
  check("https://uploads.github.com.evil.example/x", API, false);
  check("https://u:p@uploads.github.com/x", API, false);
});

Deno.test("isPlainWeb(): https, or http where the API is asked so", () => {
  strictEqual(isPlainWeb("https://files.example/x", API), true);
  strictEqual(isPlainWeb("http://files.example/x", API), false);
  strictEqual(isPlainWeb("http://127.0.0.1:9/x", "http://127.0.0.1:8"), true);
  strictEqual(isPlainWeb("http://10.0.0.1/x", "http://127.0.0.1:8"), false);
  for (const url of ["file:///etc/passwd", "ftp://x.example", "https://u:p@x.example", "x"]) {
    strictEqual(isPlainWeb(url, API), false, url);
  }
});

Deno.test("parseReleasesPage(): counts raw releases, leaves out what is no package", () => {
  const asset = (name: string) => ({
    name,
    url: `${API}/1`,
    browser_download_url: "https://files.example/x",
    state: "uploaded",
  });
  const page = [
    {
      tag_name: "fx-0.3.2",
      html_url: "https://x.example",
      draft: false,
      body: 'name = "fx"\n[dependencies]\nnoise = "^1"\nui = { path = "x" }',
      assets: [asset("fx-0.3.2.tar.gz")],
    },
    { tag_name: "fx-0.3.1", draft: true, assets: [asset("fx-0.3.1.tar.gz")] },
    { tag_name: "fx-0.3.0", draft: false, assets: [] },
    { tag_name: "nightly", draft: false, assets: [asset("nightly.tar.gz")] },
    {
      tag_name: "fy-1.0.0",
      draft: false,
      body: "words",
      assets: [asset("fy-1.0.0.tar.gz"), asset("fy-1.0.0.tar.gz.sha256")],
    },
    null,
  ];
  const { count, entries } = parseReleasesPage(JSON.stringify(page), API);
  strictEqual(count, 6);
  deepStrictEqual(
    entries.map((
      { tag, sidecarUrl, dependencies },
    ) => [tag, sidecarUrl !== "", dependencies && [...dependencies]]),
    [
      ["fx-0.3.2", false, [["noise", "^1"]]],
      ["fy-1.0.0", true, null],
    ],
  );
  throws(() => parseReleasesPage("<html>", API), /it is no JSON/);
  throws(() => parseReleasesPage("{}", API), /no list/);
  throws(() => parseCreatedRelease("{}"), /no address to upload to/);
});

Deno.test("failureOf(): a rate limit that only the text mentions is no missing right", () => {
  const head = { status: 403, headers: new Headers() };
  const check = (text: string, code: string) => {
    const about = { doing: "read", slug: "a/b", hasToken: true, now: 0 };
    strictEqual(failureOf({ ...head, text }, { ...about, text }).code, code);
  };
  check('{"message":"You have exceeded a secondary rate limit"}', "rate-limited");
  check('{"message":"Resource not accessible"}', "forbidden");
  check("", "forbidden");
});

Deno.test("failureOf(): a server that says when to come back is quoted", () => {
  const head = { status: 503, headers: new Headers({ "retry-after": "900" }) };
  const { message } = failureOf(head, { text: "", doing: "read", slug: "a/b", hasToken: true, now: 0 });
  strictEqual(
    message,
    "Cannot read: the hosting service answered with status 503; it takes requests again in 15 minutes",
  );
});

Deno.test("judgeAnswer(): what is tried again, and after how long", () => {
  const now = 1_000_000_000;
  const check = (
    status: number,
    headers: Record<string, string>,
    attempt: number,
    expected: number | "take" | "fail",
  ) => {
    const verdict = judgeAnswer({ status, headers: new Headers(headers) }, attempt, now);
    strictEqual(
      verdict.kind === "again" ? verdict.milliseconds : verdict.kind,
      expected,
      `${status} ${attempt}`,
    );
  };
  check(200, {}, 1, "take");
  check(304, {}, 1, "take");
  check(500, {}, 1, 500);
  check(503, {}, 2, 1000);
  check(502, {}, 3, 2000);
  check(502, {}, 4, "fail");
  check(503, { "retry-after": "7" }, 1, 7000);
  check(503, { "retry-after": "9999" }, 1, "fail");
  check(404, {}, 1, "fail");
  check(403, {}, 1, "fail");
  check(429, { "retry-after": "3" }, 1, 3000);
  check(429, {}, 1, "fail");
  check(403, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1000060" }, 1, 60_000);
  check(403, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1003600" }, 1, "fail");
  check(403, { "x-ratelimit-remaining": "4", "x-ratelimit-reset": "1000060" }, 1, "fail");
  strictEqual(
    rateLimitWait({
      status: 429,
      headers: new Headers({ "retry-after": new Date(now + 5000).toUTCString() }),
    }, now),
    5000,
  );
  deepStrictEqual([1, 1000, 1001, 119_000, 121_000].map(waitText), [
    "1 second",
    "1 second",
    "2 seconds",
    "119 seconds",
    "3 minutes",
  ]);
});

Deno.test("failureOf(): each status in words, with what to do", () => {
  const check = (status: number, hasToken: boolean, expected: RegExp) => {
    const options = {
      text: '{"message":"No\\u001b[2J","errors":[{"field":"tag_name","code":"already_exists"}]}',
      doing: "do it",
      slug: "o/r",
      hasToken,
      now: 0,
    };
    const { message, hint } = failureOf({ status, headers: new Headers() }, options);
    match(`${message} ${hint}`, expected);
  };
  check(
    401,
    true,
    /^Cannot do it: .*does not accept the token \(No \[2J: tag name already exists\) .*login o\/r/,
  );
  check(403, false, /it needs a token/);
  check(403, true, /the token does not allow it/);
  check(404, false, /does not exist, or it is private/);
  check(422, true, /refuses it/);
  check(500, true, /answered with status 500/);
  check(429, false, /rate limit is used up .*5000 requests an hour/);
  strictEqual(failureText("<html>"), "");
  strictEqual(printable("a\u0000\u202eb\n"), "a b");
});
