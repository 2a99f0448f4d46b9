/** The code of a router's thread, with the TLS of the build. */
import { handedToThread } from "../engine/host/deno_threads.ts";
import { type HandedToRouter, type RouterTls, runRouter } from "../gateways/relay/router.ts";
import { features } from "./features.ts";

async function loadTls(): Promise<RouterTls> {
  if (features.tls === undefined) throw new Error("a certificate is used by a build that lacks TLS");
  const { readCertificate, SecureServer } = await features.tls();
  let current: ReturnType<typeof readCertificate> | null = null;
  const certificate = (): ReturnType<typeof readCertificate> => {
    if (current === null) throw new Error("a handshake begins without a certificate");
    return current;
  };
  return {
    server: new SecureServer({ certificate }),
    use: (chain, key) => current = readCertificate(chain, key),
  };
}

void handedToThread<HandedToRouter>().then((handed) => runRouter(handed, loadTls));
