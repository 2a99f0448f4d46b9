/**
 * The builds behind a served page: builds again when sources have changed, keeps the last good build after one that
 * failed, and knows what pages have to take.
 */
import type { Workspace } from "../../commands/workspace.ts";
import { type BuildAttempt, buildPage } from "./build_page.ts";
import { type BuildMessage, buildMessage, type ReloadKind } from "./messages.ts";
import type { Content, Site, WebFiles } from "./site.ts";

/** What the keeper asks of its surroundings. */
export interface KeeperPorts {
  readonly files: WebFiles;
  /** A text that differs when a file below `web/` was added, changed or taken away. */
  webFingerprint(): string;
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds of a clock that never goes back. */
  elapsed(): number;
}

/** What came of a change. */
export interface Update {
  readonly attempt: BuildAttempt;
  readonly message: BuildMessage;
  /** Whether sources were compiled; else only files of the page have changed. */
  readonly isCompiled: boolean;
  /** Whether pages that know nothing but `/_reload` are to load again. */
  readonly reloads: boolean;
  readonly milliseconds: number;
}

/** What a build depends on beside sources: the manifest, and the records of packages that were fetched. */
const OTHER_SOURCES = [
  "project.toml",
  "project.lock",
  ".lang/packages.json",
  ".lang/vendor/packages.json",
] as const;

/** Keeps the builds of a package. */
export class BuildKeeper {
  readonly #workspace: Workspace;
  readonly #site: Site;
  readonly #ports: KeeperPorts;
  readonly #prefix: string;
  #count = 0;
  #sources: string | null = null;
  #web = "";
  #attempt: BuildAttempt | null = null;
  /** The last good build. */
  #built: Uint8Array<ArrayBuffer> | null = null;
  #message: BuildMessage | null = null;

  /** `prefix` tells this server's builds from those of the one before it on the same port. */
  constructor(
    options: {
      readonly workspace: Workspace;
      readonly site: Site;
      readonly ports: KeeperPorts;
      readonly prefix: string;
    },
  ) {
    this.#workspace = options.workspace;
    this.#site = options.site;
    this.#ports = options.ports;
    this.#prefix = options.prefix;
  }

  /** The message that a new connection gets. */
  get message(): BuildMessage | null {
    return this.#message === null ? null : { ...this.#message, reload: null, isFirst: true };
  }

  /** Looks at the package and builds what has changed; null when nothing has. */
  async update(): Promise<Update | null> {
    const sources = this.#readSources();
    const web = this.#ports.webFingerprint();
    const isCompiled = this.#attempt === null || sources !== this.#sources;
    const isPageChanged = this.#message !== null && web !== this.#web;
    this.#sources = sources;
    this.#web = web;
    if (!isCompiled && !isPageChanged) return null;
    const start = this.#ports.elapsed();
    const before = this.#built;
    if (isCompiled || this.#attempt === null) this.#attempt = await buildPage(this.#workspace);
    const attempt = this.#attempt;
    const milliseconds = Math.round(this.#ports.elapsed() - start);
    if (isCompiled && attempt.kind === "built") await this.#publish(attempt);
    const isModuleChanged = this.#built !== null && (before === null || !isEqual(before, this.#built));
    const reload: ReloadKind = isPageChanged ? "page" : isModuleChanged ? "module" : null;
    const version = `${this.#prefix}-${++this.#count}`;
    const isBuilt = this.#built !== null;
    this.#message = buildMessage(attempt, { version, reload, milliseconds, isBuilt });
    this.#site.version = version;
    const reloads = isPageChanged || attempt.kind === "built";
    return { attempt, message: this.#message, isCompiled, reloads, milliseconds };
  }

  async #publish({ bytes, sourceMap }: BuildAttempt & { readonly kind: "built" }): Promise<void> {
    const modified = this.#ports.now();
    const content = async (contents: Uint8Array<ArrayBuffer>, type: string): Promise<Content> => {
      const etag = await this.#ports.files.tag(contents);
      return { etag, modified, size: contents.length, bytes: contents, type };
    };
    this.#site.publish({
      module: await content(bytes, "application/wasm"),
      sourceMap: sourceMap === null
        ? null
        : await content(new TextEncoder().encode(sourceMap), "application/json"),
    });
    this.#built = bytes;
  }

  /** Manifest, packages and sources as one text; a file that cannot be read is reported by the build. */
  #readSources(): string {
    try {
      const { files } = this.#workspace;
      const others = OTHER_SOURCES.map((path) => files.read(path) ?? null);
      return JSON.stringify([others, ...this.#workspace.sources()]);
    } catch (error) {
      return String(error);
    }
  }
}

function isEqual(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index]);
}
