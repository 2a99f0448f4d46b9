/** Reading from object stores that throttle, fail, break off and change, without a network and without waiting. */
import { strict as assert } from "node:assert";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { encodeUtf8 } from "../../base/bytes.ts";
import type { ExternalSourceDefinition } from "../../catalog/external_source.ts";
import { memoryHost } from "../../host/memory_host.ts";
import type { HttpRequest, HttpResponse } from "../http_client.ts";
import { BrokenConnectionError } from "../source_errors.ts";
import type { OpenContext, SourceBytes } from "../source_reader.ts";
import { objectStoreOpener } from "./object_stores.ts";
import { failure } from "../../../tests/support/failure.ts";

const CONTENT = encodeUtf8("0123456789");

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The connection breaks off behind the body. */
  readonly breaks?: boolean;
}

/** A store that answers by the rules, unless it is given other answers. */
class Store {
  readonly requests: HttpRequest[] = [];
  readonly pauses: number[] = [];
  readonly controller: AbortController = new AbortController();
  answers: (Answer | Error | null)[] = [];
  etag = '"v1"';

  context(source: Partial<ExternalSourceDefinition> = {}): OpenContext {
    const { timers } = memoryHost();
    return {
      source: {
        url: "",
        format: "parquet",
        keyColumn: 1,
        fields: [],
        rows: null,
        page: null,
        auth: null,
        region: null,
        endpoint: null,
        ...source,
      } as ExternalSourceDefinition,
      signal: this.controller.signal,
      timers: {
        ...timers,
        clearTimer: (timer) => timers.clearTimer(timer),
        setTimer: (delay, callback) => {
          this.pauses.push(delay);
          return timers.setTimer(0, callback);
        },
      },
      http: { request: (request) => this.#answer(request) },
      secret: (variable) => `value-of-${variable}`,
    };
  }

  open(url: string, source: Partial<ExternalSourceDefinition> = {}): Promise<SourceBytes> {
    return objectStoreOpener({ now: () => 0 }).open(new URL(url), this.context(source));
  }

  #answer(request: HttpRequest): Promise<HttpResponse> {
    this.requests.push(request);
    const planned = this.answers.shift() ?? null;
    if (planned instanceof Error) return Promise.reject(planned);
    return Promise.resolve(this.#response(request, planned ?? this.#right(request)));
  }

  #right({ method, headers }: HttpRequest): Answer {
    if (method === "HEAD") {
      return { status: 200, headers: { "content-length": String(CONTENT.length), etag: this.etag } };
    }
    if (headers["if-match"] !== undefined && headers["if-match"] !== this.etag) return { status: 412 };
    const [, first = 0, last = 0] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? "")?.map(Number) ?? [];
    return {
      status: 206,
      headers: { "content-range": `bytes ${first}-${last}/${CONTENT.length}`, etag: this.etag },
      body: "0123456789".slice(first, last + 1),
    };
  }

  #response({ url }: HttpRequest, { status, headers = {}, body = "", breaks = false }: Answer): HttpResponse {
    return {
      status,
      headers: new Map(Object.entries(headers)),
      url,
      async *body() {
        await Promise.resolve();
        if (body !== "") yield encodeUtf8(body);
        if (breaks) throw new BrokenConnectionError("the connection failed");
      },
      close: () => undefined,
    };
  }
}

const text = async (reading: Promise<Uint8Array> | undefined) => new TextDecoder().decode(await reading);

Deno.test("objectStoreOpener() addresses buckets and containers, and signs where AUTH says so", async () => {
  const cases: [string, Partial<ExternalSourceDefinition>, string][] = [
    ["s3://bucket/a/b c.parquet", {}, "https://bucket.s3.us-east-1.amazonaws.com/a/b%20c.parquet"],
    [
      "s3://bucket/%C3%BC!(1)",
      { region: "eu-west-1" },
      "https://bucket.s3.eu-west-1.amazonaws.com/%C3%BC%21%281%29",
    ],
    ["s3://my.bucket/k", {}, "https://s3.us-east-1.amazonaws.com/my.bucket/k"],
    ["s3://b/k+%2B", { endpoint: "https://host:9000/base/" }, "https://host:9000/base/b/k%2B%2B"],
    [
      "az://c/d/e",
      { auth: { kind: "azure", account: "acc0", keyVariable: "K" } },
      "https://acc0.blob.core.windows.net/c/d/e",
    ],
    ["az://c/k", { endpoint: "https://host/acc" }, "https://host/acc/c/k"],
  ];
  for (const [url, source, expected] of cases) {
    const store = new Store();
    // "value-of-K" is no base64, so requests with AUTH AZURE do not get as far as the store.
    const opened = await store.open(url, source).catch((error: DatabaseError) => error);
    if (source.auth !== undefined) {
      assert.match((opened as DatabaseError).message, /"K" is not a key of a storage account$/);
      continue;
    }
    assert.equal(store.requests[0]?.url.href, expected);
    assert.equal(store.requests[0]?.headers.authorization, undefined);
  }
  const store = new Store();
  await store.open("s3://b/k", { auth: { kind: "s3", keyIdVariable: "I", secretVariable: "S" } });
  assert.match(
    store.requests[0]?.headers.authorization ?? "",
    /^AWS4-HMAC-SHA256 Credential=value-of-I\/20000101\/us-east-1\/s3\/aws4_request, SignedHeaders=accept-encoding;host;user-agent;x-amz-content-sha256;x-amz-date, Signature=[0-9a-f]{64}$/,
  );
  for (const url of ["s3://bucket", "s3://bucket/", "az://c/folder/", "s3://b/k?versionId=1", "s3://b/%FF"]) {
    const { code } = await failure(new Store().open(url, { endpoint: "https://host" }));
    assert.equal(code, SQLSTATE.invalidParameterValue, url);
  }
});

Deno.test("SourceBytes.range() of an object gives its bytes, of one version", async () => {
  const store = new Store();
  const bytes = await store.open("s3://b/k");
  assert.equal(bytes.size, 10);
  assert.equal(await text(bytes.range?.(2, 5)), "234");
  assert.equal(await text(bytes.range?.(3, 3)), "");
  assert.equal(store.requests.at(-1)?.headers["if-match"], '"v1"');
  let whole = "";
  for await (const piece of bytes.chunks()) whole += new TextDecoder().decode(piece);
  assert.equal(whole, "0123456789");
  store.etag = '"v2"';
  assert.match(
    (await failure(bytes.range?.(0, 4) ?? Promise.reject())).message,
    /^s3:\/\/b\/k was changed while it was read$/,
  );
});

Deno.test("SourceBytes.range() tries again after throttling and failures, and says when it gives up", async () => {
  const passing: (Answer | Error)[][] = [
    [{ status: 503, headers: { "retry-after": "7" }, body: "<Error><Code>SlowDown</Code></Error>" }],
    [{ status: 500 }, { status: 502 }, { status: 429 }, { status: 408 }],
    [
      new BrokenConnectionError("the connection failed"),
      new DatabaseError(SQLSTATE.fdwUnableToEstablishConnection, "none"),
    ],
    [{ status: 206, headers: { "content-range": "bytes 1-3/10" }, body: "12", breaks: true }],
    [{ status: 206, headers: { "content-range": "bytes 1-3/10" }, body: "12" }],
  ];
  for (const answers of passing) {
    const store = new Store();
    const bytes = await store.open("s3://b/k");
    store.answers = [...answers];
    assert.equal(await text(bytes.range?.(1, 4)), "123");
    assert.equal(store.pauses.length, answers.length);
  }
  const slow = new Store();
  slow.answers = [{ status: 503, headers: { "retry-after": "7" } }, {
    status: 503,
    headers: { "retry-after": "9999" },
  }];
  await slow.open("az://c/k", { endpoint: "https://h" });
  assert.deepEqual(slow.pauses, [7_000_000, 30_000_000]);
  const down = new Store();
  down.answers = Array.from(
    { length: 9 },
    () => ({ status: 503, headers: { "x-ms-error-code": "ServerBusy" } }),
  );
  assert.equal(
    (await failure(down.open("az://c/k", { endpoint: "https://h" }))).message,
    "az://c/k: the store answers with status 503 (ServerBusy), 5 times",
  );
  assert.deepEqual(down.pauses, [200_000, 400_000, 800_000, 1_600_000]);
});

Deno.test("SourceBytes.range() refuses other answers at once", async () => {
  const refused: [Answer | Error, RegExp][] = [
    [{ status: 200, body: "0123456789" }, /does not serve ranges$/],
    [
      { status: 206, headers: { "content-range": "bytes 0-3/10" }, body: "0123" },
      /another range than was asked for$/,
    ],
    [{ status: 206, body: "123" }, /another range than was asked for$/],
    [
      { status: 206, headers: { "content-range": "bytes 1-3/11" }, body: "123" },
      /was changed while it was read$/,
    ],
    [{ status: 206, headers: { "content-range": "bytes 1-3/10", etag: '"v2"' }, body: "123" }, /was changed/],
    [
      { status: 206, headers: { "content-range": "bytes 1-3/10" }, body: "12345" },
      /longer than was asked for$/,
    ],
    [{ status: 404, body: "<Error><Code>NoSuchKey</Code></Error>" }, /does not exist \(NoSuchKey\)$/],
    [
      { status: 403, headers: { "x-ms-error-code": "AuthenticationFailed" } },
      /status 403 \(AuthenticationFailed\)$/,
    ],
    [
      { status: 301, headers: { location: "http://169.254.169.254/" } },
      /redirect, status 301, which is not followed$/,
    ],
    [new DatabaseError(SQLSTATE.insufficientPrivilege, "not allowed"), /^not allowed$/],
  ];
  for (const [answer, message] of refused) {
    const store = new Store();
    const bytes = await store.open("s3://b/k");
    store.answers = [answer];
    assert.match((await failure(bytes.range?.(1, 4) ?? Promise.reject())).message, message);
    assert.equal(store.pauses.length, 0, String(message));
  }
  const elsewhere = new Store();
  elsewhere.answers = [{ status: 301, headers: { "x-amz-bucket-region": "eu-central-1" } }];
  assert.equal(
    (await failure(elsewhere.open("s3://b/k"))).hint,
    "The bucket is in another region: REGION 'eu-central-1'",
  );
});

Deno.test("SourceBytes.range() ends with the statement while it waits", async () => {
  const store = new Store();
  store.answers = [{ status: 503 }, { status: 503 }];
  const opening = store.open("s3://b/k");
  const canceled = new DatabaseError(SQLSTATE.queryCanceled, "canceling statement due to user request");
  store.controller.abort(canceled);
  assert.equal(await failure(opening), canceled);
});
