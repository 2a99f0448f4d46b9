/** An engine as the state of a member that has no others: everything is committed as soon as it is there. */
import type { Disk } from "../../engine/host/disk.ts";
import { memoryHost } from "../../engine/host/memory_host.ts";
import type { MemberSeat } from "../../engine/replication/member_seat.ts";
import { Engine, type EngineOptions } from "../../engine/session/engine.ts";
import { Horizon } from "../../engine/storage/commit_horizon.ts";

/** A seat whose parts a test may change. */
export type TestSeat = { -readonly [Key in keyof MemberSeat]: MemberSeat[Key] };

/** The seat of a member of which nobody asks what it knows of its cluster. */
export function testSeat(horizon: Horizon, given: Partial<MemberSeat> = {}): TestSeat {
  return {
    horizon,
    replayTo: 0,
    viewNumber: 1,
    canRead: true,
    staleness: 0,
    status: () => {
      throw new Error("nobody asks");
    },
    appended: () => {},
    ...given,
  };
}

/** Opens it in a directory of the disk, and lets it serve. */
export async function openLoneMember(
  disk: Disk,
  directory: string,
  options: Partial<EngineOptions> = {},
): Promise<Engine> {
  const all = Number.MAX_SAFE_INTEGER;
  const member = testSeat(new Horizon(all), { replayTo: all, onDamage: () => {} });
  const engine = await Engine.open({ host: { ...memoryHost(), disk }, directory, member, ...options });
  engine.startServing();
  return engine;
}
