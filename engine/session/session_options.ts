/** Who opens a session, and what is known of it before its first statement. */
import type { SessionEncryption } from "../system_catalog/catalog_context.ts";

/** Who opens a session. */
export interface SessionOptions {
  readonly user?: string;
  readonly database?: string;
  readonly settings?: Readonly<Record<string, string>>;
  /** Reads only, also at a member of a replication group that is not the primary, at the op that it has applied. */
  readonly readFrom?: "follower";
  /** How the client's connection is encrypted, if it is. */
  readonly encryption?: SessionEncryption | null;
}
