/**
 * Tarballs that were downloaded, by the SHA-256 of their bytes, shared by all packages of the user:
 * `<cache>/archives/<hash>.tar.gz`.
 *
 * A download that was cut off stays as `<hash>.part` and goes on from there the next time. Nothing is taken whose
 * hash is not the one that was asked for.
 */
import { createHash } from "node:crypto";
import { REGISTRY_LIMITS } from "../limits.ts";
import { downloadRequest } from "../protocol/requests.ts";
import type { RegistryHost } from "../ports.ts";
import { RegistryError } from "../registry_error.ts";
import type { HttpClient, Purpose } from "./http_client.ts";

/** What is downloaded. */
export interface Download {
  readonly url: string;
  readonly hash: string;
  /** `fx 0.3.2`. */
  readonly what: string;
  readonly purpose: Purpose;
}

/** The store. */
export class ArchiveStore {
  readonly #host: RegistryHost;

  constructor(host: RegistryHost) {
    this.#host = host;
  }

  /** Where an archive is, or would be. */
  path(hash: string): string {
    return `${this.#host.surroundings.cacheFolder}/archives/${hash}.tar.gz`;
  }

  /** Whether it is there whole; one that is damaged is thrown away. */
  async has(hash: string): Promise<boolean> {
    const actual = await hashOfFile(this.#host, this.path(hash));
    if (actual === null || actual === hash) return actual !== null;
    this.#host.reporter.warn(`An archive in the cache was damaged and is fetched anew: ${hash}`);
    await this.#host.files.remove(this.path(hash));
    return false;
  }

  /** An archive's bytes, in pieces. */
  async read(hash: string): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    const stream = await this.#host.files.readStream(this.path(hash));
    if (stream === null) throw new RegistryError("no-archive", `Cannot read the archive ${hash}: it is gone`);
    return stream;
  }

  /** Downloads an archive into the store. */
  async download(http: HttpClient, download: Download): Promise<void> {
    const { files } = this.#host;
    const part = `${this.path(download.hash).slice(0, -".tar.gz".length)}.part`;
    // Other packages of this user may need the same archive at the same time; who waits finds it there.
    using _lock = await files.lock(
      `${this.#host.surroundings.cacheFolder}/locks/${download.hash}`,
      () => this.#host.reporter.note(`Another \`lang\` is fetching ${download.what}; waiting for it`),
    );
    await files.makeFolder(part.slice(0, part.lastIndexOf("/")));
    if (await this.has(download.hash)) return;
    const wasResumed = await this.#receive(http, download, part);
    let actual = await hashOfFile(this.#host, part);
    if (actual !== download.hash && wasResumed) {
      // What was there before may have been of other bytes.
      await files.remove(part);
      await this.#receive(http, download, part);
      actual = await hashOfFile(this.#host, part);
    }
    if (actual !== download.hash) {
      await files.remove(part);
      throw new RegistryError(
        "hash-mismatch",
        `Cannot fetch ${download.what}: the tarball's SHA-256 is ${actual}, not ${download.hash}`,
        {
          hint: "The tarball was changed after it was published, or on its way. Nothing of it was unpacked.",
        },
      );
    }
    await files.rename(part, this.path(download.hash));
  }

  /** Fills the file; tells whether it went on from what was there. */
  async #receive(http: HttpClient, { url, what, purpose }: Download, part: string): Promise<boolean> {
    const { files, reporter } = this.#host;
    let wasResumed = false;
    const request = async () => downloadRequest(url, await files.size(part) ?? 0);
    await http.exchange(request, purpose, async (answer) => {
      const before = answer.status === 206 ? rangeStart(answer.headers) : 0;
      const isNext = before > 0 && before === (await files.size(part) ?? 0);
      if (answer.status === 206 && !isNext) {
        await answer.body?.cancel();
        await files.remove(part);
        throw new RegistryError(
          "bad-answer",
          `Cannot ${purpose.doing}: the server sent another part than asked`,
        );
      }
      wasResumed ||= isNext;
      const length = Number(answer.headers.get("content-length") ?? "NaN");
      const total = Number.isSafeInteger(length) ? before + length : null;
      let received = before;
      const file = await files.open(part, { append: isNext });
      try {
        await http.read(answer, (bytes) => {
          received += bytes.length;
          if (received > REGISTRY_LIMITS.tarballBytes) {
            throw new RegistryError(
              "too-large",
              `Cannot ${purpose.doing}: the tarball is larger than allowed`,
            );
          }
          file.write(bytes);
          reporter.progress({ what, received, total });
        });
      } finally {
        file.close();
      }
    }).catch(async (error) => {
      // The whole was there already, or the file behind the address has become shorter.
      if (error instanceof RegistryError && error.code === "bad-range") {
        wasResumed = true;
        return;
      }
      if (error instanceof RegistryError && error.code === "too-large") await files.remove(part);
      throw error;
    });
    return wasResumed;
  }
}

function rangeStart(headers: Headers): number {
  const [, start] = /^bytes (\d+)-/.exec(headers.get("content-range") ?? "") ?? [];
  return start === undefined ? -1 : Number(start);
}

/** SHA-256 of a file; null when there is none. */
export async function hashOfFile(host: RegistryHost, path: string): Promise<string | null> {
  const stream = await host.files.readStream(path);
  if (stream === null) return null;
  const hash = createHash("sha256");
  for await (const bytes of stream) hash.update(bytes);
  return hash.digest("hex");
}
