/** What a transaction says to other sessions when it commits. */

/** LISTEN, UNLISTEN and NOTIFY, which take effect at the commit. An empty channel: all of them. */
export interface CommitMessage {
  readonly kind: "listen" | "unlisten" | "notify";
  readonly channel: string;
  readonly payload: string;
  /** The session that said it. */
  readonly processId: number;
}
