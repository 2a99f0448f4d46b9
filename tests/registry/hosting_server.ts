/**
 * A code-hosting service on loopback: releases and their files, as far as `lang pkg` uses them.
 *
 * Three servers: the API, the uploads, and the storage that files are redirected to. Every JSON answer and request is
 * held to the service's own description (`api_description.ts`); what differs is kept in `violations`. Faults are put
 * in for the next requests that match.
 */
import { createHash } from "node:crypto";
import { answerProblems, operation, requestProblems } from "./api_description.ts";

/** What goes wrong with a request. */
export type Fault =
  | {
    readonly kind: "status";
    readonly status: number;
    readonly headers?: Record<string, string>;
    readonly body?: string;
  }
  /** The connection is cut after so many bytes of the answer's body. */
  | { readonly kind: "cut"; readonly after: number }
  /** Other bytes than those that were published. */
  | { readonly kind: "replace"; readonly body: string }
  | { readonly kind: "slow"; readonly milliseconds: number }
  /** A file that is redirected elsewhere. */
  | { readonly kind: "redirect"; readonly to: string };

/** A request that came. */
export interface SeenRequest {
  readonly server: "api" | "uploads" | "storage";
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly status: number;
}

interface Asset {
  readonly id: number;
  readonly name: string;
  readonly type: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** A release, which tests may change behind everybody's back. */
export interface HostedRelease {
  readonly id: number;
  readonly tag: string;
  body: string;
  draft: boolean;
  readonly assets: Asset[];
}

const LIST = operation("/repos/{owner}/{repo}/releases", "get");
const CREATE = operation("/repos/{owner}/{repo}/releases", "post");
const UPLOAD = operation("/repos/{owner}/{repo}/releases/{release_id}/assets", "post");
const ASSET = operation("/repos/{owner}/{repo}/releases/assets/{asset_id}", "get");
const TIME = "2026-01-01T00:00:00Z";
const WRITE_LIMIT = 1000;

/** The service. */
export class HostingServer {
  /** Where answers or requests are not as the service describes them. */
  readonly violations: string[] = [];
  readonly requests: SeenRequest[] = [];
  /** Requests that are left, per hour. */
  remaining = 5000;
  /** When the hour is over, in seconds since 1970. */
  reset = 4_000_000_000;
  /** Tokens, and the repositories that they may write to. */
  readonly tokens = new Map<string, readonly string[]>();
  readonly #repositories = new Map<
    string,
    { releases: HostedRelease[]; isPrivate: boolean; changed: number }
  >();
  readonly #faults: { readonly pattern: RegExp; readonly fault: Fault; left: number }[] = [];
  readonly #servers: Deno.HttpServer<Deno.NetAddr>[] = [];
  #nextId = 1;

  private constructor() {}

  /** Starts the servers on free ports. */
  static start(): HostingServer {
    const server = new HostingServer();
    for (const name of ["api", "uploads", "storage"] as const) {
      server.#servers.push(
        Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
          const answer = await server.#answer(name, request);
          const { pathname, search } = new URL(request.url);
          const { method, headers } = request;
          server.requests.push({
            server: name,
            method,
            path: pathname + search,
            headers,
            status: answer.status,
          });
          return answer;
        }),
      );
    }
    return server;
  }

  /** Address of the API. */
  get apiUrl(): string {
    return this.#address(0);
  }

  #address(index: number): string {
    return `http://127.0.0.1:${this.#servers[index]?.addr.port}`;
  }

  /** Ends the servers. */
  async stop(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.shutdown()));
  }

  /** Makes a repository. */
  addRepository(slug: string, options: { readonly isPrivate?: boolean } = {}): void {
    this.#repositories.set(slug, { releases: [], isPrivate: options.isPrivate ?? false, changed: 1 });
  }

  /** Makes a release, the newest one, as if somebody had published it. */
  addRelease(
    slug: string,
    tag: string,
    body: string,
    files: Readonly<Record<string, string | Uint8Array>>,
  ): HostedRelease {
    const repository = this.#repositories.get(slug);
    if (repository === undefined) throw new Error(`Cannot add a release: there is no ${slug}`);
    const assets = Object.entries(files).map(([name, content]) => ({
      id: this.#nextId++,
      name,
      type: "application/octet-stream",
      bytes: typeof content === "string" ? new TextEncoder().encode(content) : new Uint8Array(content),
    }));
    const release = { id: this.#nextId++, tag, body, draft: false, assets };
    repository.releases.unshift(release);
    repository.changed++;
    return release;
  }

  /** The releases of a repository, the newest first. */
  releases(slug: string): readonly HostedRelease[] {
    return this.#repositories.get(slug)?.releases ?? [];
  }

  /** Lets the next requests fail whose `METHOD path` matches. */
  fail(pattern: RegExp, fault: Fault, times = 1): void {
    this.#faults.push({ pattern, fault, left: times });
  }

  /** Paths of the requests since the last call, for tests of how often the network was asked. */
  takeRequests(): SeenRequest[] {
    return this.requests.splice(0);
  }

  async #answer(server: SeenRequest["server"], request: Request): Promise<Response> {
    const url = new URL(request.url);
    const what = `${request.method} ${url.pathname}${url.search}`;
    const planned = this.#faults.find(({ pattern, left }) => left > 0 && pattern.test(what));
    if (planned !== undefined) planned.left--;
    const fault = planned?.fault ?? null;
    if (fault?.kind === "slow") await new Promise((resolve) => setTimeout(resolve, fault.milliseconds));
    if (fault?.kind === "status") {
      await request.body?.cancel();
      return new Response(fault.body ?? '{"message":"broken"}', {
        status: fault.status,
        headers: fault.headers ?? {},
      });
    }
    if (fault?.kind === "redirect") {
      return new Response(null, { status: 302, headers: { location: fault.to } });
    }
    const answer = await this.#route(server, request, url);
    if (fault?.kind === "replace") return new Response(fault.body, answer);
    return fault?.kind === "cut" ? await cut(answer, fault.after) : answer;
  }

  async #route(server: SeenRequest["server"], request: Request, url: URL): Promise<Response> {
    const list = /^\/repos\/([^/]+\/[^/]+)\/releases$/.exec(url.pathname);
    const asset = /^\/repos\/([^/]+\/[^/]+)\/releases\/assets\/(\d+)$/.exec(url.pathname);
    const upload = /^\/repos\/([^/]+\/[^/]+)\/releases\/(\d+)\/assets$/.exec(url.pathname);
    const download = /^\/([^/]+\/[^/]+)\/releases\/download\/([^/]+)\/([^/]+)$/.exec(url.pathname);
    const stored = /^\/storage\/(\d+)$/.exec(url.pathname);
    if (server === "storage") {
      return stored === null ? text(404, "no") : this.#storage(request, Number(stored[1]));
    }
    if (download !== null) return this.#download(download[1] ?? "", download[2] ?? "", download[3] ?? "");
    const slug = list?.[1] ?? asset?.[1] ?? upload?.[1] ?? "";
    const refused = this.#refuse(request, slug);
    if (refused !== null) {
      await request.body?.cancel();
      return refused;
    }
    if (server === "uploads" && upload !== null) {
      return await this.#upload(request, url, slug, Number(upload[2]));
    }
    if (server === "api" && list !== null && request.method === "GET") return this.#list(request, url, slug);
    if (server === "api" && list !== null) return await this.#create(request, slug);
    if (server === "api" && asset !== null) return this.#asset(request, slug, Number(asset[2]));
    return text(404, '{"message":"Not Found"}');
  }

  #refuse(request: Request, slug: string): Response | null {
    const authorization = request.headers.get("authorization");
    const token = authorization?.replace(/^(Bearer|token) /i, "") ?? null;
    if (token !== null && !this.tokens.has(token)) {
      return json(401, { message: "Bad credentials" }, this.#rate());
    }
    if (this.remaining <= 0) {
      return json(403, { message: "API rate limit exceeded" }, this.#rate());
    }
    this.remaining--;
    const repository = this.#repositories.get(slug);
    const mayRead = repository !== undefined &&
      (!repository.isPrivate || token !== null && this.tokens.get(token)?.includes(slug));
    if (!mayRead) return json(404, { message: "Not Found" }, this.#rate());
    if (request.method !== "POST") return null;
    if (token === null) return json(401, { message: "Requires authentication" }, this.#rate());
    if (this.tokens.get(token)?.includes(slug)) return null;
    return json(403, { message: "Resource not accessible by personal access token" }, this.#rate());
  }

  #rate(): Record<string, string> {
    return {
      "x-ratelimit-limit": "5000",
      "x-ratelimit-remaining": String(Math.max(0, this.remaining)),
      "x-ratelimit-reset": String(this.reset),
    };
  }

  #list(request: Request, url: URL, slug: string): Response {
    const repository = this.#repositories.get(slug);
    const perPage = Math.min(100, Number(url.searchParams.get("per_page") ?? 30));
    const page = Number(url.searchParams.get("page") ?? 1);
    const all = repository?.releases ?? [];
    const body = all.slice((page - 1) * perPage, page * perPage).map((release) =>
      this.#releaseJson(slug, release)
    );
    this.violations.push(...answerProblems(LIST, 200, body));
    const etag = `W/"${createHash("sha256").update(JSON.stringify(body)).digest("hex")}"`;
    const modified = new Date(1_760_000_000_000 + (repository?.changed ?? 0) * 1000).toUTCString();
    const last = Math.max(1, Math.ceil(all.length / perPage));
    const link = (to: number, name: string) =>
      `<${this.apiUrl}/repositories/1/releases?per_page=${perPage}&page=${to}>; rel="${name}"`;
    const links = [
      ...(page < last ? [link(page + 1, "next"), link(last, "last")] : []),
      ...(page > 1 ? [link(page - 1, "prev"), link(1, "first")] : []),
    ];
    const headers = {
      ...this.#rate(),
      etag,
      "last-modified": modified,
      ...(links.length === 0 ? {} : { link: links.join(", ") }),
    };
    const known = request.headers.get("if-none-match");
    const isSame = known === null ? request.headers.get("if-modified-since") === modified : known === etag;
    if (!isSame) return json(200, body, headers);
    // Such an answer costs nothing of the rate limit.
    this.remaining++;
    return new Response(null, { status: 304, headers });
  }

  async #create(request: Request, slug: string): Promise<Response> {
    const body = await request.json();
    this.violations.push(...requestProblems(CREATE, body));
    const repository = this.#repositories.get(slug);
    if (repository?.releases.some(({ tag }) => tag === body.tag_name)) {
      return json(422, {
        message: "Validation Failed",
        errors: [{ resource: "Release", code: "already_exists", field: "tag_name" }],
        documentation_url: "https://docs.example/releases",
      }, this.#rate());
    }
    const release = this.addRelease(slug, body.tag_name, body.body ?? "", {});
    const answer = this.#releaseJson(slug, release);
    this.violations.push(...answerProblems(CREATE, 201, answer));
    return json(201, answer, this.#rate());
  }

  async #upload(request: Request, url: URL, slug: string, id: number): Promise<Response> {
    const release = this.#repositories.get(slug)?.releases.find((each) => each.id === id);
    const bytes = new Uint8Array(await request.arrayBuffer());
    const name = url.searchParams.get("name") ?? "";
    if (release === undefined) return json(404, { message: "Not Found" }, this.#rate());
    if (request.headers.get("content-length") === null) {
      return json(411, { message: "Length required" }, this.#rate());
    }
    if (release.assets.length > WRITE_LIMIT || release.assets.some((each) => each.name === name)) {
      return json(422, { message: "Validation Failed", errors: [{ code: "already_exists" }] }, this.#rate());
    }
    const type = request.headers.get("content-type") ?? "";
    const asset = { id: this.#nextId++, name, type, bytes };
    release.assets.push(asset);
    const answer = this.#assetJson(slug, release, asset);
    this.violations.push(...answerProblems(UPLOAD, 201, answer));
    return json(201, answer, this.#rate());
  }

  #asset(request: Request, slug: string, id: number): Response {
    for (const release of this.#repositories.get(slug)?.releases ?? []) {
      const asset = release.assets.find((each) => each.id === id);
      if (asset === undefined) continue;
      if (request.headers.get("accept") === "application/octet-stream") return this.#toStorage(asset);
      const answer = this.#assetJson(slug, release, asset);
      this.violations.push(...answerProblems(ASSET, 200, answer));
      return json(200, answer, this.#rate());
    }
    return json(404, { message: "Not Found" }, this.#rate());
  }

  #download(slug: string, tag: string, name: string): Response {
    const repository = this.#repositories.get(slug);
    const asset = repository?.releases.find((each) => each.tag === decodeURIComponent(tag))?.assets
      .find((each) => each.name === decodeURIComponent(name));
    return asset === undefined || repository?.isPrivate === true
      ? text(404, "Not Found")
      : this.#toStorage(asset);
  }

  #toStorage(asset: Asset): Response {
    return new Response(null, {
      status: 302,
      headers: { location: `${this.#address(2)}/storage/${asset.id}` },
    });
  }

  #storage(request: Request, id: number): Response {
    // Storage that is asked with a token of somebody else refuses, as the real one does.
    if (request.headers.has("authorization")) return text(400, "only one authorization is allowed");
    const all = [...this.#repositories.values()].flatMap(({ releases }) =>
      releases.flatMap(({ assets }) => assets)
    );
    const asset = all.find((each) => each.id === id);
    if (asset === undefined) return text(404, "no such file");
    const { bytes } = asset;
    const headers = { "content-type": "application/octet-stream", "accept-ranges": "bytes" };
    const [, start] = /^bytes=(\d+)-$/.exec(request.headers.get("range") ?? "") ?? [];
    if (start === undefined) return new Response(bytes, { headers });
    const from = Number(start);
    if (from >= bytes.length) {
      return new Response(null, { status: 416, headers: { "content-range": `bytes */${bytes.length}` } });
    }
    const range = `bytes ${from}-${bytes.length - 1}/${bytes.length}`;
    return new Response(bytes.slice(from), { status: 206, headers: { ...headers, "content-range": range } });
  }

  #releaseJson(slug: string, release: HostedRelease) {
    const api = `${this.apiUrl}/repos/${slug}/releases/${release.id}`;
    return {
      url: api,
      assets_url: `${api}/assets`,
      upload_url: `${this.#address(1)}/repos/${slug}/releases/${release.id}/assets{?name,label}`,
      html_url: `${this.apiUrl}/${slug}/releases/tag/${encodeURIComponent(release.tag)}`,
      id: release.id,
      author: this.#user(),
      node_id: `R_${release.id}`,
      tag_name: release.tag,
      target_commitish: "main",
      name: null,
      draft: release.draft,
      prerelease: false,
      created_at: TIME,
      published_at: TIME,
      assets: release.assets.map((asset) => this.#assetJson(slug, release, asset)),
      tarball_url: `${this.apiUrl}/repos/${slug}/tarball/${release.tag}`,
      zipball_url: `${this.apiUrl}/repos/${slug}/zipball/${release.tag}`,
      body: release.body,
    };
  }

  #assetJson(slug: string, release: HostedRelease, asset: Asset) {
    const path = `${slug}/releases/download/${encodeURIComponent(release.tag)}/${
      encodeURIComponent(asset.name)
    }`;
    return {
      url: `${this.apiUrl}/repos/${slug}/releases/assets/${asset.id}`,
      id: asset.id,
      node_id: `RA_${asset.id}`,
      name: asset.name,
      label: "",
      uploader: this.#user(),
      content_type: asset.type,
      state: "uploaded",
      size: asset.bytes.length,
      digest: `sha256:${createHash("sha256").update(asset.bytes).digest("hex")}`,
      download_count: 0,
      created_at: TIME,
      updated_at: TIME,
      browser_download_url: `${this.apiUrl}/${path}`,
    };
  }

  #user() {
    const url = `${this.apiUrl}/users/octo`;
    return {
      login: "octo",
      id: 1,
      node_id: "U_1",
      avatar_url: `${url}/avatar`,
      gravatar_id: "",
      url,
      html_url: url,
      followers_url: url,
      following_url: url,
      gists_url: url,
      starred_url: url,
      subscriptions_url: url,
      organizations_url: url,
      repos_url: url,
      events_url: url,
      received_events_url: url,
      type: "User",
      site_admin: false,
    };
  }
}

function json(status: number, body: unknown, headers: Record<string, string>): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json; charset=utf-8", ...headers },
  });
}

function text(status: number, body: string): Response {
  return new Response(body, { status });
}

/** The same answer, whose connection breaks after some bytes. */
async function cut(answer: Response, after: number): Promise<Response> {
  const bytes = new Uint8Array(await answer.arrayBuffer());
  let sent = false;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      // The length that was announced is not reached, so the server breaks the connection.
      if (sent || after === 0) return controller.close();
      sent = true;
      controller.enqueue(bytes.subarray(0, after));
    },
  });
  const headers = new Headers(answer.headers);
  headers.set("content-length", String(bytes.length));
  return new Response(body, { status: answer.status, headers });
}
