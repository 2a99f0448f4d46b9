/** What clients of each protocol are told at a member that is left alone, be it the primary or not. */
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

async function overHttp({ host, httpPort }: MemberProcess): Promise<Told> {
  const response = await fetch(`http://${host}:${httpPort}/v1/sql`, {
    method: "POST",
    headers: { "Content-Type": "text/plain" },
    body: "SELECT 1",
  });
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

for (const left of ["primary", "backup"] as const) {
  Deno.test(`a ${left} that is left alone tells clients that there is no primary, and serves them again`, async () => {
    const { dbd } = await compiledPrograms();
    await using cluster = await ClusterProcesses.start({ dbd, memberCount: 3 });
    const primary = await cluster.primary();
    const alone = left === "primary" ? primary : cluster.members.find((member) => member !== primary);
    ok(alone !== undefined);
    strictEqual((await overHttp(alone)).status, 200);
    const others = cluster.members.filter((member) => member !== alone);
    await Promise.all(others.map((member) => member.stop("SIGKILL")));
    const start = performance.now();
    // What is asked before the member knows is refused as well, or its session ends.
    for (let told = await overHttp(alone); told.code !== "57P03"; told = await overHttp(alone)) {
      match(told.code, /^(57P01|40003|)$/);
      ok(performance.now() - start < 20_000, cluster.logs());
    }
    deepStrictEqual(await overHttp(alone), { status: 503, code: "57P03", retryAfter: "1" });
    strictEqual((await fetch(`http://${alone.host}:${alone.httpPort}/v1/health`)).status, 503);
    strictEqual(await overPg(alone), "57P03");
    const address = `${alone.host}:${alone.binaryPort}`;
    strictEqual(await connect({ address }).then(() => "connected", codeOf), "57P03");
    for (const member of others) member.start();
    // A client with addresses waits for the primary.
    const client = await connect({ addresses: [address, address] });
    deepStrictEqual(await client.query("SELECT 1 AS one"), [{ one: 1 }]);
    await client.close();
  });
}
