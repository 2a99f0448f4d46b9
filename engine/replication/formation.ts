/**
 * The first start of a cluster, and what an empty directory means later.
 *
 * An empty directory forms a cluster only when all members are connected and none of them has begun: member 0 draws the
 * cluster id and makes its superblock durable; the others learn the id from its hello and do the same. A member
 * whose directory is empty while another has a log was replaced: it may have promised and stored what it knows no
 * more, and must recover before it votes.
 *
 * A crash in between is harmless: nothing begins before every member knows the id, or is seen to have a log. Members
 * that know the id and have no log count as empty for those that do not know it.
 */
import { assert } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { equalBytes } from "../base/bytes.ts";
import type { Host } from "../host/host.ts";
import type { PeerConnections, PeerKnowledge } from "./peers/peer_connections.ts";
import { PEER_ID_BYTES } from "./peers/peer_hello.ts";
import type { MemberIdentity } from "./superblock.ts";

/** How the start of a member goes on. */
export interface Formation {
  /** `replaced`: the cluster has begun without this directory, which has no superblock yet. */
  readonly kind: "formed" | "replaced";
  readonly identity: MemberIdentity;
}

/** How to form a cluster. */
export interface FormationOptions {
  readonly host: Pick<Host, "random" | "timers">;
  readonly peers: PeerConnections;
  readonly configurationHash: bigint;
  /** Makes the superblock of a new member durable. */
  create(identity: MemberIdentity): void;
  /** Writes one line for people. */
  log(line: string): void;
}

/** What a member does next, given what all members say. */
export type FormationStep =
  | { readonly kind: "wait" }
  | { readonly kind: "draw" }
  | { readonly kind: "join"; readonly clusterId: Uint8Array }
  | { readonly kind: "formed"; readonly clusterId: Uint8Array }
  | { readonly kind: "replaced"; readonly clusterId: Uint8Array };

/** What the member of that index does; `others`: null for those that are not connected. Pure. */
export function formationStep(
  index: number,
  own: PeerKnowledge,
  others: readonly (PeerKnowledge | null)[],
): FormationStep {
  const connected = others.filter((other) => other !== null);
  const begun = [own, ...connected].find((each) => each.hasLog)?.clusterId ?? null;
  if (begun !== null) return { kind: own.clusterId === null ? "replaced" : "formed", clusterId: begun };
  if (connected.length < others.length) return { kind: "wait" };
  const { clusterId } = [own, ...connected].find((each) => each.clusterId !== null) ?? own;
  if (clusterId === null) return { kind: index === 0 ? "draw" : "wait" };
  if (own.clusterId === null) return { kind: "join", clusterId };
  const isKnownByAll = connected.every((other) =>
    other.clusterId !== null && equalBytes(other.clusterId, clusterId)
  );
  return isKnownByAll ? { kind: "formed", clusterId } : { kind: "wait" };
}

const FIRST_LINE_MICROSECONDS = 2_000_000;
const NEXT_LINE_MICROSECONDS = 30_000_000;

/**
 * Resolves when this member may begin, or is known to be replaced. `peers.knowledge` says what the directory has: a
 * member with a log need not ask. Rejects when `stopped` does.
 */
export async function formCluster(options: FormationOptions, stopped: Promise<never>): Promise<Formation> {
  const { peers, configurationHash } = options;
  const { index, memberCount } = peers;
  const end = Promise.withResolvers<Formation>();
  const identityOf = (clusterId: Uint8Array): MemberIdentity => ({
    clusterId,
    index,
    memberCount,
    configurationHash,
  });
  const begin = (clusterId: Uint8Array): void => {
    options.create(identityOf(clusterId));
    peers.knowledge = { clusterId, hasLog: false };
  };
  const look = (): void => {
    const others = othersOf(index, memberCount).map((other) => peers.hello(other));
    const step = formationStep(index, peers.knowledge, others);
    switch (step.kind) {
      case "wait":
        return;
      case "draw": {
        const clusterId = new Uint8Array(PEER_ID_BYTES);
        options.host.random.fill(clusterId);
        begin(clusterId);
        return look();
      }
      case "join":
        begin(step.clusterId);
        return look();
      case "formed":
      case "replaced":
        end.resolve({ kind: step.kind, identity: identityOf(step.clusterId) });
    }
  };
  let isOver = false;
  const guarded = (): void => {
    try {
      if (!isOver) look();
    } catch (error) {
      end.reject(error);
    }
  };
  peers.onChange(guarded);
  let timer = options.host.timers.setTimer(FIRST_LINE_MICROSECONDS, function say() {
    const missing = othersOf(index, memberCount).filter((other) => !peers.connected(other));
    if (missing.length > 0) {
      const names = missing.map((other) => {
        const { hostname, port } = peers.address(other);
        return `${other} (${hostname}:${port})`;
      });
      options.log(`the cluster begins when all members are there; waiting for member ${names.join(" and ")}`);
    }
    timer = options.host.timers.setTimer(NEXT_LINE_MICROSECONDS, say);
  });
  try {
    guarded();
    return await Promise.race([end.promise, stopped]);
  } finally {
    isOver = true;
    options.host.timers.clearTimer(timer);
  }
}

/** Raises 22023 when a directory belongs to another member, or was made with other settings. */
export function requireIdentity(
  identity: MemberIdentity,
  wanted: Pick<MemberIdentity, "index" | "memberCount" | "configurationHash">,
): void {
  const refuse = (what: string): DatabaseError => new DatabaseError(SQLSTATE.invalidParameterValue, what);
  if (identity.memberCount !== wanted.memberCount) {
    throw refuse(
      `the data directory is of a cluster of ${identity.memberCount}, and --peers names ${wanted.memberCount}`,
    );
  }
  if (identity.index !== wanted.index) {
    throw refuse(`the data directory is of member ${identity.index}, and --replica is ${wanted.index}`);
  }
  if (identity.configurationHash !== wanted.configurationHash) {
    throw refuse(
      "the data directory was made with another --checkpoint-log or --shards, which a cluster cannot change",
    );
  }
}

/**
 * Stands for the settings that shape files: members with different ones would make different files of one log. FNV-1a
 * over their numbers (RFC 9923), 64 bits.
 */
export function configurationHash(
  settings: { readonly checkpointLogBytes: number; readonly shardCount?: number | null },
): bigint {
  let hash = 0xcbf29ce484222325n;
  const { checkpointLogBytes, shardCount } = settings;
  const shards = (shardCount ?? 1) === 1 ? "" : ` shards=${shardCount}`;
  for (const byte of new TextEncoder().encode(`checkpoint_log=${checkpointLogBytes}${shards}`)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  assert(hash !== 0n, "a configuration has a hash");
  return hash;
}

function othersOf(index: number, memberCount: number): number[] {
  return Array.from({ length: memberCount }, (_, other) => other).filter((other) => other !== index);
}
