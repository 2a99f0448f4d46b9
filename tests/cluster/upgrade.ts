/**
 * An upgrade of a cluster under load, member by member: backups first, the primary last, as `docs/cluster.md` says, and
 * back again while that is possible. Clients notice nothing; at the end each change holds once, and all members say the
 * same.
 */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { connect } from "../../mod.ts";
import { ClusterProcesses, eventually, type MemberProcess, type ServerProgram } from "./cluster_processes.ts";
import { connectMember } from "./member_clients.ts";
import { contentsOf, misfit } from "./refused_starts.ts";

/** What an upgrade has shown. */
export interface UpgradeResult {
  readonly increments: number;
  readonly reads: number;
  /** The longest time between two acknowledged changes, in milliseconds. */
  readonly longestPause: number;
}

/** A cluster under load, for who changes its members. */
interface Rolled {
  readonly cluster: ClusterProcesses;
  /** Stops a member in order, starts it with the program, and waits until clients go on and it has everything. */
  replace(member: MemberProcess, program: ServerProgram): Promise<void>;
}

/** Runs members of the program under load while `roll` changes them, and checks what is there then. */
async function underLoad(
  program: ServerProgram,
  flags: readonly string[],
  roll: (rolled: Rolled) => Promise<void>,
): Promise<UpgradeResult> {
  await using cluster = await ClusterProcesses.start({ ...program, memberCount: 3, flags });
  const addresses = cluster.members.map(({ host, binaryPort }) => `${host}:${binaryPort}`);
  const [writer, reader] = await Promise.all([connect({ addresses }), connect({ addresses })]);
  await writer.execute(`
    CREATE TABLE counter (name TEXT PRIMARY KEY, value BIGINT NOT NULL);
    INSERT INTO counter VALUES ('once', 0);
    CREATE TABLE relayed (id BIGINT PRIMARY KEY);
    CREATE TABLE mark (id BIGINT PRIMARY KEY, filler TEXT NOT NULL)`);
  let isOver = false, increments = 0, reads = 0, longestPause = 0;
  const count = async (): Promise<void> => {
    for (let last = performance.now(); !isOver; increments++) {
      const [row] = await writer.query("UPDATE counter SET value = value + 1 RETURNING value");
      strictEqual(Number(row?.value), increments + 1, "each change is applied once");
      await writer.execute("INSERT INTO mark VALUES ($1, repeat('x', 500))", [increments]);
      longestPause = Math.max(longestPause, performance.now() - last);
      last = performance.now();
    }
  };
  const read = async (): Promise<void> => {
    for (; !isOver; reads++) {
      const least = increments;
      const [row] = await reader.query("SELECT value FROM counter");
      ok(Number(row?.value) >= least, `${row?.value} after ${least} were acknowledged`);
    }
  };
  const goesOn = async (): Promise<void> => {
    const target = increments + 20;
    for (const end = performance.now() + 30_000; increments < target;) {
      ok(performance.now() < end, cluster.logs());
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const load = Promise.all([count(), read()]);
  try {
    await goesOn();
    await roll({
      cluster,
      replace: async (member, next) => {
        strictEqual(await member.stop("SIGTERM"), 0, cluster.logs());
        member.program = next;
        member.start();
        await cluster.caughtUp(member);
        await goesOn();
      },
    });
  } finally {
    isOver = true;
    await load;
  }
  await cluster.level();
  const sql = "SELECT (SELECT value FROM counter) AS value, count(*) AS marks, sum(id) AS ids FROM mark";
  const answers = await Promise.all(
    cluster.members.map(async (member) =>
      await (await member.sql(sql, { "X-Db-Read-From": "follower" })).text()
    ),
  );
  deepStrictEqual(new Set(answers).size, 1, `${answers}`);
  const ids = increments * (increments - 1) / 2;
  deepStrictEqual(JSON.parse(answers[0] ?? "").rows, [{ value: increments, marks: increments, ids }]);
  await Promise.all([writer.close(), reader.close()]);
  deepStrictEqual(cluster.bugs(), []);
  return { increments, reads, longestPause };
}

/** Runs members of the old program, and puts the new one in its place. */
export async function upgradeUnderLoad(
  { before, after, flags = [] }: {
    readonly before: ServerProgram;
    readonly after: ServerProgram;
    readonly flags?: readonly string[];
  },
): Promise<UpgradeResult> {
  return await underLoad(before, flags, async ({ cluster, replace }) => {
    const first = await cluster.primary();
    const backups = cluster.members.filter((member) => member !== first);
    for (const member of [...backups, first]) await replace(member, after);
  });
}

/**
 * An upgrade between releases of two versions: all members serve all clients in both directions while they are mixed,
 * one goes back, the new version is active when all speak it, and then the old release is refused.
 */
export async function upgradeAndBack(
  { before, after, flags = [] }: {
    readonly before: ServerProgram;
    readonly after: ServerProgram;
    readonly flags?: readonly string[];
  },
): Promise<UpgradeResult> {
  let relayed = 0;
  return await underLoad(before, flags, async ({ cluster, replace }) => {
    const { members } = cluster;
    /** A client at each member writes, through the primary, whatever release that is of. */
    const servesAll = async (): Promise<void> => {
      for (const member of members) {
        const client = await connectMember(member, "pg extended", 20_000);
        await client.query(`INSERT INTO relayed VALUES (${++relayed})`);
        deepStrictEqual(await client.query("SELECT count(*) FROM relayed"), [[String(relayed)]]);
        await client.close();
      }
    };
    /** What members of the new release say is active. */
    const active = async (): Promise<Set<number>> => {
      const healths = await Promise.all(members.map((member) => member.health()));
      return new Set(healths.flatMap((health) => health?.cluster_version ?? []));
    };
    const first = await cluster.primary();
    const [one, two] = members.filter((member) => member !== first) as [MemberProcess, MemberProcess];
    await replace(one, after);
    await servesAll();
    await replace(two, after);
    // The old primary hands over: it passes its clients on to a new one now.
    await replace(first, before);
    await servesAll();
    deepStrictEqual(await active(), new Set([1]), cluster.logs());
    await replace(one, before);
    await servesAll();
    await replace(one, after);
    deepStrictEqual(await active(), new Set([1]), cluster.logs());
    await replace(first, after);
    await eventually(async () => {
      const versions = await active();
      return versions.size === 1 && versions.has(4);
    }, () => cluster.logs());
    for (const { log } of members) match(log, /^dbd: version 4 of the cluster's protocol is active$/m);
    await servesAll();

    strictEqual(await one.stop("SIGTERM"), 0, cluster.logs());
    const contents = await contentsOf([one.directory]);
    one.program = before;
    const [code, said] = await misfit(before.dbd, one.parameters);
    // Its own log says so, too: whichever it comes to first.
    const refused =
      /^dbd: member \d at \S+ speaks version 4 of the cluster's protocol, this one version 1: upgrade this/;
    const isRefused = refused.test(said);
    if (!isRefused) {
      match(said, /^dbd: the data is of version 4 .*, and this release speaks 1 to 1\. Start a later/);
    }
    strictEqual(said.split("\n").length, 1, said);
    strictEqual(code, 1, said);
    deepStrictEqual(await contentsOf([one.directory]), contents);
    const others = members.filter((member) => member !== one).map(({ log }) => log).join("\n");
    if (isRefused) {
      match(
        others,
        new RegExp(
          `member ${one.index} at \\S+ speaks version 1 of .*, this one version 4: upgrade that one`,
        ),
      );
    }
    one.program = after;
    one.start();
    await cluster.caughtUp(one);
    await servesAll();
  });
}
