/**
 * Tells of changes in `src/`, `web/` and `project.toml` of a package, and of packages that were fetched for it.
 *
 * The package's folder is watched without what lies below it, for the manifest, and because the folders may be taken
 * away and come back, as when another branch is checked out; each is watched with all that it holds.
 */
import { CommandError } from "../../../../lang/commands/command_error.ts";
import { messageOf } from "../../shared/disk_files.ts";

/**
 * With whether all that lies below counts; of `.lang` the record of packages does, which is written when they have
 * been fetched.
 */
const FOLDERS: ReadonlyMap<string, { readonly isDeep: boolean }> = new Map([
  ["src", { isDeep: true }],
  ["web", { isDeep: true }],
  [".lang", { isDeep: false }],
]);
const MANIFEST = "project.toml";
/**
 * What is written into a folder that has just come is not told of before the system has been asked to: it is looked at
 * once more so long after the last change.
 */
const SETTLE_MILLISECONDS = 300;

/** Watches until it is disposed. */
export class PackageWatcher implements Disposable {
  readonly #root: string;
  readonly #onChange: () => void;
  readonly #watchers = new Map<string, Deno.FsWatcher>();
  #settling: ReturnType<typeof setTimeout> | undefined;

  constructor(root: string, onChange: () => void) {
    this.#root = Deno.realPathSync(root);
    this.#onChange = onChange;
    this.#watch("", { isDeep: false });
    for (const [folder, depth] of FOLDERS) this.#watch(folder, depth);
  }

  #watch(folder: string, { isDeep }: { readonly isDeep: boolean }): void {
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
    let watcher: Deno.FsWatcher;
    try {
      watcher = Deno.watchFs(folder === "" ? this.#root : `${this.#root}/${folder}`, { recursive: isDeep });
    } catch (error) {
      // It comes back later, or it was never there.
      if (error instanceof Deno.errors.NotFound && folder !== "") return;
      throw new CommandError(
        `Cannot watch ${folder === "" ? "the package" : `${folder}/`}: ${messageOf(error)}`,
        "Without --watch the page is served as it is now.",
      );
    }
    this.#watchers.set(folder, watcher);
    void this.#follow(folder, watcher);
  }

  async #follow(folder: string, watcher: Deno.FsWatcher): Promise<void> {
    for await (const { kind, paths } of watcher) {
      if (kind === "access") continue;
      if (folder !== "") {
        this.#changed();
        continue;
      }
      const names = new Set(paths.map((path) => path.slice(this.#root.length + 1)));
      const moved = [...FOLDERS].filter(([name]) => names.has(name));
      for (const [name, depth] of moved) this.#watch(name, depth);
      if (moved.length > 0 || names.has(MANIFEST)) this.#changed();
    }
  }

  #changed(): void {
    this.#onChange();
    clearTimeout(this.#settling);
    this.#settling = setTimeout(this.#onChange, SETTLE_MILLISECONDS);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#settling);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }
}
