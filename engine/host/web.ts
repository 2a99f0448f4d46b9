/**
 * The web port: how external sources reach other machines. Names are resolved and addresses connected to apart, so that
 * the address that was checked is the one that is connected to, whatever the name answers the next time.
 */
import type { NetworkConnection } from "./network.ts";

/** Where to connect, and how. */
export interface WebTarget {
  /** An IP address in its usual form, without brackets. */
  readonly address: string;
  readonly port: number;
  readonly signal: AbortSignal;
}

/** Upgrades a connection to TLS; the certificate must be valid for the host name. */
export type UpgradeToTls = (connection: NetworkConnection, hostname: string) => Promise<NetworkConnection>;

/** Names, connections and secrets of the machine. */
export interface Web {
  /** All addresses of a name, in the order of preference; rejects when there is none. */
  resolve(hostname: string): Promise<readonly string[]>;
  connect(target: WebTarget): Promise<NetworkConnection>;
  /** Only in a build with TLS. */
  readonly upgradeToTls?: UpgradeToTls;
  /** The value of an environment variable. */
  variable(name: string): string | undefined;
}
