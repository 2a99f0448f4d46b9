/** Members over TCP: messages, reconnection, those that do not fit, and those that are none. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { denoNetwork } from "../../host/deno_network.ts";
import type { Network, NetworkAddress } from "../../host/network.ts";
import type { Prepare } from "../protocol/message.ts";
import { encodeMessage } from "./message_codec.ts";
import { MAX_QUEUED_BYTES } from "./peer_connection.ts";
import type { PeerConnectionsOptions } from "./peer_connections.ts";
import { decodePeerHello, encodePeerHello, encodeProof, type PeerHello, proofOf } from "./peer_hello.ts";
import { framed, PeerInput } from "./peer_input.ts";
import { until } from "../../../tests/support/until.ts";
import { listeners, startPeer, type TestPeer, TIMES } from "../testing/peers.ts";

const CLUSTER = new Uint8Array(16).fill(7);
/** What member 0 says to member 1. */
const HELLO: PeerHello = {
  version: 4,
  oldestVersion: 1,
  from: 0,
  to: 1,
  memberCount: 3,
  hasToken: true,
  clusterId: null,
  hasLog: false,
  configurationHash: 1n,
  nonce: new Uint8Array(32),
  process: new Uint8Array(16),
};

function prepare(from: number, payload: Uint8Array): Prepare {
  const header = { op: 1, view: 0, digest: 5n, previousDigest: 0n };
  return {
    kind: "prepare",
    from,
    view: 0,
    previousOp: 0,
    previousDigest: 0n,
    entries: [{ header, payload }],
    commit: 0,
    stamp: 0,
    clock: 0,
  };
}

Deno.test("PeerConnections connect, carry messages of any size, and connect again", async () => {
  const ports = await listeners(3);
  const addresses = ports.map(({ local }) => local);
  const members = ports.map((port, index) => startPeer(port, addresses, { index }));
  const [a, b, c] = members as [TestPeer, TestPeer, TestPeer];
  try {
    await until(
      () => members.every(({ peers }) => peers.statistics().every((each) => each.isConnected)),
      "pairs",
    );
    strictEqual(a.peers.hello(2)?.from, 2);
    // A heartbeat that is sent behind a large entry overtakes it, and both arrive whole.
    const payload = crypto.getRandomValues(new Uint8Array(60_000));
    const large = new Uint8Array(5 << 20);
    for (let at = 0; at < large.length; at += 50_000) {
      large.set(payload.subarray(0, Math.min(50_000, large.length - at)), at);
    }
    a.peers.send(1, prepare(0, large));
    a.peers.send(1, {
      kind: "commit",
      from: 0,
      view: 0,
      op: 1,
      digest: 5n,
      commit: 1,
      stamp: 0,
      clock: 0,
      checkpoint: null,
    });
    await until(() => b.messages.length === 2, "both messages");
    deepStrictEqual(b.messages.map(({ kind }) => kind), ["commit", "prepare"]);
    deepStrictEqual(b.messages[1], prepare(0, large));
    // The queue is bounded: what is beyond is dropped, not kept.
    const sends = 40;
    for (let count = 0; count < sends; count++) a.peers.send(1, prepare(0, large.subarray(0, 1 << 20)));
    const { droppedMessages, queuedBytes } = a.peers.statistics()[0] ??
      { droppedMessages: 0, queuedBytes: 0 };
    ok(
      droppedMessages > 20 && queuedBytes < MAX_QUEUED_BYTES + (2 << 20),
      `${droppedMessages} ${queuedBytes}`,
    );
    await until(() => b.messages.length === 2 + sends - droppedMessages, "what was not dropped");
    // The other direction, and after the connection was lost.
    c.peers.send(0, { kind: "prepare_ok", from: 2, view: 0, op: 9, stamp: 0 });
    await until(() => a.messages.length === 1, "an acknowledgement");
    b.peers.knowledge = { clusterId: CLUSTER, hasLog: false };
    await until(
      () => [a, c].every(({ peers }) => (peers.hello(1)?.clusterId ?? null) !== null),
      "new hellos",
    );
    b.peers.send(0, { kind: "prepare_ok", from: 1, view: 0, op: 3, stamp: 0 });
    await until(() => a.messages.length === 2, "a message over the new connection");
    strictEqual(a.peers.statistics()[0]?.connections, 2);
    deepStrictEqual(members.flatMap(({ misfits }) => misfits), []);
  } finally {
    for (const member of members) member.close();
  }
});

Deno.test("PeerConnections hear that a member lives which has no message for them, as backups among themselves", async () => {
  const ports = await listeners(2);
  const addresses = ports.map(({ local }) => local);
  const [a, b] = ports.map((port, index) => startPeer(port, addresses, { index })) as [TestPeer, TestPeer];
  try {
    const lastHeard = () => b.peers.statistics()[0]?.lastHeard ?? null;
    await until(() => lastHeard() !== null, "a connection");
    const first = lastHeard() ?? 0;
    await until(() => (lastHeard() ?? 0) > first, "a sign of life");
    strictEqual(b.messages.length, 0);
  } finally {
    for (const member of [a, b]) member.close();
  }
});

for (
  const [failure, lines] of [
    [new Deno.errors.ConnectionReset("Connection reset by peer (os error 104)"), []],
    [new Deno.errors.BrokenPipe("Broken pipe (os error 32)"), []],
    [new Error("No route to host"), ["the connection to member 1 ended: No route to host"]],
  ] as const
) {
  Deno.test(`PeerConnections say why a connection has failed, unless the other end is gone: ${failure.message}`, async () => {
    const ports = await listeners(2);
    const addresses = ports.map(({ local }) => local);
    const inner = denoNetwork();
    let fails = false;
    const network: Network = {
      ...inner,
      connect: async (address) => {
        const connection = await inner.connect(address);
        return {
          remote: connection.remote,
          read: (target) => fails ? Promise.reject(failure) : connection.read(target),
          write: (bytes) => connection.write(bytes),
          close: () => connection.close(),
        };
      },
    };
    const knowledge = { clusterId: CLUSTER, hasLog: true };
    const [a, b] = ports.map((port, index) =>
      startPeer(port, addresses, { index, knowledge, ...(index === 0 ? { network } : {}) })
    ) as [TestPeer, TestPeer];
    try {
      await until(() => a.peers.connected(1) && b.peers.connected(0), "a pair");
      fails = true;
      // For the read that is waiting already.
      b.peers.send(0, { kind: "prepare_ok", from: 1, view: 1, op: 1, stamp: 0 });
      await until(() => !a.peers.connected(1), "the end");
      deepStrictEqual(a.lines, lines);
    } finally {
      for (const member of [a, b]) member.close();
    }
  });
}

Deno.test("PeerConnections use the room of a piece of a file again, and that of nothing else", async () => {
  const ports = await listeners(2);
  const addresses = [...ports.map(({ local }) => local), { hostname: "127.0.0.1", port: 1 }];
  const [a, b] = ports.map((port, index) => startPeer(port, addresses, { index })) as [TestPeer, TestPeer];
  try {
    await until(() => a.peers.connected(1) && b.peers.connected(0), "a pair");
    const rooms: ArrayBufferLike[] = [];
    const sums: number[] = [];
    const entries: Prepare[] = [];
    b.peers.onMessage((message) => {
      if (message.kind === "prepare") entries.push(message);
      if (message.kind !== "file_piece") return;
      rooms.push(message.bytes.buffer);
      sums.push(message.bytes.reduce((sum, byte) => sum + byte, 0));
    });
    const file = {
      kind: "file_piece",
      from: 0,
      view: 0,
      name: "tables/1.seg",
      hash: "0a".repeat(32),
    } as const;
    const lengths = [200_000, 200_000, 150_000, 1000, 200_000];
    for (const [index, length] of lengths.entries()) {
      a.peers.send(1, { ...file, offset: 0, bytes: new Uint8Array(length).fill(index + 1) });
      if (index === 2) a.peers.send(1, prepare(0, new Uint8Array(180_000).fill(9)));
    }
    await until(() => sums.length === lengths.length && entries.length === 1, "all of them");
    deepStrictEqual(sums, lengths.map((length, index) => length * (index + 1)));
    strictEqual(rooms[0], rooms[1]);
    // What follows does not overwrite an entry, which is kept.
    ok(entries[0]?.entries[0]?.payload.every((byte) => byte === 9));
    strictEqual(entries[0]?.entries[0]?.payload.length, 180_000);
  } finally {
    for (const member of [a, b]) member.close();
  }
});

Deno.test("PeerConnections end a member that fits to none, with one line at each side", async () => {
  const other = new Uint8Array(16).fill(9);
  const known = { knowledge: { clusterId: CLUSTER, hasLog: true } };
  const cases: [string, Partial<PeerConnectionsOptions>, RegExp, RegExp][] = [
    [
      "token",
      { token: "wrong" },
      /^member 1 at 127.0.0.1:\d+ has another token/,
      /^member 0 at 127.0.0.1 has another token/,
    ],
    ["no token", { token: null }, /has no token, this one has one/, /has a token, this one has none/],
    [
      "cluster",
      { knowledge: { clusterId: other, hasLog: true } },
      /cluster 0909.*, this one to 0707/,
      /cluster 0707.*, this one to 0909/,
    ],
    ["configuration", { configurationHash: 2n }, /another --checkpoint-log/, /another --checkpoint-log/],
    ["version", { versions: { newest: 6, oldest: 5 } }, /speaks version 6/, /speaks version 4/],
  ];
  await Promise.all(cases.map(async ([name, wrong, first, second]) => {
    const ports = await listeners(2);
    const addresses = [...ports.map(({ local }) => local), { hostname: "127.0.0.1", port: 1 }];
    const [a, b] = ports.map((port, index) =>
      startPeer(port, addresses, { index, ...known, ...(index === 1 ? wrong : {}) })
    ) as [TestPeer, TestPeer];
    try {
      await until(() => a.misfits.length > 0 && b.misfits.length > 0, name);
      match(a.misfits.join(), first);
      match(b.misfits.join(), second);
      deepStrictEqual([a.lines, b.lines, a.misfits.length, b.misfits.length], [[], [], 1, 1], name);
    } finally {
      a.close();
      b.close();
    }
  }));
});

/** Two members with the right addresses, and a third with those that `orderOf` makes of them. */
async function withLast(
  orderOf: (addresses: readonly NetworkAddress[]) => readonly (NetworkAddress | undefined)[],
  options: Partial<PeerConnectionsOptions>,
  work: (others: readonly TestPeer[], last: TestPeer) => Promise<void>,
): Promise<void> {
  const ports = await listeners(3);
  const addresses = ports.map(({ local }) => local);
  const own = orderOf(addresses).map((each) => each ?? { hostname: "127.0.0.1", port: 1 });
  const [a, b, c] = ports.map((port, index) =>
    index < 2
      ? startPeer(port, addresses, { index })
      // On a starved machine it takes long to hear who is where.
      : startPeer(port, own, { index, times: { ...TIMES, grace: 1000 }, ...options })
  ) as [TestPeer, TestPeer, TestPeer];
  try {
    await work([a, b], c);
  } finally {
    for (const each of [a, b, c]) each.close();
  }
}

Deno.test("PeerConnections of the last member, which dials nobody, find out that its order of --peers is wrong", async () => {
  const swap = ([a, b, c]: readonly NetworkAddress[]) => [b, a, c];
  await withLast(swap, {}, async (others, last) => {
    await until(() => last.misfits.length > 0, "its end");
    const line =
      /^the member at \S+ says that it is member [01], not [01]: check its .* the order of --peers$/;
    match(last.misfits.join(), line);
    for (const { lines, peers } of others) {
      match(
        lines.join("\n"),
        /^member 2 at \S+ finds another member where it would dial this one: .* there$/m,
      );
      strictEqual(peers.connected(2), false);
    }
  });
  const connects = async (_: readonly TestPeer[], { peers, misfits, lines }: TestPeer): Promise<void> => {
    await until(() => peers.connected(0) && peers.connected(1), "the others");
    deepStrictEqual([misfits, lines], [[], []]);
  };
  // Where nobody answers it is not known, and one of version 1 does not ask.
  await withLast(([, b, c]) => [undefined, b, c], {}, connects);
  await withLast(swap, { versions: { oldest: 1, newest: 1 } }, connects);
});

Deno.test("PeerConnections that run are not ended by one that does not fit: wrong index, wrong number", async () => {
  const ports = await listeners(4);
  const addresses = ports.slice(0, 3).map(({ local }) => local);
  const members = [0, 1, 2].map((index) => startPeer(ports[index] ?? fail(), addresses, { index }));
  const strangers: TestPeer[] = [];
  try {
    await until(
      () => members.every(({ peers }) => peers.statistics().every((each) => each.isConnected)),
      "pairs",
    );
    const stranger = async (
      options: { index: number; addresses?: typeof addresses },
      here: RegExp,
      there: RegExp,
    ): Promise<void> => {
      const one = startPeer(ports[3] ?? fail(), options.addresses ?? addresses, {
        ...options,
        keepsListener: true,
      });
      strangers.push(one);
      await until(() => one.misfits.length > 0, String(here));
      match(one.misfits.join(), here);
      await until(() => members.some(({ lines }) => lines.some((line) => there.test(line))), String(there));
      one.close();
    };
    await stranger(
      { index: 0 },
      /connected to another process .* member 0: check --replica/,
      /another process, at 127.0.0.1, says that it is member 0/,
    );
    await stranger(
      { index: 0, addresses: [...addresses, ...addresses.slice(0, 2)] },
      /counts 3 members, this one 5/,
      /counts 5 members, this one 3/,
    );
    // Its --peers are in another order: it dials member 2 for member 1.
    const [first, second, third] = addresses as [
      typeof addresses[0],
      typeof addresses[0],
      typeof addresses[0],
    ];
    await stranger(
      { index: 0, addresses: [first, third, second] },
      /is member 2, not 1|is member 1, not 2/,
      /takes this one for member 1, but it is member 2/,
    );
    deepStrictEqual(members.flatMap(({ misfits }) => misfits), []);
    ok(members.every(({ peers }) => peers.statistics().every(({ connections }) => connections === 1)));
  } finally {
    for (const each of [...members, ...strangers]) each.close();
    ports[3]?.close();
  }
});

Deno.test("PeerConnections close hostile connections: garbage, frames too long, silence, damage, another's name", async () => {
  const ports = await listeners(2);
  const addresses = [...ports.map(({ local }) => local), { hostname: "127.0.0.1", port: 1 }];
  const clusterId = new Uint8Array(16).fill(3);
  const b = startPeer(ports[1] ?? fail(), addresses, { index: 1, knowledge: { clusterId, hasLog: false } });
  const network = denoNetwork();
  const fake = await network.listen({ hostname: "127.0.0.1", port: 0 });
  const closes = async (bytes: Uint8Array): Promise<void> => {
    const connection = await network.connect(addresses[1] ?? fail());
    await connection.write(bytes);
    const target = new Uint8Array(1000);
    while (await connection.read(target).catch(() => null) !== null);
    connection.close();
  };
  const own = { ...HELLO, clusterId };
  try {
    await Promise.all([
      closes(new TextEncoder().encode("GET / HTTP/1.1\r\n\r\n")),
      closes(new Uint8Array([0xff, 0xff, 0xff, 0x7f])),
      closes(new Uint8Array([1])),
      closes(framed(new Uint8Array(5))),
      closes(framed(encodePeerHello(own))),
      closes(new Uint8Array([...framed(encodePeerHello(own)), ...framed(encodeProof(new Uint8Array(32)))])),
      closes(crypto.getRandomValues(new Uint8Array(65536))),
    ]);
    // One that knows the token, and then sends what is no message.
    const damaged = encodeMessage(0, { kind: "prepare_ok", from: 0, view: 1, op: 1, stamp: 0 });
    damaged[12] = (damaged[12] ?? 0) ^ 1;
    const piece = framed(new Uint8Array([0, 0, 0, 0, 128, 1, 5]));
    const foreign = encodeMessage(0, { kind: "prepare_ok", from: 2, view: 1, op: 1, stamp: 0 });
    const group = encodeMessage(3, { kind: "prepare_ok", from: 0, view: 1, op: 1, stamp: 0 });
    const long = new Uint8Array([0, 0, 2, 0]);
    const sends = async (bytes: Uint8Array, hello = own): Promise<void> => {
      const connection = await network.connect(addresses[1] ?? fail());
      const input = new PeerInput(connection, new Uint8Array(0), 1024);
      const dialer = encodePeerHello(hello);
      await connection.write(framed(dialer));
      const acceptor = await input.next() ?? fail();
      strictEqual(decodePeerHello(acceptor).from, 1);
      if (decodePeerHello(acceptor).oldestVersion > hello.version) return connection.close();
      await connection.write(framed(encodeProof(proofOf("dialer", "secret", { dialer, acceptor }))));
      deepStrictEqual(await input.next(), encodeProof(proofOf("acceptor", "secret", { dialer, acceptor })));
      await until(() => b.peers.connected(0), "the connection");
      await connection.write(bytes);
      await until(() => !b.peers.connected(0), "its end");
      connection.close();
    };
    for (const bytes of [damaged, piece, foreign, group, long]) await sends(bytes);
    // One that says an older version, and does not speak it either: it is refused as if it said that.
    for (let times = 0; times < 3; times++) await sends(damaged, { ...own, version: 1 });
    const before = b.misfits.length;
    await sends(damaged, { ...own, version: 1 });
    await until(() => b.misfits.length > before, "the misfit");
    const line = /^member 0 at \S+ speaks version 1 .*, this one version 4: upgrade that one first$/;
    match(b.misfits.at(-1) ?? "", line);
    // One that is dialed and does not know the token: it may be anything that listens there.
    const proof = new Uint8Array(32);
    const dialing = startPeer(ports[0] ?? fail(), [
      addresses[0] ?? fail(),
      fake.local,
      addresses[2] ?? fail(),
    ], {
      index: 0,
    });
    const connection = await fake.accept() ?? fail();
    const input = new PeerInput(connection, new Uint8Array(0), 1024);
    const hello = decodePeerHello(await input.next() ?? fail());
    await connection.write(framed(encodePeerHello({ ...hello, from: 1, to: 0 })));
    await input.next();
    await connection.write(framed(encodeProof(proof)));
    await until(() => dialing.misfits.length > 0, "the misfit");
    match(dialing.misfits.join(), /has another token/);
    ok(!dialing.peers.connected(1));
    connection.close();
    dialing.close();
    deepStrictEqual(b.messages, []);
    ok(b.lines.length <= 8, b.lines.join("\n"));
    ok(b.lines.some((line) => line.startsWith("the connection to member 0 ended: ")), b.lines.join("\n"));
  } finally {
    b.close();
    ports[0]?.close();
    fake.close();
  }
});

Deno.test("a member that is found too old when it was connected ends, whoever dials; one that others do not know goes on", async () => {
  const versions = { oldest: 1, newest: 1 };
  for (const old of [0, 1]) {
    const ports = await listeners(2);
    const addresses = [...ports.map(({ local }) => local), { hostname: "127.0.0.1", port: 1 }];
    const knowledge = { clusterId: CLUSTER, hasLog: true };
    const members = ports.map((port, index) =>
      startPeer(port, addresses, { index, knowledge, ...(index === old ? { versions } : {}) })
    );
    const [one, other] = [members[old] ?? fail(), members[1 - old] ?? fail()];
    try {
      await until(
        () => one.peers.connected(1 - old) && other.peers.connected(old),
        "the connection at both, while the active version is not known",
      );
      other.peers.requireVersion(2);
      await until(() => one.misfits.length > 0, "the misfit");
      match(one.misfits[0] ?? "", /speaks version 4 .*, this one version 1: upgrade this member first$/);
      deepStrictEqual(other.misfits, []);
      match(other.lines.join("\n"), /speaks version 1 .*, this one version 4: upgrade that one first$/m);
    } finally {
      for (const member of members) member.close();
    }
  }
  // Who only says that it is a member, and is not at that one's address, ends nobody.
  const ports = await listeners(2);
  const addresses = [...ports.map(({ local }) => local), { hostname: "127.0.0.1", port: 1 }];
  const b = startPeer(ports[1] ?? fail(), addresses, { index: 1, versions });
  const a = startPeer(ports[0] ?? fail(), addresses, { index: 0 });
  try {
    await until(() => b.peers.connected(0), "the connection");
    a.close();
    await until(() => !b.peers.connected(0), "its end");
    const connection = await denoNetwork().connect(addresses[1] ?? fail());
    const hello = { ...HELLO, version: 9, oldestVersion: 9 };
    await connection.write(framed(encodePeerHello(hello)));
    await until(() => /upgrade this member first$/m.test(b.lines.join("\n")), "the line");
    await new Promise((resolve) => setTimeout(resolve, 300));
    deepStrictEqual(b.misfits, []);
    connection.close();
  } finally {
    b.close();
  }
});

Deno.test("a member that shakes hands while a later version becomes active is not kept", async () => {
  const [own, fake] = await listeners(2);
  const addresses = [own ?? fail(), fake ?? fail()].map(({ local }) => local);
  const a = startPeer(own ?? fail(), [...addresses, { hostname: "127.0.0.1", port: 1 }], { index: 0 });
  try {
    const connection = await fake?.accept() ?? fail();
    const input = new PeerInput(connection, new Uint8Array(0), 1024);
    const dialer = (await input.next() ?? fail()).slice();
    a.peers.requireVersion(2);
    const old = { version: 1, oldestVersion: 1, from: 1, to: 0, process: new Uint8Array(16).fill(9) };
    const acceptor = encodePeerHello({ ...decodePeerHello(dialer), ...old });
    await connection.write(framed(acceptor));
    await input.next();
    await connection.write(framed(encodeProof(proofOf("acceptor", "secret", { dialer, acceptor }))));
    let isDialedAgain = false;
    const dialing = fake?.accept().finally(() => isDialedAgain = true);
    await until(() => isDialedAgain, "another attempt");
    const again = await dialing ?? fail();
    const hello = decodePeerHello(await new PeerInput(again, new Uint8Array(0), 1024).next() ?? fail());
    strictEqual(hello.oldestVersion, 2);
    strictEqual(a.peers.statistics().find(({ index }) => index === 1)?.connections, 0);
    for (const each of [connection, again]) each.close();
  } finally {
    a.close();
    fake?.close();
  }
});

Deno.test("PeerConnections say what is wrong with an address where no member is", async () => {
  const [own] = await listeners(1);
  const raw = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  void (async () => {
    for await (const connection of raw) {
      await connection.write(new TextEncoder().encode("220 mail.example ESMTP, who are you?\r\n"));
    }
  })();
  const { local } = own ?? fail();
  const places = [local, raw.addr as Deno.NetAddr, { hostname: "no..host", port: 7 }];
  const a = startPeer(own ?? fail(), places, { index: 0 });
  try {
    const said = (line: RegExp) => a.lines.some((each) => line.test(each));
    await until(() => said(/^what answers at 127\.0\.0\.1:\d+ is no member: check --peers$/), "the stranger");
    await until(
      () => said(/^the name of member 2, no\.\.host, is not known here: check --peers$/),
      "the unknown name",
    );
    strictEqual(a.lines.length, 2, a.lines.join("\n"));
    deepStrictEqual(a.misfits, []);
  } finally {
    a.close();
    raw.close();
  }
});

function fail(): never {
  throw new Error("there is none");
}
