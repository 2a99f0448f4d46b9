/** The first start of a cluster: every order of starts and crashes, as a model and over TCP. */
import { deepStrictEqual, ok, rejects, strictEqual, throws } from "node:assert/strict";
import { SeededRandom } from "../base/random.ts";
import { denoHost } from "../host/deno_host.ts";
import { denoNetwork } from "../host/deno_network.ts";
import type { NetworkListener } from "../host/network.ts";
import { configurationHash, formationStep, formCluster, requireIdentity } from "./formation.ts";
import type { PeerKnowledge } from "./peers/peer_connections.ts";
import { until } from "../../tests/support/until.ts";
import { listeners, startPeer } from "./testing/peers.ts";

interface ModelMember {
  disk: PeerKnowledge;
  isUp: boolean;
  /** What it has heard from each other in their newest hellos; null: not connected. */
  heard: (PeerKnowledge | null)[];
  isBegun: boolean;
  isReplaced: boolean;
}

Deno.test("formationStep() never makes two clusters, and always one when all members stay up", () => {
  for (let seed = 0; seed < 3000; seed++) {
    const random = new SeededRandom(seed);
    const count = random.below(2) === 0 ? 3 : 5;
    let drawn = 0;
    const empty: PeerKnowledge = { clusterId: null, hasLog: false };
    const members: ModelMember[] = Array.from({ length: count }, () => ({
      disk: empty,
      isUp: false,
      heard: new Array(count).fill(null),
      isBegun: false,
      isReplaced: false,
    }));
    const at = (index: number): ModelMember => members[index] ?? members[0] as ModelMember;
    const cut = (index: number): void => {
      at(index).heard.fill(null);
      for (const other of members) other.heard[index] = null;
    };
    const act = (index: number): void => {
      const member = at(index);
      if (!member.isUp || member.isBegun) return;
      const step = formationStep(index, member.disk, member.heard.filter((_, other) => other !== index));
      if (step.kind === "draw") member.disk = { clusterId: new Uint8Array(16).fill(++drawn), hasLog: false };
      else if (step.kind === "join") member.disk = { clusterId: step.clusterId, hasLog: false };
      else if (step.kind !== "wait") {
        member.isBegun = true;
        member.isReplaced = step.kind === "replaced";
        return;
      } else return;
      cut(index);
    };
    const meet = (first: number, second: number): void => {
      if (first === second || !at(first).isUp || !at(second).isUp) return;
      at(first).heard[second] = at(second).disk;
      at(second).heard[first] = at(first).disk;
    };
    const steps = random.below(60);
    for (let step = 0; step < steps; step++) {
      const index = random.below(count);
      const member = at(index);
      switch (random.below(6)) {
        case 0:
          member.isUp = true;
          break;
        case 1:
          // A crash: begun members go on from their disks.
          member.isUp = member.isBegun = member.isReplaced = false;
          cut(index);
          break;
        case 2:
        case 3:
          meet(index, random.below(count));
          break;
        case 4:
          act(index);
          break;
        case 5: {
          // A quorum that has begun writes an entry.
          const begun = members.filter(({ isUp, isBegun, isReplaced }) => isUp && isBegun && !isReplaced);
          if (begun.length > count / 2) {
            for (const each of begun) each.disk = { ...each.disk, hasLog: true };
          }
        }
      }
      ids(members);
    }
    for (const member of members) member.isUp = true;
    for (let round = 0; round < 10; round++) {
      for (let first = 0; first < count; first++) {
        for (let other = 0; other < count; other++) meet(first, other);
      }
      for (let index = 0; index < count; index++) act(index);
    }
    ok(members.every(({ isBegun, isReplaced }) => isBegun && !isReplaced || isReplaced), `seed ${seed}`);
    ok(members.filter(({ isReplaced }) => !isReplaced).length > count / 2, `seed ${seed}`);
    strictEqual(ids(members), 1);
  }
});

/** The number of clusters that members know; never more than one. */
function ids(members: readonly ModelMember[]): number {
  const known = new Set(
    members.flatMap(({ disk }) => disk.clusterId === null ? [] : [disk.clusterId.toHex()]),
  );
  ok(known.size <= 1, `clusters ${[...known].join(" ")}`);
  return known.size;
}

Deno.test("formationStep() takes an empty directory for replaced as soon as one other has a log", () => {
  const clusterId = new Uint8Array(16).fill(3);
  const empty = { clusterId: null, hasLog: false }, founded = { clusterId, hasLog: false };
  const begun = { clusterId, hasLog: true };
  deepStrictEqual(formationStep(0, empty, [null, begun]), { kind: "replaced", clusterId });
  deepStrictEqual(formationStep(2, founded, [null, begun]), { kind: "formed", clusterId });
  deepStrictEqual(formationStep(2, begun, [null, null]), { kind: "formed", clusterId });
  deepStrictEqual(formationStep(1, empty, [founded, null]), { kind: "wait" });
  deepStrictEqual(formationStep(1, empty, [founded, empty]), { kind: "join", clusterId });
  deepStrictEqual(formationStep(1, empty, [empty, empty]), { kind: "wait" });
  deepStrictEqual(formationStep(0, empty, []), { kind: "draw" });
});

Deno.test("formCluster() makes one cluster of members that start, and crash, in any order", async () => {
  for (let seed = 0; seed < 4; seed++) {
    const random = new SeededRandom(seed);
    const ports = await listeners(3);
    const addresses = ports.map(({ local }) => local);
    const disks: PeerKnowledge[] = [0, 1, 2].map(() => ({ clusterId: null, hasLog: false }));
    let creates = 0;
    // The second superblock that is made is made by a program that then dies.
    const deaths = new Set([1 + random.below(3)]);
    const run = async (index: number): Promise<{ kind: string; clusterId: string; close(): void }> => {
      for (;;) {
        const peer = startPeer(ports[index] as typeof ports[0], addresses, {
          index,
          knowledge: disks[index] as PeerKnowledge,
        });
        const crash = Promise.withResolvers<never>();
        try {
          const { kind, identity } = await formCluster({
            host: denoHost(),
            peers: peer.peers,
            configurationHash: 1n,
            log: () => {},
            create: ({ clusterId }) => {
              disks[index] = { clusterId, hasLog: false };
              if (!deaths.delete(++creates)) return;
              throw new Error("crash");
            },
          }, crash.promise);
          return { kind, clusterId: identity.clusterId.toHex(), close: () => peer.close() };
        } catch (error) {
          ok(error instanceof Error && error.message === "crash", String(error));
          peer.close();
          // The same port again, as a program that is started anew has it.
          ports[index] = await listenAgain(ports[index]?.local.port ?? 0);
        }
      }
    };
    const starts = [0, 1, 2].map(async (index) => {
      await new Promise((resolve) => setTimeout(resolve, random.below(60)));
      return await run(index);
    });
    const formed = await Promise.all(starts);
    deepStrictEqual(formed.map(({ kind }) => kind), ["formed", "formed", "formed"]);
    strictEqual(new Set(formed.map(({ clusterId }) => clusterId)).size, 1);
    strictEqual(creates, 3);
    for (const each of formed) each.close();
  }
});

async function listenAgain(port: number): Promise<NetworkListener> {
  for (;;) {
    try {
      return await denoNetwork().listen({ hostname: "127.0.0.1", port });
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

Deno.test("formCluster() says for whom it waits, forms a cluster of one alone, and passes on what stops it", async () => {
  const [port, other] = await listeners(2);
  if (port === undefined || other === undefined) throw new Error("no ports");
  const alone = startPeer(port, [port.local], { index: 0, keepsListener: true });
  const made: unknown[] = [];
  const real = denoHost();
  const setTimer = (delay: number, callback: () => void): number =>
    real.timers.setTimer(delay / 20, callback);
  const host = {
    random: real.random,
    timers: { ...real.timers, setTimer, clearTimer: (id: number) => real.timers.clearTimer(id) },
  };
  const options = { host, configurationHash: 1n, log: () => {} };
  const formation = await formCluster(
    { ...options, peers: alone.peers, create: (each) => made.push(each) },
    never(),
  );
  deepStrictEqual([formation.kind, made], ["formed", [formation.identity]]);
  alone.close();
  const lines: string[] = [];
  const peer = startPeer(port, [port.local, other.local, { hostname: "127.0.0.1", port: 1 }], { index: 0 });
  const stop = Promise.withResolvers<never>();
  const forming = formCluster({
    ...options,
    peers: peer.peers,
    create: () => made.push(0),
    log: (line) => lines.push(line),
  }, stop.promise);
  await until(() => lines.length > 0, "the line");
  strictEqual(
    lines[0],
    `the cluster begins when all members are there; waiting for member 1 (127.0.0.1:${other.local.port}) and 2 (127.0.0.1:1)`,
  );
  stop.reject(new Error("stopped"));
  await rejects(forming, /stopped/);
  strictEqual(made.length, 1);
  peer.close();
  other.close();
});

function never(): Promise<never> {
  return new Promise(() => {});
}

Deno.test("requireIdentity() names what a directory was made for", () => {
  const hash = configurationHash({ checkpointLogBytes: 1 << 26 });
  const identity = { clusterId: new Uint8Array(16), index: 1, memberCount: 3, configurationHash: hash };
  requireIdentity(identity, identity);
  throws(() => requireIdentity(identity, { ...identity, index: 2 }), /of member 1, and --replica is 2/);
  throws(
    () => requireIdentity(identity, { ...identity, memberCount: 5 }),
    /of a cluster of 3, and --peers names 5/,
  );
  const other = configurationHash({ checkpointLogBytes: 1 << 25 });
  throws(
    () => requireIdentity(identity, { ...identity, configurationHash: other }),
    /another --checkpoint-log/,
  );
});
