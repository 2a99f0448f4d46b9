/**
 * A package that an editor works on: its files with the unsaved texts laid over them, its errors, and look-ups in it.
 *
 * Files are read from the disk once, and again when the editor or its watchers say that they changed, or before a
 * check that a request waits for.
 */
import { CommandError } from "../../commands/command_error.ts";
import { type CheckedPackage, Workspace } from "../../commands/workspace.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { LANG_LIMITS } from "../../limits.ts";
import type { PackageFiles } from "../../package/package_files.ts";
import { SourceFile } from "../../source/source_file.ts";
import { SymbolLookups } from "../../ide/lookups.ts";
import type { SymbolService } from "../../ide/symbol_service.ts";

/** Files that are read once, until they are forgotten. */
class RememberedFiles implements PackageFiles {
  readonly #files: PackageFiles;
  readonly #texts = new Map<string, string | undefined>();
  #paths: readonly string[] | null = null;

  constructor(files: PackageFiles) {
    this.#files = files;
  }

  list(): readonly string[] {
    this.#paths ??= this.#files.list();
    return this.#paths;
  }

  read(path: string): string | undefined {
    if (this.#texts.has(path)) return this.#texts.get(path);
    const text = this.#files.read(path);
    this.#texts.set(path, text);
    return text;
  }

  write(path: string, content: string | Uint8Array): void {
    this.forget();
    this.#files.write(path, content);
  }

  remove(path: string): void {
    this.forget();
    this.#files.remove(path);
  }

  /** Everything is read again when it is needed. */
  forget(): void {
    this.#texts.clear();
    this.#paths = null;
  }
}

/** Where a package is, and its files. */
export interface EditorPackage {
  /** The folder: absolute, with `/`. */
  readonly root: string;
  readonly files: PackageFiles;
  /** The one source of it, where that belongs to no package. */
  readonly alone?: string;
  /** The document that is all of it, of a text that is in no file. */
  readonly looseUri?: string;
}

/** One package and what is known of it. */
export class PackageSession {
  readonly root: string;
  /** The document that is all of it, of a text that is in no file; null for packages on disk. */
  readonly looseUri: string | null;
  /** Whether one source is all of it. */
  readonly isAlone: boolean;
  readonly #files: RememberedFiles;
  readonly #workspace: Workspace;
  readonly #lookups = new SymbolLookups();
  /** Unsaved texts, by path in the package. */
  readonly #overlay = new Map<string, string>();
  #checked: CheckedPackage | null = null;
  /** Why the package cannot be looked at, such as a missing manifest. */
  #failure: string | null = null;
  /** Paths that errors were shown for. */
  readonly shown = new Set<string>();

  constructor({ root, files, looseUri, alone }: EditorPackage) {
    this.root = root;
    this.looseUri = looseUri ?? null;
    this.isAlone = alone !== undefined;
    this.#files = new RememberedFiles(files);
    this.#workspace = new Workspace(this.#files);
  }

  /** Why the package could not be checked; null when it could. */
  get failure(): string | null {
    return this.#failure;
  }

  /** Lays a text over a file. */
  put(path: string, text: string): void {
    this.#overlay.set(path, text);
    this.#checked = null;
  }

  /** Takes the text of the disk again. */
  release(path: string): void {
    this.#overlay.delete(path);
    this.refresh();
  }

  /** The disk may have changed. */
  refresh(): void {
    this.#files.forget();
    this.#checked = null;
  }

  /** What stands at a path; undefined when there is nothing. */
  text(path: string): string | undefined {
    return this.#overlay.get(path) ?? this.#files.read(path);
  }

  /** The package as it is now; null when it cannot be looked at. */
  check(): CheckedPackage | null {
    if (this.#checked !== null) return this.#checked;
    try {
      this.#failure = null;
      this.#checked = this.#workspace.check(this.#overlay);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      this.#failure = error.message;
    }
    return this.#checked;
  }

  /** Errors of all files. */
  diagnostics(): readonly Diagnostic[] {
    return this.check()?.diagnostics ?? [];
  }

  /** Look-ups in the package as it is now. */
  symbols(): SymbolService {
    const texts = this.#workspace.sources(this.#overlay);
    for (const [path, text] of texts) if (text.length > LANG_LIMITS.maximumEditedLength) texts.delete(path);
    return this.#lookups.of(texts, this.#checked?.analysis.files);
  }

  /** A file as it is now; null when there is none. */
  file(path: string): SourceFile | null {
    const known = this.#checked?.analysis.files.get(path)?.module.file;
    const text = this.text(path);
    if (text === undefined) return null;
    return known !== undefined && known.text === text ? known : new SourceFile(path, text);
  }
}
