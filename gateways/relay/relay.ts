/**
 * The way of a member's clients to the primary: a link to its member port that all of them share, each with a stream of
 * its own, which the primary hands to the gateway of their protocol.
 *
 * Login is between client and primary; TLS ends here, and the primary learns of it when a stream is opened. When the
 * primary changes, the link to the former one ends: it may be cut off, and would say nothing for ever.
 */
import { equalBytes } from "../../engine/base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";
import type { VersionRange } from "../../engine/catalog/cluster_version.ts";
import type { NetworkAddress, NetworkConnection } from "../../engine/host/network.ts";
import { placeOf } from "../../engine/replication/peers/peer_connections.ts";
import { type PeerHello, spokenVersion } from "../../engine/replication/peers/peer_hello.ts";
import type { ByteStream } from "../shared/byte_stream.ts";
import { decodeRelayHello, encodeRelayHello } from "../shared/relay_hello.ts";
import {
  noPrimary,
  type RelayedClient,
  type RelayedProtocol,
  type RelayedStream,
  type RelayPort,
} from "../shared/relay_port.ts";
import { type LinkOwner, RelayLink } from "./relay_link.ts";

const CONNECT_MILLISECONDS = 2_000;
/** What a former primary has to tell its clients what became of their requests. */
const LAST_WORDS_MILLISECONDS = 150;
const NOTHING = new Uint8Array(0);

/** Where the primary is: this member, which serves; another, by its index; or nobody knows. */
export type RelayTarget = "here" | { readonly index: number } | null;

/** What a relay needs. */
export interface RelayOptions {
  /** The index of this member. */
  readonly index: number;
  readonly token: string | null;
  /** The other members; `PeerConnections` is such. */
  readonly peers: {
    /** What a connected member has said of itself; null when it is not connected. */
    hello(index: number): Pick<PeerHello, "process" | "version"> | null;
    address(index: number): NetworkAddress;
    /** Names this start of this member's program. */
    readonly process: Uint8Array;
    /** Those that this member speaks. */
    readonly versions: VersionRange;
    /** The oldest of them that its cluster allows. */
    readonly oldestVersion: number;
  };
  /** Writes one line for people. */
  log(line: string): void;
  /** Where the primary is now. */
  target(): RelayTarget;
  /** Resolves at the end of the turn of the event loop. */
  endOfTurn(): Promise<void>;
  /** Opens a connection to a member; that of `PeerConnections` does. */
  readonly network: { connect(address: NetworkAddress): Promise<NetworkConnection> };
}

/** A link to another member, on its way or there. */
interface Way {
  readonly index: number;
  /** The program that it leads to. */
  readonly process: Uint8Array;
  readonly link: Promise<RelayLink>;
  /** The link, when it is there. */
  opened: RelayLink | null;
  isClosed: boolean;
}

/** See the head of the file. */
export class Relay implements RelayPort {
  readonly #options: RelayOptions;
  readonly #ways = new Set<Way>();
  /** Where streams are opened. */
  #way: Way | null = null;
  readonly #listeners = new Map<RelayedProtocol, (client: RelayedClient) => void>();
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();

  constructor(options: RelayOptions) {
    this.#options = options;
  }

  get self(): { readonly index: number; readonly address: string } {
    const { index, peers } = this.#options;
    return { index, address: placeOf(peers.address(index)) };
  }

  /** Streams of clients here that are open. */
  get connections(): number {
    return [...this.#ways].reduce((sum, { opened }) => sum + (opened?.streams ?? 0), 0);
  }

  route({ isRelayed }: { readonly isRelayed: boolean }): "here" | "primary" {
    const target = this.#options.target();
    if (target === "here") return "here";
    if (target === null || isRelayed) throw noPrimary();
    return "primary";
  }

  async open(stream: RelayedStream): Promise<ByteStream> {
    const way = this.#wayToPrimary();
    let isLate = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(() => {
        isLate = true;
        resolve(null);
      }, CONNECT_MILLISECONDS);
    });
    try {
      const link = await Promise.race([way.link.catch(() => null), late]);
      if (link !== null) {
        const { stream: opened, isTaken } = link.open(stream);
        const isOpen = await Promise.race([isTaken, late]) === true;
        if (isOpen && isTarget(this.#options.target(), way.index)) return opened;
        // Of one that is there too late, or at a member that is not the primary any more, nothing is left.
        opened.close();
      }
      // The link goes on for those whom it serves; the next client finds out whether another one does better.
      if (isLate && this.#way === way) this.#leaveWay();
      throw noPrimary();
    } finally {
      clearTimeout(timer);
    }
  }

  #wayToPrimary(): Way {
    const { target, peers } = this.#options;
    const primary = target();
    if (primary === null || primary === "here") throw noPrimary();
    const { index } = primary;
    const peer = peers.hello(index);
    if (peer === null) throw noPrimary();
    const known = this.#way;
    if (known?.index === index && equalBytes(known.process, peer.process)) return known;
    this.#leaveWay();
    return this.#way = this.#begin(index, peer);
  }

  #begin(index: number, peer: Pick<PeerHello, "process" | "version">): Way {
    const { process } = peer;
    const link = this.#connect(index, peer);
    const way: Way = { index, process, link, opened: null, isClosed: false };
    this.#ways.add(way);
    void link.then((opened) => {
      way.opened = opened;
      if (way.isClosed) opened.close();
      return opened.run();
    }).catch(() => {}).then(() => {
      this.#ways.delete(way);
      if (this.#way === way) this.#way = null;
    });
    return way;
  }

  async #connect(to: number, peer: Pick<PeerHello, "process" | "version">): Promise<RelayLink> {
    const { index: from, token, peers, network } = this.#options;
    const version = spokenVersion({ version: peers.versions.newest }, peer);
    const connection = await network.connect(peers.address(to));
    try {
      await connection.write(encodeRelayHello({ from, to, process: peer.process, token }, version));
    } catch (error) {
      connection.close();
      throw error;
    }
    return new RelayLink(connection, NOTHING, this.#linkOwner(() => null));
  }

  #linkOwner(gatewayOf: LinkOwner["gatewayOf"]): LinkOwner {
    return {
      endOfTurn: () => this.#options.endOfTurn(),
      gatewayOf,
      onViolation: (why) => this.#options.log(`the link to another member is closed: ${why}`),
    };
  }

  /** No stream is opened there any more; those that are open go on. */
  #leaveWay(): void {
    const way = this.#way;
    this.#way = null;
    void way?.link.then((link) => link.leave(), () => {});
  }

  take(protocol: RelayedProtocol, listener: (client: RelayedClient) => void): () => void {
    this.#listeners.set(protocol, listener);
    return () => this.#listeners.delete(protocol);
  }

  /**
   * Takes the link of another member, and hands the streams on it to the gateways that they belong to; `received` has
   * its first frame whole. What cannot be taken is closed without a byte, by which the other knows that nothing of it
   * was looked at.
   */
  accept(connection: NetworkConnection, received: Uint8Array): void {
    const { index, token, peers } = this.#options;
    try {
      const versions = { newest: peers.versions.newest, oldest: peers.oldestVersion };
      const ends = { to: index, process: peers.process, token };
      const { from, rest } = decodeRelayHello(received, ends, versions);
      const { certificate } = connection;
      if (certificate?.isFor(peers.address(from).hostname) === false) {
        throw new DatabaseError(
          SQLSTATE.invalidAuthorizationSpecification,
          `a link of member ${from} comes with a certificate for ${certificate.names}`,
        );
      }
      const gatewayOf = (stream: RelayedStream) => {
        const listener = this.#listeners.get(stream.protocol);
        if (listener === undefined) return null;
        return (opened: ByteStream) => listener({ stream, connection: opened, member: from });
      };
      void new RelayLink(connection, rest, this.#linkOwner(gatewayOf)).run();
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      connection.close();
      this.#options.log(error.message);
    }
  }

  /** To be called when {@link RelayOptions.target} may have changed: what goes to another member than it ends soon. */
  targetChanged(): void {
    const target = this.#options.target();
    if (this.#way !== null && !isTarget(target, this.#way.index)) this.#leaveWay();
    if (this.#former().length === 0) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      for (const way of this.#former()) close(way);
    }, LAST_WORDS_MILLISECONDS);
    this.#timers.add(timer);
  }

  /** The ways to another member than the primary. */
  #former(): Way[] {
    const target = this.#options.target();
    return [...this.#ways].filter(({ index }) => !isTarget(target, index));
  }

  /** Ends the streams of clients here. */
  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    for (const way of this.#ways) close(way);
  }
}

function close(way: Way): void {
  way.isClosed = true;
  way.opened?.close();
}

function isTarget(target: RelayTarget, index: number): boolean {
  return target !== null && target !== "here" && target.index === index;
}
