/** A start with an entry in its log that is too large to be read as a whole. */
import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { type Disk, readWholeFile, writeWholeFile } from "../host/disk.ts";
import { MemoryDisk, memoryHost } from "../host/memory_host.ts";
import { Engine } from "../session/engine.ts";
import { openLoneMember } from "../../tests/support/lone_member.ts";
import { runSql } from "../../tests/support/run_sql.ts";
import { verifyDatabase } from "./verification.ts";

const MIB = 1 << 20;
const QUERY = "SELECT count(*), sum(a), sum(length(b)), max(b) FROM t";
/** No checkpoint takes the entry out of the log. */
const OPTIONS = { checkpointLogBytes: 1024 * MIB };

/** The disk, and the most bytes that were read from it at a time. */
function watched(disk: Disk): { readonly disk: Disk; readonly most: () => number } {
  let most = 0;
  const bound = (target: object, name: string | symbol): unknown => {
    const member = Reflect.get(target, name, target);
    return typeof member === "function" ? member.bind(target) : member;
  };
  return {
    most: () => most,
    disk: new Proxy(disk, {
      get: (target, name) =>
        name !== "openFile"
          ? bound(target, name)
          : (...parameters: Parameters<Disk["openFile"]>) =>
            new Proxy(disk.openFile(...parameters), {
              get: (file, of) =>
                of !== "readAt" ? bound(file, of) : (position: number, into: Uint8Array): number => {
                  most = Math.max(most, into.length);
                  return file.readAt(position, into);
                },
            }),
    }),
  };
}

/** Copies the log from `a` to `b`, as a kill would leave it; answers the largest file of it. */
function copyLog(disk: Disk): readonly [path: string, bytes: Uint8Array] {
  disk.createDirectory("b/log");
  const files = disk.list("a/log").map((name) =>
    [`b/log/${name}`, readWholeFile(disk, `a/log/${name}`)] as const
  );
  for (const [path, bytes] of files) writeWholeFile(disk, path, bytes);
  const [largest] = files.sort(([, left], [, right]) => right.length - left.length);
  ok(largest !== undefined);
  return largest;
}

for (const kind of ["a server that is alone", "a member"] as const) {
  const open = (disk: Disk, directory: string) =>
    kind === "a member"
      ? openLoneMember(disk, directory, OPTIONS)
      : Engine.open({ host: { ...memoryHost(), disk }, directory, ...OPTIONS });

  Deno.test(`${kind} reads a large entry of its log block by block when it starts`, async () => {
    const disk = new MemoryDisk();
    const engine = await open(disk, "a");
    const session = engine.openSession();
    await runSql(session, "CREATE TABLE t (a int PRIMARY KEY, b text)");
    await runSql(session, "INSERT INTO t VALUES (0, 'before')");
    await runSql(session, "INSERT INTO t SELECT n, repeat(md5(n::text), 40) FROM generate_series(1, 5000) n");
    await runSql(session, "UPDATE t SET b = 'behind' WHERE a = 7");
    const answer = await runSql(session, QUERY);
    const digest = engine.machine.digest();
    const [, largest] = copyLog(disk);
    ok(largest.length > 6 * MIB, `${largest.length}`);
    session.close();
    await engine.close();

    const watch = watched(disk);
    deepStrictEqual((await verifyDatabase({ ...memoryHost(), disk: watch.disk }, "b")).wrongValues, []);
    const again = await open(watch.disk, "b");
    ok(watch.most() <= MIB, `${watch.most()} bytes were read at once`);
    strictEqual(again.machine.digest(), digest);
    const other = again.openSession();
    deepStrictEqual(await runSql(other, QUERY), answer);
    other.close();
    await again.close();
  });
}

Deno.test("a large entry with a flipped bit is found by a start of a server that is alone", async () => {
  const disk = new MemoryDisk();
  const open = (directory: string) => Engine.open({ host: { ...memoryHost(), disk }, directory, ...OPTIONS });
  const engine = await open("a");
  const session = engine.openSession();
  await runSql(session, "CREATE TABLE t (a int PRIMARY KEY, b text)");
  await runSql(session, "INSERT INTO t SELECT n, repeat(md5(n::text), 40) FROM generate_series(1, 5000) n");
  await runSql(session, "INSERT INTO t VALUES (0, 'behind')");
  const [path, bytes] = copyLog(disk);
  session.close();
  await engine.close();
  bytes[5 * MIB] = (bytes[5 * MIB] as number) ^ 4;
  writeWholeFile(disk, path, bytes);
  await rejects(open("b"), { code: "XX001", message: new RegExp(`"${path}" is damaged at byte offset`) });
});
