/** Members whose logs have rotted on their disks fetch from the others what they cannot read. */
import { match, strictEqual } from "node:assert/strict";
import { SeededRandom } from "../../engine/base/random.ts";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { ClusterProcesses, type MemberProcess } from "./cluster_processes.ts";

const TOKEN = "secret";
const ROWS = 150;

async function sql(
  member: MemberProcess,
  text: string,
  headers: Record<string, string> = {},
): Promise<string> {
  const response = await fetch(`http://${member.host}:${member.httpPort}/v1/sql`, {
    method: "POST",
    headers: { "Content-Type": "text/plain", Authorization: `Bearer ${TOKEN}`, ...headers },
    body: text,
  });
  return await response.text();
}

/** Flips bits in the records of a member's log; those at its very end stay, for nothing else vouches for them. */
async function rot(member: MemberProcess, random: SeededRandom): Promise<void> {
  for await (const { name } of Deno.readDir(`${member.directory}/log`)) {
    const path = `${member.directory}/log/${name}`;
    const bytes = await Deno.readFile(path);
    const end = bytes.findLastIndex((byte) => byte !== 0);
    for (let flips = 0; flips < 12; flips++) {
      const at = random.below(end - 500);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
    }
    await Deno.writeFile(path, bytes);
  }
}

Deno.test("members whose logs have rotted fetch from the others what they cannot read", async () => {
  const { dbd } = await compiledPrograms();
  const random = new SeededRandom(9);
  await using cluster = await ClusterProcesses.start({ dbd, memberCount: 3, flags: ["--token", TOKEN] });
  let primary = await cluster.primary();
  await sql(primary, "CREATE TABLE t (id int PRIMARY KEY, a text)");
  for (let id = 1; id <= ROWS; id++) {
    match(await sql(primary, `INSERT INTO t VALUES (${id}, repeat('x', ${id}))`), /"affected":1/);
  }
  await cluster.level();
  // A backup, and the primary: a minority at a time.
  for (const member of [cluster.members.find((each) => each !== primary) as MemberProcess, primary]) {
    await member.stop("SIGKILL");
    await rot(member, random);
    member.start();
    primary = await cluster.primary();
    await cluster.level();
    match(member.log, /is damaged at byte offset \d+: ops? [0-9 to]+ will be fetched from others/);
    match(
      await sql(member, "SELECT count(*)::int AS n FROM t", { "X-Db-Read-From": "follower" }),
      new RegExp(`"n":${ROWS}}`),
    );
    await member.stop("SIGTERM");
    const { code, stdout, stderr } = await new Deno.Command(dbd, { args: ["verify", member.directory] })
      .output();
    strictEqual(code, 0, new TextDecoder().decode(stderr));
    match(new TextDecoder().decode(stdout), /log: \d+ entries after the checkpoint/);
    member.start();
    primary = await cluster.primary();
    await cluster.level();
  }
});
