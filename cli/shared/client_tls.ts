/** How a client program is asked for TLS: `--tls`, `--tls-ca`, `--tls-server-name` and `DB_TLS_CA`. Pure. */
import type { ClientTls } from "../../gateways/binary/client_api.ts";
import { UsageError } from "./usage_error.ts";

/** TLS is asked for by `--tls`, and by everything that has no meaning without it. Raises {@link UsageError}. */
export function clientTls(options: {
  /** `--tls` */
  readonly isAsked: boolean;
  /** `--tls-ca` or `DB_TLS_CA` */
  readonly authoritiesPath: string | undefined;
  /** `--tls-server-name` */
  readonly serverName: string | undefined;
  readonly readFile: (path: string) => string;
}): ClientTls | null {
  const { isAsked, authoritiesPath, serverName, readFile } = options;
  if (!isAsked && authoritiesPath === undefined && serverName === undefined) return null;
  return {
    ...(authoritiesPath === undefined ? {} : { ca: readAuthorities(authoritiesPath, readFile) }),
    ...(serverName === undefined ? {} : { serverName }),
  };
}

function readAuthorities(path: string, readFile: (path: string) => string): string {
  let text: string;
  try {
    text = readFile(path);
  } catch (error) {
    throw new UsageError(
      `cannot read "${path}" of --tls-ca: ${error instanceof Error ? error.message : error}`,
    );
  }
  if (!text.includes("-----BEGIN CERTIFICATE-----")) {
    throw new UsageError(`"${path}" of --tls-ca holds no certificate in PEM form`);
  }
  return text;
}
