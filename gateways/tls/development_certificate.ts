/**
 * The certificate of `dbd --dev-tls`: a certificate authority of this data directory's own and, signed by it, a
 * certificate for this machine's names. Both stay across restarts, so that a client trusts the authority once.
 *
 * The server's certificate is made anew 30 days before it ends, and the authority with it when that ends first. Keys
 * are readable by their owner only.
 */
import {
  createHash,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from "node:crypto";
import { createPrivateKey, createPublicKey } from "node:crypto";
import { CertificateError } from "./certificate.ts";
import {
  bits,
  objectIdentifier,
  octets,
  pem,
  sequence,
  setOf,
  tagged,
  taggedValue,
  time,
  unsignedInteger,
  utf8Text,
  yes,
} from "./der.ts";
import { encodeUtf8 } from "../../engine/base/bytes.ts";

/** Where the files are. */
export interface DevelopmentFiles {
  /** What clients must trust. */
  readonly authorityPath: string;
  readonly certificatePath: string;
  readonly keyPath: string;
}

const DAY_MILLISECONDS = 86_400_000;
const AUTHORITY_DAYS = 3650;
const CERTIFICATE_DAYS = 365;
const RENEWAL_DAYS = 30;
const NAMES = ["localhost"] as const;
const ADDRESSES = [
  Uint8Array.of(127, 0, 0, 1),
  Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1),
];

const ECDSA_SHA256 = sequence(objectIdentifier("1.2.840.10045.4.3.2"));
const COMMON_NAME = objectIdentifier("2.5.4.3");

/** Makes the files of a folder that are missing or about to end. Raises {@link CertificateError}. */
export function ensureDevelopmentCertificate(folder: string, now: Date): DevelopmentFiles {
  const files = {
    authorityPath: `${folder}/ca.pem`,
    certificatePath: `${folder}/server.pem`,
    keyPath: `${folder}/server.key`,
  };
  try {
    Deno.mkdirSync(folder, { recursive: true });
    let authority = readAuthority(files.authorityPath, `${folder}/ca.key`);
    if (authority === null || isEnding(authority.certificate, now)) {
      authority = makeAuthority(now);
      write(`${folder}/ca.key`, keyText(authority.key), 0o600);
      write(files.authorityPath, authority.certificate.toString(), 0o644);
    }
    if (!isUsable(files, authority.certificate, now)) {
      const { certificate, key } = makeServerCertificate(authority, now);
      write(files.keyPath, keyText(key), 0o600);
      write(files.certificatePath, certificate.toString(), 0o644);
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new CertificateError(`Cannot make a certificate in "${folder}": ${error.message}`, {
      cause: error,
    });
  }
  return files;
}

/** A certificate with its private key. */
interface KeyedCertificate {
  readonly certificate: X509Certificate;
  readonly key: KeyObject;
}

function readAuthority(path: string, keyPath: string): KeyedCertificate | null {
  const text = readIfThere(path), key = readIfThere(keyPath);
  if (text === null || key === null) return null;
  const authority = { certificate: new X509Certificate(text), key: createPrivateKey(key) };
  return authority.certificate.checkPrivateKey(authority.key) ? authority : null;
}

function isUsable(files: DevelopmentFiles, authority: X509Certificate, now: Date): boolean {
  const text = readIfThere(files.certificatePath), key = readIfThere(files.keyPath);
  if (text === null || key === null) return false;
  const certificate = new X509Certificate(text);
  return !isEnding(certificate, now) && certificate.checkPrivateKey(createPrivateKey(key)) &&
    certificate.verify(authority.publicKey);
}

function isEnding(certificate: X509Certificate, now: Date): boolean {
  return new Date(certificate.validTo).getTime() - now.getTime() < RENEWAL_DAYS * DAY_MILLISECONDS;
}

function makeAuthority(now: Date): KeyedCertificate {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  // The number tells the authorities of different directories apart.
  const name = distinguishedName(`dbd development CA ${randomBytes(4).toString("hex")}`);
  const certificate = signCertificate({
    issuer: name,
    issuerKey: privateKey,
    subject: name,
    subjectKey: privateKey,
    validFrom: now,
    validDays: AUTHORITY_DAYS,
    extensions: [
      extension("2.5.29.19", true, sequence(yes(), unsignedInteger(Uint8Array.of(0)))),
      // keyCertSign and cRLSign.
      extension("2.5.29.15", true, bits(Uint8Array.of(0x06), 1)),
    ],
  });
  return { certificate, key: privateKey };
}

function makeServerCertificate(authority: KeyedCertificate, now: Date): KeyedCertificate {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const certificate = signCertificate({
    issuer: subjectOf(authority.certificate),
    issuerKey: authority.key,
    subject: distinguishedName("localhost"),
    subjectKey: privateKey,
    validFrom: now,
    validDays: CERTIFICATE_DAYS,
    extensions: [
      extension("2.5.29.19", true, sequence()),
      // digitalSignature.
      extension("2.5.29.15", true, bits(Uint8Array.of(0x80), 7)),
      // serverAuth.
      extension("2.5.29.37", false, sequence(objectIdentifier("1.3.6.1.5.5.7.3.1"))),
      extension(
        "2.5.29.17",
        false,
        sequence(
          ...NAMES.map((name) => taggedValue(2, encodeUtf8(name))),
          ...ADDRESSES.map((address) => taggedValue(7, address)),
        ),
      ),
    ],
  });
  return { certificate, key: privateKey };
}

interface CertificateRequest {
  readonly issuer: Uint8Array;
  readonly issuerKey: KeyObject;
  readonly subject: Uint8Array;
  readonly subjectKey: KeyObject;
  readonly validFrom: Date;
  readonly validDays: number;
  readonly extensions: readonly Uint8Array[];
}

/** A certificate of version 3 (RFC 5280), signed with ECDSA and SHA-256. */
function signCertificate(request: CertificateRequest): X509Certificate {
  const { validFrom } = request;
  // Clocks of clients may be behind.
  const begin = new Date(validFrom.getTime() - DAY_MILLISECONDS);
  const end = new Date(validFrom.getTime() + request.validDays * DAY_MILLISECONDS);
  const publicKey = publicKeyOf(request.subjectKey);
  const toBeSigned = sequence(
    tagged(0, unsignedInteger(Uint8Array.of(2))),
    unsignedInteger(new Uint8Array(randomBytes(16))),
    ECDSA_SHA256,
    request.issuer,
    sequence(time(begin), time(end)),
    request.subject,
    publicKey,
    tagged(
      3,
      sequence(
        ...request.extensions,
        extension("2.5.29.14", false, octets(keyIdentifier(publicKey))),
        extension(
          "2.5.29.35",
          false,
          sequence(taggedValue(0, keyIdentifier(publicKeyOf(request.issuerKey)))),
        ),
      ),
    ),
  );
  const signature = new Uint8Array(sign("sha256", toBeSigned, request.issuerKey));
  const certificate = sequence(toBeSigned, ECDSA_SHA256, bits(signature));
  return new X509Certificate(pem("CERTIFICATE", certificate));
}

function extension(identifier: string, isCritical: boolean, value: Uint8Array): Uint8Array {
  return sequence(objectIdentifier(identifier), ...(isCritical ? [yes()] : []), octets(value));
}

function distinguishedName(commonName: string): Uint8Array {
  return sequence(setOf(sequence(COMMON_NAME, utf8Text(commonName))));
}

/** The name of a certificate that this module has made. */
function subjectOf(certificate: X509Certificate): Uint8Array {
  const name = /^CN=(.*)$/m.exec(certificate.subject)?.[1];
  if (name === undefined) throw new Error("the certificate authority has no common name");
  return distinguishedName(name);
}

/** The public key in the form of certificates. */
function publicKeyOf(key: KeyObject): Uint8Array {
  const publicKey = createPublicKey(key.export({ type: "pkcs8", format: "pem" }));
  return new Uint8Array(publicKey.export({ type: "spki", format: "der" }));
}

function keyIdentifier(publicKey: Uint8Array): Uint8Array {
  return new Uint8Array(createHash("sha256").update(publicKey).digest()).subarray(0, 20);
}

function keyText(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}

/** Replaces a file in one step. */
function write(path: string, text: string, mode: number): void {
  const temporary = `${path}.new`;
  try {
    Deno.removeSync(temporary);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  Deno.writeTextFileSync(temporary, text, { mode, createNew: true });
  Deno.renameSync(temporary, path);
}

function readIfThere(path: string): string | null {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
