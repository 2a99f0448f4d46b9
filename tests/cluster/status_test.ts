/** What is said of a cluster in trouble: by `dbcli status`, health, metrics and errors, at each of its members. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { runProgram } from "../support/programs.ts";
import { ClusterProcesses, type MemberProcess } from "./cluster_processes.ts";
import { connectMember, PROTOCOLS } from "./member_clients.ts";

Deno.test("a cluster says what is wrong with it: a backup that is away, then the primary, then too many", async () => {
  const { dbd, dbcli } = await compiledPrograms();
  await using cluster = await ClusterProcesses.start({ dbd, memberCount: 3 });
  const { members } = cluster;
  const addresses = members.map(({ host, binaryPort }) => `${host}:${binaryPort}`).join(",");
  const status = () => runProgram(dbcli, ["--addrs", addresses, "status"]);
  const stateOf = (text: string, member: MemberProcess) =>
    text.split("\n").find((line) => line.startsWith(`      ${member.index} | `))?.split(" | ").map((cell) =>
      cell.trim()
    );
  const until = async (holds: (text: string) => boolean): Promise<string> => {
    const end = performance.now() + 60_000;
    for (;;) {
      const { stdout, stderr } = await status();
      if (holds(stdout)) return stdout;
      ok(performance.now() < end, `${stdout}${stderr}`);
    }
  };

  const first = await cluster.primary();
  const [away, ...others] = members.filter((member) => member !== first) as [MemberProcess, MemberProcess];
  await away.stop("SIGKILL");
  const one = await until((text) => stateOf(text, away)?.[3] === "not connected");
  deepStrictEqual([stateOf(one, first)?.[2], stateOf(one, away)?.[2]], ["primary", "backup"]);
  strictEqual((await status()).code, 0);
  strictEqual(await first.metric(`db_cluster_peer_connected{member="${away.index}"}`), 0);
  strictEqual((await first.health())?.role, "primary");

  // With the primary away as well, one is left and no quorum.
  const [left] = others;
  await first.stop("SIGKILL");
  // It stays in the view of the primary that it misses: a change takes a quorum.
  await until((text) => [first, away].every((member) => stateOf(text, member)?.[3] === "not connected"));
  const { code, stdout, stderr } = await status();
  strictEqual(code, 1, stdout);
  match(
    stderr,
    /^(?:Cannot connect to \S+: connection refused\n){2}There is no primary: 2 of the 3 members must run .*\n$/,
  );
  const health = await fetch(`http://127.0.0.1:${left.httpPort}/v1/health`);
  deepStrictEqual([health.status, health.headers.get("retry-after")], [503, "1"]);
  match(await health.text(), /"code":"57P03"/);
  deepStrictEqual(
    [await left.metric("db_cluster_is_available"), await left.metric("db_cluster_is_primary")],
    [0, 0],
  );
  for (const protocol of PROTOCOLS) {
    const start = performance.now();
    const refused = await connectMember(left, protocol, 20_000).then((client) => client.query("SELECT 1"))
      .then(
        () => "",
        (error: unknown) => error instanceof Error && "code" in error ? String(error.code) : String(error),
      );
    // The upgrade of a WebSocket is refused by a status that a browser's socket does not tell.
    strictEqual(refused, protocol === "websocket" ? "08006" : "57P03", protocol);
    ok(performance.now() - start < 15_000, `${protocol} waits`);
  }
  const follower = await left.follower();
  await follower.query("SET follower_max_staleness = -1");
  const { rows } = await follower.query(
    "SELECT member, connected FROM db_cluster ORDER BY member",
  );
  deepStrictEqual(rows, members.map((member) => ({ member: member.index, connected: member === left })));
  await follower.end();

  first.start();
  away.start();
  await cluster.level();
  const all = await until((text) => text.match(/ \| normal /g)?.length === 3);
  strictEqual(all.match(/ none /g)?.length, 3, all);
  deepStrictEqual(cluster.bugs(), []);
});
