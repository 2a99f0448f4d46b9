/**
 * A large entry behind the checkpoint of a member that starts again. That it stays in its file while it is applied the
 * simulation sees: what a process has in memory depends on when garbage is collected.
 */
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { connect } from "../../mod.ts";
import { ClusterProcesses } from "./cluster_processes.ts";
import { loadOnce } from "./until_done.ts";

const MEBIBYTES = 24;

function* rows(): Generator<string> {
  for (let id = 0; id < MEBIBYTES * 1024; id += 1024) {
    let text = "";
    for (let each = id; each < id + 1024; each++) {
      text += `${each}\t${String(each * 7919 + 1e9).padStart(16, "0").repeat(63)}\n`;
    }
    yield text;
  }
}

Deno.test(`a member that starts with an entry of ${MEBIBYTES} MiB behind its checkpoint has all of its rows`, async () => {
  const { dbd } = await compiledPrograms();
  // No checkpoint has the entry.
  await using cluster = await ClusterProcesses.start({
    dbd,
    memberCount: 3,
    flags: ["--checkpoint-log", "1GiB"],
  });
  const { members } = cluster;
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
