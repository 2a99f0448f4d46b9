/** Temporary files: blocks come back as they were, damage is noticed, and nothing is left of a closed one. */
import { deepStrictEqual, strictEqual, throws } from "node:assert/strict";
import { memoryHost } from "../host/memory_host.ts";
import { SpillFile } from "./spill_file.ts";

const DIRECTORY = "d";

function diskOfTest() {
  const { disk } = memoryHost();
  disk.createDirectory(DIRECTORY);
  return disk;
}

Deno.test("SpillFile gives blocks back, of any size and in any order", () => {
  const disk = diskOfTest();
  const file = new SpillFile(disk, DIRECTORY);
  const written = [0, 1, 5000, 1 << 21].map((length) => Uint8Array.from({ length }, (_, at) => at * 7));
  const blocks = written.map((bytes) => file.write(bytes));
  strictEqual(file.size, 5001 + (1 << 21));
  const order = blocks.map((block, index) => ({ block, bytes: written[index] })).toReversed();
  for (const { block, bytes } of [...order, ...order]) deepStrictEqual(file.read(block), bytes);
  file.close();
  file.close();
  deepStrictEqual(disk.list(DIRECTORY), []);
});

Deno.test("SpillFile notices a block that is another one, has changed, or is cut off", () => {
  const disk = diskOfTest();
  const file = new SpillFile(disk, DIRECTORY);
  const [first, second] = [file.write(new Uint8Array(100).fill(1)), file.write(new Uint8Array(100).fill(1))];
  const damaged = { code: "XX001" };
  throws(() => file.read({ ...first, position: second.position }), damaged);
  throws(() => file.read({ ...second, length: 101 }), damaged);
  const [name] = disk.list(DIRECTORY);
  const other = disk.openFile(`${DIRECTORY}/${name}`, { create: false, write: true });
  other.writeAt(150, new Uint8Array([2]));
  other.close();
  throws(() => file.read(second), damaged);
  deepStrictEqual(file.read(first), new Uint8Array(100).fill(1));
  file.close();
});

Deno.test("SpillFile reads blocks together that were written together, and notices a damaged one among them", () => {
  const disk = diskOfTest();
  const file = new SpillFile(disk, DIRECTORY);
  file.write(new Uint8Array(40));
  const bytes = Uint8Array.from({ length: 300 }, (_, at) => at * 3);
  const blocks = file.writeBlocks(bytes, [100, 100, 180, 300]);
  deepStrictEqual(blocks.map(({ position, length }) => [position, length]), [[40, 100], [140, 0], [140, 80], [
    220,
    80 + 40,
  ]]);
  deepStrictEqual(file.readBlocks(blocks, new Uint8Array(300)), bytes);
  deepStrictEqual(file.readBlocks(blocks.slice(2), new Uint8Array(200)), bytes.subarray(100));
  deepStrictEqual(file.read(blocks[2] ?? file.write(bytes)), bytes.subarray(100, 180));
  const [name] = disk.list(DIRECTORY);
  const other = disk.openFile(`${DIRECTORY}/${name}`, { create: false, write: true });
  other.writeAt(339, new Uint8Array([1]));
  other.close();
  throws(() => file.readBlocks(blocks, new Uint8Array(300)), { code: "XX001" });
  deepStrictEqual(file.readBlocks(blocks.slice(0, 3), new Uint8Array(180)), bytes.subarray(0, 180));
  file.close();
});

Deno.test("SpillFile removes a file that cannot be closed", () => {
  const disk = diskOfTest();
  const { openFile } = disk;
  disk.openFile = (path, options) => {
    const file = openFile.call(disk, path, options);
    file.close = () => {
      throw new Error("no close");
    };
    return file;
  };
  throws(() => new SpillFile(disk, DIRECTORY).close(), /no close/);
  deepStrictEqual(disk.list(DIRECTORY), []);
});
