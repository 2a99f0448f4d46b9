/** Members that speak TLS to each other: a cluster of them over all protocols, and who is not let in. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { connect as connectTls } from "node:tls";
import { connect as connectSocket } from "node:net";
import { SECURE_FRAME } from "../../engine/replication/peers/peer_hello.ts";
import { ensureDevelopmentCertificate } from "../../gateways/tls/development_certificate.ts";
import { connect } from "../../mod.ts";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { connectPg } from "../support/clients.ts";
import { ClusterProcesses, type MemberProcess } from "./cluster_processes.ts";

function flagsOf(folder: string, authority = folder): string[] {
  return [
    ...["--peer-ca", `${authority}/ca.pem`],
    ...["--peer-cert", `${folder}/server.pem`, "--peer-key", `${folder}/server.key`],
  ];
}

/** Waits until a member has said it. */
async function untilLogged(member: MemberProcess, line: RegExp): Promise<void> {
  for (let attempt = 0; attempt < 500 && !line.test(member.log); attempt++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  match(member.log, line);
}

/** What a server that must end by itself says last, and its exit code. */
async function misfit(dbd: string, args: readonly string[]): Promise<[number, string]> {
  const { code, stderr } = await new Deno.Command(dbd, { args: [...args], stdin: "null", stderr: "piped" })
    .output();
  return [code, new TextDecoder().decode(stderr).trim().split("\n").at(-1) ?? ""];
}

Deno.test("members speak TLS: relays and failovers go on, strangers and clear text are refused", async () => {
  const { dbd } = await compiledPrograms();
  const folder = await Deno.makeTempDir({ prefix: "member-tls-" });
  ensureDevelopmentCertificate(`${folder}/ours`, new Date());
  ensureDevelopmentCertificate(`${folder}/others`, new Date());
  const cluster = await ClusterProcesses.start({ dbd, memberCount: 3, flags: flagsOf(`${folder}/ours`) });
  try {
    const addresses = cluster.members.map(({ host, binaryPort }) => `${host}:${binaryPort}`);
    const client = await connect({ addresses });
    await client.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, v TEXT)");
    let rows = 0;
    for (const member of cluster.members) {
      const pg = await connectPg(member);
      await pg.query("INSERT INTO t VALUES ($1, 'pg')", [++rows]);
      match(await (await member.sql(`INSERT INTO t VALUES (${++rows}, 'http')`)).text(), /"affected":1/);
      const relayed = await connect({ address: `${member.host}:${member.binaryPort}` });
      await relayed.execute("INSERT INTO t VALUES ($1, repeat('x', 300000))", [++rows]);
      deepStrictEqual(await pg.query("SELECT count(*)::int AS n FROM t"), [{ n: rows }]);
      await Promise.all([pg.close(), relayed.close()]);
    }
    // A member whose disk is lost fetches everything over TLS.
    const primary = await cluster.primary();
    await primary.stop("SIGKILL");
    await Deno.remove(primary.directory, { recursive: true });
    await client.execute("INSERT INTO t VALUES ($1, 'after')", [++rows]);
    primary.start();
    await cluster.level();
    match(await (await primary.sql("SELECT count(*) FROM t")).text(), new RegExp(`"value":${rows}}`));

    // Without a certificate, and with one of another authority: not let in, and nothing else happens.
    const [first, , last] = cluster.members as [MemberProcess, MemberProcess, MemberProcess];
    for (const own of [null, `${folder}/others`]) {
      await new Promise<void>((resolve) => {
        const plain = connectSocket({ host: "127.0.0.1", port: first.binaryPort });
        plain.write(SECURE_FRAME);
        const socket = connectTls({
          socket: plain,
          ca: Deno.readTextFileSync(`${folder}/ours/ca.pem`),
          ...(own === null ? {} : {
            cert: Deno.readTextFileSync(`${own}/server.pem`),
            key: Deno.readTextFileSync(`${own}/server.key`),
          }),
        });
        socket.on("secureConnect", () => socket.write("hello")).resume();
        socket.on("error", () => {}).on("close", () => resolve());
      });
    }
    await untilLogged(first, /a connection from 127\.0\.0\.1 shows no certificate: members need --peer-cert/);
    await untilLogged(first, /shows a certificate that is not signed by an authority of --peer-ca here/);

    // Programs that are to be members: each ends with one line.
    strictEqual(await last.stop("SIGTERM"), 0);
    const peers = ["--peers", addresses.join(",")];
    const start = (index: number, flags: readonly string[]) =>
      misfit(dbd, ["--replica", String(index), ...peers, ...flags, "127.0.0.1:0", `${folder}/${index}`]);
    const [clear, other, unknown, half] = await Promise.all([
      start(0, []),
      start(0, flagsOf(`${folder}/others`)),
      start(0, flagsOf(`${folder}/others`, `${folder}/ours`)),
      misfit(dbd, ["--replica", "0", ...peers, "--peer-ca", `${folder}/ours/ca.pem`]),
    ]);
    match(
      clear[1],
      /^dbd: the member at \S+ speaks TLS: give all members --peer-ca, --peer-cert and --peer-key/,
    );
    match(
      other[1],
      /^dbd: the certificate of the member at \S+ is not signed by an authority of --peer-ca here/,
    );
    match(unknown[1], /^dbd: the member at \S+ does not accept the certificate of this one: see its log/);
    match(half[1], /--peer-ca, --peer-cert and --peer-key are given together/);
    deepStrictEqual([clear, other, unknown, half].map(([code]) => code), [1, 1, 1, 2]);
    ok(!await Deno.stat(`${folder}/0`).then(() => true, () => false), "nothing was written");
    const second = cluster.members[1] as MemberProcess;
    await untilLogged(
      second,
      /a member at 127\.0\.0\.1 speaks clear text, this one TLS: give all members --peer-ca/,
    );
    match(
      second.log,
      /a member at 127\.0\.0\.1 does not accept the certificate of this one|has ended the TLS/,
    );
    last.start();
    await cluster.level();
    deepStrictEqual(await client.query("SELECT count(*)::int AS n FROM t"), [{ n: rows }]);
    await client.close();
  } catch (error) {
    console.log(cluster.logs());
    throw error;
  } finally {
    await cluster[Symbol.asyncDispose]();
    await Deno.remove(folder, { recursive: true });
  }
});
