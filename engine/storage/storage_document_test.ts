/** The worked examples of docs/storage.md are what the code writes and reads. */
import { deepStrictEqual as equal, ok, strictEqual } from "node:assert/strict";
import { readWholeFile, writeWholeFile } from "../host/disk.ts";
import { memoryHost } from "../host/memory_host.ts";
import { type Entry, opNumber } from "../operations/effect.ts";
import { decodeEntry, entryBytes } from "../operations/entry_codec.ts";
import { Log } from "./log.ts";
import { DEFAULT_LOG_OPTIONS, type LogOptions, MEMBER_LOG_OPTIONS } from "./log_options.ts";
import { decodeManifest, encodeManifest, type Manifest } from "./manifest.ts";

/** The bytes of a fenced block: the pairs of hexadecimal digits at the start of each line, up to two spaces. */
async function example(name: string): Promise<Uint8Array> {
  const text = await Deno.readTextFile(new URL("../../docs/storage.md", import.meta.url));
  const block = text.split("```hex " + name + "\n")[1]?.split("```")[0];
  ok(block !== undefined, `example ${name}`);
  const digits = block.split("\n").map((line) => (line.split("  ")[0] ?? "").replaceAll(" ", "")).join("");
  return Uint8Array.fromHex(digits);
}

const ENTRY: Entry = {
  op: opNumber(1),
  timestamp: 757_382_400_000_000,
  client: null,
  effects: [{ kind: "update", tableId: 16384, id: 7, values: [7, -250, "blue", null, 0.5] }],
};

Deno.test("docs/storage.md shows an entry", async () => {
  const bytes = await example("entry");
  equal(decodeEntry(bytes), ENTRY);
  equal(entryBytes(ENTRY), bytes);
});

const FIRST_FILE = "log/0000000000000001.log";

/** The file that a log writes which is closed after the entry. */
async function writtenFile(options: LogOptions): Promise<Uint8Array> {
  const host = memoryHost();
  const log = Log.open(host, "log", { op: 0 }, options);
  log.view = 3;
  log.append(1, entryBytes(ENTRY));
  await log.close();
  return readWholeFile(host.disk, FIRST_FILE);
}

/** Raises unless the bytes are a log of that entry. */
function expectLog(bytes: Uint8Array, options: LogOptions): Log {
  const host = memoryHost();
  writeWholeFile(host.disk, FIRST_FILE, bytes);
  const log = Log.open(host, "log", { op: 0 }, options);
  strictEqual(log.lastOp, 1);
  equal([...log.entries(0)].map(({ payload }) => decodeEntry(payload)), [ENTRY]);
  return log;
}

Deno.test("docs/storage.md shows a log file", async () => {
  const bytes = await example("log");
  expectLog(bytes, DEFAULT_LOG_OPTIONS);
  equal((await writtenFile(DEFAULT_LOG_OPTIONS)).slice(0, bytes.length), bytes);
});

Deno.test("docs/storage.md shows a member's log file", async () => {
  const bytes = new Uint8Array(8192);
  bytes.set(await example("member"));
  bytes.set(await example("mark"), 1024);
  bytes.set(await example("member-records"), 4096);
  expectLog(bytes, MEMBER_LOG_OPTIONS);
  equal((await writtenFile(MEMBER_LOG_OPTIONS)).slice(0, bytes.length), bytes);
});

Deno.test("a member's log file of format version 2 is read, and written to its end", async () => {
  const bytes = Uint8Array.fromHex(
    "646264206c6f670002000000280000000100000000000000c59d1c8193010001000000005072753c" +
      "25000000d03f89b80100000000000000010000000300000000000000c59d1c8193010001" +
      "0100018080cacebab5d80201028080010e051701f30384626c75650002000000000000e03f" +
      "00000000d15ead710100000000000000000000000000000000000000aedf6710af1f8d4e",
  );
  const options = { ...MEMBER_LOG_OPTIONS, fileBytes: 6000 };
  const log = expectLog(bytes, options);
  for (let op = 2; op <= 60; op++) log.append(op, entryBytes({ ...ENTRY, op: opNumber(op) }));
  equal([...log.entries(0)].map(({ op }) => Number(op)), Array.from({ length: 60 }, (_, index) => index + 1));
  strictEqual(log.readEntry(2)?.op, 2);
  // The next file has marks.
  log.append(61, new Uint8Array(5000));
  strictEqual(log.digestBefore(61), log.nameOf(60)?.digest);
  log.truncateAfter(30);
  strictEqual(log.lastOp, 30);
  await log.close();
});

Deno.test("docs/storage.md shows a manifest", async () => {
  const bytes = await example("manifest");
  const manifest: Manifest = {
    number: 1,
    op: opNumber(1),
    state: { name: "state-0000000000000001", size: 2, checksum: 1 },
    tables: [],
  };
  equal(decodeManifest(bytes, 1, "MANIFEST-0000000000000001"), manifest);
  equal(encodeManifest(manifest), bytes);
});
