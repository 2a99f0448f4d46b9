/** The active version of the cluster, at a member: who is refused by it, and when a primary raises it. */
import type { VersionRange } from "../catalog/cluster_version.ts";
import type { SeatedEngine } from "./member_seat.ts";

/** What a member asks of the others about versions. */
export interface VersionedPeers {
  /** Those that this member speaks. */
  readonly versions: VersionRange;
  /** The newest version that all members speak; null while one of them is not connected. */
  readonly commonVersion: number | null;
  /** Members that do not speak the version are refused from now on. */
  requireVersion(version: number): void;
}

/** See the head of the file. */
export class VersionWatch {
  readonly #peers: VersionedPeers;
  readonly #log: (line: string) => void;
  /** As the others were last told. */
  #known: number | null = null;

  constructor(peers: VersionedPeers, log: (line: string) => void) {
    this.#peers = peers;
    this.#log = log;
  }

  /** To be called now and then. A primary makes the newest version that all members speak the active one. */
  look(engine: Pick<SeatedEngine, "clusterVersion" | "raiseClusterVersion">, isServing: boolean): void {
    const { commonVersion } = this.#peers;
    if (isServing && commonVersion !== null && commonVersion > engine.clusterVersion) {
      engine.raiseClusterVersion(commonVersion);
    }
    const { clusterVersion } = engine;
    if (clusterVersion === this.#known) return;
    this.#peers.requireVersion(clusterVersion);
    if (this.#known !== null) this.#log(`version ${clusterVersion} of the cluster's protocol is active`);
    this.#known = clusterVersion;
  }
}
