/**
 * The files of a certificate and its key, which are read again when they change. New files that cannot be used leave
 * the old certificate in use.
 *
 * The files are compared by size, time and identity, so that a rename and a changed symbolic link count. They are read
 * when two looks in a row see the same, for a pair is seldom replaced in one instant.
 */
import { CertificateError, readCertificate, type ServerCertificate } from "./certificate.ts";

/** Where certificate and key are, and who hears of changes. */
export interface CertificateFileOptions {
  readonly certificatePath: string;
  readonly keyPath: string;
  /** Writes one line for people who watch the server. */
  readonly log: (line: string) => void;
  readonly pollMilliseconds?: number;
  /** The certificate has been replaced. */
  readonly onChange?: () => void;
}

const POLL_MILLISECONDS = 2_000;
const DAY_MILLISECONDS = 86_400_000;
const WARNING_DAYS = 14;

/** The certificate in use. */
export class CertificateFiles {
  readonly #options: CertificateFileOptions;
  #current: ServerCertificate;
  #loadedStamp: string;
  #seenStamp: string;
  readonly #timer: ReturnType<typeof setInterval>;

  private constructor(options: CertificateFileOptions) {
    this.#options = options;
    this.#loadedStamp = this.#seenStamp = this.#stamp();
    this.#current = this.#read();
    this.#warn();
    this.#timer = setInterval(() => this.#poll(), options.pollMilliseconds ?? POLL_MILLISECONDS);
    Deno.unrefTimer(Number(this.#timer));
  }

  /** Reads the files. Raises {@link CertificateError} when they cannot be used. */
  static open(options: CertificateFileOptions): CertificateFiles {
    return new CertificateFiles(options);
  }

  get current(): ServerCertificate {
    return this.#current;
  }

  /** Reads the files now, changed or not. */
  reload(): void {
    this.#loadedStamp = this.#seenStamp = this.#stamp();
    const { log, certificatePath } = this.#options;
    try {
      this.#current = this.#read();
    } catch (error) {
      if (!(error instanceof CertificateError)) throw error;
      log(`${error.message}; the certificate that was read before stays in use`);
      return;
    }
    log(`TLS certificate "${certificatePath}" read again, valid until ${day(this.#current.validTo)}`);
    this.#warn();
    this.#options.onChange?.();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #poll(): void {
    const stamp = this.#stamp();
    const isSettled = stamp === this.#seenStamp;
    this.#seenStamp = stamp;
    if (isSettled && stamp !== this.#loadedStamp) this.reload();
  }

  #read(): ServerCertificate {
    const { certificatePath, keyPath } = this.#options;
    const chain = readText(certificatePath, "certificate");
    const key = readText(keyPath, "key");
    try {
      return readCertificate(chain, key);
    } catch (error) {
      if (!(error instanceof CertificateError)) throw error;
      throw new CertificateError(
        `Cannot use the TLS certificate "${certificatePath}" with the key "${keyPath}": ${error.message}`,
        { cause: error },
      );
    }
  }

  #warn(): void {
    const { log, certificatePath, keyPath } = this.#options;
    const { validFrom, validTo } = this.#current;
    const now = Date.now();
    if (validTo.getTime() < now) log(`the TLS certificate "${certificatePath}" expired on ${day(validTo)}`);
    else if (validTo.getTime() < now + WARNING_DAYS * DAY_MILLISECONDS) {
      log(`the TLS certificate "${certificatePath}" expires on ${day(validTo)}`);
    }
    if (validFrom.getTime() > now) {
      log(`the TLS certificate "${certificatePath}" is not valid before ${day(validFrom)}`);
    }
    const mode = Deno.build.os === "windows" ? 0 : Deno.statSync(keyPath).mode ?? 0;
    if ((mode & 0o007) !== 0) {
      log(`everybody on this machine may read the TLS key "${keyPath}": run chmod 600 "${keyPath}"`);
    }
  }

  #stamp(): string {
    const { certificatePath, keyPath } = this.#options;
    return [certificatePath, keyPath].map(stampOf).join(" ");
  }
}

function stampOf(path: string): string {
  try {
    const { size, mtime, ino, dev } = Deno.statSync(path);
    return `${size}.${mtime?.getTime()}.${dev}.${ino}`;
  } catch (error) {
    return error instanceof Error ? error.name : "";
  }
}

function readText(path: string, what: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    throw new CertificateError(`Cannot read the TLS ${what} "${path}": ${reasonOf(error)}`, { cause: error });
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "there is no such file";
  if (error instanceof Deno.errors.PermissionDenied) return "permission denied";
  return error instanceof Error ? error.message : String(error);
}

/** A date as it is written in the log. */
function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}
