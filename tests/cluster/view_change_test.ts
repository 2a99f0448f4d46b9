/**
 * What clients of each protocol are told when the primary changes, as `docs/cluster.md` says it by what they were
 * doing; and what of their sessions is gone with them.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { connectPg } from "../support/clients.ts";
import { untilActive } from "../support/until.ts";
import { ClusterProcesses, type MemberProcess } from "./cluster_processes.ts";
import { FaultNetwork } from "./fault_network.ts";
import { connectMember, PROTOCOLS } from "./member_clients.ts";

/** Longer than the change of the primary takes. */
const SLEEP = "pg_sleep(60)";
const PATIENCE_MILLISECONDS = 50_000;

/** How the primary goes, and which codes may be told then. */
const WAYS = {
  "stops in order": {
    here: {
      idle: ["57P01"],
      block: ["40001", "57P01"],
      inBlock: ["40001"],
      read: ["57P01", "57P03"],
      write: ["40003"],
    },
    // Its last words come through the member that the client is connected to.
    relayed: {
      idle: ["57P01"],
      block: ["40001", "57P01"],
      inBlock: ["40001"],
      read: ["57P01", "57P03"],
      write: ["40003"],
    },
  },
  "is cut off": {
    here: {
      idle: ["57P01", "57P03"],
      block: ["40001"],
      inBlock: ["40001"],
      read: ["57P01", "57P03"],
      write: ["40003"],
    },
    // The member between says it; it does not know whether an unanswered statement of a block has an effect outside.
    relayed: {
      idle: ["57P01", "57P03"],
      block: ["40001"],
      inBlock: ["40003"],
      read: ["40003", "57P03"],
      write: ["40003"],
    },
  },
} as const;

/** A connection that ends without a word has no code with node-postgres. */
function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && error.code !== undefined ? String(error.code) : "08006";
}

for (const [way, expected] of Object.entries(WAYS)) {
  Deno.test(`clients of a primary that ${way} are told what became of what they did`, async () => {
    const { dbd } = await compiledPrograms();
    using network = new FaultNetwork();
    await using cluster = await ClusterProcesses.start({ dbd, memberCount: 3, peersOf: network.peersOf });
    const primary = await cluster.primary();
    const backup = cluster.members.find((member) => member !== primary) as MemberProcess;
    const admin = await connectPg(primary);
    await admin.query("CREATE TABLE w (id int PRIMARY KEY)");
    await admin.close();
    const held = await connectMember(primary, "pg simple");
    await held.query("SELECT pg_advisory_lock(7)");
    await held.query("CREATE TEMPORARY TABLE own (a int)");
    await held.query("LISTEN news");

    let blockId = 0, writeId = 1000;
    const told = new Map<string, { readonly code: Promise<string>; readonly allowed: readonly string[] }>();
    const later: (() => void)[] = [];
    for (const [place, member] of [["here", primary], ["relayed", backup]] as const) {
      const allowed = expected[place];
      for (const protocol of PROTOCOLS) {
        const open = () => connectMember(member, protocol, PATIENCE_MILLISECONDS);
        const note = (what: keyof typeof allowed, answer: Promise<unknown>) =>
          told.set(`${protocol}, ${place}, ${what}`, {
            code: answer.then((rows) => JSON.stringify(rows), codeOf),
            // Only PostgreSQL's protocol has a word for it; of a WebSocket the reason of its end says it.
            allowed: place === "relayed" && !protocol.startsWith("pg")
              ? [...allowed[what], "08006"]
              : allowed[what],
          });
        const [reader, writer] = [await open(), await open()];
        if (reader.hasBlocks) {
          const [idle, block, inBlock] = [await open(), await open(), await open()];
          for (const client of [block, inBlock]) {
            await client.query("BEGIN");
            await client.query(`INSERT INTO w VALUES (${++blockId})`);
          }
          await block.query("DECLARE c CURSOR FOR SELECT 1");
          note("inBlock", inBlock.query(`SELECT ${SLEEP}`));
          // The project's client connects again by itself when it was idle.
          if (protocol !== "binary") later.push(() => note("idle", idle.query("SELECT 1")));
          later.push(() => note("block", block.query("FETCH c")));
        }
        // The project's client makes a read again by itself.
        if (protocol !== "binary") note("read", reader.query(`SELECT ${SLEEP}`));
        note(
          "write",
          writer.query(
            `INSERT INTO w SELECT ${++writeId} FROM (SELECT ${SLEEP} AS s) AS x WHERE s IS NOT NULL`,
          ),
        );
      }
    }
    const watch = await connectPg(primary);
    await untilActive(watch, SLEEP, told.size);
    await watch.close();
    if (way === "stops in order") strictEqual(await primary.stop("SIGTERM"), 0, primary.log);
    else {
      network.cut(primary.index, "received");
      network.cut(primary.index, "sent");
    }
    await Promise.all([...told.values()].map(({ code }) => code));
    for (const ask of later) ask();
    for (const [who, { code, allowed }] of told) ok(allowed.includes(await code), `${who}: ${await code}`);
    if (way !== "stops in order") network.heal();

    const after = await connectPg(await cluster.primary());
    const rows = await after.query("SELECT id FROM w WHERE id <= 1000");
    deepStrictEqual(rows, [], "no transaction that was open holds");
    deepStrictEqual(await after.query("SELECT pg_try_advisory_lock(7) AS mine"), [{ mine: true }]);
    deepStrictEqual(await after.query("SELECT relname FROM pg_class WHERE relname = 'own'"), []);
    await after.query("NOTIFY news");
    await after.close();
    strictEqual(codeOf(await held.query("SELECT * FROM own").catch((error: unknown) => error)), "57P01");
    deepStrictEqual(cluster.bugs(), []);
  });
}
