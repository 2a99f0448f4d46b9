/** REFRESH against a web server with faults: every one ends with an error that says what it is, and nothing changed. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { until } from "../../tests/support/until.ts";
import { type Answer, answer, raw } from "./testing/fault_server.ts";
import { SourceFixture } from "./testing/source_fixture.ts";

const CAPS = { pages: 20, pageBytes: 1 << 20, totalBytes: 3 << 20 };
const HEAD = "HTTP/1.1 200 OK\r\n";
const ROWS = '[{"id":1,"name":"new"}]';

interface Fault {
  readonly what: string;
  readonly answer: Answer;
  /** SQLSTATE and message of the error. */
  readonly error: RegExp;
  /** Of the sources `json`, `ndjson`, `csv` and `link`; `json` if absent. */
  readonly source?: string;
}

const redirect = (to: string): Answer => answer("", { status: "302 Found", headers: { location: to } });

const FAULTS: readonly Fault[] = [
  { what: "no such page", answer: answer("x", { status: "404 Not Found" }), error: /^HV000 .* status 404$/ },
  { what: "500", answer: answer("x", { status: "500 Oops" }), error: /^HV000 .* status 500, 5 times$/ },
  { what: "401", answer: answer("x", { status: "401 No" }), error: /^HV000 .* status 401$/ },
  { what: "204", answer: raw("HTTP/1.1 204 No Content\r\n\r\n"), error: /^HV000 .* status 204$/ },
  { what: "206", answer: answer(ROWS, { status: "206 Partial Content" }), error: /^HV000 .* status 206$/ },
  {
    what: "closes at once",
    answer: raw(),
    error: /^HV000 .*closed the connection without an answer, 5 times$/,
  },
  {
    what: "breaks off in the head",
    answer: raw("HTTP/1.1 200 OK\r\ncont"),
    error: /^HV000 .*within the head of its answer, 5 times$/,
  },
  { what: "no HTTP", answer: raw("SSH-2.0-OpenSSH_9\r\n\r\n"), error: /^HV000 .*first line is no status/ },
  { what: "no header name", answer: raw(`${HEAD}: x\r\n\r\n`), error: /^HV000 .*a header has no name/ },
  {
    what: "an endless head",
    answer: raw(HEAD, ...Array.from({ length: 80 }, () => `x: ${"y".repeat(1000)}\r\n`)),
    error: /^HV000 .*head of its answer is too long/,
  },
  {
    what: "interim answers only",
    answer: raw("HTTP/1.1 100 Continue\r\n\r\n".repeat(20)),
    error: /^HV000 .*interim heads only/,
  },
  {
    what: "truncated body",
    answer: raw(`${HEAD}content-length: 100\r\n\r\n${ROWS}`),
    error: /^HV000 .*closed the connection before the end/,
  },
  {
    what: "two lengths",
    answer: raw(`${HEAD}content-length: 5\r\ncontent-length: 6\r\n\r\n${ROWS}`),
    error: /^HV000 .*content-length is no number/,
  },
  {
    what: "a negative length",
    answer: raw(`${HEAD}content-length: -5\r\n\r\n${ROWS}`),
    error: /^HV000 .*content-length is no number/,
  },
  {
    what: "a length that is too short",
    answer: raw(`${HEAD}content-length: 10\r\n\r\n${ROWS}`),
    error: /^22P02 invalid JSON: the data ends too early/,
  },
  {
    what: "a chunk without size",
    answer: raw(`${HEAD}transfer-encoding: chunked\r\n\r\nxyz\r\n`),
    error: /^HV000 .*size of a chunk is no number/,
  },
  {
    what: "a chunk that is longer than it says",
    answer: raw(`${HEAD}transfer-encoding: chunked\r\n\r\n3\r\n[{"id"\r\n0\r\n\r\n`),
    error: /^HV000 .*a chunk is longer than it says/,
  },
  {
    what: "chunks without an end",
    answer: raw(`${HEAD}transfer-encoding: chunked\r\n\r\n2\r\n[]\r\n`),
    error: /^HV000 .*closed the connection before the end/,
  },
  {
    what: "an unknown coding",
    answer: answer(ROWS, { headers: { "content-encoding": "br" } }),
    error: /^HV000 .*encoded as br/,
  },
  {
    what: "broken gzip",
    answer: answer(new Uint8Array([0x1f, 0x8b, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8]), {
      headers: { "content-encoding": "gzip" },
    }),
    error: /^HV000 .*not valid gzip/,
  },
  {
    what: "truncated gzip",
    answer: answer(gzipSync(ROWS.repeat(50)).subarray(0, 30)),
    error: /^HV000 .*not valid gzip, or breaks off/,
  },
  {
    what: "a gzip bomb",
    answer: answer(gzipSync("[" + " ".repeat(50 << 20))),
    error: /^54000 .*larger than 1 MiB/,
  },
  {
    what: "a page beyond the cap",
    answer: answer(" ".repeat((1 << 20) + 1)),
    error: /^54000 .*larger than 1 MiB/,
  },
  {
    what: "a redirect without address",
    answer: answer("", { status: "301 X" }),
    error: /^HV000 .*without saying where/,
  },
  {
    what: "a redirect to a file",
    answer: redirect("file:///etc/passwd"),
    error: /^HV000 .*to a file: address/,
  },
  {
    what: "a redirect to metadata",
    answer: redirect("http://169.254.169.254/latest"),
    error: /^42501 .*169\.254\.169\.254 is link-local/,
  },
  {
    what: "a redirect to another port of this machine",
    answer: redirect("http://127.0.0.1:9/"),
    error: /^42501 .*127\.0\.0\.1 is this machine/,
  },
  {
    what: "a redirect to a name of this machine",
    answer: redirect("http://localhost:9/"),
    error: /^42501 .* is this machine/,
  },
  {
    what: "a redirect to a decimal address",
    answer: redirect("http://2130706433:9/"),
    error: /^42501 .*127\.0\.0\.1 is this machine/,
  },
  {
    what: "a redirect to a mapped address",
    answer: redirect("http://[::ffff:127.0.0.1]:9/"),
    error: /^42501 .*is this machine/,
  },
  { what: "redirects in a circle", answer: redirect("/json"), error: /^HV000 .*redirects more than 5 times/ },
  { what: "no JSON", answer: answer("<html>"), error: /^22P02 invalid JSON: unexpected "<"/ },
  { what: "nothing", answer: answer(""), error: /^22P02 invalid JSON: the data ends too early/ },
  { what: "NaN", answer: answer('[{"id":NaN}]'), error: /^22P02 invalid JSON: unexpected "N"/ },
  { what: "two values", answer: answer(`${ROWS}${ROWS}`), error: /^22P02 invalid JSON: unexpected "\["/ },
  { what: "a trailing comma", answer: answer('[{"id":1,}]'), error: /^22P02 invalid JSON: unexpected "}"/ },
  { what: "a leading zero", answer: answer('[{"id":01}]'), error: /^22P02 invalid JSON: unexpected "1"/ },
  {
    what: "invalid UTF-8",
    answer: answer(new Uint8Array([...new TextEncoder().encode('[{"id":1,"name":"'), 0xff, 34, 125, 93])),
    error: /^22021 invalid byte sequence/,
  },
  { what: "half a pair", answer: answer('[{"id":1,"name":"\\ud800"}]'), error: /^22P05 .*surrogate/ },
  { what: "a zero byte", answer: answer('[{"id":1,"name":"\\u0000"}]'), error: /^22021 / },
  {
    what: "a line feed in a text",
    answer: answer('[{"id":1,"name":"a\nb"}]'),
    error: /^22P02 .*control character/,
  },
  {
    what: "deep nesting",
    answer: answer(`[{"x":${"[".repeat(5000)}`),
    error: /^54000 .*nested deeper than 2000/,
  },
  {
    what: "an object, not rows",
    answer: answer('{"items":[]}'),
    error: /^22P02 the page is not an array of rows/,
  },
  { what: "null, not rows", answer: answer("null"), error: /^22P02 the page is not an array of rows/ },
  { what: "rows that are none", answer: answer("[1]"), error: /^22P02 .*neither an object nor an array/ },
  {
    what: "a row without key",
    answer: answer('[{"id":1},{"name":"x"}]'),
    error: /^23502 null value in column "id"/,
  },
  { what: "a fraction", answer: answer('[{"id":1.5}]'), error: /^22P02 .*bigint: "1.5"/ },
  { what: "a large number", answer: answer('[{"id":9223372036854775808}]'), error: /^22003 / },
  {
    what: "no line",
    source: "ndjson",
    answer: answer('{"id":1}\n{"id":'),
    error: /^22P02 .*the data ends too early/,
  },
  {
    what: "two rows a line",
    source: "ndjson",
    answer: answer('{"id":1} {"id":2}\n'),
    error: /^22P02 .*unexpected "{"/,
  },
  { what: "no header", source: "csv", answer: answer("\n\n"), error: /^22P04 the CSV has no header line/ },
  {
    what: "a missing header",
    source: "csv",
    answer: answer("id,nam\n1,x\n"),
    error: /^22P04 .*header of the CSV has no "name"/,
  },
  {
    what: "a header twice",
    source: "csv",
    answer: answer("id,name,name\n1,x,y\n"),
    error: /^22P04 .*has "name" 2 times/,
  },
  {
    what: "a missing field",
    source: "csv",
    answer: answer("id,name\n1\n"),
    error: /^22P04 missing data for column "name"/,
  },
  { what: "a field too many", source: "csv", answer: answer("id,name\n1,x,y\n"), error: /^22P04 extra data/ },
  {
    what: "an open quote",
    source: "csv",
    answer: answer('id,name\n1,"x\n'),
    error: /^22P04 unterminated CSV quoted field/,
  },
  {
    what: "a page that names itself",
    source: "link",
    answer: answer(ROWS, { headers: { link: '</link>; rel="next"' } }),
    error: /^HV000 page 2 of the source has an address that was read before/,
  },
  {
    what: "a next page on another machine",
    source: "link",
    answer: answer(ROWS, { headers: { link: "<http://[::1]:9/>; rel=next" } }),
    error: /^42501 .*::1 is this machine/,
  },
  {
    what: "a next page that is a file",
    source: "link",
    answer: answer(ROWS, { headers: { link: '<ftp://h/x>; title="a;b,c"; rel="last next"' } }),
    error: /^HV000 .*continues to a ftp: address/,
  },
];

Deno.test("REFRESH ends every fault of the source with an error, and leaves the table as it was", async () => {
  await using fixture = await SourceFixture.open({ caps: CAPS });
  const { server } = fixture;
  const make = (name: string, format: string, more = "") =>
    fixture.run(
      `CREATE EXTERNAL SOURCE ${name} (id BIGINT, name TEXT) FROM '${
        server.url(`/${name}`)
      }' FORMAT ${format} KEY id ${more}`,
    );
  const sound: Record<string, Answer> = {
    json: answer('[{"id":1,"name":"old"}]'),
    ndjson: answer('{"id":1,"name":"old"}\n'),
    csv: answer("id,name\n1,old\n"),
    link: answer('[{"id":1,"name":"old"}]'),
  };
  await make("json", "JSON");
  await make("ndjson", "NDJSON");
  await make("csv", "CSV");
  await make("link", "JSON", "PAGE NEXT LINK");
  for (const [name, given] of Object.entries(sound)) {
    server.on(`/${name}`, given);
    strictEqual((await fixture.run(`REFRESH ${name}`)).tag, "REFRESH 1", name);
  }
  for (const fault of FAULTS) {
    const name = fault.source ?? "json";
    server.on(`/${name}`, fault.answer);
    const error = await fixture.failure(`REFRESH ${name}`);
    match(`${error.code} ${error.message}`, fault.error, fault.what);
    ok(!error.message.includes(" at "), fault.what);
    deepStrictEqual((await fixture.run(`SELECT * FROM ${name}`)).rows, [["1", "old"]], fault.what);
  }
  // And after all of them, as before.
  server.on("/json", answer(ROWS));
  strictEqual((await fixture.run("REFRESH json")).tag, "REFRESH 1");
  deepStrictEqual((await fixture.run("SELECT * FROM json")).rows, [["1", "new"]]);
  // The client has closed all of them; the server learns of the last one a moment later.
  await until(() => server.openConnections === 0, "the end of the connections");
});

Deno.test("REFRESH asks again after what passes, and once for what does not", async () => {
  await using fixture = await SourceFixture.open({ caps: CAPS });
  const { server } = fixture;
  await fixture.run(
    `CREATE EXTERNAL SOURCE j (id BIGINT, name TEXT) FROM '${server.url("/j")}' FORMAT JSON KEY id`,
  );
  /** Answers with these one after the other, the last one from then on. */
  const inTurn = (answers: readonly Answer[]): Answer => {
    let at = 0;
    return (writer, request) => (answers[Math.min(at++, answers.length - 1)] as Answer)(writer, request);
  };
  const outcome = async (...answers: readonly Answer[]): Promise<string> => {
    server.on("/j", inTurn(answers));
    const before = server.seen.length;
    const result = await fixture.run("REFRESH j").then(({ tag }) => tag, (error) => `${error.message}`);
    return `${server.seen.length - before}: ${result.replace(/^http\S+ /, "")}`;
  };
  const failing = (status: string, headers: Readonly<Record<string, string>> = {}): Answer =>
    answer("busy", { status, headers });
  const cut = raw("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n[");
  deepStrictEqual(
    [
      await outcome(raw(), failing("503 X"), raw("HTTP/1.1 200"), failing("429 X"), answer(ROWS)),
      await outcome(failing("502 X"), redirect("/j"), failing("500 X", { "retry-after": "0" }), answer(ROWS)),
      await outcome(raw()),
      await outcome(failing("404 X")),
      await outcome(failing("501 X")),
      // Rows may have been read by then.
      await outcome(cut, answer(ROWS)),
      await outcome(raw("220 smtp ready\r\n\r\n")),
    ],
    [
      "5: REFRESH 1",
      "4: REFRESH 1",
      "5: closed the connection without an answer, 5 times",
      "1: answers with status 404",
      "1: answers with status 501",
      "1: closed the connection before the end of the data",
      "1: does not speak HTTP: the first line is no status",
    ],
  );
});

Deno.test("REFRESH stops at its caps on pages and bytes", async () => {
  await using fixture = await SourceFixture.open({ caps: CAPS });
  const { server } = fixture;
  for (let page = 0; page <= CAPS.pages; page++) {
    server.on(
      page === 0 ? "/p" : `/p?c=${page}`,
      answer(JSON.stringify({ rows: [{ id: page }], next: page + 1, big: "x".repeat(page > 5 ? 0 : 10) })),
    );
  }
  await fixture.run(
    `CREATE EXTERNAL SOURCE p (id INT) FROM '${
      server.url("/p")
    }' FORMAT JSON KEY id ROWS 'rows' PAGE CURSOR JSON 'next' PARAM 'c'`,
  );
  const pages = await fixture.failure("REFRESH p");
  match(`${pages.code} ${pages.message}`, /^54000 the source has more than 20 pages/);
  for (let page = 0; page < CAPS.pages; page++) {
    server.on(
      page === 0 ? "/p" : `/p?c=${page}`,
      answer(JSON.stringify({ rows: [{ id: page }], next: page + 1, big: "x".repeat(900_000) })),
    );
  }
  const bytes = await fixture.failure("REFRESH p");
  match(`${bytes.code} ${bytes.message}`, /^54000 the source is larger than 3 MiB in all/);
  strictEqual((await fixture.run("SELECT count(*) FROM p")).rows[0]?.[0], "0");
});
