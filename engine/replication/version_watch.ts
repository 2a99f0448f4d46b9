/** The active version of the cluster, at a member: who is refused by it, and when a primary raises it. */
import type { VersionRange } from "../catalog/cluster_version.ts";
import type { SeatedEngine } from "./member_seat.ts";
import type { MemberIdentity } from "./superblock.ts";

/** What a member asks of the others about versions. */
export interface VersionedPeers {
  /** Those that this member speaks. */
  readonly versions: VersionRange;
  /** The newest that another member speaks; null while it is not connected. */
  spokenVersion(index: number): number | null;
  /** Members that do not speak the version are refused from now on. */
  requireVersion(version: number): void;
}

/** See the head of the file. */
export class VersionWatch {
  readonly #peers: VersionedPeers;
  readonly #identity: Pick<MemberIdentity, "index" | "memberCount">;
  readonly #log: (line: string) => void;
  /** As the others were last told. */
  #known: number | null = null;

  constructor(
    peers: VersionedPeers,
    identity: Pick<MemberIdentity, "index" | "memberCount">,
    log: (line: string) => void,
  ) {
    this.#peers = peers;
    this.#identity = identity;
    this.#log = log;
  }

  /** To be called now and then. A primary makes the newest version that all members speak the active one. */
  look(
    engine: Pick<SeatedEngine, "clusterVersion" | "writtenVersion" | "raiseClusterVersion">,
    isServing: boolean,
  ): void {
    if (isServing && engine.writtenVersion < this.#peers.versions.newest) {
      const common = this.#common();
      if (common > engine.writtenVersion) engine.raiseClusterVersion(common);
    }
    const { clusterVersion } = engine;
    if (clusterVersion === this.#known) return;
    this.#peers.requireVersion(clusterVersion);
    if (this.#known !== null) this.#log(`version ${clusterVersion} of the cluster's protocol is active`);
    this.#known = clusterVersion;
  }

  /** The newest version that all members speak; 0 while one is not connected. */
  #common(): number {
    const { index: self, memberCount } = this.#identity;
    const spoken = Array.from(
      { length: memberCount },
      (_, index) => index === self ? this.#peers.versions.newest : this.#peers.spokenVersion(index) ?? 0,
    );
    return Math.min(...spoken);
  }
}
