/**
 * The connections of a member to all others: one each, opened by the lower index, and opened again when it ends.
 *
 * A member that does not fit ends the program, through `onMisfit`, unless one that fits is connected within the time of
 * grace: a member that runs is not ended by another's wrong settings, it says what is wrong in one line.
 *
 * Limits: dialing waits 50 ms to 1 s between attempts; a handshake takes 5 s at most, 64 of them at a time; a peer
 * that says nothing for 3 s is closed; an equal line is logged once a minute at most.
 */
import { assert } from "../../base/assert.ts";
import { equalBytes } from "../../base/bytes.ts";
import { DatabaseError } from "../../base/errors.ts";
import { SPOKEN_VERSIONS, type VersionRange } from "../../catalog/cluster_version.ts";
import type { Host, TimerId } from "../../host/host.ts";
import type { NetworkAddress, NetworkConnection } from "../../host/network.ts";
import type { PeerMessage } from "../protocol/message.ts";
import { PeerConnection, wireOf } from "./peer_connection.ts";
import { askIndex, type Handshake, PeerMisfit, shakeHands } from "./peer_handshake.ts";
import { otherIndex, PEER_ID_BYTES, PEER_NONCE_BYTES, type PeerHello } from "./peer_hello.ts";
import type { MessageBus } from "../protocol/ports.ts";

/** Times, in milliseconds. */
export interface PeerTimes {
  readonly firstRetry: number;
  readonly lastRetry: number;
  readonly handshake: number;
  /** How often a member says that it lives. */
  readonly tick: number;
  /** Ticks without a byte after which a peer counts as gone. */
  readonly silentTicks: number;
  /** How long a member that meets a misfit waits for one that fits. */
  readonly grace: number;
}

const TIMES: PeerTimes = {
  firstRetry: 50,
  lastRetry: 1000,
  handshake: 5000,
  tick: 500,
  silentTicks: 6,
  grace: 1000,
};

/** What systems say of a name that has no address. */
const UNKNOWN_NAME = /failed to lookup|invalid host|ENOTFOUND|EAI_AGAIN/;
const MAX_HANDSHAKES = 64;
const REPEATED_LINE_MICROSECONDS = 60_000_000;
const MAX_KEPT_LINES = 100;
/** After so many that have ended for a message that is none, a peer does not speak what it says: it was no accident. */
const UNREADABLE_CONNECTIONS = 3;

/** What a member knows of its cluster. */
export interface PeerKnowledge {
  /** null: the directory is empty. */
  readonly clusterId: Uint8Array | null;
  /** See `PeerHello.hasLog`. */
  readonly hasLog: boolean;
}

/** How to connect to the other members. */
export interface PeerConnectionsOptions {
  readonly host: Pick<Host, "clock" | "random" | "timers">;
  /** Opens a connection; rejects with a {@link PeerMisfit} when the other proves itself by nothing that is trusted. */
  readonly network: { connect(address: NetworkAddress): Promise<NetworkConnection> };
  readonly index: number;
  /** Where the members are, in order of index; the own one is not looked at. */
  readonly addresses: readonly NetworkAddress[];
  readonly configurationHash: bigint;
  /** The shared secret; null: none. */
  readonly token: string | null;
  readonly knowledge: PeerKnowledge;
  /** The group that the messages are of. */
  readonly group?: number;
  /** Writes one line for people. */
  log(line: string): void;
  /** The members do not fit together, and this one fits to none: it must stop. */
  onMisfit(error: PeerMisfit): void;
  readonly times?: Partial<PeerTimes>;
  /** Those of this release unless given. */
  readonly versions?: VersionRange;
}

/** What has gone between this member and another. */
export interface PeerStatistics {
  readonly index: number;
  readonly isConnected: boolean;
  /** The newest version that it speaks; null while it is not connected. */
  readonly spokenVersion: number | null;
  /** Monotonic microseconds of the last frame, or of the hello; null: none yet. */
  readonly lastHeard: number | null;
  /** How often a connection was made. */
  readonly connections: number;
  readonly queuedBytes: number;
  readonly sentMessages: number;
  readonly sentBytes: number;
  readonly receivedMessages: number;
  readonly receivedBytes: number;
  readonly droppedMessages: number;
}

interface Peer {
  readonly index: number;
  readonly address: NetworkAddress;
  connection: PeerConnection | null;
  /** Of the connection. */
  hello: PeerHello | null;
  /** How often it has sent what the version that it says does not have. */
  unreadable: number;
  /** What it must speak after that. */
  leastVersion: number;
  /** Of one that is not dialed: whether it was asked who is at its address. */
  isAsked: boolean;
  retryMilliseconds: number;
  retryTimer: TimerId | null;
  connections: number;
  lastHeard: number | null;
  /** The counters of connections that have ended. */
  readonly before: PeerConnection["counters"];
}

/** See the head of the file. */
export class PeerConnections implements MessageBus {
  readonly index: number;
  readonly memberCount: number;
  /** Names this start of the program. */
  readonly process: Uint8Array;
  readonly #options: PeerConnectionsOptions;
  readonly #times: PeerTimes;
  readonly #peers: ReadonlyMap<number, Peer>;
  readonly #lines = new Map<string, number>();
  readonly #handshakes = new Set<NetworkConnection>();
  readonly versions: VersionRange;
  #knowledge: PeerKnowledge;
  /** The active version of the cluster, as far as it is known. */
  #requiredVersion = 0;
  #listener: ((message: PeerMessage) => void) | null = null;
  #changeListeners: (() => void)[] = [];
  /** The bytes of messages with entries, as long as their owner has those. */
  readonly #encoded = new WeakMap<PeerMessage, readonly Uint8Array[]>();
  #hasFit = false;
  #graceTimer: TimerId | null = null;
  #tickTimer: TimerId | null = null;
  #isClosed = false;

  constructor(options: PeerConnectionsOptions) {
    const { addresses, index } = options;
    assert(index >= 0 && index < addresses.length, `member ${index} of ${addresses.length}`);
    this.index = index;
    this.memberCount = addresses.length;
    this.#options = options;
    this.#times = { ...TIMES, ...options.times };
    this.#knowledge = options.knowledge;
    this.versions = options.versions ?? SPOKEN_VERSIONS;
    this.process = this.#randomBytes(PEER_ID_BYTES);
    this.#peers = new Map(
      addresses.map((address, peer): [number, Peer] => [peer, {
        index: peer,
        address,
        connection: null,
        hello: null,
        unreadable: 0,
        leastVersion: 0,
        isAsked: false,
        retryMilliseconds: this.#times.firstRetry,
        retryTimer: null,
        connections: 0,
        lastHeard: null,
        before: { sentMessages: 0, sentBytes: 0, receivedMessages: 0, receivedBytes: 0, droppedMessages: 0 },
      }]).filter(([peer]) => peer !== index),
    );
  }

  /** Begins to dial. */
  start(): void {
    for (const peer of this.#peers.values()) this.#dial(peer);
    this.#setTick();
  }

  /** Takes a connection that another member has opened; `received`: what was read of it. */
  accept(connection: NetworkConnection, received: Uint8Array): void {
    if (this.#isClosed || this.#handshakes.size >= MAX_HANDSHAKES) connection.close();
    else void this.#shake(connection, { received, dialed: null });
  }

  send(to: number, message: PeerMessage): void {
    this.#peers.get(to)?.connection?.send(message, () => this.#encode(message));
  }

  queuedBytes(to: number): number {
    return this.#peers.get(to)?.connection?.queuedBytes ?? Infinity;
  }

  /** The bytes of a message. Several members get the same entries. */
  #encode(message: PeerMessage): readonly Uint8Array[] {
    const group = this.#options.group ?? 0;
    if (message.kind !== "prepare" && message.kind !== "entry_piece") return wireOf(group, message);
    const known = this.#encoded.get(message);
    if (known !== undefined) return known;
    const bytes = wireOf(group, message);
    this.#encoded.set(message, bytes);
    return bytes;
  }

  /** Takes what other members send, from now on; what has come before is lost. */
  onMessage(listener: (message: PeerMessage) => void): void {
    this.#listener = listener;
  }

  /** Called after a connection has begun or ended. */
  onChange(listener: () => void): void {
    this.#changeListeners.push(listener);
  }

  /** Whether a member that fits is connected. */
  connected(index: number): boolean {
    return this.hello(index) !== null;
  }

  /** What a connected member has said of itself; null when it is not connected. */
  hello(index: number): PeerHello | null {
    return this.#peers.get(index)?.hello ?? null;
  }

  /** The newest version that a member speaks; null while it is not connected. */
  spokenVersion(index: number): number | null {
    return this.hello(index)?.version ?? null;
  }

  /** The oldest version that this member speaks and its cluster allows. */
  get oldestVersion(): number {
    return Math.max(this.versions.oldest, this.#requiredVersion);
  }

  /** Members that do not speak the version are refused from now on. */
  requireVersion(version: number): void {
    if (version <= this.#requiredVersion) return;
    this.#requiredVersion = version;
    for (const { hello, connection } of this.#peers.values()) {
      if (hello !== null && hello.version < version) {
        connection?.close(`version ${version} is active, and the member speaks version ${hello.version}`);
      }
    }
  }

  /** Where a member is dialed. */
  address(index: number): NetworkAddress {
    const address = this.#options.addresses[index];
    assert(address !== undefined, `there is no member ${index}`);
    return address;
  }

  /** What this member says of its cluster. A change of the cluster id begins all connections anew. */
  get knowledge(): PeerKnowledge {
    return this.#knowledge;
  }

  set knowledge(knowledge: PeerKnowledge) {
    const before = this.#knowledge.clusterId;
    this.#knowledge = knowledge;
    const { clusterId } = knowledge;
    if (before === clusterId || before !== null && clusterId !== null && equalBytes(before, clusterId)) {
      return;
    }
    for (const peer of this.#peers.values()) {
      peer.retryMilliseconds = this.#times.firstRetry;
      peer.connection?.close();
    }
  }

  /** What has gone to and from each member. */
  statistics(): readonly PeerStatistics[] {
    return [...this.#peers.values()].map(({ index, connection, hello, connections, lastHeard, before }) => {
      const now = connection?.counters;
      return {
        index,
        isConnected: connection !== null,
        spokenVersion: hello?.version ?? null,
        lastHeard,
        connections,
        queuedBytes: connection?.queuedBytes ?? 0,
        sentMessages: before.sentMessages + (now?.sentMessages ?? 0),
        sentBytes: before.sentBytes + (now?.sentBytes ?? 0),
        receivedMessages: before.receivedMessages + (now?.receivedMessages ?? 0),
        receivedBytes: before.receivedBytes + (now?.receivedBytes ?? 0),
        droppedMessages: before.droppedMessages + (now?.droppedMessages ?? 0),
      };
    });
  }

  /** Writes a line, unless it was written a short while ago. */
  log(line: string): void {
    const now = this.#options.host.clock.monotonic();
    const last = this.#lines.get(line);
    if (last !== undefined && now - last < REPEATED_LINE_MICROSECONDS) return;
    if (this.#lines.size >= MAX_KEPT_LINES) this.#lines.clear();
    this.#lines.set(line, now);
    this.#options.log(line);
  }

  /** Ends all connections. */
  close(): void {
    this.#isClosed = true;
    this.#clear(this.#tickTimer);
    this.#clear(this.#graceTimer);
    for (const connection of this.#handshakes) connection.close();
    for (const peer of this.#peers.values()) {
      this.#clear(peer.retryTimer);
      peer.connection?.close();
    }
  }

  // ---------------------------------------------------------------- connections

  async #dial(peer: Peer): Promise<void> {
    if (peer.index < this.index || this.#isClosed) return;
    peer.retryTimer = null;
    try {
      const connection = await this.#connect(peer.address);
      if (connection !== null) await this.#shake(connection, { received: new Uint8Array(0), dialed: peer });
    } catch (error) {
      // Else the other does not run or cannot be reached: it is dialed again.
      if (error instanceof PeerMisfit && !this.#isClosed) this.#report(error, peer);
      else if (UNKNOWN_NAME.test(String(error))) {
        this.log(
          `the name of member ${peer.index}, ${peer.address.hostname}, is not known here: check --peers`,
        );
      }
    }
    if (peer.connection === null) this.#dialLater(peer);
  }

  #dialLater(peer: Peer): void {
    if (peer.index < this.index || this.#isClosed || peer.retryTimer !== null) return;
    peer.retryTimer = this.#after(peer.retryMilliseconds, () => void this.#dial(peer));
    peer.retryMilliseconds = Math.min(peer.retryMilliseconds * 2, this.#times.lastRetry);
  }

  /** Connects; null when it takes too long or the member has stopped meanwhile. */
  async #connect(address: NetworkAddress): Promise<NetworkConnection | null> {
    const connecting = this.#options.network.connect(address);
    const late = Promise.withResolvers<null>();
    let isLate = false;
    const timer = this.#after(this.#times.handshake, () => {
      isLate = true;
      late.resolve(null);
    });
    const guarded = connecting.then((connection) => {
      if (!isLate && !this.#isClosed) return connection;
      connection.close();
      return null;
    });
    try {
      return await Promise.race([guarded, late.promise]);
    } finally {
      this.#clear(timer);
      // When it is late, its outcome has no one who waits for it.
      guarded.catch(() => null);
    }
  }

  async #shake(
    connection: NetworkConnection,
    { received, dialed }: { readonly received: Uint8Array; readonly dialed: Peer | null },
  ): Promise<void> {
    const place = dialed === null ? connection.remote.hostname : placeOf(dialed.address);
    this.#handshakes.add(connection);
    const timer = this.#after(this.#times.handshake, () => connection.close());
    try {
      const handshake = await shakeHands({
        connection,
        received,
        side: dialed === null ? "acceptor" : "dialer",
        token: this.#options.token,
        helloTo: (index) => this.#helloTo(index),
        dialed: dialed?.index ?? null,
        place,
        hostnameOf: (index) => this.#options.addresses[index]?.hostname ?? "",
        isTaken: (other) => this.#isTaken(other),
        misfitAtHome: (other) => this.#misfitAtHome(other),
      });
      if (handshake === null || this.#isClosed || !this.#isCurrent(handshake.own)) connection.close();
      else this.#keep(connection, handshake);
    } catch (error) {
      connection.close();
      if (this.#isClosed) return;
      if (error instanceof PeerMisfit) this.#report(error, dialed);
      else if (dialed === null) this.log(strangeLine(connection));
      else if (error instanceof DatabaseError) {
        this.log(`what answers at ${place} is no member: check --peers`);
      }
    } finally {
      this.#handshakes.delete(connection);
      this.#clear(timer);
    }
  }

  /** Whether a hello still says what is true: a later version may have become active since. */
  #isCurrent({ clusterId, oldestVersion }: PeerHello): boolean {
    return (clusterId === null) === (this.#knowledge.clusterId === null) &&
      oldestVersion >= this.oldestVersion;
  }

  #helloTo(to: number): PeerHello {
    const { token, configurationHash } = this.#options;
    return {
      version: this.versions.newest,
      oldestVersion: Math.max(this.oldestVersion, this.#peers.get(to)?.leastVersion ?? 0),
      from: this.index,
      to,
      memberCount: this.memberCount,
      hasToken: token !== null,
      ...this.#knowledge,
      configurationHash,
      nonce: this.#randomBytes(PEER_NONCE_BYTES),
      process: this.process,
    };
  }

  /** Whether another process with this index is connected and still says something. */
  async #isTaken(other: PeerHello): Promise<boolean> {
    const peer = this.#peers.get(other.from);
    const connection = peer?.connection ?? null;
    if (
      peer === undefined || connection === null ||
      equalBytes(peer.hello?.process ?? other.process, other.process)
    ) {
      return false;
    }
    const { receivedBytes } = connection.counters;
    // A member that was killed has lost its connection by now; one behind a broken cable will lose it for its silence.
    while (peer.connection === connection && !this.#isClosed) {
      if (connection.counters.receivedBytes > receivedBytes) return true;
      await new Promise<void>((resolve) => this.#after(this.#times.tick / 5, resolve));
    }
    return false;
  }

  /**
   * Whether another member is at the address of one that has dialed: then --peers has another order. Relays dial it,
   * and the last member nothing else. Asked once; where nobody answers it is not known.
   */
  async #misfitAtHome({ from }: PeerHello): Promise<string | null> {
    const peer = this.#peers.get(from);
    if (peer === undefined || peer.isAsked) return null;
    const late = new Promise<null>((resolve) => this.#after(this.#times.grace, () => resolve(null)));
    const found = await Promise.race([this.#indexAt(peer).catch(() => null), late]);
    peer.isAsked = found === null || found === from;
    return peer.isAsked || found === null ? null : otherIndex(placeOf(peer.address), found, from);
  }

  async #indexAt({ index, address }: Peer): Promise<number | null> {
    const connection = await this.#connect(address);
    if (connection === null) return null;
    const timer = this.#after(this.#times.handshake, () => connection.close());
    try {
      return await askIndex(connection, this.#helloTo(index));
    } finally {
      this.#clear(timer);
      connection.close();
    }
  }

  #keep(connection: NetworkConnection, { other, input }: Handshake): void {
    const peer = this.#peers.get(other.from);
    assert(peer !== undefined, `member ${other.from} was let in`);
    peer.connection?.close();
    const kept = new PeerConnection(
      { connection, input, peer: other.from, group: this.#options.group ?? 0 },
      {
        onHeard: () => peer.lastHeard = this.#options.host.clock.monotonic(),
        onMessage: (message) => this.#listener?.(message),
        onClose: (reason) => this.#ended(peer, kept, reason),
      },
    );
    this.#hasFit = true;
    this.#clear(peer.retryTimer);
    peer.retryTimer = null;
    peer.retryMilliseconds = this.#times.firstRetry;
    peer.connection = kept;
    peer.hello = other;
    peer.connections++;
    peer.lastHeard = this.#options.host.clock.monotonic();
    void kept.run();
    this.#changed();
  }

  #ended(peer: Peer, connection: PeerConnection, reason: string | null): void {
    const { before } = peer;
    before.sentMessages += connection.counters.sentMessages;
    before.sentBytes += connection.counters.sentBytes;
    before.receivedMessages += connection.counters.receivedMessages;
    before.receivedBytes += connection.counters.receivedBytes;
    before.droppedMessages += connection.counters.droppedMessages;
    if (peer.connection !== connection) return;
    if (connection.isUnreadable) this.#foundUnreadable(peer);
    // While a cluster begins, connections are made anew when its id is known.
    const isExpected = peer.hello?.clusterId === null;
    peer.connection = peer.hello = null;
    if (this.#isClosed) return;
    if (reason !== null && !isExpected) {
      this.log(`the connection to member ${peer.index} ended: ${oneLine(reason)}`);
    }
    this.#dialLater(peer);
    this.#changed();
  }

  /**
   * Releases from before versions were counted say 1, whatever they speak: one that says an older version than this
   * member's and does not speak it must speak a later one from now on.
   */
  #foundUnreadable(peer: Peer): void {
    const version = peer.hello?.version ?? Infinity;
    if (version >= this.versions.newest || ++peer.unreadable < UNREADABLE_CONNECTIONS) return;
    peer.leastVersion = version + 1;
    if (this.#isAloneBut(peer)) this.#hasFit = false;
  }

  /** The active version is later than what this member speaks: if nobody is connected, nobody will be any more. */
  #foundTooOld(index: number, dialed: Peer | null): void {
    const peer = this.#peers.get(index);
    if (peer === undefined || !this.#hasFit || !this.#isAloneBut(peer) || peer.hello !== null) return;
    if (dialed === peer) this.#hasFit = false;
    // Who dials may be anybody; what is at the member's address is believed.
    else void this.#lookAt(peer);
  }

  async #lookAt(peer: Peer): Promise<void> {
    const connection = await this.#connect(peer.address).catch(() => null);
    if (connection !== null) await this.#shake(connection, { received: new Uint8Array(0), dialed: peer });
  }

  /** Whether no member is connected but for this one. */
  #isAloneBut(peer: Peer): boolean {
    return [...this.#peers.values()].every((each) => each === peer || each.hello === null);
  }

  #changed(): void {
    for (const listener of this.#changeListeners) listener();
  }

  #report(error: PeerMisfit, dialed: Peer | null): void {
    if (dialed !== null) dialed.retryMilliseconds = this.#times.lastRetry;
    if (error.tooOldFor !== null) this.#foundTooOld(error.tooOldFor, dialed);
    if (this.#hasFit) {
      this.log(error.message);
      return;
    }
    this.#graceTimer ??= this.#after(this.#times.grace, () => {
      this.#graceTimer = null;
      if (this.#hasFit) this.log(error.message);
      else this.#options.onMisfit(error);
    });
  }

  #setTick(): void {
    this.#tickTimer = this.#after(this.#times.tick, () => {
      this.#setTick();
      for (const { connection } of this.#peers.values()) {
        if (connection === null) continue;
        // Counted in ticks: a member that hung itself for long gets a tick to read what has come.
        if (connection.tick() > this.#times.silentTicks) connection.close("nothing was heard");
      }
    });
  }

  #after(milliseconds: number, callback: () => void): TimerId {
    return this.#options.host.timers.setTimer(milliseconds * 1000, callback);
  }

  #clear(timer: TimerId | null): void {
    if (timer !== null) this.#options.host.timers.clearTimer(timer);
  }

  #randomBytes(count: number): Uint8Array {
    const bytes = new Uint8Array(count);
    this.#options.host.random.fill(bytes);
    return bytes;
  }
}

/** An address as people write it. */
export function placeOf({ hostname, port }: NetworkAddress): string {
  return hostname.includes(":") ? `[${hostname}]:${port}` : `${hostname}:${port}`;
}

function strangeLine({ certificate, remote: { hostname } }: NetworkConnection): string {
  return certificate === undefined
    ? `a connection from ${hostname} was no member's`
    : `the member at ${hostname} with a certificate for ${certificate.names} said nothing: it may not accept the ` +
      "certificate of this one";
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, " ");
}
