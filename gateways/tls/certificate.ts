/** A certificate with its key, read and checked: what a listener proves itself with. */
import { createHash, createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { createSecureContext, type SecureContext } from "node:tls";

/** A certificate or key that cannot be used, in one sentence. */
export class CertificateError extends Error {}

/** A certificate that listeners can use. */
export interface ServerCertificate {
  /** The certificate and those between it and its authority, and its key; PEM. */
  readonly chain: string;
  readonly key: string;
  readonly context: SecureContext;
  /** The channel binding of connections that are made with it; null when it defines none. */
  readonly endPoint: Uint8Array | null;
  readonly validFrom: Date;
  readonly validTo: Date;
  readonly names: string;
}

/** The hash functions of signatures, by the algorithm's object identifier. */
const SIGNATURE_HASHES: Readonly<Record<string, string>> = {
  // RSA with MD5, SHA-1, SHA-256, SHA-384, SHA-512, SHA-224
  "2a864886f70d010104": "sha256",
  "2a864886f70d010105": "sha256",
  "2a864886f70d01010b": "sha256",
  "2a864886f70d01010c": "sha384",
  "2a864886f70d01010d": "sha512",
  "2a864886f70d01010e": "sha224",
  // ECDSA with SHA-1, SHA-224, SHA-256, SHA-384, SHA-512
  "2a8648ce3d0401": "sha256",
  "2a8648ce3d040301": "sha224",
  "2a8648ce3d040302": "sha256",
  "2a8648ce3d040303": "sha384",
  "2a8648ce3d040304": "sha512",
};

/** Reads a certificate chain and its private key, both PEM. Raises {@link CertificateError}. */
export function readCertificate(chain: string, key: string): ServerCertificate {
  const certificate = parse(() => new X509Certificate(chain), "it holds no certificate in PEM form");
  const privateKey = parse<KeyObject>(
    () => createPrivateKey(key),
    /ENCRYPTED/.test(key)
      ? "its key is encrypted; write it without a passphrase: openssl pkey -in KEY -out PLAIN_KEY"
      : "the key file holds no private key in PEM form",
  );
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new CertificateError("the key does not belong to the certificate");
  }
  // One form for all that a key may come in.
  const plainKey = String(privateKey.export({ type: "pkcs8", format: "pem" }));
  const context = parse(
    () =>
      createSecureContext({
        cert: chain,
        key: plainKey,
        minVersion: "TLSv1.2",
        maxVersion: "TLSv1.3",
      }),
    "its kind of key is not supported; make one with ECDSA P-256 or RSA",
  );
  return {
    chain,
    key: plainKey,
    context,
    endPoint: endPointOf(certificate.raw),
    validFrom: new Date(certificate.validFrom),
    validTo: new Date(certificate.validTo),
    names: (certificate.subjectAltName ?? certificate.subject).replaceAll("\n", ", "),
  };
}

function parse<T>(read: () => T, problem: string): T {
  try {
    return read();
  } catch (error) {
    throw new CertificateError(problem, { cause: error });
  }
}

/**
 * The channel binding `tls-server-end-point`: the certificate's hash by the function of its signature, SHA-256 in the
 * place of weaker ones; null for signatures that name none (Ed25519, RSA-PSS).
 */
export function endPointOf(certificate: Uint8Array): Uint8Array | null {
  const outer = element(certificate, 0);
  const toBeSigned = element(certificate, outer.begin);
  const algorithm = element(certificate, toBeSigned.end);
  const identifier = element(certificate, algorithm.begin);
  const hash = SIGNATURE_HASHES[certificate.subarray(identifier.begin, identifier.end).toHex()];
  return hash === undefined ? null : new Uint8Array(createHash(hash).update(certificate).digest());
}

/** The content of the DER element at a position. */
function element(bytes: Uint8Array, at: number): { readonly begin: number; readonly end: number } {
  const first = bytes[at + 1] ?? 0;
  if (first < 0x80) return { begin: at + 2, end: at + 2 + first };
  let length = 0;
  for (let i = 0; i < (first & 0x7f); i++) length = length * 256 + (bytes[at + 2 + i] ?? 0);
  const begin = at + 2 + (first & 0x7f);
  return { begin, end: begin + length };
}
