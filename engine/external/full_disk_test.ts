/** A REFRESH that a full disk stops leaves the table as it was, and works when there is space again. */
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { diskError, type DiskFile } from "../host/disk.ts";
import { memoryHost } from "../host/memory_host.ts";
import { answer } from "./testing/fault_server.ts";
import { SourceFixture } from "./testing/source_fixture.ts";

Deno.test("REFRESH ends with 53100 on a full disk, with the rows of before", async () => {
  const host = memoryHost();
  let left = Infinity;
  const { disk } = host;
  const open = disk.openFile.bind(disk);
  disk.openFile = (path, options): DiskFile => {
    const file = open(path, options);
    const write = file.writeAt.bind(file);
    file.writeAt = (position: number, bytes: Uint8Array) => {
      const growth = Math.max(0, position + bytes.length - file.size);
      if (growth > left) throw diskError("write file", path, "ENOSPC", "No space left on device");
      left -= growth;
      write(position, bytes);
    };
    return file;
  };
  await using fixture = await SourceFixture.open({ host });
  const { server } = fixture;
  const page = (count: number, text: string) =>
    answer(JSON.stringify(Array.from({ length: count }, (_, id) => ({ id, text: `${text} ${id}` }))));
  await fixture.run(
    `CREATE EXTERNAL SOURCE p (id INT, text TEXT) FROM '${server.url("/")}' FORMAT JSON KEY id`,
  );
  server.on("/", page(3, "old"));
  await fixture.run("REFRESH p");
  const before = (await fixture.run("SELECT * FROM p ORDER BY id")).rows;
  left = 10_000;
  server.on("/", page(60_000, "a text that is long enough to fill a disk"));
  strictEqual((await fixture.failure("REFRESH p")).code, "53100");
  deepStrictEqual((await fixture.run("SELECT * FROM p ORDER BY id")).rows, before);
  strictEqual(fixture.engine.isFailed, false);
  left = Infinity;
  strictEqual((await fixture.run("REFRESH p")).tag, "REFRESH 60000");
  strictEqual((await fixture.run("SELECT count(*) FROM p WHERE text LIKE 'a text%'")).rows[0]?.[0], "60000");
  await fixture.engine.close();
});
