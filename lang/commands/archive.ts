/**
 * `build --zip`: a game as one archive, `target/<name>.zip`, that a static host or a site for games takes as it is.
 *
 * At its top are the files of `web/` with `index.html`, and `main.wasm`, by relative paths. The same files give the
 * same bytes: names are sorted, times are all the first that the format knows.
 */
import type { AsyncZippable } from "fflate";
import type { PackageTarget } from "../package/manifest.ts";
import { CommandError } from "./command_error.ts";

/** The port to the files of the page. */
export interface PageFiles {
  /** Paths below `web/`, hidden files left out. */
  list(): readonly string[];
  /** The bytes of one of them. */
  read(path: string): Uint8Array<ArrayBuffer>;
}

/** What is already packed gains nothing from being packed again. */
const PACKED =
  /\.(png|apng|jpe?g|gif|webp|avif|jxl|mp3|ogg|oga|opus|m4a|aac|weba|flac|mp4|m4v|webm|ogv|mov|woff2?|zip|gz|glb|ktx2)$/i;

/** Refuses what cannot become an archive, before anything is built. */
export function checkArchive(pages: PageFiles, target: PackageTarget | null): void {
  if (target !== "wasm32-web") {
    throw new CommandError(
      `Cannot make an archive: the package is built for ${target ?? "no target"}, not for wasm32-web`,
      "Only games have a page that can be published.",
    );
  }
  if (!pages.list().includes("index.html")) {
    throw new CommandError(
      "Cannot make an archive: there is no web/index.html",
      "`lang new NAME` writes a game with its page.",
    );
  }
}

/** The archive of a page and its module. */
export async function archive(
  pages: PageFiles,
  module: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  const { zipSync } = await import("fflate");
  const contents = new Map(pages.list().map((path) => [path, pages.read(path)]));
  contents.set("main.wasm", module);
  const entries: AsyncZippable = {};
  for (const path of [...contents.keys()].sort()) {
    const bytes = contents.get(path);
    // Local time, as the format has it: the same wherever it is made.
    if (bytes !== undefined) {
      entries[path] = [bytes, { level: PACKED.test(path) ? 0 : 9, mtime: "1980-01-01T00:00:00" }];
    }
  }
  return new Uint8Array(zipSync(entries));
}
