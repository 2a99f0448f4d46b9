/**
 * Reads from followers: who brings the op of a change sees it at every member, over every protocol; a member that is
 * cut off refuses what would be too old, and goes on when it is back.
 */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { connect } from "../../mod.ts";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { runProgram } from "../support/programs.ts";
import { ClusterProcesses, eventually, type MemberProcess } from "./cluster_processes.ts";
import { FaultProxy } from "./fault_proxy.ts";

const ROUNDS = 10;
const FOLLOWER = { "X-Db-Read-From": "follower" };

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly op: number;
  readonly retryAfter: string | null;
}

async function overHttp(
  member: MemberProcess,
  sql: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await member.sql(sql, headers);
  return {
    status: response.status,
    body: (await response.text()).trim(),
    op: Number(response.headers.get("X-Db-Op") ?? NaN),
    retryAfter: response.headers.get("Retry-After"),
  };
}

Deno.test("a read that brings an op sees it at every member, and one that would be too old is refused", async () => {
  const { dbd, dbcli } = await compiledPrograms();
  const proxies: FaultProxy[] = [];
  const cluster = await ClusterProcesses.start({
    dbd,
    memberCount: 3,
    peersOf: (index, addresses) =>
      addresses.map((address, other) => {
        // Member 2 is dialed by the others.
        if (other !== 2 || index === 2) return address;
        const proxy = new FaultProxy(() => Number(address.split(":")[1]));
        proxies.push(proxy);
        return proxy.address;
      }),
  });
  try {
    while ((await cluster.primary()).index === 2) {
      const last = await cluster.primary();
      await last.stop("SIGTERM");
      last.start();
      await cluster.level();
    }
    const [first, second, third] = cluster.members as [MemberProcess, MemberProcess, MemberProcess];
    // A starved machine may be without a primary once more.
    for (
      const statement of [
        "CREATE TABLE IF NOT EXISTS t (id BIGINT PRIMARY KEY, v BIGINT)",
        "INSERT INTO t VALUES (1, 0) ON CONFLICT DO NOTHING",
      ]
    ) await eventually(async () => (await overHttp(first, statement)).status === 200, () => statement);
    await cluster.level();
    const followers = await Promise.all(cluster.members.map((member) => member.follower()));
    const clients = await Promise.all(
      cluster.members.map(({ host, binaryPort }) =>
        connect({ address: `${host}:${binaryPort}`, readFrom: "follower" })
      ),
    );
    const writer = await connect({ address: `${first.host}:${first.binaryPort}` });
    for (let round = 1; round <= ROUNDS; round++) {
      const { op } = round % 2 === 0
        ? await writer.execute("UPDATE t SET v = $1 WHERE id = 1", [round])
        : await overHttp(second, `UPDATE t SET v = ${round} WHERE id = 1`);
      ok(op > 0);
      await Promise.all(cluster.members.map(async (member, index) => {
        const headers = { ...FOLLOWER, "X-Db-Min-Op": String(op) };
        const answer = await overHttp(member, "SELECT v FROM t", headers);
        strictEqual(answer.body, `{"status":"ok","rows":[{"v":${round}}]}`);
        ok(answer.op >= op, `${answer.op} ${op}`);
        const client = clients[index];
        if (client === undefined) throw new Error("a client for each");
        client.minOp = op;
        const result = await client.execute("SELECT v FROM t WHERE id = $1", [1]);
        deepStrictEqual(result.rows(), [{ v: round }]);
        ok(result.op >= op);
        const plain = followers[index];
        await plain?.query(`SET min_op = ${op}`);
        deepStrictEqual((await plain?.query("SELECT v FROM t WHERE id = $1", [1]))?.rows, [{
          v: String(round),
        }]);
        ok(Number((await plain?.query("SHOW seen_op"))?.rows[0].seen_op) >= op);
      }));
    }
    // The primary knows its own ops, and so does a session at it that is relayed.
    const { op: newest } = await overHttp(third, "SELECT v FROM t");
    strictEqual((await overHttp(third, "SELECT v FROM t", { "X-Db-Min-Op": String(newest) })).status, 200);
    strictEqual((await overHttp(third, "SELECT 1", { "X-Db-Min-Op": "x" })).status, 400);
    const shell = await runProgram(dbcli, [
      ...["--addr", `${third.host}:${third.binaryPort}`, "--read-from", "follower"],
      `SET min_op = ${newest}; SELECT v FROM t`,
    ], {});
    match(shell.stdout, new RegExp(String(ROUNDS)), shell.stderr);

    // Cut off, member 2 answers what is not older than a second, and then nothing that has a bound.
    for (const proxy of proxies) for (const direction of ["there", "back"] as const) proxy.cut(direction);
    const changed = await overHttp(first, "UPDATE t SET v = 100 WHERE id = 1");
    const session = await third.follower();
    await session.query("SET follower_max_staleness = -1");
    deepStrictEqual((await session.query("SELECT v FROM t")).rows, [{ v: String(ROUNDS) }]);
    await session.query("SET lock_timeout = '50ms'; SET min_op = 1000000");
    const code = (error: unknown) => (error as { code?: string }).code;
    strictEqual(await session.query("SELECT v FROM t").then(() => "answered", code), "57P03");
    const unseen = await overHttp(third, "SELECT v FROM t", {
      ...FOLLOWER,
      "X-Db-Min-Op": String(changed.op),
    });
    deepStrictEqual([unseen.status, unseen.retryAfter, JSON.parse(unseen.body).code], [503, "1", "57P03"]);
    const old = await overHttp(third, "SELECT v FROM t", FOLLOWER);
    deepStrictEqual([old.status, JSON.parse(old.body).code], [503, "57P03"]);
    match(old.body, /ms old, more than follower_max_staleness/);
    const block = await third.follower();
    await block.query("SET lock_timeout = '50ms'");
    strictEqual(await block.query("BEGIN").then(() => "answered", code), "57P03");
    // Those who wait are answered as soon as the member is back.
    await block.query("SET lock_timeout = '20s'");
    const waiting = block.query("SELECT v FROM t");
    for (const proxy of proxies) proxy.heal();
    deepStrictEqual((await waiting).rows, [{ v: "100" }]);
    for (const client of [...followers, session, block]) await client.end();
    for (const client of [...clients, writer]) await client.close();
  } catch (error) {
    console.log(cluster.logs());
    throw error;
  } finally {
    await cluster[Symbol.asyncDispose]();
    for (const proxy of proxies) proxy[Symbol.dispose]();
  }
});
