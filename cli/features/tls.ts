/** The feature `tls`: the one place from which the server's side of TLS is linked. */
export { CertificateError, readCertificate } from "../../gateways/tls/certificate.ts";
export { CertificateFiles } from "../../gateways/tls/certificate_files.ts";
export { ensureDevelopmentCertificate } from "../../gateways/tls/development_certificate.ts";
export { PeerTls } from "../../gateways/tls/peer_tls.ts";
export { SecureServer } from "../../gateways/tls/server.ts";
