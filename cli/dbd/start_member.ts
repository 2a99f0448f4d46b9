/**
 * Starts a member of a cluster: the address that others dial, the other members, the superblock, and the engine as the
 * state of the group's log.
 *
 * Nothing is written before the members have found that they fit together.
 */
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";
import type { VersionRange } from "../../engine/catalog/cluster_version.ts";
import { joinPath } from "../../engine/host/disk.ts";
import type { Host } from "../../engine/host/host.ts";
import { denoNetwork } from "../../engine/host/deno_network.ts";
import { installTransfer } from "../../engine/replication/files/checkpoint_transfer.ts";
import { configurationHash, formCluster, requireIdentity } from "../../engine/replication/formation.ts";
import { Member } from "../../engine/replication/member.ts";
import type { MemberSeat } from "../../engine/replication/member_seat.ts";
import { PeerConnections } from "../../engine/replication/peers/peer_connections.ts";
import { Superblock, SuperblockReports } from "../../engine/replication/superblock.ts";
import type { Engine } from "../../engine/session/engine.ts";
import { newestManifestNumber } from "../../engine/storage/manifest.ts";
import { listLogFiles } from "../../engine/storage/log_files.ts";
import { isMemberLog } from "../../engine/storage/log_recovery.ts";
import { LOG_DIRECTORY } from "../../engine/storage/storage_engine.ts";
import { MemberDoor } from "../../gateways/binary/member_door.ts";
import { securedNetwork } from "../../gateways/binary/member_network.ts";
import { Relay } from "../../gateways/relay/relay.ts";
import { refuseClient } from "../../gateways/binary/server.ts";
import type { PeerSecurity } from "../../gateways/shared/peer_security.ts";
import type { Features } from "../features/feature_table.ts";
import { ClusterLines } from "./cluster_lines.ts";
import { onFreePort } from "./listeners.ts";
import type { ClusterSettings, ServerSettings } from "./settings.ts";
import { StartError } from "./start_error.ts";

/** What a member needs besides its settings. */
export interface MemberRequest {
  readonly host: Host;
  readonly features: Features;
  readonly versions?: VersionRange;
  openEngine(seat: MemberSeat): Promise<Engine>;
  log(line: string): void;
}

/** A member that runs. */
export interface StartedMember {
  readonly member: Member<Engine>;
  readonly peers: PeerConnections;
  readonly door: MemberDoor;
  readonly relay: Relay;
  /** Resolves with one line when the member must stop, because it does not fit to the others. */
  readonly misfit: Promise<string>;
  /** Reads the certificate of the member now. */
  reload(): void;
  close(): Promise<void>;
}

/** Starts a member. Raises {@link StartError}. */
export async function startMember(
  settings: ServerSettings,
  cluster: ClusterSettings,
  { host, features, versions, openEngine, log }: MemberRequest,
): Promise<StartedMember> {
  const { dataDirectory } = settings;
  const reports = new SuperblockReports();
  const hash = configurationHash(settings);
  let superblock = openSuperblock(host, dataDirectory, reports, log);
  const { index, peers: addresses } = cluster;
  if (superblock !== null) {
    try {
      requireIdentity(superblock.identity, { index, memberCount: addresses.length, configurationHash: hash });
    } catch (error) {
      await superblock.close();
      throw error;
    }
  }
  const security = await openSecurity(cluster, features, log);
  const network = security === null ? denoNetwork() : securedNetwork(security);
  const misfit = Promise.withResolvers<string>();
  const peers = new PeerConnections({
    host,
    network,
    index,
    addresses,
    configurationHash: hash,
    token: settings.token,
    ...(versions === undefined ? {} : { versions }),
    knowledge: {
      clusterId: superblock?.identity.clusterId ?? null,
      hasLog: superblock !== null && hasLog(host, dataDirectory, superblock),
    },
    log,
    onMisfit: ({ message }) => misfit.resolve(message),
  });
  const door = await onFreePort("members of the cluster and the binary protocol", settings.listenAddress, {
    search: false,
    open: (address) =>
      MemberDoor.open(address, {
        security,
        offersTls: settings.tls !== null,
        onPeer: (connection, received) => peers.accept(connection, received),
        onEarlyClient: (socket) => refuseClient(socket, starting()),
        log: (line) => peers.log(line),
      }),
  });
  let isStarted = false;
  try {
    peers.start();
    const stopped = misfit.promise.then((line) => Promise.reject(new StartError(line)));
    // Later on the program looks at it.
    stopped.catch(() => {});
    if (superblock === null || !peers.knowledge.hasLog) {
      const formation = await formCluster({
        host,
        peers,
        configurationHash: hash,
        create: (identity) => {
          host.disk.createDirectory(dataDirectory);
          superblock = Superblock.create(host.disk, dataDirectory, identity, reports);
        },
        log,
      }, stopped);
      if (formation.kind === "replaced") {
        log(
          "the data directory is empty, and the cluster has begun: everything is fetched from the other members",
        );
        host.disk.createDirectory(dataDirectory);
        superblock = Superblock.create(host.disk, dataDirectory, formation.identity, reports, {
          isReplaced: true,
        });
      }
    }
    if (superblock === null) throw new Error("a cluster that is formed has superblocks");
    const isInstalled = installTransfer(host.disk, dataDirectory);
    if (!isInstalled && superblock.read().view > 0 && logFilesIn(host, dataDirectory).length === 0) {
      const { identity } = superblock;
      if (identity.memberCount === 1) throw new StartError(`${missingLog(dataDirectory)}: restore it`);
      log(
        `${missingLog(dataDirectory)}: as after a lost disk, what it had is fetched from the other members`,
      );
      await superblock.close();
      superblock = Superblock.create(host.disk, dataDirectory, identity, reports, { isReplaced: true });
    }
    // The engine may be announced as serving before the member is here.
    let started: Member<Engine> | null = null;
    const relay = new Relay({
      index,
      token: settings.token,
      peers,
      endOfTurn: () => host.timers.endOfTurn(),
      network,
      log: (line) => peers.log(line),
      target: () => {
        const primary = started?.primaryIndex ?? null;
        if (primary === index) return "here";
        // One that is cut off hears nothing of a new primary, and its clients would hear nothing at all.
        return primary === null || !peers.connected(primary) ? null : { index: primary };
      },
    });
    const lines = new ClusterLines({
      index,
      memberCount: addresses.length,
      connected: (other) => peers.connected(other),
      primary: () => {
        const primary = started?.primaryIndex ?? null;
        const isThere = primary !== null && (primary === index || peers.connected(primary));
        return isThere && started !== null ? { index: primary, view: started.viewNumber } : null;
      },
    }, log);
    const changed = () => {
      relay.targetChanged();
      lines.changed();
    };
    peers.onChange(changed);
    door.onRelayed = (connection, received) => relay.accept(connection, received);
    const member = started = await Member.start({
      host,
      superblock,
      reports,
      peers,
      directory: dataDirectory,
      usesReadLease: cluster.usesReadLease,
      scrubBytesPerSecond: cluster.scrubBytesPerSecond,
      openEngine,
      log,
      onPrimaryChanged: changed,
    });
    peers.knowledge = { clusterId: superblock.identity.clusterId, hasLog: true };
    lines.changed();
    isStarted = true;
    return {
      member,
      peers,
      door,
      relay,
      misfit: misfit.promise,
      reload: () => security?.reload(),
      close: async () => {
        security?.close();
        lines.close();
        relay.close();
        await member.close();
        await door.close();
      },
    };
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code !== SQLSTATE.featureNotSupported) throw error;
    // Of a release that is too old for its data the others are to hear, and they say what to do.
    const line = await Promise.race([misfit.promise, pause(host, MISFIT_MICROSECONDS)]);
    throw line === null ? error : new StartError(line);
  } finally {
    if (!isStarted) {
      security?.close();
      peers.close();
      await door.close();
      await superblock?.close();
    }
  }
}

/** By then others that run have said what does not fit. */
const MISFIT_MICROSECONDS = 4_000_000;

function pause({ timers }: Host, microseconds: number): Promise<null> {
  return new Promise((resolve) => timers.setTimer(microseconds, () => resolve(null)));
}

/** TLS between members, when the settings ask for it. Raises {@link StartError}. */
async function openSecurity(
  { tls }: ClusterSettings,
  features: Features,
  log: (line: string) => void,
): Promise<(PeerSecurity & { reload(): void; close(): void }) | null> {
  if (tls === null) return null;
  if (features.tls === undefined) throw new Error("settings ask for a feature that the build lacks");
  const { CertificateError, PeerTls } = await features.tls();
  try {
    return PeerTls.open(tls, log);
  } catch (error) {
    if (error instanceof CertificateError) throw new StartError(error.message);
    throw error;
  }
}

/** The superblock of a member's directory, null in an empty one. */
function openSuperblock(
  host: Host,
  directory: string,
  reports: SuperblockReports,
  log: (line: string) => void,
): Superblock | null {
  const superblock = Superblock.open(host.disk, directory, reports, (path) => {
    log(`"${path}" is damaged; it is written anew from the other copy`);
  });
  if (superblock !== null) return superblock;
  if (Superblock.exists(host.disk, directory)) {
    throw new StartError(
      `Cannot open data directory "${directory}": both copies of the superblock are damaged. Empty the directory: the ` +
        "member fetches everything from the others",
    );
  }
  if (isMemberLog(host.disk, joinPath(directory, LOG_DIRECTORY))) {
    throw new StartError(
      `Cannot open data directory "${directory}": both files of the superblock are missing. Empty the directory: the ` +
        "member fetches everything from the others",
    );
  }
  const isSingle = newestManifestNumber(host.disk, directory) > 0 ||
    logFilesIn(host, directory).length > 0;
  if (!isSingle) return null;
  throw new StartError(
    `Cannot run as a member of a cluster: data directory "${directory}" is that of a single server. Give each member an ` +
      "empty directory, and load a dump into the cluster",
  );
}

function hasLog(host: Host, directory: string, superblock: Superblock): boolean {
  return superblock.read().view > 0 || newestManifestNumber(host.disk, directory) > 0 ||
    logFilesIn(host, directory).length > 0;
}

function logFilesIn({ disk }: Host, directory: string): readonly unknown[] {
  return listLogFiles(disk, joinPath(directory, LOG_DIRECTORY));
}

function missingLog(directory: string): string {
  return `the log of data directory "${directory}" is missing`;
}

function starting(): DatabaseError {
  return new DatabaseError(SQLSTATE.cannotConnectNow, "the database system is starting up", {
    hint: "The members of the cluster are finding each other.",
  });
}
