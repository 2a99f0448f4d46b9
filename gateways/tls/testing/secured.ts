/** Certificates and a server's side of TLS, for tests. */
import { readCertificate } from "../certificate.ts";
import { ensureDevelopmentCertificate } from "../development_certificate.ts";
import { SecureServer } from "../server.ts";

/** What a test of TLS has. */
export interface TestTls extends Disposable {
  readonly server: SecureServer;
  readonly folder: string;
  /** PEM of what clients trust. */
  readonly authority: string;
}

/** Makes a certificate for localhost, as of a date, and a server that uses it. */
export function testTls(
  options: { readonly now?: Date; readonly handshakeMilliseconds?: number } = {},
): TestTls {
  const folder = Deno.makeTempDirSync({ prefix: "tls-" });
  const files = ensureDevelopmentCertificate(folder, options.now ?? new Date());
  const certificate = readCertificate(
    Deno.readTextFileSync(files.certificatePath),
    Deno.readTextFileSync(files.keyPath),
  );
  return {
    folder,
    authority: Deno.readTextFileSync(files.authorityPath),
    server: new SecureServer({
      certificate: () => certificate,
      ...(options.handshakeMilliseconds === undefined
        ? {}
        : { handshakeMilliseconds: options.handshakeMilliseconds }),
    }),
    [Symbol.dispose]: () => Deno.removeSync(folder, { recursive: true }),
  };
}

/** A relay that may change what passes, as an attacker in the network can. */
export interface Relay extends Disposable {
  readonly port: number;
}

/** What goes on of what the client sent; `isLast` ends the client's direction behind it. */
export interface Altered {
  readonly bytes: Uint8Array;
  readonly isLast?: boolean;
}

/** Starts a relay to a port. `alter` gets what the client sends. */
export function startRelay(port: number, alter: (bytes: Uint8Array) => Altered): Relay {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open: Deno.Conn[] = [];
  const pass = async (
    from: Deno.Conn,
    to: Deno.TcpConn,
    change: (bytes: Uint8Array) => Altered,
  ): Promise<void> => {
    const buffer = new Uint8Array(65_536);
    try {
      for (;;) {
        const count = await from.read(buffer);
        if (count === null) break;
        const { bytes, isLast } = change(buffer.slice(0, count));
        for (let at = 0; at < bytes.length;) at += await to.write(bytes.subarray(at));
        if (isLast === true) break;
      }
      await to.closeWrite();
    } catch {
      // Either side may leave whenever it likes.
    }
  };
  void (async () => {
    for await (const client of listener) {
      const server = await Deno.connect({ hostname: "127.0.0.1", port });
      open.push(client, server);
      void pass(client, server, alter);
      void pass(server, client, (bytes) => ({ bytes }));
    }
  })().catch(() => {});
  return {
    port: listener.addr.port,
    [Symbol.dispose]: () => {
      listener.close();
      for (const connection of open) connection.close();
    },
  };
}
