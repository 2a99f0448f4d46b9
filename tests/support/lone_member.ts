/** An engine as the state of a member that has no others: everything is committed as soon as it is there. */
import type { Disk } from "../../engine/host/disk.ts";
import { memoryHost } from "../../engine/host/memory_host.ts";
import type { MemberSeat } from "../../engine/replication/member_seat.ts";
import { Engine, type EngineOptions } from "../../engine/session/engine.ts";
import { Horizon } from "../../engine/storage/commit_horizon.ts";

/** Opens it in a directory of the disk, and lets it serve. */
export async function openLoneMember(
  disk: Disk,
  directory: string,
  options: Partial<EngineOptions> = {},
): Promise<Engine> {
  const all = Number.MAX_SAFE_INTEGER;
  const member: MemberSeat = {
    horizon: new Horizon(all),
    replayTo: all,
    viewNumber: 1,
    canRead: true,
    staleness: 0,
    status: () => {
      throw new Error("nobody asks");
    },
    appended: () => {},
    onDamage: () => {},
  };
  const engine = await Engine.open({ host: { ...memoryHost(), disk }, directory, member, ...options });
  engine.startServing();
  return engine;
}
