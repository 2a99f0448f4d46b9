/**
 * What clients of each protocol are told at a member that is left alone, be it the primary or not, whether the others
 * have ended or stand still; nothing is acknowledged meanwhile.
 */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import pg from "pg";
import { connect } from "../../mod.ts";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { ClusterProcesses, type MemberProcess } from "./cluster_processes.ts";

interface Told {
  readonly status: number;
  readonly code: string;
  readonly retryAfter: string | null;
}

async function overHttp(member: MemberProcess, body = "SELECT 1"): Promise<Told> {
  const response = await member.sql(body);
  const { code = "" } = await response.json() as { code?: string };
  return { status: response.status, code, retryAfter: response.headers.get("Retry-After") };
}

const codeOf = (error: unknown): string => (error as { code?: string }).code ?? String(error);

/** The code of an attempt to connect. */
async function overPg({ host, port }: MemberProcess): Promise<string> {
  const client = new pg.Client({ host, port, user: "test", database: "test" });
  client.on("error", () => {});
  return await client.connect().then(() => "connected", codeOf);
}

for (
  const [left, fate] of [
    ["primary", "have ended"],
    ["backup", "have ended"],
    ["primary", "stand still"],
    ["backup", "stand still"],
  ] as const
) {
  Deno.test(`a ${left} that is left alone, for the others ${fate}, tells clients that there is no primary, and serves them again`, async () => {
    const { dbd } = await compiledPrograms();
    await using cluster = await ClusterProcesses.start({ dbd, memberCount: 3 });
    const primary = await cluster.primary();
    const alone = left === "primary" ? primary : cluster.members.find((member) => member !== primary);
    ok(alone !== undefined);
    strictEqual((await overHttp(alone)).status, 200);
    const others = cluster.members.filter((member) => member !== alone);
    strictEqual((await overHttp(alone, "CREATE TABLE t (a int PRIMARY KEY)")).status, 200);
    if (fate === "have ended") await Promise.all(others.map((member) => member.stop("SIGKILL")));
    else for (const member of others) member.signal("SIGSTOP");
    const start = performance.now();
    // What is asked before the member knows is refused as well, or its session ends.
    let asked = 0;
    const insert = async (): Promise<Told> => await overHttp(alone, `INSERT INTO t VALUES (${++asked})`);
    for (let told = await insert(); told.code !== "57P03"; told = await insert()) {
      match(told.code, /^(57P01|40003)$/);
      ok(performance.now() - start < 60_000, cluster.logs());
    }
    deepStrictEqual(await overHttp(alone), { status: 503, code: "57P03", retryAfter: "1" });
    strictEqual((await fetch(`http://${alone.host}:${alone.httpPort}/v1/health`)).status, 503);
    strictEqual(await overPg(alone), "57P03");
    const address = `${alone.host}:${alone.binaryPort}`;
    strictEqual(await connect({ address }).then(() => "connected", codeOf), "57P03");
    for (const member of others) {
      if (fate === "have ended") member.start();
      else member.signal("SIGCONT");
    }
    // A client with addresses waits for the primary.
    const client = await connect({ addresses: [address, address] });
    await client.query("INSERT INTO t VALUES (0)");
    const rows = await client.query("SELECT a FROM t ORDER BY a");
    ok(rows[0]?.a === 0 && rows.length <= asked + 1, JSON.stringify(rows));
    await client.close();
    deepStrictEqual(cluster.bugs(), []);
  });
}
