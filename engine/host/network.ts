/**
 * The network port: byte streams between the members of a cluster. Client protocols do not use it: gateways own their
 * sockets.
 *
 * Invariant: a connection delivers bytes in order or ends; it never repeats or drops any in the middle.
 */

/** Where a listener or peer is reached. */
export interface NetworkAddress {
  readonly hostname: string;
  readonly port: number;
}

/** A two-way byte stream. */
export interface NetworkConnection {
  readonly remote: NetworkAddress;
  /** Fills part of the target and tells how many bytes, at least 1; null at the end of the stream. */
  read(target: Uint8Array): Promise<number | null>;
  /** Resolves when all bytes were handed to the system. */
  write(bytes: Uint8Array): Promise<void>;
  close(): void;
}

/** Accepts connections. */
export interface NetworkListener {
  readonly local: NetworkAddress;
  /** The next connection; null once the listener is closed. */
  accept(): Promise<NetworkConnection | null>;
  close(): void;
}

/** Opens listeners and connections. */
export interface Network {
  listen(address: NetworkAddress): Promise<NetworkListener>;
  connect(address: NetworkAddress): Promise<NetworkConnection>;
}
