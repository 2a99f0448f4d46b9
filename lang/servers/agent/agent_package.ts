/**
 * A package as the agent sees it: its files by a port, and what checking them gave, kept for as long as their texts
 * stay the same.
 *
 * A check reads all texts first and works on that snapshot, so what is analyzed is one state of the package; the same
 * texts again cost nothing. What it uses of other packages is read when it is needed, below `.lang/`, where `lang pkg
 * fetch` has unpacked it.
 */
import { moduleNameOf } from "../../check/package_analysis.ts";
import { type CheckedPackage, MANIFEST_PATH, mayUsePackages, Workspace } from "../../commands/workspace.ts";
import { PACKAGE_RECORDS } from "../../package/dependencies.ts";
import type { SymbolService } from "../../ide/symbol_service.ts";
import type { PackageFiles } from "../../package/package_files.ts";

/** Texts by path. */
export type Texts = ReadonlyMap<string, string>;

/** No texts. */
export const NO_TEXTS: Texts = new Map();

/** One state of a package, checked. */
export interface CheckedTexts {
  /** Manifest and sources. */
  readonly texts: Texts;
  readonly checked: CheckedPackage;
}

/** Looks symbols up in one version of a package after the other. */
export interface SymbolSource {
  of(texts: Texts): SymbolService;
}

/** Where a package is, and who looks into it. */
export interface PackageLocation {
  readonly files: PackageFiles;
  /** Its folder, for programs that read and write files; null when it has none. */
  readonly folder: string | null;
  /** Makes the look-ups when they are first needed. */
  symbols(): SymbolSource;
}

/** A package and what is known of it. */
export class AgentPackage {
  /** Where changes are written. */
  readonly files: PackageFiles;
  /** Its folder, for programs that read and write files; null when it has none. */
  readonly folder: string | null;
  readonly #place: PackageLocation;
  readonly #workspace: Workspace;
  #symbols: SymbolSource | null = null;
  #snapshot: Texts = NO_TEXTS;
  #last: CheckedTexts & { readonly packages: string } | null = null;

  constructor(place: PackageLocation) {
    this.files = place.files;
    this.folder = place.folder;
    this.#place = place;
    const current = (): Texts => this.#snapshot;
    this.#workspace = this.workspaceOver({
      list: () => [...current().keys()],
      read: (path) => current().get(path),
      write: (path) => {
        throw new Error(`Cannot write ${path}: this is a snapshot`);
      },
      remove: (path) => {
        throw new Error(`Cannot remove ${path}: this is a snapshot`);
      },
    });
  }

  /** Manifest and sources as they are now, with the texts that are laid over them, sorted by path. */
  read(overlay: Texts = NO_TEXTS): Texts {
    const paths = this.files.list().filter(isRead);
    const all = overlay.size === 0
      ? paths
      : [...new Set([...paths, ...[...overlay.keys()].filter(isRead)])].sort();
    const texts = new Map<string, string>();
    for (const path of all) {
      const text = overlay.get(path) ?? this.files.read(path);
      if (text !== undefined) texts.set(path, text);
    }
    return texts;
  }

  /** A workspace of other files, with the packages that this one uses. */
  workspaceOver(files: PackageFiles): Workspace {
    return new Workspace({
      list: () => files.list(),
      read: (path) => files.read(path) ?? (isOfPackages(path) ? this.files.read(path) : undefined),
      write: (path, content) => files.write(path, content),
      remove: (path) => files.remove(path),
    });
  }

  /** Checks texts; by default those of now. */
  check(texts: Texts = this.read()): CheckedTexts {
    const packages = this.#packages(texts);
    const last = this.#last;
    if (last !== null && last.packages === packages && areSame(last.texts, texts)) return last;
    this.#snapshot = texts;
    this.#last = null;
    this.#last = { texts, packages, checked: this.#workspace.check() };
    return this.#last;
  }

  /** What says which packages are used: another text when others are. */
  #packages(texts: Texts): string {
    if (!mayUsePackages(texts.get(MANIFEST_PATH) ?? "")) return "";
    return PACKAGE_RECORDS.map((path) => this.files.read(path) ?? "").join("\n");
  }

  /** A workspace of texts that remembers what was analyzed; good until the next call of this object. */
  workspaceOf(texts: Texts): Workspace {
    this.check(texts);
    return this.#workspace;
  }

  /** Look-ups in texts; good until the next call. */
  symbolsOf(texts: Texts): SymbolService {
    this.#symbols ??= this.#place.symbols();
    return this.#symbols.of(texts);
  }
}

function isRead(path: string): boolean {
  return path === MANIFEST_PATH || moduleNameOf(path) !== null;
}

function isOfPackages(path: string): boolean {
  return path.startsWith(".lang/") || PACKAGE_RECORDS.includes(path);
}

function areSame(left: Texts, right: Texts): boolean {
  if (left === right) return true;
  if (left.size !== right.size) return false;
  for (const [path, text] of left) if (right.get(path) !== text) return false;
  return true;
}

/** Files with texts laid over them, for who only reads. */
export class OverlaidFiles implements PackageFiles {
  readonly #files: PackageFiles;
  readonly #overlay: Texts;

  constructor(files: PackageFiles, overlay: Texts) {
    this.#files = files;
    this.#overlay = overlay;
  }

  list(): readonly string[] {
    return [...new Set([...this.#files.list(), ...this.#overlay.keys()])].sort();
  }

  read(path: string): string | undefined {
    return this.#overlay.get(path) ?? this.#files.read(path);
  }

  write(path: string): void {
    throw new Error(`Cannot write ${path}: it is laid over`);
  }

  remove(path: string): void {
    throw new Error(`Cannot remove ${path}: it is laid over`);
  }
}
