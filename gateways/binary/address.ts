/** Addresses as people write them: `host:port`, `host`, `:port`, `[::1]:port`. */
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";

/** A host and a port. */
export interface Address {
  readonly hostname: string;
  readonly port: number;
}

/** Reads an address; what is left out is 127.0.0.1 and the given port. Raises 22023. */
export function parseAddress(text: string, defaultPort: number): Address {
  const match = /^(?:\[([0-9a-fA-F:.%]+)\]|([^:[\]\s/]*))(?::(\d{1,5}))?$/.exec(text.trim());
  const port = match?.[3] === undefined ? defaultPort : Number(match[3]);
  if (match === null || text.trim() === "" || port > 65_535) {
    throw new DatabaseError(
      SQLSTATE.invalidParameterValue,
      `"${text}" is not an address; write host:port, for example 127.0.0.1:${defaultPort}`,
    );
  }
  const hostname = match[1] ?? match[2] ?? "";
  return {
    hostname: hostname === "" ? "127.0.0.1" : hostname === "localhost" ? "127.0.0.1" : hostname,
    port,
  };
}

/** An address as a user would write it. */
export function formatAddress({ hostname, port }: Address): string {
  return hostname.includes(":") ? `[${hostname}]:${port}` : `${hostname}:${port}`;
}

/** Whether only this machine reaches the address. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "::1" || /^127(\.\d{1,3}){3}$/.test(hostname) ||
    /^::ffff:127\./i.test(hostname);
}
