/** How long the damage of a disk counts: two members must not lack the same file. */
import { strictEqual } from "node:assert/strict";
import { SeededRandom } from "../../../engine/base/random.ts";
import { SimulatedHost } from "../../../engine/host/simulated_host.ts";
import { damageDisk } from "./disk_damage.ts";
import { DIRECTORY } from "./machine.ts";

const SEGMENT = 2;

Deno.test("damageDisk() counts a flipped bit of a segment until its bytes are back or the file is gone", () => {
  for (const mend of ["write", "remove"]) {
    const { disk } = new SimulatedHost(1);
    const random = new SeededRandom(3);
    strictEqual(damageDisk({ disk, random }, SEGMENT)(), false, "there is no segment");
    const path = `${DIRECTORY}/tables/1.segment`;
    disk.createDirectory(DIRECTORY);
    disk.createDirectory(`${DIRECTORY}/tables`);
    const file = disk.openFile(path, { create: true, write: true });
    strictEqual(damageDisk({ disk, random }, SEGMENT)(), false, "it is empty");
    file.writeAt(0, new Uint8Array(700).fill(9));
    const isDamaged = damageDisk({ disk, random }, SEGMENT);
    strictEqual(isDamaged(), true);
    if (mend === "write") file.writeAt(0, new Uint8Array(700).fill(9));
    else disk.remove(path);
    strictEqual(isDamaged(), false, mend);
  }
});
