/** Bounds of temporary files, of a session and of all. */
import { deepStrictEqual, rejects, strictEqual, throws } from "node:assert/strict";
import { memoryHost } from "../host/memory_host.ts";
import { SpillFile } from "../host/spill_file.ts";
import { TemporarySpace } from "./temporary_space.ts";

const owner = (bytes: number) => ({ settings: { bytes: () => bytes } });

Deno.test("SpillFile.write() refuses what is beyond a bound, and close() gives its space back", () => {
  const { disk } = memoryHost();
  disk.createDirectory("d");
  const space = new TemporarySpace(3000);
  const free = owner(-1), bound = owner(1024);
  const first = new SpillFile(disk, "d", { space: space.of(free) });
  const second = new SpillFile(disk, "d", { space: space.of(bound) });
  second.write(new Uint8Array(1024));
  throws(() => second.write(new Uint8Array(1)), {
    code: "53400",
    message: "temporary file size exceeds temp_file_limit (1kB)",
  });
  first.write(new Uint8Array(1900));
  throws(() => first.write(new Uint8Array(100)), { code: "53400", message: /--temp-file-limit \(0MB\)/ });
  strictEqual(space.usedBytes, 2924);
  second.close();
  second.close();
  first.write(new Uint8Array(100));
  first.close();
  deepStrictEqual([space.usedBytes, space.peakBytes], [0, 2924]);
});

Deno.test("a full disk leaves the space as it was", async () => {
  const { disk } = memoryHost();
  disk.createDirectory("d");
  const { openFile } = disk;
  disk.openFile = (path, options) => {
    const file = openFile.call(disk, path, options);
    file.writeAt = () => {
      throw new Error("no space");
    };
    return file;
  };
  const space = new TemporarySpace(3000);
  const file = new SpillFile(disk, "d", { space: space.of(owner(-1)) });
  await rejects(async () => await Promise.resolve(file.write(new Uint8Array(10))), /no space/);
  file.close();
  strictEqual(space.usedBytes, 0);
});
