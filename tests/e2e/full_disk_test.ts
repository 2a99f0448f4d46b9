/**
 * A real server on a file system that fills up: statements end with 53100, nothing that was acknowledged is lost,
 * reads go on, and writes go on as soon as there is space; a server also starts on a full disk.
 *
 * The file system is a small one in memory, which needs the right to mount; where that is missing, the simulated disk
 * (`tests/simulation`, `tests/faults`) is what there is.
 */
import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { reportNotRun } from "../../tools/not_run.ts";
import { run } from "../../tools/project.ts";
import { startDbd } from "../bench/peers/dbd.ts";
import { connectPg, type ServerAddress, type SqlClient } from "../support/clients.ts";

const smallBytes = 12 << 20;
const largeBytes = 64 << 20;
const rowBytes = 4000;
const rowsPerStatement = 20;
const connections = 4;
const flags = ["--checkpoint-log", "1MiB"];

async function mount(directory: string, options: string): Promise<boolean> {
  const { code } = await run("mount", ["-t", "tmpfs", "-o", options, "tmpfs", directory]).catch(() => ({
    code: 1,
  }));
  return code === 0;
}

/** Inserts until the disk is full; answers the ids that were acknowledged. */
async function fill(client: SqlClient, firstId: number, acknowledged: Set<number>): Promise<void> {
  for (let id = firstId;; id += rowsPerStatement) {
    try {
      await client.query(
        `INSERT INTO big SELECT n, repeat(md5(n::text), ${
          rowBytes / 32
        }) FROM generate_series($1::int, $2::int) AS n`,
        [id, id + rowsPerStatement - 1],
      );
    } catch (error) {
      strictEqual((error as { readonly code?: string }).code, "53100", String(error));
      return;
    }
    for (let row = id; row < id + rowsPerStatement; row++) acknowledged.add(row);
  }
}

/** All rows that were acknowledged are there, and of each other statement all or none. */
async function verify(address: ServerAddress, acknowledged: ReadonlySet<number>): Promise<void> {
  const client = await connectPg(address);
  const ids = (await client.query("SELECT id FROM big ORDER BY id")).map(({ id }) => Number(id));
  const present = new Set(ids);
  for (const id of acknowledged) ok(present.has(id), `row ${id} was acknowledged`);
  strictEqual(ids.length % rowsPerStatement, 0, "statements are there whole");
  deepStrictEqual(
    await client.query(`SELECT count(*) AS n FROM big WHERE body <> repeat(md5(id::text), ${rowBytes / 32})`),
    [{ n: "0" }],
  );
  await client.close();
}

Deno.test("dbd ends statements with 53100 on a full disk, loses nothing and goes on when there is space", async () => {
  const { dbd } = await compiledPrograms();
  const directory = await Deno.makeTempDir({ prefix: "full-disk-" });
  if (!await mount(directory, `size=${smallBytes}`)) {
    await Deno.remove(directory);
    reportNotRun("a file system that fills up under a real server", "mounting is not permitted");
    return;
  }
  const acknowledged = new Set<number>();
  const nextId = (round: number, worker: number) => (round * connections + worker) * 100_000 + 1;
  try {
    const server = await startDbd({ binary: dbd, directory, flags });
    const clients = await Promise.all(Array.from({ length: connections }, () => connectPg(server)));
    const fillAll = (round: number) =>
      Promise.all(clients.map((client, worker) => fill(client, nextId(round, worker), acknowledged)));
    try {
      await clients[0]?.query("CREATE TABLE big (id INT PRIMARY KEY, body TEXT NOT NULL)");
      await fillAll(0);
      ok(
        acknowledged.size * rowBytes > smallBytes / 10,
        `${acknowledged.size} rows before the disk was full`,
      );
      await verify(server, acknowledged);
      // Still full: refused again, on the connections that there are and on new ones.
      await fillAll(1);
      ok(await mount(directory, `remount,size=${largeBytes}`), "the file system grows");
      const before = acknowledged.size;
      await fillAll(2);
      ok(acknowledged.size > before + 1000, `${acknowledged.size - before} rows after there was space`);
      await verify(server, acknowledged);
    } finally {
      await server.kill();
    }
    await Promise.all(clients.map((client) => client.close()));
    // Started on the disk that is full, the server answers what it holds.
    const again = await startDbd({ binary: dbd, directory, flags });
    try {
      await verify(again, acknowledged);
      ok(await mount(directory, `remount,size=${largeBytes * 2}`), "the file system grows");
      const client = await connectPg(again);
      await client.query(
        "INSERT INTO big SELECT n, repeat(md5(n::text), 125) FROM generate_series(-19, 0) AS n",
      );
      await client.query("CHECKPOINT");
      await rejects(client.query("INSERT INTO big VALUES (0, '')"), { code: "23505" });
      await client.close();
    } finally {
      await again.stop();
    }
  } finally {
    await run("umount", [directory]);
    await Deno.remove(directory);
  }
});
