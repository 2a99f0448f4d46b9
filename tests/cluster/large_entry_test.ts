/**
 * Large work in a cluster: statements of all kinds that take long, which do not cost the primary its view, and a large
 * entry behind the checkpoint of a member that starts again. That it stays in its file while it is applied the
 * simulation sees: what a process has in memory depends on when garbage is collected.
 */
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { type Client, connect } from "../../mod.ts";
import { SILENCE_MILLISECONDS } from "../../engine/replication/protocol/timeouts.ts";
import { ClusterProcesses, type MemberProcess } from "./cluster_processes.ts";
import { loadOnce } from "./until_done.ts";

const MEBIBYTES = 24;
/** A primary that has waited for a processor for so long during a statement may have lost its view by that. */
const MAX_WAITED_MILLISECONDS = 300;

/** A statement, what its only row has, and parameters. */
type LongStatement = readonly [text: string, answer: number, parameters?: (string | number)[]];

/** What one turn of the primary was held by once, or may be. */
function longStatements(): LongStatement[] {
  const numbers = Array.from({ length: 10_000 }, (_, index) => index);
  const branches = numbers.slice(0, 4_000).map((n) =>
    n % 2 === 0 ? `b > ${n} THEN b + ${n}` : `c = 'q${n}' THEN ${n}`
  );
  const listed = numbers.map((n) => `$${n + 1}::int`);
  return [
    [`SELECT sum(CASE WHEN ${branches.join(" WHEN ")} END)::int AS n FROM l`, 3],
    [`SELECT count(*)::int AS n FROM l WHERE b + 0 IN (${listed.join(", ")})`, 1, numbers],
    [`SELECT count(*)::int AS n FROM string_to_table(repeat('word ', 1000000), ' ')`, 1_000_001],
    [`SELECT jsonb_array_length(jsonb_agg(g)) AS n FROM generate_series(1, 400000) AS g`, 400_000],
    [
      `SELECT count(*)::int AS n FROM jsonb_array_elements(('[' || repeat('1, ', 500000) || '1]')::jsonb)`,
      500_001,
    ],
    ["UPDATE l SET c = $1 RETURNING length(c) AS n", 4_000_000, ["text ".repeat(800_000)]],
    ["UPDATE l SET c = left(md5(c || c), 1) RETURNING length(c) AS n", 1],
  ];
}

function connectTo(member: MemberProcess): Promise<Client> {
  return connect({ address: `127.0.0.1:${member.binaryPort}` });
}

/** In seconds; on a busy machine it may be asked for several times. */
async function longestWork(member: MemberProcess): Promise<number> {
  let seconds: number | null = null;
  for (let times = 0; seconds === null && times < 20; times++) {
    seconds = await member.metric("db_event_loop_longest_work_seconds");
  }
  return seconds ?? Infinity;
}

/** Runs them at the primary, while others read and write rows there and by way of a backup. */
async function runLongStatements(cluster: ClusterProcesses, primary: MemberProcess): Promise<void> {
  const backup = cluster.members.find((member) => member !== primary) as MemberProcess;
  await using long = await connectTo(primary);
  await long.query("CREATE TABLE l (b int, c text)");
  await long.query("CREATE TABLE points (id int PRIMARY KEY, n int NOT NULL)");
  await long.query("INSERT INTO l VALUES (3, 'q')");
  const held: string[] = [];
  let isOver = false;
  const point = async (member: MemberProcess, id: number): Promise<void> => {
    await using client = await connectTo(member);
    await client.query("INSERT INTO points VALUES ($1, 0)", [id]);
    for (let n = 1; !isOver; n++) {
      await client.query("UPDATE points SET n = n + 1 WHERE id = $1", [id]);
      deepStrictEqual(await client.query("SELECT n FROM points WHERE id = $1", [id]), [{ n }]);
    }
  };
  const work = async (): Promise<void> => {
    for (const [text, answer, parameters] of longStatements()) {
      deepStrictEqual(await long.query(text, parameters), [{ n: answer }], text.slice(0, 100));
      const seconds = await longestWork(primary);
      if (seconds * 1000 >= SILENCE_MILLISECONDS) held.push(`${seconds} s: ${text.slice(0, 100)}`);
    }
  };
  const view = async (): Promise<number | undefined> => (await primary.health())?.view;
  const before = await view(), waitedBefore = primary.waitedMilliseconds() ?? 0;
  const outcomes = await Promise.allSettled([
    work().finally(() => isOver = true),
    point(primary, 1),
    point(backup, 2),
  ]);
  const after = await view(), waited = (primary.waitedMilliseconds() ?? 0) - waitedBefore;
  deepStrictEqual(held, []);
  // Who does not get a processor is taken for dead, whatever it does.
  if (after !== before && waited > MAX_WAITED_MILLISECONDS) return;
  deepStrictEqual([outcomes.filter(({ status }) => status === "rejected"), after], [[], before]);
}

function* rows(): Generator<string> {
  for (let id = 0; id < MEBIBYTES * 1024; id += 1024) {
    let text = "";
    for (let each = id; each < id + 1024; each++) {
      text += `${each}\t${String(each * 7919 + 1e9).padStart(16, "0").repeat(63)}\n`;
    }
    yield text;
  }
}

Deno.test(`long statements do not cost a primary its view, and a member that starts with an entry of ${MEBIBYTES} MiB behind its checkpoint has all of its rows`, async () => {
  const { dbd } = await compiledPrograms();
  // No checkpoint has the entry.
  await using cluster = await ClusterProcesses.start({
    dbd,
    memberCount: 3,
    flags: ["--checkpoint-log", "1GiB"],
  });
  const { members } = cluster;
  await runLongStatements(cluster, await cluster.primary());
  const first = await cluster.primary();
  await using client = await connect({
    addresses: members.map(({ binaryPort }) => `127.0.0.1:${binaryPort}`),
  });
  await client.execute("CREATE TABLE big (id int PRIMARY KEY, body text NOT NULL)");
  await loadOnce(client, { table: "big", column: "id", first: 0 }, rows);
  await cluster.level();
  // With the next view the others have in their superblocks that it is committed: they replay it.
  strictEqual(await first.stop("SIGTERM"), 0, first.log);
  await cluster.primary();
  first.start();
  await cluster.caughtUp(first);
  for (const member of members.filter((each) => each !== first)) {
    await member.stop("SIGKILL");
    member.start();
    await cluster.caughtUp(member);
  }
  const content = "SELECT count(*)::int AS n, count(DISTINCT body)::int AS bodies FROM big";
  for (const member of members) {
    const follower = await member.follower();
    const { rows } = await follower.query(content);
    deepStrictEqual(rows, [{ n: MEBIBYTES * 1024, bodies: MEBIBYTES * 1024 }], `member ${member.index}`);
    await follower.end();
  }
  deepStrictEqual(cluster.bugs(), []);
  for (const member of members) await cluster.caughtUp(member);
});
