/** `serve()` of the library: the whole server inside of a program. */
import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { health } from "./dbd/health.ts";
import { connect, type DatabaseError, open, serve } from "../mod.ts";

const OWN = { data_dir: ":memory:", listen_addr: "127.0.0.1:0" };

Deno.test("serve() serves every protocol from one database, with the token, and closes all of it", async () => {
  const server = await serve({ ...OWN, http_addr: "127.0.0.1:0", pg_addr: "127.0.0.1:0", token: "secret" });
  await server.database.execute("CREATE TABLE t (n INT)");
  await using client = await connect({ address: server.addresses.binary, token: "secret" });
  await client.execute("INSERT INTO t VALUES (1)");
  const [, port = "0"] = server.addresses.http?.split(":") ?? [];
  const said: string[] = [];
  const print = (line: string) => said.push(line);
  const everywhere = { hostname: "0.0.0.0", port: Number(port) };
  strictEqual(await health({ address: everywhere, isSecure: false }, { print }), 0);
  match(said.join(), /"status":"ok"/);
  const ask = (headers: Record<string, string>) =>
    fetch(`http://${server.addresses.http}/v1/sql`, {
      method: "POST",
      headers: { "Content-Type": "text/plain", ...headers },
      body: "SELECT n FROM t",
    });
  const answer = await ask({ Authorization: "Bearer secret" });
  deepStrictEqual(await answer.json(), { status: "ok", rows: [{ n: 1 }] });
  const refused = await ask({});
  strictEqual(refused.status, 401);
  await refused.body?.cancel();
  match(server.addresses.pg ?? "", /^127\.0\.0\.1:\d+$/);
  strictEqual(server.addresses.https, null);
  await Promise.all([server.close(), server.close()]);
  strictEqual(await health({ address: everywhere, isSecure: false }, { print }), 1);
  await rejects(ask({ Authorization: "Bearer secret" }), TypeError);
  await rejects(server.database.query("SELECT 1"));
});

Deno.test("serve() caps PostgreSQL connections with pg_max_conns", async () => {
  await using server = await serve({ ...OWN, pg_addr: "127.0.0.1:0", pg_max_conns: 1 });
  const port = Number(server.addresses.pg?.split(":")[1]);
  const open = async (): Promise<{ text: string; connection: Deno.TcpConn }> => {
    const connection = await Deno.connect({ hostname: "127.0.0.1", port });
    const body = new TextEncoder().encode("\0\0\0\0\0\x03\0\0user\0db\0\0");
    new DataView(body.buffer).setUint32(0, body.length);
    await connection.write(body);
    const buffer = new Uint8Array(2048);
    const length = await connection.read(buffer) ?? 0;
    return { text: new TextDecoder().decode(buffer.subarray(0, length)), connection };
  };
  const first = await open();
  match(first.text, /^R/);
  const second = await open();
  match(second.text, /^E[^]*53300/);
  second.connection.close();
  first.connection.close();
});

Deno.test("serve() keeps what it acknowledged, and refuses settings that are wrong", async () => {
  const folder = await Deno.makeTempDir({ prefix: "serve-" });
  const failure = async (settings: Parameters<typeof serve>[0]): Promise<string> => {
    const error = await serve({ listen_addr: "127.0.0.1:0", ...settings }).then(
      async (server) => {
        await server.close();
        return null;
      },
      (reason: DatabaseError) => reason,
    );
    return error === null ? "none" : `${error.code} ${error.message}`;
  };
  try {
    {
      await using server = await serve({ listen_addr: "127.0.0.1:0", data_dir: folder });
      await server.database.execute("CREATE TABLE t (n INT); INSERT INTO t VALUES (7)");
      match(await failure({ data_dir: folder }), /^55006 /);
      match(
        await failure({ data_dir: ":memory:", listen_addr: server.addresses.binary }),
        /^58030 Cannot listen on .*: the address is in use/,
      );
    }
    await using again = await serve({ listen_addr: "127.0.0.1:0", data_dir: folder });
    deepStrictEqual(await again.database.query("SELECT n FROM t"), [{ n: 7 }]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  const memory = { data_dir: ":memory:" };
  for (
    const [settings, expected] of [
      [{ htp_addr: "127.0.0.1:0" }, /^22023 unknown setting "htp_addr".*did you mean "http_addr"/],
      [{ http_addr: "nowhere:99999" }, /^22023 .*is not an address/],
      [{ http_addr: "0.0.0.0:0" }, /^22023 .*there is no token/],
      [{ pg_max_conns: 0 }, /^22023 .*takes a number/],
      [{ http_tls_addr: "127.0.0.1:0" }, /^22023 /],
      [{ http_addr: "0.0.0.0:0", allow_open: true }, /^none$/],
    ] as const
  ) {
    ok(expected.test(await failure({ ...memory, ...settings })), `${JSON.stringify(settings)}`);
  }
});

Deno.test("health() asks over TLS where only TLS is served, without the authority of the certificate", async () => {
  const folder = await Deno.makeTempDir({ prefix: "serve-" });
  try {
    await using server = await serve({
      ...OWN,
      data_dir: folder,
      dev_tls: true,
      http_tls_addr: "127.0.0.1:0",
    });
    const address = { hostname: "127.0.0.1", port: Number(server.addresses.https?.split(":")[1]) };
    const said: string[] = [];
    const print = (line: string) => said.push(line);
    strictEqual(await health({ address, isSecure: true }, { print }), 0);
    match(said[0] ?? "", /^\{"status":"ok"/);
    strictEqual(await health({ address, isSecure: false }, { print }), 1);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("open() reads external sources when it is asked to, and local ones when they are named", async () => {
  const web = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => new Response('{"id":1,"name":"red"}\n', { headers: { "Content-Type": "application/x-ndjson" } }),
  );
  const { port } = web.addr;
  const create = `CREATE EXTERNAL SOURCE ball (id BIGINT, name TEXT) FROM 'http://127.0.0.1:${port}/'
    FORMAT NDJSON KEY id`;
  try {
    await using without = await open(":memory:");
    await rejects(without.execute(create), { code: "0A000" });
    await using stranger = await open(":memory:", { externalSources: {} });
    await rejects(
      stranger.execute(create).then(() => stranger.execute("REFRESH EXTERNAL SOURCE ball")),
      { code: "42501" },
    );
    const externalSources = { allowedHosts: [`127.0.0.1:${port}`] };
    await using database = await open(":memory:", { externalSources });
    await database.execute(create);
    await database.execute("REFRESH EXTERNAL SOURCE ball");
    deepStrictEqual(await database.query("SELECT id, name FROM ball"), [{ id: 1, name: "red" }]);
    await rejects(open(":memory:", { externalSources: { allowedHosts: ["a b:c"] } }), { code: "22023" });
  } finally {
    await web.shutdown();
  }
});
