/**
 * TLS of the server program: the certificate that the settings name, or one of the data directory's own for
 * `--dev-tls`, and who reads it again when it changes. Only a build with the feature `tls` gets here.
 */
import type { Features } from "../features/feature_table.ts";
import { StartError } from "./start_error.ts";
import type { ServerSettings } from "./settings.ts";

/** TLS that is ready for connections. */
export interface ServerEncryption {
  readonly server: InstanceType<Awaited<ReturnType<NonNullable<Features["tls"]>>>["SecureServer"]>;
  /** Lines that say what is proved, and how clients can trust it. */
  readonly startLines: readonly string[];
  /** The certificate in use, and its key; PEM. */
  certificate(): { readonly chain: string; readonly key: string };
  /** Has the listener called when the certificate has been replaced. */
  onCertificate(listener: () => void): void;
  /** When the certificate in use ends, in seconds since 1970. */
  readonly certificateEnd: () => number;
  /** Reads the certificate now. */
  reload(): void;
  close(): void;
}

const HOUR_MILLISECONDS = 3_600_000;

/** Prepares TLS; null when the settings do not ask for it. Raises {@link StartError}. */
export async function startEncryption(
  settings: ServerSettings,
  features: Features,
  log: (line: string) => void,
): Promise<ServerEncryption | null> {
  const { tls } = settings;
  if (tls === null) return null;
  if (features.tls === undefined) throw new Error("settings ask for a feature that the build lacks");
  const { CertificateError, CertificateFiles, ensureDevelopmentCertificate, SecureServer } = await features
    .tls();
  const folder = `${settings.dataDirectory}/tls`;
  try {
    const authority = tls.kind === "files"
      ? null
      : ensureDevelopmentCertificate(folder, new Date()).authorityPath;
    const paths = tls.kind === "files" ? tls : ensureDevelopmentCertificate(folder, new Date());
    let changed = (): void => {};
    const files = CertificateFiles.open({
      onChange: () => changed(),
      certificatePath: paths.certificatePath,
      keyPath: paths.keyPath,
      log,
    });
    const renewal = authority === null ? undefined : setInterval(() => {
      try {
        ensureDevelopmentCertificate(folder, new Date());
      } catch (error) {
        if (!(error instanceof CertificateError)) throw error;
        log(error.message);
      }
    }, HOUR_MILLISECONDS);
    return {
      server: new SecureServer({ certificate: () => files.current }),
      startLines: [
        `TLS with the certificate "${paths.certificatePath}" for ${files.current.names}, valid until ${
          files.current.validTo.toISOString().slice(0, 10)
        }`,
        ...(authority === null ? [] : trustLines(authority)),
      ],
      certificate: () => files.current,
      onCertificate: (listener) => changed = listener,
      certificateEnd: () => Math.floor(files.current.validTo.getTime() / 1000),
      reload: () => files.reload(),
      close: () => {
        clearInterval(renewal);
        files.close();
      },
    };
  } catch (error) {
    if (error instanceof CertificateError) throw new StartError(error.message);
    throw error;
  }
}

/** How clients come to trust a certificate of `--dev-tls`. */
function trustLines(authority: string): string[] {
  return [
    "clients on this machine trust it like this:",
    `  psql "sslmode=verify-full sslrootcert=${authority} host=localhost …"`,
    `  curl --cacert ${authority} https://localhost:…`,
    `  dbcli --tls-ca ${authority} --addr localhost:…`,
  ];
}
