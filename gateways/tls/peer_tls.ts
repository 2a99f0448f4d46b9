/**
 * TLS between members: the dialer checks authority, time and name of the other's certificate in the handshake; the one
 * that was dialed asks for a certificate and checks it when the handshake has proved that the other has its key.
 *
 * The latter is done here, and not below `node:tls`, which in Deno 2.9.6 asks for a certificate, verifies the signature
 * of the handshake, and looks at nothing else. Authorities may stand in `--peer-ca`, those between them and a
 * certificate there or behind it in its file.
 */
import { X509Certificate } from "node:crypto";
import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls, TLSSocket } from "node:tls";
import type { NetworkAddress, PeerCertificate } from "../../engine/host/network.ts";
import { PeerMisfit } from "../../engine/replication/peers/peer_handshake.ts";
import { encodeRefusal, SECURE_FRAME } from "../../engine/replication/peers/peer_hello.ts";
import { framed } from "../../engine/replication/peers/peer_input.ts";
import type { PeerSecurity, SecuredPeer } from "../shared/peer_security.ts";
import { sayFarewell } from "../shared/farewell.ts";
import { endEmptyWrites, stopConnectionWith } from "../shared/tls_flow.ts";
import { CertificateError } from "./certificate.ts";
import { CertificateFiles } from "./certificate_files.ts";

/** The files of a member. */
interface PeerTlsFiles {
  readonly authorityPath: string;
  readonly certificatePath: string;
  readonly keyPath: string;
}

const HANDSHAKE_MILLISECONDS = 5_000;
/** Certificates of authorities between a certificate and one that is trusted. */
const MAX_CHAIN = 8;

/** See the head of the file. */
export class PeerTls implements PeerSecurity {
  readonly #files: CertificateFiles;
  readonly #paths: PeerTlsFiles;
  readonly #log: (line: string) => void;
  #authorities: readonly X509Certificate[];

  private constructor(paths: PeerTlsFiles, log: (line: string) => void) {
    this.#paths = paths;
    this.#log = log;
    this.#authorities = readAuthorities(paths.authorityPath);
    this.#files = CertificateFiles.open({ ...paths, log });
  }

  /** Reads the files. Raises {@link CertificateError} when they cannot be used. */
  static open(paths: PeerTlsFiles, log: (line: string) => void): PeerTls {
    return new PeerTls(paths, log);
  }

  /** Reads the certificate now. */
  reload(): void {
    this.#files.reload();
  }

  close(): void {
    this.#files.close();
  }

  dial({ hostname, port }: NetworkAddress): Socket {
    const plain = connect({ host: hostname, port, noDelay: true });
    plain.write(SECURE_FRAME);
    const { chain, key } = this.#files.current;
    const socket = connectTls({
      socket: plain,
      host: hostname,
      ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
      ca: this.#trusted().map((authority) => authority.toString()),
      cert: chain,
      key,
      minVersion: "TLSv1.2",
      rejectUnauthorized: true,
    });
    endEmptyWrites(socket);
    socket.once("secureConnect", () => stopConnectionWith(socket));
    plain.on("error", (error) => socket.destroy(error));
    return socket;
  }

  problem(error: Error, place: string): string | null {
    const code = "code" in error ? String(error.code) : "";
    const member = `the member at ${place}`;
    const names = this.#files.current.names;
    if (code === "ERR_SSL_WRONG_VERSION_NUMBER") return `${member} does not speak TLS: ${GIVE_ALL}`;
    if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
      return `${member} has a certificate for another name: --peers here must name it as its certificate does`;
    }
    // Which of both it is, the code does not tell for sure (seen in Deno 2.9.6).
    if (/CERT|SIGNATURE|ISSUER/.test(code) && !/ALERT/.test(code)) {
      return `the certificate of ${member} is not signed by an authority of --peer-ca here, or out of date`;
    }
    if (/ALERT/.test(code)) return `${member} does not accept the certificate for ${names}: see its log`;
    return /^ERR_(SSL|TLS)/.test(code)
      ? `the TLS handshake with ${member} failed: ${firstLine(error.message)}`
      : null;
  }

  accept(socket: Socket, received: Uint8Array): Promise<SecuredPeer> {
    const place = socket.remoteAddress ?? "an unknown address";
    socket.pause();
    if (received.length > 0) socket.unshift(received);
    const secured = new TLSSocket(socket, {
      isServer: true,
      secureContext: this.#files.current.context,
      requestCert: true,
      // What it looks at is not enough: see the head of the file.
      rejectUnauthorized: false,
    });
    return new Promise((resolve, reject) => {
      const fail = (line: string, isRefused = false): void => {
        clearTimeout(timer);
        secured.off("secure", succeed).off("end", onClose).off("close", onClose).off("error", onError);
        secured.on("error", () => {});
        if (isRefused) {
          secured.end(framed(encodeRefusal("certificate")));
          sayFarewell(secured);
        } else {
          secured.destroy();
          socket.destroy();
        }
        reject(new PeerMisfit(line));
      };
      const onClose = (): void => {
        fail(
          `a member at ${place} has ended the TLS handshake: it may not accept the certificate of this one`,
        );
      };
      const onError = (error: Error): void => fail(acceptProblem(error, place));
      const succeed = (): void => {
        const chain = chainOf(secured);
        const why = distrust(chain, this.#trusted(), new Date());
        const [leaf] = chain;
        if (why !== null || leaf === undefined) {
          fail(
            leaf === undefined
              ? `a connection from ${place} shows no certificate: members need --peer-cert and --peer-key`
              : `a connection from ${place} shows a certificate ${why}`,
            true,
          );
          return;
        }
        clearTimeout(timer);
        secured.off("end", onClose).off("close", onClose).off("error", onError);
        secured.on("error", () => {});
        secured.once("_tlsError", (error: Error) => secured.destroy(error));
        endEmptyWrites(secured);
        stopConnectionWith(secured);
        resolve({ socket: secured, certificate: new ShownCertificate(leaf) });
      };
      const timer = setTimeout(
        () => fail(`a connection from ${place} took too long in the TLS handshake of members`),
        HANDSHAKE_MILLISECONDS,
      );
      secured.once("secure", succeed).once("end", onClose).once("close", onClose).once("error", onError);
      socket.on("error", () => {});
    });
  }

  /** The authorities as they are in the file now; those of before when it cannot be read. */
  #trusted(): readonly X509Certificate[] {
    try {
      this.#authorities = readAuthorities(this.#paths.authorityPath);
    } catch (error) {
      if (!(error instanceof CertificateError)) throw error;
      this.#log(`${error.message}; the authorities that were read before stay in use`);
    }
    return this.#authorities;
  }
}

const GIVE_ALL = "give all members --peer-ca, --peer-cert and --peer-key";

/** Why a certificate is not trusted, in words that follow "a certificate"; null: it is. Leaf first. */
export function distrust(
  chain: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
  now: Date,
): string | null {
  let [current] = chain;
  for (let length = 0; current !== undefined && length < MAX_CHAIN; length++) {
    const subject: X509Certificate = current;
    const from = new Date(subject.validFrom), to = new Date(subject.validTo);
    const what = length === 0 ? "that" : "whose authority";
    if (to < now) return `${what} has expired on ${to.toISOString().slice(0, 10)}`;
    if (from > now) return `${what} is not valid before ${from.toISOString().slice(0, 10)}`;
    const isSignedBy = (issuer: X509Certificate): boolean =>
      issuer.ca && subject.checkIssued(issuer) && subject.verify(issuer.publicKey);
    const root = authorities.find(isSignedBy);
    if (root !== undefined) {
      return new Date(root.validTo) < now ? "whose authority has expired" : null;
    }
    current = chain.find((each) => each !== subject && isSignedBy(each));
  }
  return "that is not signed by an authority of --peer-ca here";
}

class ShownCertificate implements PeerCertificate {
  readonly names: string;
  readonly #certificate: X509Certificate;

  constructor(certificate: X509Certificate) {
    this.#certificate = certificate;
    this.names = (certificate.subjectAltName ?? "no name at all").replaceAll("\n", ", ");
  }

  isFor(hostname: string): boolean {
    const certificate = this.#certificate;
    if (isIP(hostname) !== 0) return certificate.checkIP(hostname) !== undefined;
    return certificate.subjectAltName !== undefined &&
      certificate.checkHost(hostname, { subject: "never" }) !== undefined;
  }
}

function chainOf(socket: TLSSocket): X509Certificate[] {
  const chain: X509Certificate[] = [];
  let shown: unknown = socket.getPeerCertificate(true);
  const seen = new Set<unknown>();
  while (typeof shown === "object" && shown !== null && !seen.has(shown) && chain.length <= MAX_CHAIN) {
    seen.add(shown);
    const raw: unknown = Reflect.get(shown, "raw");
    if (!(raw instanceof Uint8Array)) break;
    chain.push(new X509Certificate(raw));
    shown = Reflect.get(shown, "issuerCertificate");
  }
  return chain;
}

function acceptProblem(error: Error, place: string): string {
  return /fatal alert/.test(error.message)
    ? `a member at ${place} does not accept the certificate of this one: ${firstLine(error.message)}`
    : `the TLS handshake of members with ${place} failed: ${firstLine(error.message)}`;
}

function firstLine(text: string): string {
  return text.split(/ \(SSL routines|\n/)[0] ?? text;
}

function readAuthorities(path: string): X509Certificate[] {
  let text: string;
  try {
    text = Deno.readTextFileSync(path);
  } catch (error) {
    const reason = error instanceof Deno.errors.NotFound ? "there is no such file" : String(error);
    throw new CertificateError(`Cannot read --peer-ca "${path}": ${reason}`, { cause: error });
  }
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  try {
    const authorities = blocks.map((block) => new X509Certificate(block));
    if (authorities.length > 0 && authorities.every(({ ca }) => ca)) return authorities;
  } catch (error) {
    throw new CertificateError(`Cannot use --peer-ca "${path}": a certificate cannot be read`, {
      cause: error,
    });
  }
  throw new CertificateError(`Cannot use --peer-ca "${path}": it must hold certificates of authorities`);
}
