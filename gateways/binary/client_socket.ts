/**
 * The socket of a client, in clear text or encrypted, and what is wrong with a server that cannot be trusted.
 *
 * The name that is checked is the server's, unless another one is given; names in `subjectAltName` count.
 */
import { X509Certificate } from "node:crypto";
import { connect, isIP, type Socket } from "node:net";
import { checkServerIdentity, connect as connectTls, type TLSSocket } from "node:tls";
import { stopConnectionWith } from "../shared/tls_flow.ts";
import type { ClientTls } from "./client_api.ts";

/** Where a socket goes. */
export interface SocketRequest {
  readonly hostname: string;
  readonly port: number;
  /** null: in clear text. */
  readonly tls: ClientTls | null;
}

/** Why a server is not trusted, and what to do about it. */
export interface TlsFailure {
  readonly why: string;
  readonly hint: string;
}

/** The application protocol for ALPN. */
const APPLICATION_PROTOCOL = "db-op-v1";
const LOOK_MILLISECONDS = 2_000;

/** Begins to connect; the socket emits `connect`, or with TLS `secureConnect`. */
export function openSocket({ hostname, port, tls }: SocketRequest): Socket {
  if (tls === null) return connect({ host: hostname, port, noDelay: true });
  return openTls({ hostname, port, tls }, true);
}

function openTls(
  { hostname, port, tls }: SocketRequest & { readonly tls: ClientTls },
  isChecked: boolean,
): TLSSocket {
  const name = tls.serverName ?? hostname;
  const socket = connectTls({
    host: hostname,
    port,
    minVersion: "TLSv1.2",
    ALPNProtocols: [APPLICATION_PROTOCOL],
    rejectUnauthorized: isChecked,
    checkServerIdentity: (_host, certificate) => checkServerIdentity(name, certificate),
    ...(isIP(name) === 0 ? { servername: name } : {}),
    ...(tls.ca === undefined ? {} : { ca: tls.ca }),
  });
  socket.setNoDelay(true);
  socket.once("secureConnect", () => stopConnectionWith(socket));
  return socket;
}

/** What an error of a TLS socket says about the server; null when it is about something else. */
export async function tlsFailure(
  request: SocketRequest & { readonly tls: ClientTls },
  error: Error,
): Promise<TlsFailure | null> {
  const code = "code" in error ? String(error.code) : "";
  switch (code) {
    case "ERR_TLS_CERT_ALTNAME_INVALID": {
      const names = (await certificateOf(request))?.subjectAltName;
      return {
        why: `its certificate is for ${names ?? "no name at all"}, not for ${
          request.tls.serverName ?? request.hostname
        }`,
        hint: "Connect to a name of the certificate, or give that name with --tls-server-name.",
      };
    }
    case "CERT_HAS_EXPIRED":
    case "CERT_NOT_YET_VALID":
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
    case "UNABLE_TO_GET_ISSUER_CERT":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
      return timeProblem(await certificateOf(request)) ?? {
        why: "its certificate is not signed by an authority that is trusted here",
        hint: "Name the authority's certificate with --tls-ca.",
      };
    case "ERR_SSL_WRONG_VERSION_NUMBER":
      return {
        why: "it does not speak TLS there",
        hint: "Leave --tls out, or start dbd with a certificate.",
      };
    default:
      if (!/^(ERR_SSL|ERR_TLS|CERT_)/.test(code)) return null;
      return {
        why: `the TLS handshake failed: ${error.message.split(" (SSL routines")[0]}`,
        hint: "Both sides need TLS 1.2 or 1.3.",
      };
  }
}

/** Whether the certificate's time is the problem: codes of errors do not always tell (seen in Deno 2.9.6). */
function timeProblem(certificate: X509Certificate | null): TlsFailure | null {
  if (certificate === null) return null;
  const now = Date.now();
  const end = new Date(certificate.validTo), begin = new Date(certificate.validFrom);
  if (end.getTime() < now) {
    return {
      why: `its certificate has expired on ${end.toISOString().slice(0, 10)}`,
      hint: "Renew the server's certificate.",
    };
  }
  if (begin.getTime() > now) {
    return {
      why: `its certificate is not valid before ${begin.toISOString().slice(0, 10)}`,
      hint: "Compare the clocks of both machines.",
    };
  }
  return null;
}

/** Looks at a certificate that was not trusted, on a connection over which nothing is said; null when it cannot. */
function certificateOf(
  request: SocketRequest & { readonly tls: ClientTls },
): Promise<X509Certificate | null> {
  return new Promise((resolve) => {
    const socket = openTls(request, false);
    const finish = (certificate: X509Certificate | null): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(certificate);
    };
    const timer = setTimeout(() => finish(null), LOOK_MILLISECONDS);
    socket.once("secureConnect", () => {
      const raw: unknown = socket.getPeerCertificate()?.raw;
      finish(raw instanceof Uint8Array ? new X509Certificate(raw) : null);
    });
    socket.on("error", () => finish(null));
  });
}
