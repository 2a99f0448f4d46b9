/**
 * A server whose clients' sockets are in two routers' threads, as a program: drivers, cancellation, clients that are
 * killed, that do not read or that are too many, a stop, and a router that breaks.
 */
import { deepStrictEqual as same, match, ok, rejects, strictEqual as equal } from "node:assert/strict";
import { connect as connectSocket, type Socket } from "node:net";
import { concat, fields, message, startup } from "../../gateways/pg/testing/wire.ts";
import { connect } from "../../mod.ts";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { projectRoot } from "../../tools/project.ts";
import { brokenThreads } from "../support/broken_threads.ts";
import { connectPg, connectPostgres, type SqlClient } from "../support/clients.ts";
import { ServerProcess } from "../support/server_process.ts";
import { until, untilActive } from "../support/until.ts";

const HOST = "127.0.0.1";
const PG = "PostgreSQL protocol";
/** What sessions wait in. */
const SLEEP = "pg_sleep(55)";

async function withServer(
  flags: readonly string[],
  work: (server: ServerProcess) => Promise<void>,
): Promise<void> {
  const { dbd } = await compiledPrograms();
  const server = await ServerProcess.startEmpty(dbd, { flags: ["--routers", "2", ...flags] });
  try {
    await work(server);
  } finally {
    await server.end("SIGTERM");
  }
}

const clientOf = (server: ServerProcess): Promise<SqlClient> =>
  connectPg({ host: HOST, port: server.portOf(PG) });

/** A client by its bytes, which reads when it is asked to. */
async function rawClient(server: ServerProcess): Promise<{ socket: Socket; key: Uint8Array }> {
  const socket = connectSocket({ host: HOST, port: server.portOf(PG), noDelay: true });
  socket.on("error", () => {});
  socket.write(startup({ user: "test", database: "test" }));
  let bytes: Uint8Array = new Uint8Array(0);
  await new Promise<void>((resolve) => {
    const onData = (more: Uint8Array): void => {
      bytes = concat(bytes, more);
      // ReadyForQuery: idle.
      if (bytes.at(-6) !== 0x5a) return;
      socket.pause().off("data", onData);
      resolve();
    };
    socket.on("data", onData);
  });
  // BackendKeyData is the last but one.
  return { socket, key: bytes.slice(-14, -6) };
}

function query(text: string): Uint8Array {
  return message("Q", text);
}

/** What a process has in memory now. */
async function residentBytes(processId: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${processId}/status`);
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
}

Deno.test("drivers have their sessions through two routers, with shards, and one too many is told so", async () => {
  await withServer(["--shards", "2", "--pg-max-conns", "15", "--max-conns", "4"], async (server) => {
    const address = { host: HOST, port: server.portOf(PG) };
    // So many that both routers have some, but for one time in 8192.
    const clients = await Promise.all(
      Array.from(
        { length: 14 },
        (_, index) => index % 3 === 0 ? connectPostgres(address) : connectPg(address),
      ),
    );
    const [first, second] = clients as [SqlClient, SqlClient];
    await first.query("CREATE TABLE t (id INT PRIMARY KEY, v TEXT)");
    await Promise.all(
      clients.map((client, index) => client.query("INSERT INTO t VALUES ($1, $2)", [index, `of ${index}`])),
    );
    for (const [index, client] of clients.entries()) {
      same(await client.query("SELECT v FROM t WHERE id = $1", [index]), [{ v: `of ${index}` }]);
    }
    const lines = Array.from({ length: 200_000 }, (_, index) => `${index + 100}\trow ${index}\n`).join("");
    await second.copyIn?.("COPY t FROM STDIN", lines);
    same(await first.query("SELECT count(*)::int AS n FROM t"), [{ n: 200_014 }]);
    equal((await first.query("SELECT * FROM t")).length, 200_014);

    const last = await clientOf(server);
    await rejects(clientOf(server), /too many clients/);
    await last.close();
    const binary = await Promise.all(
      Array.from({ length: 4 }, () => connect({ address: server.addressOf("binary protocol") })),
    );
    for (const connection of binary) {
      same(await connection.query("SELECT count(*)::int AS n FROM t"), [{ n: 200_014 }]);
    }
    await rejects(connect({ address: server.addressOf("binary protocol") }), /too many clients/);
    await Promise.all(binary.map((connection) => connection.close()));
    await Promise.all(clients.map((client) => client.close()));
  });
});

Deno.test("a cancel request is heard by whichever router has it, and notifications come through", async () => {
  await withServer([], async (server) => {
    const client = await clientOf(server);
    const raw = await rawClient(server);
    raw.socket.write(concat(query("LISTEN news"), query(`SELECT ${SLEEP}`)));
    await untilActive(client, SLEEP, 1);
    // Each comes on a connection of its own; one of eight goes to the other router, but for one time in 128.
    const cancel = fields([4, 16], [4, 80877102]);
    for (let round = 0; round < 8; round++) {
      const socket = connectSocket({ host: HOST, port: server.portOf(PG) });
      socket.end(concat(cancel, raw.key));
      await new Promise((resolve) => socket.resume().once("close", resolve));
      await untilActive(client, SLEEP, 0);
      if (round < 7) {
        raw.socket.write(query(`SELECT ${SLEEP}`));
        await untilActive(client, SLEEP, 1);
      }
    }
    let said = "";
    raw.socket.on("data", (bytes: Uint8Array) => said += new TextDecoder().decode(bytes)).resume();
    await client.query("NOTIFY news, 'it is here'");
    while (!said.includes("it is here")) await new Promise((resolve) => raw.socket.once("data", resolve));
    equal(said.split("57014").length - 1, 8, said);
    raw.socket.destroy();
    await client.close();
  });
});

Deno.test("sessions of clients that are killed end, and one that does not read holds nobody up", async () => {
  await withServer([], async (server) => {
    const client = await clientOf(server);
    const killed = await Promise.all(Array.from({ length: 8 }, () => rawClient(server)));
    for (const { socket } of killed) socket.write(query(`SELECT ${SLEEP}`));
    await untilActive(client, SLEEP, 8);
    for (const { socket } of killed) socket.resetAndDestroy();
    await untilActive(client, SLEEP, 0);

    const lazy = await Promise.all(Array.from({ length: 4 }, () => rawClient(server)));
    await client.query("SELECT 1");
    const before = await residentBytes(server.child.pid);
    const ROWS = 30_000;
    for (const { socket } of lazy) {
      socket.write(query(`SELECT repeat('x', 2000) FROM generate_series(1, ${ROWS})`));
    }
    // Whoever would take all of it does so within this time.
    const end = performance.now() + 1_000;
    while (performance.now() < end) same(await client.query("SELECT 7 AS n"), [{ n: 7 }]);
    const grown = await residentBytes(server.child.pid) - before;
    ok(grown < 120_000_000, `${grown} bytes for answers that nobody reads`);
    const sizes = await Promise.all(lazy.map(({ socket }) =>
      new Promise<number>((resolve) => {
        let bytes = 0;
        socket.on("data", (more: Uint8Array) => {
          bytes += more.length;
          if (more.at(-6) === 0x5a && more.at(-1) === 0x49) resolve(bytes);
        }).resume();
      })
    ));
    // RowDescription, DataRow of 11 and 2000 bytes, CommandComplete, ReadyForQuery.
    for (const bytes of sizes) ok(bytes > ROWS * 2011 && bytes < ROWS * 2011 + 200, `${bytes}`);
    for (const { socket } of lazy) socket.destroy();
    await client.close();
  });
});

Deno.test("a stop lets statements finish that run through routers, and says good-bye to the others", async () => {
  const { dbd } = await compiledPrograms();
  const server = await ServerProcess.startEmpty(dbd, { flags: ["--routers", "2"] });
  const watch = await clientOf(server);
  const running = await Promise.all(Array.from({ length: 4 }, () => rawClient(server)));
  const idle = await Promise.all(Array.from({ length: 4 }, () => rawClient(server)));
  // They end when the stop has ended those that wait for nothing, one of which has the lock.
  const LOCK = "pg_advisory_lock_shared(7)";
  await watch.query("SELECT pg_advisory_lock(7)");
  for (const { socket } of running) socket.write(query(`SELECT ${LOCK}, 'done'`));
  await untilActive(watch, LOCK, 4);
  const words = [...running, ...idle].map(({ socket }) =>
    new Promise<string>((resolve) => {
      let said = "";
      socket.on("data", (bytes: Uint8Array) => said += new TextDecoder().decode(bytes));
      socket.on("close", () => resolve(said));
      socket.resume();
    })
  );
  await server.end("SIGTERM");
  equal((await server.child.status).code, 0);
  for (const [index, said] of (await Promise.all(words)).entries()) {
    equal(said.includes("done"), index < 4, said);
    match(said, /57P01/);
  }
  match(server.log, /SIGTERM: stopping\ndbd: stopped\n$/);
  await watch.close();
});

Deno.test("a router that ends by an error takes its connections along, says one line, and is there again", async () => {
  const folder = await Deno.makeTempDir({ prefix: "routers-" });
  await Deno.writeTextFile(`${folder}/preload.ts`, brokenThreads(folder));
  const server = await ServerProcess.startEmpty(Deno.execPath(), {
    before: ["run", "-A", "--preload", `${folder}/preload.ts`, `${projectRoot}/cli/dbd.ts`],
    flags: ["--routers", "2"],
  });
  try {
    const clients = await Promise.all(Array.from({ length: 14 }, () => clientOf(server)));
    await clients[0]?.query("CREATE TABLE t (id INT PRIMARY KEY)");
    await Deno.writeTextFile(`${folder}/router-1`, "");
    const answers = (): Promise<boolean[]> =>
      Promise.all(
        clients.map((client) => client.query("SELECT count(*) FROM t").then(() => true, () => false)),
      );
    let alive = await answers();
    while (!alive.includes(false)) alive = await answers();
    // Those of the other one do not notice.
    ok(alive.includes(true), server.log);
    await until(() => server.log.includes("router 1 has ended"), "the line of the router's end");
    const said = server.log.slice(server.log.indexOf("dbd: ready\n") + 11);
    equal(said.split("\n").length, 2, said);
    match(
      said,
      /^dbd: router 1 has ended, and its connections with it: .*planted in a thread; it is started again$/m,
    );
    // As many as before, of which the kernel gives the new one its share.
    for (let round = 0; round < 2; round++) {
      await new Promise((resolve) => setTimeout(resolve, 1_200));
      const again = await Promise.all(Array.from({ length: 14 }, () => clientOf(server)));
      for (const client of again) same(await client.query("SELECT count(*)::int AS n FROM t"), [{ n: 0 }]);
      await Promise.all(again.map((client) => client.close()));
    }
    same(await answers(), alive);
    await Promise.all(clients.map((client) => client.close()));
  } finally {
    await server.end("SIGTERM");
    await Deno.remove(folder, { recursive: true });
  }
});
