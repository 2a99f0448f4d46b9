/**
 * What `lang serve` answers: the routes, as functions of a request's method, target and headers.
 *
 *     /             web/index.html
 *     /main.wasm    the last good build, and /main.wasm.map its source map
 *     /_reload      a WebSocket that hears `reload` after each build
 *     /_events      a WebSocket that hears of builds and errors in JSON
 *     /<path>       web/<path>
 *
 * A path with `..` is 403 whatever the method, an unknown path 404; what is there answers `GET` and `HEAD`, anything
 * else is 405.
 */
import type { RequestHeaders } from "./conditions.ts";
import { contentType } from "./content_type.ts";
import { plainReply, type Reply, replyWith, type Servable } from "./reply.ts";
import { readTarget } from "./request_target.ts";
import { watchedPage } from "./watched_page.ts";

/** Bytes that are served, with what is known of them. */
export interface Content extends Servable {
  /** Null when they are too many to be kept: then they are read part by part. */
  readonly bytes: Uint8Array<ArrayBuffer> | null;
}

/** A file of `web/`, or something made of one. */
export interface WebFile extends Omit<Content, "type"> {
  /** A part of it, for what is not kept. */
  read?(first: number, last: number): ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** The port to the files that pages are made of. */
export interface WebFiles {
  /**
   * The file at a path below `web/`; null when there is none, when it is no plain file, or when a link leads out of
   * the package.
   */
  find(path: string): Promise<WebFile | null>;
  /** The tag of bytes. */
  tag(bytes: Uint8Array<ArrayBuffer>): Promise<string>;
}

/** What stands under `/main.wasm` and `/main.wasm.map`. */
export interface ServedModule {
  readonly module: Content;
  readonly sourceMap: Content | null;
}

/** A request as far as it decides the answer. */
export interface SiteRequest {
  readonly method: string;
  /** As it came, with its query. */
  readonly target: string;
  readonly headers: RequestHeaders;
}

/** Which of the two sockets a request is for. */
export type SocketRoute = "reload" | "events";

/** What comes of a request. */
export type SiteAnswer =
  | { readonly kind: "reply"; readonly reply: Reply; readonly source: WebFile | null }
  | { readonly kind: "socket"; readonly route: SocketRoute };

const INDEX = "index.html";

/** Answers requests. */
export class Site {
  readonly #files: WebFiles;
  readonly #isWatched: boolean;
  #module: ServedModule | null = null;
  #version = "";
  /** The page with the script in it, by the tag of the page and the version. */
  #pages = new Map<string, WebFile>();

  constructor(options: { readonly files: WebFiles; readonly isWatched: boolean }) {
    this.#files = options.files;
    this.#isWatched = options.isWatched;
  }

  /** Serves a build from now on. */
  publish(module: ServedModule): void {
    this.#module = module;
  }

  /** The name of the build that pages are made for from now on. */
  set version(version: string) {
    this.#version = version;
    this.#pages.clear();
  }

  /** The answer to a request. */
  async answer(request: SiteRequest): Promise<SiteAnswer> {
    const { method, headers } = request;
    const target = readTarget(request.target);
    if (target.kind === "forbidden") return plain(403, "forbidden: the path leads upwards", method);
    const notFound = (): SiteAnswer => plain(404, "not found", method);
    if (target.kind === "unknown") return notFound();
    const { path } = target;
    const isReading = method === "GET" || method === "HEAD";
    if (path === "/_reload" || path === "/_events") {
      if (method !== "GET") return notAllowed(method, "GET");
      return { kind: "socket", route: path === "/_reload" ? "reload" : "events" };
    }
    const found = await this.#find(path);
    if (found === null) {
      return path === "/main.wasm" ? plain(404, "not found: there is no good build yet", method) : notFound();
    }
    if (!isReading) return notAllowed(method, "GET, HEAD");
    return { kind: "reply", reply: replyWith(found, { method, headers }), source: found };
  }

  async #find(path: string): Promise<(WebFile & Servable) | null> {
    if (path === "/main.wasm") return this.#module?.module ?? null;
    if (path === "/main.wasm.map" && this.#module !== null) return this.#module.sourceMap;
    const name = path === "/" ? INDEX : path.slice(1);
    // Hidden files are no part of a package; one folder of that kind belongs to the web (RFC 8615).
    if (name.split("/").some((part) => part === "" || part.startsWith(".") && part !== ".well-known")) {
      return null;
    }
    const file = await this.#files.find(name);
    if (file === null) return null;
    const type = contentType(name);
    const isPage = type.startsWith("text/html");
    return { ...(this.#isWatched && isPage ? await this.#watched(file) : file), type };
  }

  async #watched(file: WebFile): Promise<WebFile> {
    if (file.bytes === null) return file;
    const known = this.#pages.get(file.etag);
    if (known !== undefined) return known;
    // The mark of the byte order would else stand behind the script.
    const text = new TextDecoder().decode(file.bytes);
    const bytes = new TextEncoder().encode(watchedPage(text, this.#version));
    const page = { etag: await this.#files.tag(bytes), modified: null, size: bytes.length, bytes };
    this.#pages.set(file.etag, page);
    return page;
  }
}

function plain(status: number, text: string, method: string): SiteAnswer {
  return { kind: "reply", reply: plainReply(status, text, method), source: null };
}

function notAllowed(method: string, allowed: string): SiteAnswer {
  const { reply } = { reply: plainReply(405, "method not allowed", method) };
  return {
    kind: "reply",
    reply: { ...reply, headers: { ...reply.headers, "allow": allowed } },
    source: null,
  };
}
