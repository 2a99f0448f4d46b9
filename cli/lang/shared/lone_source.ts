/** A source that belongs to no package, as one: its file on disk, and a manifest that nobody has written. */
import { packageNameOf } from "../../../lang/package/manifest.ts";
import { DiskFiles, MANIFEST } from "./disk_files.ts";

/** A package of one module. */
export class LoneSource extends DiskFiles {
  readonly #name: string;

  /** Takes the source's folder, and its name in it. */
  constructor({ root, file }: { readonly root: string; readonly file: string }) {
    super(root);
    this.#name = file;
  }

  override list(): readonly string[] {
    return [this.#name, MANIFEST].sort();
  }

  override read(path: string): string | undefined {
    if (path !== MANIFEST) return super.read(path);
    const name = packageNameOf(this.#name.slice(0, -".lang".length)) ?? "program";
    return `name = "${name}"\nversion = "0.0.0"\n`;
  }
}
