/** The worked examples of docs/storage.md are what the code writes and reads. */
import { deepStrictEqual as equal, ok, strictEqual } from "node:assert/strict";
import { writeWholeFile } from "../host/disk.ts";
import { memoryHost } from "../host/memory_host.ts";
import { type Entry, opNumber } from "../operations/effect.ts";
import { decodeEntry, entryBytes } from "../operations/entry_codec.ts";
import { Log } from "./log.ts";
import { DEFAULT_LOG_OPTIONS, MEMBER_LOG_OPTIONS } from "./log_options.ts";
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

for (
  const { kind, name, options } of [
    { kind: "a log file", name: "log", options: DEFAULT_LOG_OPTIONS },
    { kind: "a member's log file", name: "member", options: MEMBER_LOG_OPTIONS },
  ]
) {
  Deno.test(`docs/storage.md shows ${kind}`, async () => {
    const bytes = await example(name);
    const host = memoryHost();
    writeWholeFile(host.disk, "log/0000000000000001.log", bytes);
    const log = Log.open(host, "log", { op: 0 }, options);
    strictEqual(log.lastOp, 1);
    equal([...log.entries(0)].map(({ payload }) => decodeEntry(payload)), [ENTRY]);

    const writer = memoryHost();
    const written = Log.open(writer, "log", { op: 0 }, options);
    written.view = 3;
    written.append(1, entryBytes(ENTRY));
    await written.close();
    const file = writer.disk.openFile("log/0000000000000001.log", { create: false, write: false });
    const start = new Uint8Array(bytes.length);
    file.readAt(0, start);
    equal(start, bytes);
  });
}

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
