/** The network port of a real machine under Deno: TCP, without the delay that collects small writes. */
import type { Network, NetworkAddress, NetworkConnection, NetworkListener } from "./network.ts";

/** A connection over a socket of Deno. */
export class SocketConnection implements NetworkConnection {
  readonly remote: NetworkAddress;
  readonly socket: Deno.TcpConn | Deno.TlsConn;
  #isClosed = false;

  constructor(socket: Deno.TcpConn | Deno.TlsConn) {
    this.socket = socket;
    const { hostname, port } = socket.remoteAddr;
    this.remote = { hostname, port };
  }

  read(target: Uint8Array): Promise<number | null> {
    return this.socket.read(target as Uint8Array<ArrayBuffer>);
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) at += await this.socket.write(bytes.subarray(at));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      this.socket.close();
    } catch {
      // The socket is gone already, with the connection.
    }
  }
}

class SocketListener implements NetworkListener {
  readonly local: NetworkAddress;
  readonly #listener: Deno.TcpListener;
  #isClosed = false;

  constructor(listener: Deno.TcpListener) {
    this.#listener = listener;
    const { hostname, port } = listener.addr;
    this.local = { hostname, port };
  }

  async accept(): Promise<NetworkConnection | null> {
    for (;;) {
      try {
        return connectionOver(await this.#listener.accept());
      } catch (error) {
        if (this.#isClosed || error instanceof Deno.errors.BadResource) return null;
        // A peer that left while it was accepted, or no file descriptor to spare: others may still come.
        await new Promise((resolve) => setTimeout(resolve, ACCEPT_RETRY_MILLISECONDS));
      }
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#listener.close();
  }
}

const ACCEPT_RETRY_MILLISECONDS = 5;

function connectionOver(socket: Deno.TcpConn): SocketConnection {
  socket.setNoDelay(true);
  socket.setKeepAlive(true);
  return new SocketConnection(socket);
}

/** The network of this machine. */
export function denoNetwork(): Network {
  return {
    listen: ({ hostname, port }) =>
      // Binding is synchronous and may raise.
      new Promise((resolve) =>
        resolve(new SocketListener(Deno.listen({ hostname, port, transport: "tcp" })))
      ),
    connect: async ({ hostname, port }) =>
      connectionOver(await Deno.connect({ hostname, port, transport: "tcp" })),
  };
}
