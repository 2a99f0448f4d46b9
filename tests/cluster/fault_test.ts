/** What members do about bits that have flipped, a lost disk, and logs that they are behind of, one by one. */
import { deepStrictEqual, match, notStrictEqual, ok, strictEqual } from "node:assert/strict";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { connectPg } from "../support/clients.ts";
import { ClusterProcesses, eventually } from "./cluster_processes.ts";
import { expectEqual } from "./equal_members.ts";
import { misfit } from "./refused_starts.ts";

const { dbd } = await compiledPrograms();

/** Flips a bit so many bytes before the end of what is written in a file. */
async function flip(path: string, bytesBeforeEnd: number): Promise<void> {
  const bytes = await Deno.readFile(path);
  const at = bytes.findLastIndex((byte) => byte !== 0) - bytesBeforeEnd;
  bytes[at] = (bytes[at] ?? 0) ^ 4;
  await Deno.writeFile(path, bytes);
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
    await expectEqual(cluster);
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
  const victim = cluster.members[0];
  ok(victim !== undefined);
  await client.close();

  for (const what of ["log", "superblock", "disk"] as const) {
    strictEqual(await victim.stop("SIGTERM"), 0, victim.log);
    if (what === "log") {
      // The first file has little more than the entry that made the version active; records begin at 4096.
      const names = [...Deno.readDirSync(`${victim.directory}/log`)].map(({ name }) => name).sort();
      await flip(`${victim.directory}/log/${names.at(-1)}`, 7000);
    } else if (what === "superblock") {
      await flip(`${victim.directory}/SUPERBLOCK-A`, 20);
    } else {
      await Deno.remove(victim.directory, { recursive: true });
    }
    const writer = await connectPg(await cluster.primary());
    await writer.query("UPDATE t SET v = v || '!' WHERE id % 3 = 0");
    await writer.close();
    victim.start();
    await expectEqual(cluster);
  }
  match(victim.log, /log file "[^"]*" is damaged at byte offset \d+: op \d+ will be fetched/);
  match(victim.log, /SUPERBLOCK-A" is damaged; it is written anew/);
});

Deno.test("a member whose log is gone is no witness that something was never there", async () => {
  await using cluster = await ClusterProcesses.start({ dbd, memberCount: 3 });
  const primary = await cluster.primary();
  const [victim, other] = cluster.members.filter((member) => member !== primary);
  ok(victim !== undefined && other !== undefined);
  const client = await connectPg(primary);
  await client.query("CREATE TABLE t (id int PRIMARY KEY)");
  await client.query("INSERT INTO t VALUES (1)");
  // Of these the primary and the victim know alone.
  await other.stop("SIGKILL");
  for (let n = 2; n < 20; n++) await client.query("INSERT INTO t VALUES ($1)", [n]);
  await Promise.all([client.close(), victim.stop("SIGKILL"), primary.stop("SIGKILL")]);
  await Deno.remove(`${victim.directory}/log`, { recursive: true });
  for (const member of [victim, other]) member.start();
  for (const { index } of [victim, other]) {
    const connected = () => new RegExp(`member ${index} is connected`).test(cluster.logs());
    await eventually(connected, () => cluster.logs());
  }
  // They are a majority, and would have a primary by now.
  await new Promise((resolve) => setTimeout(resolve, 3000));
  for (const member of [victim, other]) notStrictEqual((await member.health())?.role, "primary");
  primary.start();
  await cluster.caughtUp(victim);
  const again = await connectPg(await cluster.primary());
  deepStrictEqual((await again.query("SELECT count(*)::int AS n FROM t"))[0], { n: 19 });
  await again.close();
  await expectEqual(cluster);
  match(victim.log, /^dbd: the log of data directory "[^"]*" is missing: as after a lost disk, /m);

  // Without its superblocks it knows nothing of what it has promised.
  await victim.stop("SIGKILL");
  for (const copy of ["A", "B"]) await Deno.remove(`${victim.directory}/SUPERBLOCK-${copy}`);
  const [code, said] = await misfit(dbd, victim.parameters);
  match(
    said,
    /^dbd: Cannot open .*: both files of the superblock are missing\. Empty the directory: [^\n]*$/,
  );
  strictEqual(code, 1);
  deepStrictEqual(cluster.bugs(), []);
});
