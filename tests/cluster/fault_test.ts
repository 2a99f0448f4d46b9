/**
 * What can happen to the members of a real cluster besides kills: processes that stop for seconds, networks that are
 * cut in one direction or both, bits that flip, disks that are lost. Registers stay linearizable, nothing that was
 * acknowledged is lost, and all members say the same at the end.
 */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import pg from "pg";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { connectPg } from "../support/clients.ts";
import { ClusterProcesses, type MemberProcess } from "./cluster_processes.ts";
import { FaultProxy } from "./fault_proxy.ts";
import { RegisterLoad } from "./register_load.ts";

const { dbd } = await compiledPrograms();

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** What a member's own state answers. */
async function ownAnswer({ host, port }: MemberProcess, sql: string): Promise<unknown[]> {
  const client = new pg.Client({
    host,
    port,
    user: "test",
    database: "test",
    options: "-c read_from=follower",
  });
  client.on("error", () => undefined);
  await client.connect();
  const { rows } = await client.query(sql);
  await client.end();
  return rows;
}

/** Waits until all members have the same op number, and compares what they answer by themselves. */
async function expectEqual(cluster: ClusterProcesses, sql: string): Promise<void> {
  await cluster.level();
  const [first, ...others] = await Promise.all(cluster.members.map((member) => ownAnswer(member, sql)));
  for (const other of others) deepStrictEqual(other, first);
}

const REGISTERS = "SELECT k, v FROM register ORDER BY k";

Deno.test("a primary that was stopped for seconds answers nothing stale afterwards", async () => {
  await using cluster = await ClusterProcesses.start({ dbd, memberCount: 3 });
  const load = await RegisterLoad.start(cluster, 6, 1);
  await pause(500);
  const primary = await cluster.primary();
  primary.signal("SIGSTOP");
  await pause(2500);
  primary.signal("SIGCONT");
  await pause(1000);
  const { reads, writes } = await load.finish();
  ok(reads > 50 && writes > 50, `${reads} reads, ${writes} writes`);
  await expectEqual(cluster, REGISTERS);
});

Deno.test("registers stay linearizable while the network between members is cut", async () => {
  const proxies = new Map<string, FaultProxy>();
  const cluster = await ClusterProcesses.start({
    dbd,
    memberCount: 3,
    peersOf: (index, addresses) =>
      addresses.map((address, other) => {
        if (other === index) return address;
        const proxy = new FaultProxy(() => Number(address.split(":")[1]));
        proxies.set(`${index}-${other}`, proxy);
        return proxy.address;
      }),
  });
  try {
    const load = await RegisterLoad.start(cluster, 6, 2);
    const all = [...proxies.values()];
    for (const cut of ["there", "back", "both"] as const) {
      const { index } = await cluster.primary();
      for (const [name, proxy] of proxies) {
        if (!name.split("-").includes(String(index))) continue;
        if (cut !== "back") proxy.cut("there");
        if (cut !== "there") proxy.cut("back");
      }
      await pause(1800);
      for (const proxy of all) proxy.heal();
      await pause(500);
    }
    for (const proxy of all) proxy.delay(20);
    await pause(500);
    for (const proxy of all) {
      proxy.heal();
      proxy.break();
    }
    await pause(1000);
    const { reads, writes } = await load.finish();
    ok(reads > 50 && writes > 50, `${reads} reads, ${writes} writes`);
    await expectEqual(cluster, REGISTERS);
  } finally {
    await cluster[Symbol.asyncDispose]();
    for (const proxy of proxies.values()) proxy[Symbol.dispose]();
  }
});

/** Flips a bit in the middle of a file. */
async function flip(path: string, at: (size: number) => number): Promise<void> {
  const file = await Deno.open(path, { read: true, write: true });
  const { size } = await file.stat();
  const position = at(size);
  const byte = new Uint8Array(1);
  await file.seek(position, Deno.SeekMode.Start);
  await file.read(byte);
  byte[0] = (byte[0] ?? 0) ^ 4;
  await file.seek(position, Deno.SeekMode.Start);
  await file.write(byte);
  file.close();
}

Deno.test("a member that is behind all logs, and one without a disk, get a checkpoint", async () => {
  await using cluster = await ClusterProcesses.start({
    dbd,
    memberCount: 3,
    flags: ["--checkpoint-log", "1MiB"],
  });
  const { members } = cluster;
  const [victim] = members;
  ok(victim !== undefined);
  const client = await connectPg(await cluster.primary());
  await client.query("CREATE TABLE t (id int PRIMARY KEY, v text NOT NULL)");
  await client.close();
  for (const what of ["behind", "lost"] as const) {
    await victim.stop("SIGKILL");
    if (what === "lost") await Deno.remove(victim.directory, { recursive: true });
    const writer = await connectPg(await cluster.primary());
    // The last of them is too large for a message.
    for (const count of [1000, 4000, 2000, 8000]) {
      await writer.query(
        "INSERT INTO t SELECT n + (SELECT count(*) FROM t), repeat('x', 500) FROM generate_series(1, $1::int) n",
        [count],
      );
    }
    await writer.close();
    victim.start();
    await expectEqual(cluster, "SELECT count(*) AS n, sum(id) AS s, sum(length(v)) AS l FROM t");
    strictEqual(
      [...Deno.readDirSync(victim.directory)].some(({ name }) => name === "transfer"),
      true,
      victim.log,
    );
  }
});

Deno.test("a member mends a flipped bit in its log and superblock, and a lost disk, from the others", async () => {
  await using cluster = await ClusterProcesses.start({ dbd, memberCount: 3 });
  const client = await connectPg(await cluster.primary());
  await client.query("CREATE TABLE t (id int PRIMARY KEY, v text NOT NULL)");
  for (let n = 0; n < 60; n++) await client.query("INSERT INTO t VALUES ($1, $2)", [n, "x".repeat(n * 7)]);
  const victim = cluster.members.find((member) => member.port !== undefined && member !== undefined);
  ok(victim !== undefined);
  const sum = "SELECT count(*) AS n, sum(length(v)) AS s, max(id) AS m FROM t";
  await client.close();

  for (const what of ["log", "superblock", "disk"] as const) {
    strictEqual(await victim.stop("SIGTERM"), 0, victim.log);
    if (what === "log") {
      const [name] = [...Deno.readDirSync(`${victim.directory}/log`)].map(({ name }) => name);
      await flip(`${victim.directory}/log/${name}`, () => 3000);
    } else if (what === "superblock") {
      await flip(`${victim.directory}/SUPERBLOCK-A`, (size) => size >> 1);
    } else {
      await Deno.remove(victim.directory, { recursive: true });
    }
    const writer = await connectPg(await cluster.primary());
    await writer.query("UPDATE t SET v = v || '!' WHERE id % 3 = 0");
    await writer.close();
    victim.start();
    await expectEqual(cluster, sum);
  }
  match(victim.log, /log file "[^"]*" is damaged at byte offset \d+: op \d+ will be fetched/);
  match(victim.log, /SUPERBLOCK-A" is damaged; it is written anew/);
});
