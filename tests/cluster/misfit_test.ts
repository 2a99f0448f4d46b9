/**
 * Members that do not fit to those that run: one clear line at both sides, exit code 1, and nothing is written.
 */
import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import {
  decodePeerHello,
  encodePeerHello,
  type PeerHello,
} from "../../engine/replication/peers/peer_hello.ts";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { ServerProcess } from "../support/server_process.ts";
import { ClusterProcesses, eventually, type MemberProcess } from "./cluster_processes.ts";
import { contentsOf, misfit } from "./refused_starts.ts";

const TOKEN = "secret";

/** A frame of the hello of a later version. */
function laterHello(from: number, to: number): Uint8Array {
  const hello: PeerHello = {
    ...{ version: 9, oldestVersion: 9, from, to, memberCount: 3, hasToken: true },
    ...{ clusterId: null, hasLog: false, configurationHash: 1n },
    ...{ nonce: new Uint8Array(32), process: new Uint8Array(16) },
  };
  const bytes = encodePeerHello(hello);
  return new Uint8Array([bytes.length, 0, 0, 0, ...bytes]);
}

/** Listens as a member of a later version. */
function laterMember(): { readonly address: string; close(): void } {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  void (async () => {
    for await (const connection of listener) {
      const buffer = new Uint8Array(1024);
      const count = await connection.read(buffer) ?? 0;
      const { from, to } = decodePeerHello(buffer.subarray(4, count));
      await connection.write(laterHello(to, from));
      while (await connection.read(buffer).catch(() => null) !== null);
      connection.close();
    }
  })();
  return { address: `127.0.0.1:${listener.addr.port}`, close: () => listener.close() };
}

Deno.test("a member that does not fit ends with one line, and nothing is written", async () => {
  const { dbd } = await compiledPrograms();
  const flags = ["--token", TOKEN];
  await using cluster = await ClusterProcesses.start({ dbd, memberCount: 3, flags });
  await using others = await ClusterProcesses.start({ dbd, memberCount: 3, flags });
  for (const member of others.members) strictEqual(await member.stop("SIGTERM"), 0);
  const [zero, one, last] = cluster.members as [MemberProcess, MemberProcess, MemberProcess];
  strictEqual(await last.stop("SIGTERM"), 0);
  const folder = await Deno.makeTempDir({ prefix: "misfit-" });
  const single = `${folder}/single`;
  const server = await ServerProcess.start(dbd, ["127.0.0.1:0", single]);
  await server.end("SIGTERM");
  const directories = [last, ...others.members].map(({ directory }) => directory).concat(single);
  const before = await contentsOf(directories);

  const peers = cluster.members.map(({ binaryPort }) => `127.0.0.1:${binaryPort}`);
  const [first = "", second = "", third = ""] = peers;
  const run = (options: {
    replica: number;
    peers?: readonly string[];
    token?: string;
    flags?: readonly string[];
    directory?: string;
    address?: string;
  }) =>
    misfit(dbd, [
      ...["--replica", String(options.replica), "--peers", (options.peers ?? peers).join(",")],
      ...["--token", options.token ?? TOKEN, ...(options.flags ?? []), options.address ?? "127.0.0.1:0"],
      options.directory ?? `${folder}/empty`,
    ]);
  const more = [...peers, "127.0.0.1:1", "127.0.0.1:2"];
  const later = laterMember();
  const cases: Record<string, readonly [run: () => Promise<[number, string]>, line: RegExp]> = {
    "another cluster's data": [
      () => run({ replica: 0, directory: others.members[0]?.directory ?? "" }),
      /^dbd: member \d at \S+ belongs to cluster [0-9a-f]{32}, this one to [0-9a-f]{32}: check the data directories$/,
    ],
    "an index that is taken": [
      () => run({ replica: 0 }),
      /^dbd: the member at \S+ is connected to another process that says that it is member 0: check --replica here$/,
    ],
    "another number of members": [
      () => run({ replica: 0, peers: more }),
      /^dbd: member 1 at \S+ counts 3 members, this one 5: give all the same number of --peers$/,
    ],
    "another number of members, with data": [
      () => run({ replica: 2, peers: more, directory: last.directory }),
      /^dbd: Cannot open .*: the data directory is of a cluster of 3, and --peers names 5$/,
    ],
    "another token": [
      () => run({ replica: 0, token: "wrong" }),
      /^dbd: member 1 at \S+ has another token: give all members the same --token-file$/,
    ],
    "another index, with data": [
      () => run({ replica: 1, directory: last.directory }),
      /^dbd: Cannot open .*: the data directory is of member 2, and --replica is 1$/,
    ],
    "other settings": [
      () => run({ replica: 0, flags: ["--checkpoint-log", "1MiB"] }),
      /^dbd: member \d at \S+ has another --checkpoint-log or --shards: settings that shape files must be the same/,
    ],
    "other settings, with data": [
      () => run({ replica: 2, directory: last.directory, flags: ["--checkpoint-log", "1MiB"] }),
      /^dbd: Cannot open .*: the data directory was made with another --checkpoint-log or --shards, which a cluster cannot change$/,
    ],
    "peers in another order": [
      () => run({ replica: 1, peers: [first, third, second] }),
      /^dbd: .*: check .*--replica.*$/,
    ],
    "peers in another order at the last member, which dials nobody": [
      () => run({ replica: 2, peers: [second, first, third], address: third }),
      // It is dialed by them in a while, and may have said by then whom it waits for.
      /^(?:dbd: the cluster begins when .*\n)?dbd: the member at \S+ says that it is member [01], not [01]: check its --replica and the order of --peers$/,
    ],
    "another version": [
      () => run({ replica: 0, peers: [first, later.address, third] }),
      /^dbd: member \d at \S+ speaks version 9 of the cluster's protocol, this one version 4: upgrade this member first$/,
    ],
    "a single server's data": [
      () => run({ replica: 2, directory: single }),
      /^dbd: Cannot run as a member of a cluster: data directory \S+ is that of a single server\. .*$/,
    ],
    "a member's data at a single server": [
      () => misfit(dbd, ["127.0.0.1:0", last.directory]),
      /^dbd: Cannot open data directory \S+: it is that of a member of a cluster\. .*$/,
    ],
  };
  for (const [what, [attempt, line]] of Object.entries(cases)) {
    const [code, said] = await attempt();
    match(said, line, `${what}: ${said}`);
    strictEqual(code, 1, `${what}: ${code}`);
  }
  later.close();
  deepStrictEqual(await contentsOf(directories), before);
  deepStrictEqual([...Deno.readDirSync(folder)].map(({ name }) => name), ["single"]);
  await Deno.remove(folder, { recursive: true });

  // Those that run have said it as well, and go on.
  const stranger = await Deno.connect({ hostname: "127.0.0.1", port: one.binaryPort });
  await stranger.write(laterHello(0, 1));
  for (
    const line of [
      /member 0 at \S+ belongs to cluster/,
      /another process, at \S+, says that it is member 0/,
      /member 0 at \S+ counts 5 members, this one 3/,
      /member 0 at \S+ has another token/,
      /member 0 at \S+ has another --checkpoint-log/,
      /the member at \S+ says that it is member 1, as this one does|says that it is member 1, not 2/,
      /member 2 at \S+ finds another member where it would dial this one: check --replica here and the order/,
      /member 0 at \S+ speaks version 9 of the cluster's protocol, this one version 4/,
    ]
  ) {
    await eventually(() => line.test(zero.log + one.log), () => `${line}:\n${cluster.logs()}`);
  }
  stranger.close();
  last.start();
  await cluster.level();
});
