/** What goes wrong in a run of whole members: drawn from the seed beforehand, so that each fault can be left out. */
import { SeededRandom } from "../../../engine/base/random.ts";

/** One fault. Members are chosen when it comes: `member` modulo their number, or by their role. */
export interface PlannedFault {
  /** Microseconds after the beginning. */
  readonly at: number;
  readonly kind: FaultKind;
  readonly member: number;
  /** How long it takes, or how long the member is away, in microseconds. */
  readonly duration: number;
  /** What else there is to choose. */
  readonly choice: number;
}

/** The kinds with their weights. */
const KINDS = {
  "kill": 4,
  "power": 3,
  "power at an operation": 3,
  "primary ends": 4,
  "all lose power": 1,
  "stop in order": 2,
  "cut off": 3,
  "primary cut off": 3,
  "one-way cut": 2,
  "pair cut": 2,
  "pause": 3,
  "slow disk": 2,
  "full disk": 1,
  "failed sync": 1,
  "damage": 2,
  "lost disk": 2,
  "clock jump": 2,
} as const;

/**
 * One of them; a disk hangs in some runs only, once. In others members are of the release before at first, and are
 * restarted as another one. Where clients load, something happens in the middle of loads.
 */
export type FaultKind = keyof typeof KINDS | "hanging disk" | "another release" | "in a load";

/** The faults of a seed, by time. */
export function planFaults(seed: number, microseconds: number): readonly PlannedFault[] {
  const random = new SeededRandom(seed * 7 + 3);
  const total = Object.values(KINDS).reduce((sum, weight) => sum + weight, 0);
  const faults: PlannedFault[] = [];
  // Some seeds are calm, so that things build up between faults.
  const gap = random.below(3) === 0 ? 2_500_000 : 1_000_000;
  for (let at = random.between(10_000, gap); at < microseconds; at += random.between(20_000, gap)) {
    let left = random.below(total);
    const found = Object.entries(KINDS).find(([, weight]) => (left -= weight) < 0);
    const kind = (found?.[0] ?? "kill") as FaultKind;
    faults.push({ at, kind, member: random.u32(), duration: durationOf(kind, random), choice: random.u32() });
  }
  const others = [planHang, planReleases, ...(hasLoads(seed) ? [planInLoads] : [])];
  return [...faults, ...others.flatMap((plan) => plan(seed, microseconds))];
}

/** Whether clients of a seed load so much that it is staged: one of ten, for it is much work. */
export function hasLoads(seed: number): boolean {
  return seed % 10 === 4;
}

function planInLoads(seed: number, microseconds: number): PlannedFault[] {
  const random = new SeededRandom(seed * 17 + 9);
  const faults: PlannedFault[] = [];
  for (let at = 0; at < microseconds; at += random.between(500_000, 4_000_000)) {
    const duration = random.between(10_000, 2_000_000);
    faults.push({ at, kind: "in a load", member: random.u32(), duration, choice: random.u32() });
  }
  return faults;
}

function planHang(seed: number, microseconds: number): PlannedFault[] {
  const random = new SeededRandom(seed * 11 + 5);
  if (random.below(6) > 0) return [];
  const at = random.between(1_000_000, microseconds);
  const duration = random.between(100_000, 10_000_000);
  return [{ at, kind: "hanging disk", member: random.u32(), duration, choice: random.u32() }];
}

/** An upgrade, one member after the other; some go back. */
function planReleases(seed: number, microseconds: number): PlannedFault[] {
  const random = new SeededRandom(seed * 13 + 7);
  if (random.below(2) > 0) return [];
  const kind = "another release";
  const faults: PlannedFault[] = [];
  const gap = random.between(500_000, 3_000_000);
  for (let at = gap, member = random.u32(); at < microseconds; at += random.between(100_000, 2 * gap)) {
    faults.push({
      at,
      kind,
      member: ++member,
      duration: random.between(10_000, 500_000),
      choice: random.u32(),
    });
  }
  return faults;
}

function durationOf(kind: FaultKind, random: SeededRandom): number {
  switch (kind) {
    case "pause":
      // From a millisecond to a minute, each order of magnitude as likely.
      return Math.round(1000 * 60_000 ** random.float());
    case "cut off":
    case "one-way cut":
    case "pair cut":
      return random.between(50_000, 4_000_000);
    case "primary cut off":
      return random.between(400_000, 3_000_000);
    case "slow disk":
    case "full disk":
      return random.between(100_000, 4_000_000);
    default:
      // Some come back before the others have noticed.
      return random.between(10_000, random.below(3) === 0 ? 300_000 : 3_000_000);
  }
}
