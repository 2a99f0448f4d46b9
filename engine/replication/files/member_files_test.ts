/** Damage in the files of a checkpoint: who finds it, whom it is fetched from, and what comes when nobody has it. */
import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { joinPath, readWholeFile, writeWholeFile } from "../../host/disk.ts";
import type { Host } from "../../host/host.ts";
import { MemoryDisk, memoryHost } from "../../host/memory_host.ts";
import { RowBuffer } from "../../statements/row_buffer.ts";
import { DamagedFileError } from "../../storage/table/damaged_file.ts";
import { readLogHeader, UNMARKED_FORMAT } from "../../storage/log_file.ts";
import { listLogFiles } from "../../storage/log_files.ts";
import type { HashedFile } from "../../storage/file_hashes.ts";
import { type Manifest, proofOfCheckpoint, readManifest } from "../../storage/manifest.ts";
import { openLoneMember } from "../../../tests/support/lone_member.ts";
import { answerOf } from "../testing/donor_answers.ts";
import { CheckpointDonor } from "./checkpoint_donor.ts";
import { FileScrubber } from "./file_scrubber.ts";
import { MemberFiles, type MemberFilesOwner } from "./member_files.ts";
import type { PeerMessage, TransferMessage } from "../protocol/message.ts";
import { runSql } from "../../../tests/support/run_sql.ts";

/** A directory with files of all kinds, under several names. */
async function directories(disk: MemoryDisk, names: readonly string[]): Promise<Manifest> {
  const engine = await openLoneMember(disk, "first");
  const session = engine.openSession();
  await runSql(session, "CREATE TABLE t (a int PRIMARY KEY, b text)");
  await runSql(session, "CREATE INDEX ON t (b)");
  await runSql(
    session,
    "INSERT INTO t SELECT n, md5(n::text) || repeat('x', 300) FROM generate_series(1, 2000) n",
  );
  await engine.checkpoint();
  await runSql(session, "DELETE FROM t WHERE a % 100 = 1");
  await engine.checkpoint();
  session.close();
  await engine.close();
  for (const name of names) {
    for (const folder of ["", "/tables", "/log"]) {
      disk.createDirectory(`${name}${folder}`);
      for (const file of disk.list(`first${folder}`)) {
        if (file === "tables" || file === "log" || file === "LOCK") continue;
        writeWholeFile(disk, `${name}${folder}/${file}`, readWholeFile(disk, `first${folder}/${file}`));
      }
    }
  }
  const { manifest } = readManifest(disk, "first");
  ok(manifest?.group !== undefined && manifest.group.files.length > 3);
  return manifest;
}

function rot(disk: MemoryDisk, path: string): void {
  const file = disk.openFile(path, { create: false, write: true });
  const byte = new Uint8Array(1), at = file.size >> 1;
  file.readAt(at, byte);
  file.writeAt(at, byte.map((value) => value ^ 1));
  file.close();
}

/** The files of member 0; what is not given of its member does nothing. Its manifest may be set later. */
function filesOf(host: Host, given: Omit<Partial<MemberFilesOwner>, "manifest">) {
  const owner = {
    index: 0,
    view: 1,
    donors: [1, 2],
    manifest: null as Manifest | null,
    send: () => {},
    onRepaired: () => {},
    onIrreparable: () => {},
    onError: () => {},
    log: () => {},
    ...given,
  };
  return { owner, files: new MemberFiles({ host, directory: "own", scrubBytesPerSecond: 0, owner }) };
}

/** Members 1 and 2 give what they have; everything they are asked goes through `spoil`. */
function group(disk: MemoryDisk, spoil: (message: PeerMessage) => PeerMessage | null = (message) => message) {
  const log: string[] = [];
  const host = { ...memoryHost(), disk };
  const events = { repaired: 0, irreparable: 0 };
  const donors = [1, 2].map((index) => ({
    index,
    directory: `d${index}`,
    donor: new CheckpointDonor(host, `d${index}`),
  }));
  const answer = (message: TransferMessage, to: number): TransferMessage | null => {
    const found = donors.find(({ index }) => index === to);
    if (found === undefined) return null;
    const { manifest } = readManifest(disk, found.directory);
    return answerOf(found.donor, manifest, message, { from: to, view: 1 });
  };
  const { files, owner: state } = filesOf(host, {
    send: (to, message) => {
      const reply = answer(message as TransferMessage, to);
      const spoilt = reply === null ? null : spoil(reply);
      if (spoilt !== null) setTimeout(() => files.onMessage(spoilt as TransferMessage), 0);
    },
    onRepaired: () => events.repaired++,
    onIrreparable: () => events.irreparable++,
    onError: (error) => log.push(String(error)),
    log: (line) => log.push(line),
  });
  const ticks = setInterval(() => files.onTick(), 20);
  return {
    files,
    log,
    events,
    state,
    until: async (condition: () => boolean) => {
      while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
    },
    [Symbol.asyncDispose]: async () => {
      clearInterval(ticks);
      files.close();
      for (const { donor } of donors) donor.close();
      await host.timers.close();
    },
  };
}

Deno.test("a damaged file is fetched from a member that has it whole, and repaired under the hands of readers", async () => {
  const disk = new MemoryDisk();
  const manifest = await directories(disk, ["own", "d1", "d2"]);
  const hashed = manifest.group?.files ?? [];
  // The first donor's files are damaged as well: what it sends does not count.
  for (const { name } of hashed) for (const directory of ["own", "d1"]) rot(disk, joinPath(directory, name));
  await using members = group(disk);
  members.state.manifest = manifest;
  const open = hashed.map(({ name }) =>
    disk.openFile(joinPath("own", name), { create: false, write: false })
  );
  for (const file of hashed) members.files.onDamage(file);
  for (const file of hashed) members.files.onDamage(file);
  await members.until(() => members.events.repaired === hashed.length);
  for (const [index, { name, size }] of hashed.entries()) {
    const bytes = new Uint8Array(size);
    open[index]?.readAt(0, bytes);
    deepStrictEqual(bytes, readWholeFile(disk, joinPath("d2", name)), name);
  }
  strictEqual(
    members.log.filter((line) => /is damaged: it will be fetched/.test(line)).length,
    hashed.length,
  );
  strictEqual(
    members.log.filter((line) => /fetched from member 2 and is whole again/.test(line)).length,
    hashed.length,
  );
  // One that turns out to be whole is left alone.
  members.files.onDamage(hashed[0] as HashedFile);
  await members.until(() => members.events.repaired === hashed.length + 1);
  strictEqual(members.log.at(-1), `file "own/${hashed[0]?.name}" is whole`);
});

Deno.test("a file that no other member has is told of, again and again", async () => {
  const disk = new MemoryDisk();
  const manifest = await directories(disk, ["own"]);
  await using members = group(disk);
  members.state.manifest = manifest;
  const [, file] = manifest.group?.files ?? [];
  ok(file !== undefined);
  rot(disk, joinPath("own", file.name));
  members.files.onDamage(file);
  await members.until(() => members.events.irreparable > 0);
  strictEqual(members.events.repaired, 0);
});

Deno.test("a member opens its state whatever of its checkpoint is damaged", async () => {
  for (const what of ["manifest", "state", "deletions", "all", "missing"] as const) {
    const disk = new MemoryDisk();
    const manifest = await directories(disk, ["own", "d1"]);
    const isHit = (name: string) => what === "all" || name.includes(what === "missing" ? "segment" : what);
    for (const { name } of manifest.group?.files ?? []) {
      if (!isHit(name)) continue;
      if (what === "missing") disk.remove(joinPath("own", name));
      else rot(disk, joinPath("own", name));
    }
    if (what === "manifest" || what === "all") {
      for (const name of disk.list("own")) if (name.startsWith("MANIFEST")) rot(disk, joinPath("own", name));
    }
    // A log that is gone, too, is made anew.
    if (what === "all") { for (const name of disk.list("own/log")) disk.remove(`own/log/${name}`); }
    await using members = group(disk);
    let checkpoints = 0;
    await members.files.openRepaired(async () => {
      const engine = await openLoneMember(disk, "own");
      const session = engine.openSession();
      const sink = new RowBuffer();
      try {
        await session.simple("SELECT count(*)::int, max(length(b))::int FROM t WHERE a > 0", sink, () => {});
      } finally {
        session.close();
        await engine.close();
      }
      deepStrictEqual(sink.rows.map((row) => [...row]), [[1980, 332]]);
    }, ({ op }) => checkpoints += Number(op === manifest.op));
    strictEqual(
      checkpoints,
      what === "manifest" || what === "all" ? 1 : 0,
      `${what}: ${members.log.join("\n")}`,
    );
    const formats = listLogFiles(disk, "own/log").map(({ path, firstOp }) =>
      readLogHeader(disk.openFile(path, { create: false, write: false }), firstOp)?.format
    );
    deepStrictEqual(formats, [UNMARKED_FORMAT], `${what}: version 1 is active`);
    const own = readManifest(disk, "own").manifest;
    strictEqual(own?.op, manifest.op);
    deepStrictEqual(
      own === null ? null : proofOfCheckpoint(own)?.history,
      proofOfCheckpoint(manifest)?.history,
    );
  }
});

Deno.test("a file that the disk has no space for leaves nothing of it behind", async () => {
  const disk = new MemoryDisk();
  const manifest = await directories(disk, ["own", "d1"]);
  await using members = group(disk);
  members.state.manifest = manifest;
  const [file] = manifest.group?.files ?? [];
  ok(file !== undefined);
  rot(disk, joinPath("own", file.name));
  const openFile = disk.openFile.bind(disk);
  disk.openFile = (path, options) => {
    const opened = openFile(path, options);
    if (!path.startsWith("own/repairing")) return opened;
    opened.writeAt = () => {
      throw new DatabaseError(SQLSTATE.diskFull, "no space left");
    };
    return opened;
  };
  members.files.onDamage(file);
  await members.until(() => members.log.some((line) => line.includes("no space left")));
  ok(!disk.exists(joinPath("own/repairing", file.name)));
});

Deno.test("a member without others says what is damaged, and one that is closed waits for nobody", async () => {
  const host = memoryHost();
  const damage = new DamagedFileError("own/state", 0, "rot");
  for (const donors of [[], [1]]) {
    const asked = Promise.withResolvers<void>();
    const { files } = filesOf(host, { donors, send: () => asked.resolve() });
    const opened = files.openRepaired(() => Promise.reject(damage), () => {});
    if (donors.length > 0) {
      await asked.promise;
      files.close();
    }
    await rejects(opened, donors.length > 0 ? /the member is closed/ : damage);
  }
  await host.timers.close();
});

Deno.test("what is no damage is not repaired", async () => {
  await using members = group(new MemoryDisk());
  const other = new Error("another reason");
  await rejects(members.files.openRepaired(() => Promise.reject(other), () => {}), other);
});

Deno.test("a scrubber reads everything at its rate, and finds what has changed or is gone", async () => {
  const disk = new MemoryDisk();
  const manifest = await directories(disk, ["own"]);
  const hashed = manifest.group?.files ?? [];
  const waits: number[] = [];
  let step: (() => void) | null = null;
  const timers = {
    ...memoryHost().timers,
    setTimer: (microseconds: number, callback: () => void) => {
      waits.push(microseconds);
      step = callback;
      return 1;
    },
    clearTimer: () => {},
  };
  const found: string[] = [];
  const scrubber = new FileScrubber({ disk, timers }, "own", 1 << 20, {
    manifest,
    onDamage: ({ name }) => found.push(name),
    onManifestDamage: ({ number }) => found.push(`manifest ${number}`),
  });
  const round = (): void => {
    for (const before = scrubber.rounds; scrubber.rounds === before;) step?.();
  };
  round();
  deepStrictEqual(found, []);
  const bytes = hashed.reduce((sum, { size }) => sum + size, 0);
  const seconds = waits.reduce((sum, wait) => sum + wait, 0) / 1_000_000;
  ok(seconds >= bytes / (1 << 20), `${bytes} bytes in ${seconds} s`);
  ok(waits.every((wait) => wait === 62_500 || wait === 1_000_000), "64 KiB at a time");
  const [first, second, third] = hashed.map(({ name }) => name);
  ok(first !== undefined && second !== undefined && third !== undefined);
  rot(disk, joinPath("own", second));
  disk.remove(joinPath("own", third));
  rot(disk, `own/${disk.list("own").find((name) => name.startsWith("MANIFEST"))}`);
  // The manifest is looked at when a round begins.
  round();
  round();
  deepStrictEqual([...new Set(found)], [second, third, `manifest ${manifest.number}`]);
  scrubber.close();
  ok(new DamagedFileError("a", 1, "b").message.includes("byte offset 1"));
});
