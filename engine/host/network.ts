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

/** What the other end of an encrypted connection has proved itself with. */
export interface PeerCertificate {
  /** The names that it is for, for people. */
  readonly names: string;
  /** Whether it is for a name or an address. */
  isFor(hostname: string): boolean;
}

/** A two-way byte stream. */
export interface NetworkConnection {
  readonly remote: NetworkAddress;
  /** Of one that has dialed this member; the one that is dialed is checked when it is. Absent in clear text. */
  readonly certificate?: PeerCertificate;
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
