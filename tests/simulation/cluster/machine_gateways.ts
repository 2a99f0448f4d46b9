/** The gateways of a simulated member, with its relay: real ones, but for the sockets. */
import { DatabaseError, SQLSTATE } from "../../../engine/base/errors.ts";
import type { Member } from "../../../engine/replication/member.ts";
import type { Engine } from "../../../engine/session/engine.ts";
import { MemberDoor } from "../../../gateways/binary/member_door.ts";
import { memberConnection } from "../../../gateways/binary/member_network.ts";
import { type BinaryServer, refuseClient, startBinaryServer } from "../../../gateways/binary/server.ts";
import { type HttpServer, startHttpServer } from "../../../gateways/http/server.ts";
import { type PgServer, startPgServer } from "../../../gateways/pg/server.ts";
import { Relay } from "../../../gateways/relay/relay.ts";
import type { ByteListener, ByteStream } from "../../../gateways/shared/byte_stream.ts";
import { socketOver } from "../../../gateways/shared/stream_socket.ts";
import type { Machine, MachineWorld } from "./machine.ts";

/** The ports of every member. */
export const PORTS = { binary: 7878, pg: 5432, http: 6533 } as const;

const VERSION = "simulated";

/** See the head of the file. */
export class MachineGateways {
  readonly relay: Relay;
  readonly #servers: readonly (PgServer | BinaryServer | HttpServer)[];

  private constructor(relay: Relay, servers: readonly (PgServer | BinaryServer | HttpServer)[]) {
    this.relay = relay;
    this.#servers = servers;
  }

  /** Starts them. */
  static async start(
    machine: Machine,
    process: object,
    member: Member<Engine>,
    world: MachineWorld,
  ): Promise<MachineGateways> {
    const { index } = machine;
    const { streams } = world;
    const { engine } = member;
    const relay = new Relay({
      index,
      token: null,
      peers: {
        hello: (peer) => {
          const there = world.machines[peer]?.process ?? null;
          return there === null || !world.isConnected(index, peer)
            ? null
            : { process: new Uint8Array(16), version: world.machines[peer]?.versions.newest ?? 0 };
        },
        address: (peer) => ({ hostname: String(peer), port: PORTS.binary }),
        process: new Uint8Array(16),
        get versions() {
          return machine.versions;
        },
        get oldestVersion() {
          return machine.versions.oldest;
        },
      },
      log: () => {},
      target: () => {
        const { primaryIndex } = member;
        return primaryIndex === index ? "here" : primaryIndex === null ? null : { index: primaryIndex };
      },
      endOfTurn: () => new Promise((resolve) => machine.after(0, resolve)),
      network: {
        connect: ({ hostname, port }) =>
          new Promise((resolve, reject) => {
            const socket = streams.connect(index, Number(hostname), port);
            socket.once("connect", () => resolve(memberConnection(socket, null))).once("error", reject);
          }),
      },
    });
    const door = new MemberDoor({
      security: null,
      offersTls: false,
      onPeer: () => world.fail(new Error("members speak to each other by messages here")),
      onEarlyClient: (socket) =>
        refuseClient(socket, new DatabaseError(SQLSTATE.cannotConnectNow, "starting up")),
      log: () => {},
    });
    door.onRelayed = (connection, received) => relay.accept(connection, received);
    const onInternalError = (error: unknown): void => {
      if (machine.process === process && machine.isUp) world.fail(error);
    };
    const pgStreams = new StreamQueue();
    const common = { engine, token: null, version: VERSION, relay, onInternalError };
    const servers = await world.time.owned(process, () =>
      Promise.all([
        startPgServer({
          ...common,
          address: { hostname: String(index), port: PORTS.pg },
          listener: pgStreams,
        }),
        startBinaryServer({ ...common, address: door }),
        startHttpServer({ ...common, address: null }),
      ]));
    streams.listen(index, PORTS.binary, (stream) => door.take(socketOver(stream, { allowHalfOpen: true })));
    streams.listen(index, PORTS.pg, (stream) => pgStreams.add(stream));
    const [, , http] = servers;
    streams.listen(index, PORTS.http, (stream) => {
      const socket = socketOver(stream, { allowHalfOpen: true });
      socket.on("error", () => {});
      http.take(socket, new Uint8Array(0));
    });
    return new MachineGateways(relay, servers);
  }

  /** Ends all sessions in order. */
  async close(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.close(0)));
    this.relay.close();
  }
}

/** Streams that wait to be accepted. */
class StreamQueue implements ByteListener {
  readonly addr: Deno.NetAddr = { transport: "tcp", hostname: "simulated", port: PORTS.pg };
  readonly #streams: ByteStream[] = [];
  #accepting: PromiseWithResolvers<ByteStream> | null = null;
  #isClosed = false;

  add(stream: ByteStream): void {
    if (this.#isClosed) return stream.close();
    const accepting = this.#accepting;
    this.#accepting = null;
    if (accepting === null) this.#streams.push(stream);
    else accepting.resolve(stream);
  }

  accept(): Promise<ByteStream> {
    const stream = this.#streams.shift();
    if (stream !== undefined) return Promise.resolve(stream);
    this.#accepting = Promise.withResolvers();
    return this.#accepting.promise;
  }

  close(): void {
    this.#isClosed = true;
    this.#accepting?.reject(new Deno.errors.Interrupted("closed"));
  }
}
