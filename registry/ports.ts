/** What the registry's commands need from outside: files, network, clock, git, and a place to report progress. */

/** How the names of folders begin that are being filled. */
export const TEMPORARY_FOLDER = ".unpacking-";
/** How the names of files end that are being written. */
export const TEMPORARY_SUFFIX = ".tmp";

/** An entry of a folder. */
export interface FolderEntry {
  readonly path: string;
  readonly kind: "file" | "folder" | "link" | "other";
  readonly size: number;
  readonly isExecutable: boolean;
}

/** Files by absolute path. */
export interface Files {
  /** The text of a file; null when there is none. */
  readText(path: string): Promise<string | null>;
  /** The bytes of a file; null when there is none. */
  readBytes(path: string): Promise<Uint8Array<ArrayBuffer> | null>;
  /** The bytes of a file, in pieces; null when there is none. */
  readStream(path: string): Promise<ReadableStream<Uint8Array<ArrayBuffer>> | null>;
  /**
   * Writes a file whole or not at all, with the folders above it. A link is followed, and a file that is there keeps
   * its rights unless a mode is given, which applies on Unix. What a killed process leaves ends with {@link
   * TEMPORARY_SUFFIX}.
   */
  write(path: string, content: string | Uint8Array, options?: { readonly mode?: number }): Promise<void>;
  /** Opens a file that is written from its beginning, or behind what it has. */
  open(
    path: string,
    options: { readonly append: boolean; readonly isExecutable?: boolean },
  ): Promise<OpenFile>;
  /** Bytes of a file; null when there is none. */
  size(path: string): Promise<number | null>;
  /** Whether it is a folder. */
  isFolder(path: string): Promise<boolean>;
  /** All that is in a folder, at any depth, with relative paths; what `skip` names is not entered. */
  walk(path: string, skip: (relative: string) => boolean): Promise<FolderEntry[]>;
  /** Names in a folder; none when it is not there. */
  names(path: string): Promise<string[]>;
  makeFolder(path: string): Promise<void>;
  /** Takes a file or a folder with all in it away, if it is there. */
  remove(path: string): Promise<void>;
  /** Gives another name, in one step. */
  rename(from: string, to: string): Promise<void>;
  /**
   * Takes the lock of this name; `onWait` is called when another process has it and is waited for. Given back when it
   * is disposed of.
   */
  lock(path: string, onWait: () => void): Promise<Disposable>;
  /** A new folder next to a path, whose name begins with {@link TEMPORARY_FOLDER}. */
  makeTemporary(beside: string): Promise<string>;
}

/** A file that is being written. */
export interface OpenFile {
  write(bytes: Uint8Array): void;
  close(): void;
}

/** Time. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  sleep(milliseconds: number): Promise<void>;
  /** A signal that comes when nothing was touched for so long. */
  watchdog(milliseconds: number): Watchdog;
}

/** Waits for silence. */
export interface Watchdog {
  readonly signal: AbortSignal;
  touch(): void;
  stop(): void;
}

/** `git`, as a program. */
export interface Git {
  /** Runs git and gives what it prints; fails with what it says. */
  run(parameters: readonly string[]): Promise<Uint8Array<ArrayBuffer>>;
}

/** A step of a download. */
export interface Progress {
  readonly what: string;
  readonly received: number;
  /** Null: not known. */
  readonly total: number | null;
}

/** Where progress is reported. */
export interface Reporter {
  /** Something that does not stop the command. */
  warn(text: string): void;
  /** Something that takes time begins. */
  note(text: string): void;
  progress(step: Progress): void;
}

/** What is set from outside. */
export interface Surroundings {
  /** Address of the hosting service's API. */
  readonly apiUrl: string;
  /** The file with the tokens. */
  readonly authFile: string;
  /** The folder of archives that all packages share. */
  readonly cacheFolder: string;
  /** `HOST_TOKEN`. */
  readonly hostToken: string | null;
  /** Host and port of the proxy that requests to the API go through; null when there is none. */
  readonly proxy: string | null;
  /** What requests say of their sender. */
  readonly userAgent: string;
}

/** The world. */
export interface RegistryHost {
  readonly files: Files;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly clock: Clock;
  readonly git: Git;
  readonly reporter: Reporter;
  readonly surroundings: Surroundings;
}
