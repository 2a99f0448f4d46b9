/** Bits that flip in the files of a machine that is down, where its group can repair it. */
import type { DiskImage, SimulatedDisk } from "../../../engine/host/simulated_disk.ts";
import { SimulatedHost } from "../../../engine/host/simulated_host.ts";
import { Superblock, SUPERBLOCK_FILES, SuperblockReports } from "../../../engine/replication/superblock.ts";
import { firstOpOfName, readLogHeader } from "../../../engine/storage/log_file.ts";
import { LogMarks } from "../../../engine/storage/log_marks.ts";
import { DIRECTORY, type Machine } from "./machine.ts";

/** What is damaged of a machine. */
type DamagedMachine = Pick<Machine, "disk" | "random">;

/**
 * Damages one file. `choice` says which. Answers whether the machine is still without a file's bytes: of a segment
 * nobody knows before it is read, and another member that has the same one may be the last to have it.
 */
export function damageDisk(machine: DamagedMachine, choice: number): () => boolean {
  if (choice % 3 === 2) return damageSegment(machine);
  if (choice % 3 === 0) damageSuperblock(machine);
  else damageLog(machine);
  return () => false;
}

/** The copy without which the newest state is still known: between two syncs only one has it. */
function damageSuperblock({ disk, random }: DamagedMachine): void {
  const paths = SUPERBLOCK_FILES.map((name) => `${DIRECTORY}/${name}`).filter((path) => disk.exists(path));
  const image = new Map(paths.map((path) => [path, disk.contentOf(path)]));
  const before = stateOf(image);
  const first = random.below(2);
  for (const path of [paths[first], paths[1 - first]]) {
    const bytes = path === undefined ? undefined : image.get(path);
    if (path === undefined || bytes === undefined || bytes.length === 0) continue;
    const [position, bit] = [random.below(bytes.length), random.below(8)];
    const flipped = bytes.slice();
    flipped[position] = (flipped[position] as number) ^ (1 << bit);
    if (stateOf(new Map([...image, [path, flipped]])) !== before) continue;
    disk.flipBit(path, position, bit);
    return;
  }
}

/** What a member would read there. */
function stateOf(image: DiskImage): string {
  const scratch = new SimulatedHost(1).disk;
  scratch.restore(image);
  const state = Superblock.open(scratch, DIRECTORY, new SuperblockReports())?.read() ?? null;
  return JSON.stringify(state, (_, value) => typeof value === "bigint" ? String(value) : value);
}

function damageSegment({ disk, random }: DamagedMachine): () => boolean {
  const folder = `${DIRECTORY}/tables`;
  // One that was begun when the power failed may be empty.
  const names = disk.list(folder).filter((name) =>
    name.endsWith(".segment") && disk.contentOf(`${folder}/${name}`).length > 0
  );
  const name = names[random.below(Math.max(1, names.length))];
  if (name === undefined) return () => false;
  const path = `${folder}/${name}`;
  const position = random.below(disk.contentOf(path).length);
  disk.flipBit(path, position, random.below(8));
  const flipped = disk.contentOf(path)[position];
  return () => disk.exists(path) && disk.contentOf(path)[position] === flipped;
}

/** A record that another one or a mark vouches for: any other cannot be told from a torn write. */
function damageLog({ disk, random }: DamagedMachine): void {
  const paths = disk.list(`${DIRECTORY}/log`).map((name) => `${DIRECTORY}/log/${name}`);
  const path = paths[random.below(Math.max(1, paths.length))];
  if (path === undefined) return;
  const bytes = disk.contentOf(path);
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  const isLast = path === paths.at(-1);
  const bound = isLast ? markedEnd(disk, path) ?? Math.floor(end / 3) : end;
  if (bound > 0) disk.flipBit(path, random.below(bound), random.below(8));
}

/** Up to where a mark says that the file was durable; null without one. */
function markedEnd(disk: SimulatedDisk, path: string): number | null {
  const firstOp = firstOpOfName(path.slice(path.lastIndexOf("/") + 1)) ?? 0;
  const file = disk.openFile(path, { create: false, write: true });
  // A bit flips at rest: the system has written out what it had.
  file.syncDataNow();
  const header = readLogHeader(file, firstOp);
  const mark = header === null ? null : new LogMarks(file, firstOp, header.format).newest;
  file.close();
  return mark?.end ?? null;
}
